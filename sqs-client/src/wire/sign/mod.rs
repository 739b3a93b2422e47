//! Signature Version 4 for SQS requests, as a pure function that takes the time as a parameter.
//!
//! A [`Client`](crate::Client) signs its requests itself. Use [`Signer`] to send requests by other means, and [`verify`] to
//! check signatures in a server.
//!
//! ```
//! use std::collections::HashMap;
//! use std::time::{Duration, UNIX_EPOCH};
//!
//! use http::HeaderMap;
//! use sqs_client::config::Credentials;
//! use sqs_client::wire::sign::{Signable, Signer, Verifiable, verify};
//!
//! let now = UNIX_EPOCH + Duration::from_secs(1_795_000_000);
//! let credentials = Credentials::new("AKIDEXAMPLE", "secret", None, None, "example");
//! let mut headers = HeaderMap::new();
//! headers.insert("host", "localhost:9324".parse()?);
//! headers.insert("content-type", "application/x-amz-json-1.0".parse()?);
//! let request = Signable { host: "localhost:9324", path: "/", body: b"{}" };
//! Signer::default().sign(request, &mut headers, &credentials, "eu-west-1", now)?;
//!
//! let received = Verifiable { method: "POST", path: "/", query: "", headers: &headers, body: b"{}" };
//! let keys = HashMap::from([("AKIDEXAMPLE".to_owned(), "secret".to_owned())]);
//! assert_eq!(verify(received, &keys, now)?.region, "eu-west-1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The aws-sigv4 crate derives the key and computes the signature. This module builds the canonical request itself, which
//! is cheaper: a request to SQS has a fixed set of headers and no query. It caches the derived key, which changes once a day.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>

mod verify;

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;
use aws_sigv4::sign::v4::{calculate_signature, generate_signing_key};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use time::OffsetDateTime;

use crate::wire::hex::Sha256Hex;

pub use verify::{Claim, KeyLookup, Verifiable, VerifyError, verify, verify_for};

/// Service name in the credential scope.
pub(crate) const SERVICE: &str = "sqs";
const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const X_AMZ_DATE: HeaderName = HeaderName::from_static("x-amz-date");
const X_AMZ_SECURITY_TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");
const X_AMZ_TARGET: HeaderName = HeaderName::from_static("x-amz-target");
/// Escapes all characters of a canonical path except the separator and the unreserved ones of RFC 3986.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// Signs requests and caches the latest derived key.
#[derive(Debug)]
pub struct Signer {
    service: &'static str,
    /// Written once per key and day. Readers wait only while a writer replaces the key, not while it derives one.
    key: RwLock<Option<Arc<SigningKey>>>,
}

impl Default for Signer {
    fn default() -> Self {
        Self::for_service(SERVICE)
    }
}

struct SigningKey {
    access_key_id: String,
    secret_access_key: String,
    region: String,
    date: String,
    /// `20261121/eu-west-1/sqs/aws4_request`.
    scope: String,
    key: Vec<u8>,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey")
            .field("region", &self.region)
            .field("date", &self.date)
            .finish_non_exhaustive()
    }
}

/// The parts of a request that are signed in addition to the headers.
#[derive(Clone, Copy, Debug)]
pub struct Signable<'a> {
    /// The value of the `Host` header.
    pub host: &'a str,
    /// The path of the URI, percent-encoded as sent.
    pub path: &'a str,
    /// The body.
    pub body: &'a [u8],
}

/// Why a request cannot be signed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SignError {
    /// The access key id, session token or region has characters that are not allowed in a header.
    Credentials,
    /// The method, URL or headers cannot be signed.
    Request,
    /// The time is before the year 0 or after the year 9999.
    Time,
}

impl std::fmt::Display for SignError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Credentials => {
                "the access key id, session token or region contains a character that is not visible ASCII"
            }
            Self::Request => "the method, URL or headers cannot be signed",
            Self::Time => "the time is out of range: the year must be from 0 to 9999",
        })
    }
}

