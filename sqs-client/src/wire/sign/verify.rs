//! Verifies Signature Version 4, for servers.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>

mod parameters;

use std::fmt::{self, Write as _};
use std::time::{Duration, SystemTime};

use aws_sigv4::sign::v4::{calculate_signature, generate_signing_key};
use http::header::HeaderMap;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use time::{Date, Month, PrimitiveDateTime, Time};

use self::parameters::{SIGNATURE, SignatureParameters, incomplete};
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
    /// The secret access key, or `None` for an unknown access key id.
    fn secret(&self, access_key_id: &str) -> Option<&str>;
}

impl<S: std::hash::BuildHasher> KeyLookup for std::collections::HashMap<String, String, S> {
    fn secret(&self, access_key_id: &str) -> Option<&str> {
        self.get(access_key_id).map(String::as_str)
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
    /// The access key id is unknown.
    UnknownKey,
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
    let secret = keys.secret(&parameters.access_key_id).ok_or(VerifyError::UnknownKey)?;
    parameters.check_time(now)?;
    let canonical = canonical_request(request, &parameters.signed_headers)?;
    let SignatureParameters { timestamp, scope, .. } = &parameters;
    let string_to_sign = format!("{ALGORITHM}\n{timestamp}\n{scope}\n{}", Sha256Hex::of(canonical));
    let key = generate_signing_key(secret, parameters.signed_at, &parameters.region, service);
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

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
