//! Signed requests where nobody verifies signatures: what is signed is taken as if it were not.
//!
//! s3s refuses signatures that it cannot verify, and decodes bodies in signed chunks only while it verifies them.

use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderValue};
use http::request::Parts;
use s3s::{Body, S3Result};

use super::chunked::Chunked;
use super::malformed;
use super::upload::Upload;
use crate::s3::ops::Trailers;

const CONTENT_SHA256: &str = "x-amz-content-sha256";
const DECODED_LENGTH: &str = "x-amz-decoded-content-length";
/// Parameters of signed URLs, of signature version 4 and version 2.
const OF_SIGNED_URLS: [&str; 10] = [
    "x-amz-algorithm",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-expires",
    "x-amz-security-token",
    "x-amz-signature",
    "x-amz-signedheaders",
    "awsaccesskeyid",
    "expires",
    "signature",
];

/// Takes signatures away, and the chunks of a body that was signed in chunks.
pub(super) fn admit(head: &mut Parts, upload: Upload) -> S3Result<Body> {
    head.headers.remove(AUTHORIZATION);
    unsign_url(head);
    let sum = head.headers.remove(CONTENT_SHA256);
    if !sum.is_some_and(|sum| sum.as_bytes().starts_with(b"STREAMING-")) {
        return Ok(Body::http_body_unsync(upload));
    }
    let length = decoded_length(&head.headers)
        .ok_or_else(|| malformed("x-amz-decoded-content-length is missing or no number"))?;
    head.headers.remove(DECODED_LENGTH);
    head.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    let trailers = Trailers::default();
    head.extensions.insert(trailers.clone());
    Ok(Body::http_body_unsync(Chunked::new(upload, length, trailers)))
}

fn decoded_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(DECODED_LENGTH)?.to_str().ok()?.parse().ok()
}

fn unsign_url(head: &mut Parts) {
    let Some(query) = head.uri.query() else { return };
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
    if !query.split('&').any(|pair| ["x-amz-signature", "signature"].contains(&name(pair).as_str())) {
        return;
    }
    let kept: Vec<_> =
        query.split('&').filter(|pair| !OF_SIGNED_URLS.contains(&name(pair).as_str())).collect();
    let path = head.uri.path();
    let uri = if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) };
    // A part of what was a URL is one.
    if let Ok(uri) = uri.parse() {
        head.uri = uri;
    }
}