impl std::error::Error for SignError {}

impl Signer {
    /// For another service, such as STS.
    pub(crate) fn for_service(service: &'static str) -> Self {
        Self { service, key: RwLock::default() }
    }

    /// Adds date, session token and signature to `headers`. Replaces those of an earlier attempt.
    ///
    /// # Errors
    /// See [`SignError`].
    pub fn sign(
        &self,
        request: Signable<'_>,
        headers: &mut HeaderMap,
        credentials: &Credentials,
        region: &str,
        time: SystemTime,
    ) -> Result<(), SignError> {
        let timestamp = timestamp(time).ok_or(SignError::Time)?;
        headers.insert(X_AMZ_DATE, header(timestamp.clone())?);
        match credentials.session_token() {
            Some(token) => headers.insert(X_AMZ_SECURITY_TOKEN, secret_header(token.to_owned())?),
            None => headers.remove(X_AMZ_SECURITY_TOKEN),
        };
        let date = timestamp.get(..8).unwrap_or_default();
        let key = self.key(credentials, region, date, time);
        let scope = &key.scope;
        let (canonical, signed_headers) = canonical_request(request, headers);
        let string_to_sign =
            [ALGORITHM, "\n", &timestamp, "\n", scope, "\n", Sha256Hex::of(canonical).as_str()].concat();
        let signature = calculate_signature(&key.key, string_to_sign.as_bytes());
        let id = credentials.access_key_id();
        let parts = [ALGORITHM, " Credential=", id, "/", scope, ", SignedHeaders=", &signed_headers];
        let mut authorization = String::with_capacity(288);
        authorization.extend(parts.into_iter().chain([", Signature=", &signature]));
        headers.insert(AUTHORIZATION, secret_header(authorization)?);
        Ok(())
    }

    /// Signs any request, with its method, query and all headers that the AWS SDK signs.
    ///
    /// # Errors
    /// See [`SignError`].
    pub(crate) fn sign_any(
        &self,
        request: &mut http::Request<Bytes>,
        credentials: &Credentials,
        region: &str,
        time: SystemTime,
    ) -> Result<(), SignError> {
        // aws-sigv4 panics for these.
        timestamp(time).ok_or(SignError::Time)?;
        for text in [credentials.access_key_id(), credentials.session_token().unwrap_or_default(), region] {
            header(text.to_owned())?;
        }
        let identity = credentials.clone().into();
        let mut settings = SigningSettings::default();
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(region)
            .name(self.service)
            .time(time)
            .settings(settings)
            .build()
            .map_err(|_| SignError::Request)?
            .into();
        let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
        let headers: Vec<_> = request
            .headers()
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), text(value)?)))
            .collect();
        let signable = SignableRequest::new(
            request.method().as_str(),
            request.uri().to_string(),
            headers.iter().map(|(name, value)| (*name, value.as_str())),
            SignableBody::Bytes(request.body()),
        );
        let signed = sign(signable.map_err(|_| SignError::Request)?, &params);
        let (instructions, _) = signed.map_err(|_| SignError::Request)?.into_parts();
        instructions.apply_to_request_http1x(request);
        Ok(())
    }

    fn key(&self, credentials: &Credentials, region: &str, date: &str, time: SystemTime) -> Arc<SigningKey> {
        let is_current = |key: &SigningKey| {
            key.date == date
                && key.region == region
                && key.access_key_id == credentials.access_key_id()
                && key.secret_access_key == credentials.secret_access_key()
        };
        if let Some(key) = &*self.key.read().unwrap_or_else(PoisonError::into_inner)
            && is_current(key)
        {
            return Arc::clone(key);
        }
        let derived = generate_signing_key(credentials.secret_access_key(), time, region, self.service);
        let key = Arc::new(SigningKey {
            access_key_id: credentials.access_key_id().to_owned(),
            secret_access_key: credentials.secret_access_key().to_owned(),
            region: region.to_owned(),
            date: date.to_owned(),
            scope: format!("{date}/{region}/{}/aws4_request", self.service),
            key: derived.as_ref().to_vec(),
        });
        *self.key.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&key));
        key
    }
}

