//! Verifies Signature Version 4, for servers.
//!
//! Sources: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>,
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-authentication-methods.html>

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::time::{Duration, SystemTime};

use aws_sigv4::sign::v4::{calculate_signature, generate_signing_key};
use http::header::{AUTHORIZATION, HeaderMap};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use time::{Date, Month, PrimitiveDateTime, Time};

use super::{ALGORITHM, PATH, SERVICE, X_AMZ_DATE, X_AMZ_SECURITY_TOKEN, trim_all};
use crate::wire::hex::Sha256Hex;

/// Maximum difference between the clocks of caller and server.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(300);
/// Escapes all characters of a canonical query except the unreserved ones of RFC 3986.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A received request. `Debug` shows no headers and no query: they may have a session token.
#[derive(Clone, Copy)]
pub struct Verifiable<'a> {
    /// The method.
    pub method: &'a str,
    /// The path of the URI, percent-encoded as received.
    pub path: &'a str,
    /// The query of the URI without the question mark, percent-encoded as received.
    pub query: &'a str,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The body.
    pub body: &'a [u8],
}

impl fmt::Debug for Verifiable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifiable")
            .field("method", &self.method)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// The identity that a valid signature proves. `Debug` shows no session token.
#[derive(Clone, Eq, PartialEq)]
pub struct Claim {
    /// The access key id.
    pub access_key_id: String,
    /// The region of the credential scope.
    pub region: String,
    /// The session token. The signature covers it.
    pub session_token: Option<String>,
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim")
            .field("access_key_id", &self.access_key_id)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

/// Looks up secret access keys.
pub trait KeyLookup {
    /// The secret access key. The session token is that of the request, which temporary credentials need.
    ///
    /// # Errors
    /// [`VerifyError::UnknownKey`] for an unknown access key id, or a token that does not belong to it;
    /// [`VerifyError::ExpiredToken`] for credentials that have expired.
    fn secret(&self, access_key_id: &str, session_token: Option<&str>) -> Result<Cow<'_, str>, VerifyError>;
}

/// Long-term keys, which need no token.
impl<S: std::hash::BuildHasher> KeyLookup for std::collections::HashMap<String, String, S> {
    fn secret(&self, access_key_id: &str, _: Option<&str>) -> Result<Cow<'_, str>, VerifyError> {
        self.get(access_key_id).map(Into::into).ok_or(VerifyError::UnknownKey)
    }
}

/// Why a signature is rejected.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum VerifyError {
    /// The request is not signed.
    Unsigned,
    /// A part of the `Authorization` header or a parameter of a presigned URL is missing or malformed. The text names it.
    Incomplete(String),
    /// The credential scope names another service or date.
    WrongScope(String),
    /// The access key id is unknown, or the session token does not belong to it.
    UnknownKey,
    /// The temporary credentials have expired.
    ExpiredToken,
    /// The time of the signature differs from the server's by more than five minutes.
    Skewed {
        /// `x-amz-date`.
        signed: String,
        /// The server's time in the same format.
        now: String,
    },
    /// The presigned URL has expired.
    Expired {
        /// `X-Amz-Date`.
        signed: String,
        /// `X-Amz-Expires`.
        seconds: u64,
        /// The server's time in the same format.
        now: String,
    },
    /// The signature does not match the request and the secret access key.
    Mismatch,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned => f.write_str("Missing Authentication Token"),
            Self::Incomplete(text) | Self::WrongScope(text) => f.write_str(text),
            Self::UnknownKey => f.write_str("The security token included in the request is invalid."),
            Self::ExpiredToken => f.write_str("The security token included in the request is expired"),
            Self::Skewed { signed, now } => {
                write!(f, "Signature not yet current or expired: {signed} is more than 5 min. from {now}")
            }
            Self::Expired { signed, seconds, now } => {
                write!(f, "Signature expired: {signed} plus {seconds} seconds is now earlier than {now}")
            }
            Self::Mismatch => f.write_str(
                "The request signature we calculated does not match the signature you provided. Check your AWS \
                 Secret Access Key and signing method.",
            ),
        }
    }
}

impl std::error::Error for VerifyError {}

