//! Removes signatures from requests if the server accepts any credentials.
//!
//! s3s rejects signatures that it cannot verify, and decodes `aws-chunked` bodies only of requests that it verifies.

use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderValue};
use http::request::Parts;
use s3s::{Body, S3Result};

use super::chunked::ChunkedBody;
use super::malformed;
use super::request_body::RequestBody;
use crate::s3::ops::Trailers;

const CONTENT_SHA256: &str = "x-amz-content-sha256";
const DECODED_LENGTH: &str = "x-amz-decoded-content-length";
/// Query parameters of presigned URLs, in lower case, of signature versions 4 and 2.
const SIGNATURE_PARAMETERS: [&str; 10] = [
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

/// Removes the signature from the head, and decodes a body in `aws-chunked` encoding.
pub(super) fn strip_signature(head: &mut Parts, body: RequestBody) -> S3Result<Body> {
    head.headers.remove(AUTHORIZATION);
    unsign_url(head);
    let content_sha256 = head.headers.remove(CONTENT_SHA256);
    if !content_sha256.is_some_and(|value| value.as_bytes().starts_with(b"STREAMING-")) {
        return Ok(Body::http_body_unsync(body));
    }
    let length = decoded_length(&head.headers)
        .ok_or_else(|| malformed("x-amz-decoded-content-length is missing or not a number"))?;
    head.headers.remove(DECODED_LENGTH);
    head.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    let trailers = Trailers::default();
    head.extensions.insert(trailers.clone());
    Ok(Body::http_body_unsync(ChunkedBody::new(body, length, trailers)))
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
        query.split('&').filter(|pair| !SIGNATURE_PARAMETERS.contains(&name(pair).as_str())).collect();
    let path = head.uri.path();
    let uri = if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) };
    // Parsing cannot fail: the text is a part of a valid URI.
    if let Ok(uri) = uri.parse() {
        head.uri = uri;
    }
}