/// Returns the canonical request and its list of signed headers.
fn canonical_request(request: Signable<'_>, headers: &HeaderMap) -> (String, String) {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let lines = [
        ("content-type", text(&CONTENT_TYPE)),
        ("host", Some(request.host)),
        ("x-amz-date", text(&X_AMZ_DATE)),
        ("x-amz-security-token", text(&X_AMZ_SECURITY_TOKEN)),
        ("x-amz-target", text(&X_AMZ_TARGET)),
    ];
    let mut canonical = String::with_capacity(512);
    let mut names = String::with_capacity(80);
    canonical.push_str("POST\n");
    // SigV4 encodes the path twice, for all services except S3.
    canonical.extend(utf8_percent_encode(request.path, PATH));
    canonical.push_str("\n\n");
    for (name, value) in lines {
        let Some(value) = value else { continue };
        for part in [name, ":", &trim_all(value), "\n"] {
            canonical.push_str(part);
        }
        if !names.is_empty() {
            names.push(';');
        }
        names.push_str(name);
    }
    for part in ["\n", &names, "\n", Sha256Hex::of(request.body).as_str()] {
        canonical.push_str(part);
    }
    (canonical, names)
}

/// A header value in canonical form: trimmed, with sequential spaces replaced by one.
fn trim_all(value: &str) -> Cow<'_, str> {
    let value = value.trim();
    if !value.contains("  ") {
        return Cow::Borrowed(value);
    }
    Cow::Owned(value.split(' ').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "))
}

/// `20261121T013000Z`.
fn timestamp(time: SystemTime) -> Option<String> {
    // `From<SystemTime>` panics for years after 9999.
    let seconds = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).ok()?,
        Err(before) => -i64::try_from(before.duration().as_secs()).ok()?,
    };
    let time = OffsetDateTime::from_unix_timestamp(seconds).ok()?;
    let year = u16::try_from(time.year()).ok().filter(|year| *year <= 9999)?;
    let (century, year) = (u8::try_from(year / 100).ok()?, u8::try_from(year % 100).ok()?);
    let (hour, minute, second) = time.to_hms();
    let mut timestamp = String::with_capacity(16);
    let mut push = |numbers: &[u8], end: &str| {
        for number in numbers {
            timestamp.extend([char::from(b'0' + number / 10), char::from(b'0' + number % 10)]);
        }
        timestamp.push_str(end);
    };
    push(&[century, year, u8::from(time.month()), time.day()], "T");
    push(&[hour, minute, second], "Z");
    Some(timestamp)
}

/// Accepts ASCII only. HTTP allows other bytes, but implementations disagree on their encoding, so signatures would not match.
fn header(text: String) -> Result<HeaderValue, SignError> {
    let text = Some(text).filter(|text| text.is_ascii());
    text.and_then(|text| HeaderValue::try_from(text).ok()).ok_or(SignError::Credentials)
}

