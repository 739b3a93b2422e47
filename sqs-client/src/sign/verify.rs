//! Verifies signatures: the service's side of Signature Version 4, for servers that want to be as strict as AWS.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>

mod proof;

use std::fmt::{self, Write as _};
use std::time::{Duration, SystemTime};

use aws_sigv4::sign::v4::{calculate_signature, generate_signing_key};
use http::header::HeaderMap;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use time::{Date, Month, PrimitiveDateTime, Time};

use self::proof::{Proof, SIGNATURE, incomplete};
use super::{ALGORITHM, PATH, SERVICE, X_AMZ_DATE, X_AMZ_SECURITY_TOKEN, fold};
use crate::hex::Sha256Hex;

/// How far the clock of a caller may be off.
const WINDOW: Duration = Duration::from_secs(300);
/// What stays as it is in a canonical query (RFC 3986, unreserved).
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A request as it came.
#[derive(Clone, Copy, Debug)]
pub struct Verifiable<'a> {
    /// The method.
    pub method: &'a str,
    /// The path of the URI, percent-encoded as it came.
    pub path: &'a str,
    /// The query of the URI without its question mark, percent-encoded as it came.
    pub query: &'a str,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The body.
    pub body: &'a [u8],
}

/// What a valid signature says about its caller.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claim {
    /// The access key.
    pub access_key_id: String,
    /// The region of the credential scope.
    pub region: String,
    /// The session token, which the signature covers.
    pub session_token: Option<String>,
}

/// Finds the secret of an access key.
pub trait KeyLookup {
    /// The secret, or `None` for an unknown key.
    fn secret(&self, access_key_id: &str) -> Option<&str>;
}

impl<S: std::hash::BuildHasher> KeyLookup for std::collections::HashMap<String, String, S> {
    fn secret(&self, access_key_id: &str) -> Option<&str> {
        self.get(access_key_id).map(String::as_str)
    }
}

/// Why a request is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// It is not signed.
    Unsigned,
    /// Something in the `Authorization` header or in the parameters of a signed URL is missing or malformed; the text
    /// says what.
    Incomplete(String),
    /// The scope names another service or day.
    WrongScope(String),
    /// The access key is unknown.
    UnknownKey,
    /// The time of the signature is more than five minutes from the server's.
    Skewed {
        /// `x-amz-date`.
        signed: String,
        /// The server's time in the same form.
        now: String,
    },
    /// The URL was signed for a time that is over.
    Expired {
        /// `X-Amz-Date`.
        signed: String,
        /// `X-Amz-Expires`.
        seconds: u64,
        /// The server's time in the same form.
        now: String,
    },
    /// The signature is not the one that the secret gives for this request.
    Mismatch,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned => f.write_str("Missing Authentication Token"),
            Self::Incomplete(text) | Self::WrongScope(text) => f.write_str(text),
            Self::UnknownKey => f.write_str("The security token included in the request is invalid."),
            Self::Skewed { signed, now } => {
                write!(f, "Signature not yet current or expired: {signed} is more than 5 min. from {now}")
            }
            Self::Expired { signed, seconds, now } => {
                write!(f, "Signature expired: {seconds} s from {signed} on were over at {now}")
            }
            Self::Mismatch => f.write_str(
                "The request signature we calculated does not match the signature you provided. Check your AWS \
                 Secret Access Key and signing method.",
            ),
        }
    }
}

impl std::error::Error for Refusal {}

/// Verifies the signature at the time `now`: the one in the `Authorization` header or else the one in the URL.
///
/// A signature in a URL holds for the seconds that `X-Amz-Expires` gives, 1 to 604,800, and for 900 without it. What is
/// not in the URL, such as a form in the body, is covered by it as by one in the header.
///
/// # Errors
/// See [`Refusal`].
pub fn verify(request: Verifiable<'_>, keys: &impl KeyLookup, now: SystemTime) -> Result<Claim, Refusal> {
    let proof = Proof::of(request)?;
    let secret = keys.secret(&proof.access_key_id).ok_or(Refusal::UnknownKey)?;
    proof.holds(now)?;
    let canonical = canonical_request(request, &proof.signed_headers)?;
    let Proof { stamp, scope, .. } = &proof;
    let to_sign = format!("{ALGORITHM}\n{stamp}\n{scope}\n{}", Sha256Hex::of(canonical));
    let key = generate_signing_key(secret, proof.signed, &proof.region, SERVICE);
    if calculate_signature(key, to_sign.as_bytes()) != proof.signature {
        return Err(Refusal::Mismatch);
    }
    let Proof { access_key_id, region, session_token, .. } = proof;
    Ok(Claim { access_key_id, region, session_token })
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn canonical_request(request: Verifiable<'_>, signed_headers: &str) -> Result<String, Refusal> {
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
        let folded: Vec<_> = values.into_iter().map(fold).collect();
        let _ = writeln!(canonical, "{name}:{}", folded.join(","));
    }
    let announced = text(request.headers, "x-amz-content-sha256").filter(|hash| *hash == "UNSIGNED-PAYLOAD");
    let computed = Sha256Hex::of(request.body);
    let _ = write!(canonical, "\n{signed_headers}\n{}", announced.unwrap_or(computed.as_str()));
    Ok(canonical)
}

/// Parameters by name and value, each encoded anew, without the signature itself.
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
fn parse_timestamp(stamp: &str) -> Option<SystemTime> {
    let number = |range: std::ops::Range<usize>| -> Option<u8> { stamp.get(range)?.parse().ok() };
    if stamp.len() != 16 || stamp.get(8..9)? != "T" || stamp.get(15..)? != "Z" {
        return None;
    }
    let month = Month::try_from(number(4..6)?).ok()?;
    let date = Date::from_calendar_date(stamp.get(..4)?.parse().ok()?, month, number(6..8)?).ok()?;
    let time = Time::from_hms(number(9..11)?, number(11..13)?, number(13..15)?).ok()?;
    Some(PrimitiveDateTime::new(date, time).assume_utc().into())
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