/// Verifies the signature of a request at the time `now`. It is in the `Authorization` header or in a presigned URL.
///
/// A presigned URL is valid for `X-Amz-Expires` seconds, 1 to 604,800. The default is 900. Like a signature in a
/// header, its signature also covers the body.
///
/// # Errors
/// See [`VerifyError`].
pub fn verify(request: Verifiable<'_>, keys: &impl KeyLookup, now: SystemTime) -> Result<Claim, VerifyError> {
    verify_for(SERVICE, request, keys, now)
}

/// Like [`verify`], for a request to another service than SQS, such as `sns`.
///
/// # Errors
/// See [`VerifyError`].
pub fn verify_for(
    service: &str,
    request: Verifiable<'_>,
    keys: &impl KeyLookup,
    now: SystemTime,
) -> Result<Claim, VerifyError> {
    let parameters = SignatureParameters::of(request)?;
    parameters.check_service(service)?;
    let secret = keys.secret(&parameters.access_key_id, parameters.session_token.as_deref())?;
    parameters.check_time(now)?;
    let canonical = canonical_request(request, &parameters.signed_headers)?;
    let SignatureParameters { timestamp, scope, .. } = &parameters;
    let string_to_sign = format!("{ALGORITHM}\n{timestamp}\n{scope}\n{}", Sha256Hex::of(canonical));
    let key = generate_signing_key(&secret, parameters.signed_at, &parameters.region, service);
    if calculate_signature(key, string_to_sign.as_bytes()) != parameters.signature {
        return Err(VerifyError::Mismatch);
    }
    let SignatureParameters { access_key_id, region, session_token, .. } = parameters;
    Ok(Claim { access_key_id, region, session_token })
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn canonical_request(request: Verifiable<'_>, signed_headers: &str) -> Result<String, VerifyError> {
    let names: Vec<&str> = signed_headers.split(';').collect();
    if !names.contains(&"host") {
        return Err(incomplete("'Host' must be a 'SignedHeader' in the AWS Authorization."));
    }
    let mut canonical = format!("{}\n", request.method);
    canonical.extend(utf8_percent_encode(request.path, PATH));
    // Writing to a `String` cannot fail.
    let _ = writeln!(canonical, "\n{}", canonical_query(request.query));
    for name in names {
        let values: Vec<_> =
            request.headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
        if values.is_empty() {
            return Err(incomplete(format!("'{name}' is a 'SignedHeader', but there is no such header.")));
        }
        let trimmed: Vec<_> = values.into_iter().map(trim_all).collect();
        let _ = writeln!(canonical, "{name}:{}", trimmed.join(","));
    }
    let declared = text(request.headers, "x-amz-content-sha256").filter(|hash| *hash == "UNSIGNED-PAYLOAD");
    let computed = Sha256Hex::of(request.body);
    let _ = write!(canonical, "\n{signed_headers}\n{}", declared.unwrap_or(computed.as_str()));
    Ok(canonical)
}

/// The query sorted by name and value and encoded again, without the signature.
fn canonical_query(query: &str) -> String {
    let encode = |text: &str| {
        let decoded = percent_decode_str(text).decode_utf8_lossy().into_owned();
        utf8_percent_encode(&decoded, QUERY).to_string()
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let mut pairs: Vec<(String, String)> = pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .filter(|(name, _)| *name != SIGNATURE)
        .map(|(name, value)| (encode(name), encode(value)))
        .collect();
    pairs.sort_unstable();
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// `20261121T013000Z`.
fn parse_timestamp(timestamp: &str) -> Option<SystemTime> {
    let number = |range: std::ops::Range<usize>| -> Option<u8> { timestamp.get(range)?.parse().ok() };
    if timestamp.len() != 16 || timestamp.get(8..9)? != "T" || timestamp.get(15..)? != "Z" {
        return None;
    }
    let month = Month::try_from(number(4..6)?).ok()?;
    let date = Date::from_calendar_date(timestamp.get(..4)?.parse().ok()?, month, number(6..8)?).ok()?;
    let time = Time::from_hms(number(9..11)?, number(11..13)?, number(13..15)?).ok()?;
    Some(PrimitiveDateTime::new(date, time).assume_utc().into())
}

/// Maximum of `X-Amz-Expires`: 7 days.
const MAX_EXPIRES_SECONDS: u64 = 604_800;
/// Default of `X-Amz-Expires`: 15 minutes.
const DEFAULT_EXPIRES_SECONDS: u64 = 900;
/// The only parameter of a presigned URL that is not signed.
const SIGNATURE: &str = "X-Amz-Signature";

/// The parameters of a signature.
struct SignatureParameters {
    pub(super) access_key_id: String,
    /// `<day>/<region>/<service>/aws4_request`.
    pub(super) scope: String,
    pub(super) region: String,
    pub(super) service: String,
    pub(super) signed_headers: String,
    pub(super) signature: String,
    /// The signing time as text.
    pub(super) timestamp: String,
    /// The signing time.
    pub(super) signed_at: SystemTime,
    pub(super) session_token: Option<String>,
    /// How long a presigned URL is valid. `None` for a signature in a header, which only [`MAX_CLOCK_SKEW`] limits.
    lifetime: Option<Duration>,
}

impl SignatureParameters {
    /// Reads the parameters. The header takes precedence.
    pub(super) fn of(request: Verifiable<'_>) -> Result<Self, VerifyError> {
        if let Some(header) = request.headers.get(AUTHORIZATION) {
            let header = header.to_str().map_err(|_| incomplete("The Authorization header is not text."))?;
            return Self::of_header(header, request);
        }
        let parameters = Parameters(request.query);
        if ["X-Amz-Algorithm", "X-Amz-Credential", SIGNATURE]
            .iter()
            .all(|name| parameters.get(name).is_none())
        {
            return Err(VerifyError::Unsigned);
        }
        Self::of_url(parameters)
    }

    /// `AWS4-HMAC-SHA256 Credential=<key>/<scope>, SignedHeaders=.., Signature=..`.
    fn of_header(header: &str, request: Verifiable<'_>) -> Result<Self, VerifyError> {
        let fields =
            header.strip_prefix(ALGORITHM).ok_or_else(|| incomplete("Unsupported signature algorithm."))?;
        let field = |name: &str| {
            let found =
                fields.split(',').find_map(|field| field.trim().strip_prefix(name)?.strip_prefix('='));
            found.ok_or_else(|| incomplete(format!("Authorization header requires '{name}' parameter.")))
        };
        let (credential, signed_headers, signature) =
            (field("Credential")?, field("SignedHeaders")?, field("Signature")?);
        let header = |name: &str| text(request.headers, name).map(str::to_owned);
        let timestamp = header(X_AMZ_DATE.as_str())
            .ok_or_else(|| incomplete("Authorization header requires existence of a 'X-Amz-Date' header."))?;
        Ok(Self {
            session_token: header(X_AMZ_SECURITY_TOKEN.as_str()),
            ..Self::new(credential, timestamp, signed_headers.to_owned(), signature.to_owned())?
        })
    }

    /// `X-Amz-Algorithm`, `X-Amz-Credential`, `X-Amz-Date`, `X-Amz-Expires`, `X-Amz-SignedHeaders`, `X-Amz-Signature`.
    fn of_url(parameters: Parameters<'_>) -> Result<Self, VerifyError> {
        let required = |name: &str| {
            let missing = || incomplete(format!("AWS query-string parameters must include '{name}'."));
            parameters.get(name).ok_or_else(missing)
        };
        if required("X-Amz-Algorithm")? != ALGORITHM {
            return Err(incomplete("Unsupported signature algorithm."));
        }
        let seconds = parameters
            .get("X-Amz-Expires")
            .map_or(Some(DEFAULT_EXPIRES_SECONDS), |seconds| seconds.parse().ok());
        let seconds = seconds.filter(|seconds| (1..=MAX_EXPIRES_SECONDS).contains(seconds));
        let out_of_range =
            || incomplete(format!("X-Amz-Expires must be from 1 to {MAX_EXPIRES_SECONDS} seconds."));
        let (credential, timestamp) = (required("X-Amz-Credential")?, required("X-Amz-Date")?);
        Ok(Self {
            session_token: parameters.get("X-Amz-Security-Token"),
            lifetime: Some(Duration::from_secs(seconds.ok_or_else(out_of_range)?)),
            ..Self::new(&credential, timestamp, required("X-Amz-SignedHeaders")?, required(SIGNATURE)?)?
        })
    }

    fn new(
        credential: &str,
        timestamp: String,
        signed_headers: String,
        signature: String,
    ) -> Result<Self, VerifyError> {
        let bad_credential = || incomplete(format!("Credential must have 5 elements, not {credential:?}."));
        let (access_key_id, scope) = credential.split_once('/').ok_or_else(bad_credential)?;
        let [day, region, service, "aws4_request"] = scope.split('/').collect::<Vec<_>>()[..] else {
            return Err(bad_credential());
        };
        let signed_at = parse_timestamp(&timestamp);
        let signed_at = signed_at.ok_or_else(|| incomplete("Date must be in ISO-8601 'basic format'."))?;
        if !timestamp.starts_with(day) || day.len() != 8 {
            let text = format!(
                "Date in Credential scope does not match YYYYMMDD from ISO-8601: {day} and {timestamp}."
            );
            return Err(VerifyError::WrongScope(text));
        }
        Ok(Self {
            access_key_id: access_key_id.to_owned(),
            scope: scope.to_owned(),
            region: region.to_owned(),
            service: service.to_owned(),
            signed_headers,
            signature,
            timestamp,
            signed_at,
            session_token: None,
            lifetime: None,
        })
    }

    /// Checks that the signature is for this service.
    fn check_service(&self, service: &str) -> Result<(), VerifyError> {
        let text = || format!("Credential should be scoped to correct service: '{service}'.");
        if self.service == service { Ok(()) } else { Err(VerifyError::WrongScope(text())) }
    }

    /// Checks that the signature is valid at the time `now`.
    fn check_time(&self, now: SystemTime) -> Result<(), VerifyError> {
        let now_text = || crate::wire::sign::timestamp(now).unwrap_or_default();
        let early = self.signed_at.duration_since(now).unwrap_or_default();
        let late = now.duration_since(self.signed_at).unwrap_or_default();
        match self.lifetime {
            Some(lifetime) if late > lifetime => {
                let (signed, seconds) = (self.timestamp.clone(), lifetime.as_secs());
                Err(VerifyError::Expired { signed, seconds, now: now_text() })
            }
            None if late > MAX_CLOCK_SKEW => {
                Err(VerifyError::Skewed { signed: self.timestamp.clone(), now: now_text() })
            }
            _ if early > MAX_CLOCK_SKEW => {
                Err(VerifyError::Skewed { signed: self.timestamp.clone(), now: now_text() })
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn incomplete(text: impl Into<String>) -> VerifyError {
    VerifyError::Incomplete(text.into())
}

/// The query of a URL.
#[derive(Clone, Copy)]
struct Parameters<'a>(&'a str);

impl Parameters<'_> {
    fn get(self, name: &str) -> Option<String> {
        let mut pairs = self.0.split('&').filter_map(|pair| pair.split_once('='));
        let (_, value) = pairs.find(|(other, _)| *other == name)?;
        Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::time::UNIX_EPOCH;

    use aws_credential_types::Credentials;
    use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};

    use super::*;
    use crate::wire::sign::{Signable, Signer};

    const HOST_NAME: &str = "sqs.eu-west-1.amazonaws.com";
    const BODY: &[u8] = b"{\"QueueUrl\":\"u\"}";

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }

    fn keys() -> HashMap<String, String> {
        HashMap::from([("AKID".to_owned(), "secret".to_owned())])
    }

    fn signed(path: &str, token: Option<&str>) -> HeaderMap {
        let credentials = Credentials::new("AKID", "secret", token.map(Into::into), None, "test");
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
        headers.insert(HOST, HeaderValue::from_static(HOST_NAME));
        let request = Signable { host: HOST_NAME, path, body: BODY };
        Signer::default().sign(request, &mut headers, &credentials, "eu-west-1", now()).expect("signs");
        headers
    }

    fn check(headers: &HeaderMap, path: &str, body: &[u8], at: SystemTime) -> Result<Claim, VerifyError> {
        verify(Verifiable { method: "POST", path, query: "", headers, body }, &keys(), at)
    }

    #[test]
    fn signed_request_is_accepted() {
        for path in ["/", "/000000000000/name", "/a%20b/c"] {
            // SigV4 folds sequential spaces.
            for token in [None, Some("token"), Some("a  b   c")] {
                let claim = check(&signed(path, token), path, BODY, now()).expect("valid");
                let expected = Claim {
                    access_key_id: "AKID".to_owned(),
                    region: "eu-west-1".to_owned(),
                    session_token: token.map(str::to_owned),
                };
                assert_eq!(claim, expected);
            }
        }
    }

    #[test]
    fn request_changed_after_signing_is_rejected() {
        let headers = signed("/", Some("token"));
        assert_eq!(check(&headers, "/other", BODY, now()), Err(VerifyError::Mismatch));
        assert_eq!(check(&headers, "/", b"{}", now()), Err(VerifyError::Mismatch));
        for name in ["content-type", "host", "x-amz-security-token"] {
            let mut changed = headers.clone();
            changed.insert(http::HeaderName::from_static(name), HeaderValue::from_static("changed"));
            assert_eq!(check(&changed, "/", BODY, now()), Err(VerifyError::Mismatch), "{name}");
        }
        let get = Verifiable { method: "GET", path: "/", query: "", headers: &headers, body: BODY };
        assert_eq!(verify(get, &keys(), now()), Err(VerifyError::Mismatch));
        let with_query = Verifiable { method: "POST", query: "Action=ListQueues", ..get };
        assert_eq!(verify(with_query, &keys(), now()), Err(VerifyError::Mismatch));
    }

    #[test]
    fn clock_skew_up_to_five_minutes_is_accepted() {
        let headers = signed("/", None);
        for (seconds, is_accepted) in [(0, true), (299, true), (301, false)] {
            let off = Duration::from_secs(seconds);
            for at in [now() + off, now() - off] {
                let result = check(&headers, "/", BODY, at);
                assert_eq!(result.is_ok(), is_accepted, "{seconds} {result:?}");
            }
        }
    }

    #[test]
    fn each_fault_has_its_own_error() {
        let headers = signed("/", None);
        let with = |name: &'static str, value: Option<String>| {
            let mut changed = headers.clone();
            match value {
                Some(value) => drop(changed.insert(name, HeaderValue::try_from(value).expect("text"))),
                None => drop(changed.remove(name)),
            }
            check(&changed, "/", BODY, now()).expect_err("rejected")
        };
        let authorization = headers[AUTHORIZATION].to_str().expect("text").to_owned();
        let replaced = |from: &str, to: &str| with("authorization", Some(authorization.replace(from, to)));
        assert_eq!(with("authorization", None), VerifyError::Unsigned);
        assert_eq!(replaced("AKID", "OTHER"), VerifyError::UnknownKey);
        assert!(matches!(replaced("/sqs/", "/sns/"), VerifyError::WrongScope(_)));
        assert!(matches!(replaced("/2027", "/2026"), VerifyError::WrongScope(_)));
        assert!(matches!(with("x-amz-date", None), VerifyError::Incomplete(_)));
        assert!(matches!(with("x-amz-date", Some("yesterday".into())), VerifyError::Incomplete(_)));
        for (from, to) in [
            ("AWS4-HMAC-SHA256", "AWS3"),
            ("Credential=", "Cred="),
            ("SignedHeaders=", "Headers="),
            ("Signature=", "Sig="),
        ] {
            assert!(matches!(replaced(from, to), VerifyError::Incomplete(_)), "{from}");
        }
        assert!(matches!(replaced(";host", ""), VerifyError::Incomplete(_)));
        assert!(matches!(replaced("/aws4_request", ""), VerifyError::Incomplete(_)));
    }

    #[test]
    fn canonical_query_is_sorted_by_name_and_value() {
        assert_eq!(canonical_query("b=2&a=x%20y&a=1&c"), "a=1&a=x%20y&b=2&c=");
        assert_eq!(canonical_query(""), "");
    }

    #[test]
    fn malformed_authorization_header_is_rejected() {
        for header in
            ["", " ", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=////, SignedHeaders=;, Signature="]
        {
            let mut headers = signed("/", None);
            headers.insert(AUTHORIZATION, HeaderValue::from_str(header).expect("text"));
            assert!(check(&headers, "/", BODY, now()).is_err(), "{header:?}");
        }
    }

    /// The query of a URL that aws-sigv4 presigns, valid for five minutes.
    fn presigned(body: &[u8], token: Option<&str>) -> String {
        use aws_sigv4::http_request::{
            SignableBody, SignableRequest, SignatureLocation, SigningSettings, sign,
        };
        let mut settings = SigningSettings::default();
        settings.signature_location = SignatureLocation::QueryParams;
        settings.expires_in = Some(Duration::from_secs(300));
        let identity = Credentials::new("AKID", "secret", token.map(Into::into), None, "test").into();
        let params = aws_sigv4::sign::v4::SigningParams::builder()
            .identity(&identity)
            .region("eu-west-1")
            .name("sqs")
            .time(now())
            .settings(settings)
            .build()
            .expect("all parameters are set");
        let mut request = http::Request::builder().method("POST").uri(URL).body(()).expect("a request");
        let signable =
            SignableRequest::new("POST", URL, std::iter::empty(), SignableBody::Bytes(body)).expect("a URL");
        sign(signable, &params.into()).expect("signs").into_parts().0.apply_to_request_http1x(&mut request);
        request.uri().query().expect("it is signed").to_owned()
    }

    const URL: &str =
        "https://sqs.eu-west-1.amazonaws.com/000000000000/q?Action=SendMessage&MessageBody=a%20b%2Bc";

    fn check_url(query: &str, body: &[u8], at: SystemTime) -> Result<Claim, VerifyError> {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static(HOST_NAME));
        verify(
            Verifiable { method: "POST", path: "/000000000000/q", query, headers: &headers, body },
            &keys(),
            at,
        )
    }

    #[test]
    fn presigned_url_is_accepted_until_it_expires() {
        for token in [None, Some("to/ken+==")] {
            let query = presigned(b"", token);
            let claim = check_url(&query, b"", now()).expect("valid");
            assert_eq!((claim.access_key_id.as_str(), claim.region.as_str()), ("AKID", "eu-west-1"));
            assert_eq!(claim.session_token.as_deref(), token);
            assert!(check_url(&query, b"", now() + Duration::from_secs(300)).is_ok());
            let late = check_url(&query, b"", now() + Duration::from_secs(301));
            assert!(matches!(late, Err(VerifyError::Expired { seconds: 300, .. })), "{late:?}");
            let early = check_url(&query, b"", now() - Duration::from_secs(301));
            assert!(matches!(early, Err(VerifyError::Skewed { .. })), "{early:?}");
        }
    }

    #[test]
    fn presigned_url_with_changed_query_or_body_is_rejected() {
        let query = presigned(b"MessageGroupId=g", None);
        assert!(check_url(&query, b"MessageGroupId=g", now()).is_ok());
        assert_eq!(check_url(&query, b"MessageGroupId=h", now()), Err(VerifyError::Mismatch));
        for (from, to) in [("SendMessage", "PurgeQueue"), ("X-Amz-Expires=300", "X-Amz-Expires=301")] {
            let changed = query.replace(from, to);
            assert_eq!(check_url(&changed, b"MessageGroupId=g", now()), Err(VerifyError::Mismatch), "{from}");
        }
        let more = format!("{query}&DelaySeconds=1");
        assert_eq!(check_url(&more, b"MessageGroupId=g", now()), Err(VerifyError::Mismatch));
    }

    #[test]
    fn presigned_url_without_a_required_parameter_is_incomplete() {
        let query = presigned(b"", None);
        for name in
            ["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Signature"]
        {
            let less: Vec<_> = query.split('&').filter(|pair| !pair.starts_with(name)).collect();
            let error = check_url(&less.join("&"), b"", now()).expect_err(name);
            assert!(
                matches!(&error, VerifyError::Incomplete(text) if text.contains(name)),
                "{name}: {error:?}"
            );
        }
        for bad in ["0", "604801", "-1", "x", ""] {
            let query = query.replace("X-Amz-Expires=300", &format!("X-Amz-Expires={bad}"));
            assert!(matches!(check_url(&query, b"", now()), Err(VerifyError::Incomplete(_))), "{bad}");
        }
        assert_eq!(check_url("Action=ListQueues", b"", now()), Err(VerifyError::Unsigned));
    }

    #[test]
    fn signature_is_valid_for_its_own_service_only() {
        let headers_for = |service| {
            let mut headers = HeaderMap::new();
            headers.insert("host", HeaderValue::from_static("localhost:9324"));
            let request = Signable { host: "localhost:9324", path: "/", body: BODY };
            let credentials = Credentials::new("AKID", "secret", None, None, "test");
            Signer::for_service(service)
                .sign(request, &mut headers, &credentials, "eu-west-1", now())
                .expect("signs");
            headers
        };
        for signed_for in ["sqs", "sns"] {
            let headers = headers_for(signed_for);
            let request = Verifiable { method: "POST", path: "/", query: "", headers: &headers, body: BODY };
            for service in ["sqs", "sns"] {
                let result = verify_for(service, request, &keys(), now());
                assert_eq!(result.is_ok(), service == signed_for, "{signed_for} {service} {result:?}");
            }
        }
    }
}