fn secret_header(text: String) -> Result<HeaderValue, SignError> {
    let mut value = header(text)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use aws_sigv4::http_request::PercentEncodingMode;
    use aws_sigv4::sign::v4::SigningParams;
    use aws_smithy_runtime_api::client::identity::Identity;

    use super::*;

    fn request_headers() -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
        headers.insert(X_AMZ_TARGET, HeaderValue::from_static("AmazonSQS.SendMessage"));
        headers.insert("x-amzn-query-mode", HeaderValue::from_static("true"));
        headers
    }

    fn reference(
        path: &str,
        body: &[u8],
        credentials: &Credentials,
        region: &str,
        time: SystemTime,
    ) -> String {
        let identity = Identity::new(credentials.clone(), None);
        let mut settings = SigningSettings::default();
        settings.percent_encoding_mode = PercentEncodingMode::Double;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        let params = SigningParams::builder()
            .identity(&identity)
            .region(region)
            .name(SERVICE)
            .time(time)
            .settings(settings)
            .build()
            .expect("all parameters are set");
        let headers =
            [("content-type", "application/x-amz-json-1.0"), ("x-amz-target", "AmazonSQS.SendMessage")];
        let uri = format!("https://sqs.eu-west-1.amazonaws.com{path}");
        let signable = SignableRequest::new("POST", uri, headers.into_iter(), SignableBody::Bytes(body))
            .expect("a valid request");
        let (instructions, _) =
            aws_sigv4::http_request::sign(signable, &params.into()).expect("signs").into_parts();
        let (headers, _) = instructions.into_parts();
        let authorization =
            headers.into_iter().find(|header| header.name() == "authorization").expect("signed");
        authorization.value().to_owned()
    }

    fn ours(
        signer: &Signer,
        path: &str,
        body: &[u8],
        credentials: &Credentials,
        region: &str,
        time: SystemTime,
    ) -> String {
        let mut headers = request_headers();
        let request = Signable { host: "sqs.eu-west-1.amazonaws.com", path, body };
        signer.sign(request, &mut headers, credentials, region, time).expect("signs");
        headers[AUTHORIZATION].to_str().expect("text").to_owned()
    }

    #[test]
    fn signatures_equal_those_of_the_reference_signer() {
        let plain =
            Credentials::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", None, None, "test");
        let session = Credentials::new("ASIA", "secret", Some("to/ken+==".into()), None, "test");
        let signer = Signer::default();
        for day in [0, 1, 19_000, 20_778] {
            let time = UNIX_EPOCH + Duration::from_secs(day * 86_400 + 12_345);
            for credentials in [&plain, &session] {
                for region in ["eu-west-1", "us-gov-west-1"] {
                    for path in ["/", "/000000000000/name", "/prefix%20x/a"] {
                        for body in [&b""[..], b"{\"QueueUrl\":\"u\"}"] {
                            assert_eq!(
                                ours(&signer, path, body, credentials, region, time),
                                reference(path, body, credentials, region, time),
                                "{path} {region} {time:?}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn rotated_secret_replaces_the_cached_key() {
        let time = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let signer = Signer::default();
        let old = Credentials::new("AK", "old", None, None, "test");
        let new = Credentials::new("AK", "new", None, None, "test");
        let first = ours(&signer, "/", b"", &old, "eu-west-1", time);
        assert_ne!(first, ours(&signer, "/", b"", &new, "eu-west-1", time));
        assert_eq!(first, ours(&signer, "/", b"", &old, "eu-west-1", time));
    }

    #[test]
    fn signing_again_replaces_the_earlier_signature() {
        let time = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let request = Signable { host: "h", path: "/", body: b"" };
        let session = Credentials::new("AK", "secret", Some("token".into()), None, "test");
        let plain = Credentials::new("AK", "secret", None, None, "test");
        let signer = Signer::default();
        let mut headers = request_headers();
        signer.sign(request, &mut headers, &session, "r", time).expect("signs");
        assert!(headers.contains_key(X_AMZ_SECURITY_TOKEN));
        signer.sign(request, &mut headers, &plain, "r", time).expect("signs");
        assert!(!headers.contains_key(X_AMZ_SECURITY_TOKEN));
        assert_eq!(headers.get_all(AUTHORIZATION).iter().count(), 1);
    }

    #[test]
    fn debug_output_has_no_secrets() {
        let time = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let credentials = Credentials::new("AKID", "very-secret", Some("very-token".into()), None, "test");
        let signer = Signer::default();
        let mut headers = request_headers();
        let request = Signable { host: "h", path: "/", body: b"" };
        signer.sign(request, &mut headers, &credentials, "r", time).expect("signs");
        let shown = format!("{signer:?} {headers:?} {credentials:?}");
        assert!(!shown.contains("very-") && !shown.contains("Signature="), "{shown}");
    }

    #[test]
    fn credentials_that_are_not_visible_ascii_are_rejected() {
        let request = Signable { host: "h", path: "/", body: b"" };
        for (key, token) in [("AK\n", "token"), ("AK", "to\nken"), ("AKé", "token"), ("AK", "tokén")] {
            let credentials = Credentials::new(key, "secret", Some(token.into()), None, "test");
            let mut headers = request_headers();
            let signed = Signer::default().sign(request, &mut headers, &credentials, "r", UNIX_EPOCH);
            assert_eq!(signed, Err(SignError::Credentials), "{key} {token}");
            let signed = Signer::default().sign_any(&mut any_request(), &credentials, "r", UNIX_EPOCH);
            assert_eq!(signed, Err(SignError::Credentials), "{key} {token}");
        }
    }

    #[test]
    fn timestamps_cover_years_0_to_9999() {
        let at = |seconds: i64| {
            let distance = Duration::from_secs(seconds.unsigned_abs());
            if seconds < 0 { UNIX_EPOCH - distance } else { UNIX_EPOCH + distance }
        };
        let table = [
            (-62_167_219_201, None),
            (-62_167_219_200, Some("00000101T000000Z")),
            (-30_610_224_001, Some("09991231T235959Z")),
            (0, Some("19700101T000000Z")),
            (1_795_224_609, Some("20261121T013009Z")),
            (253_402_300_799, Some("99991231T235959Z")),
        ];
        for (seconds, expected) in table {
            assert_eq!(timestamp(at(seconds)).as_deref(), expected, "at {seconds} s");
        }
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", None, None, "test");
        let request = Signable { host: "localhost", path: "/", body: b"{}" };
        for never in [at(-62_167_219_201), at(253_402_300_800)] {
            let signer = Signer::default();
            let result = signer.sign(request, &mut request_headers(), &credentials, "eu-west-1", never);
            assert_eq!(result, Err(SignError::Time));
            let result = signer.sign_any(&mut any_request(), &credentials, "eu-west-1", never);
            assert_eq!(result, Err(SignError::Time));
        }
    }

    fn any_request() -> http::Request<Bytes> {
        let mut request = http::Request::new(Bytes::from_static(b"{}"));
        *request.method_mut() = http::Method::PUT;
        *request.uri_mut() = "https://sqs.example.com/a%2Fb?z=1&a=x%20y".parse().expect("a URI");
        request.headers_mut().insert("host", HeaderValue::from_static("sqs.example.com"));
        request
    }

    #[test]
    fn signature_of_any_request_covers_method_query_and_added_headers() {
        let credentials = Credentials::new("AKID", "secret", Some("token".to_owned()), None, "test");
        let time = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let mut request = any_request();
        request.headers_mut().insert("x-amz-tenant", HeaderValue::from_static("orders"));
        Signer::default().sign_any(&mut request, &credentials, "eu-west-1", time).expect("it can be signed");
        let keys = std::collections::HashMap::from([("AKID".to_owned(), "secret".to_owned())]);
        let verified = |request: &http::Request<Bytes>| {
            let (method, uri) = (request.method().as_str(), request.uri());
            let query = uri.query().unwrap_or_default();
            let (headers, body) = (request.headers(), request.body());
            verify::verify(verify::Verifiable { method, path: uri.path(), query, headers, body }, &keys, time)
        };
        assert_eq!(verified(&request).map(|claim| claim.region), Ok("eu-west-1".to_owned()));
        request.headers_mut().insert("x-amz-tenant", HeaderValue::from_static("others"));
        assert!(verified(&request).is_err());
    }
}
