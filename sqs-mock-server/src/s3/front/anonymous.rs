//! Removes signatures from requests if the server accepts any credentials.
//!
//! s3s rejects signatures that it cannot verify.

use http::header::AUTHORIZATION;
use http::request::Parts;

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

/// Removes the signature from the head of a request.
pub(super) fn strip_signature(head: &mut Parts) {
    head.headers.remove(AUTHORIZATION);
    unsign_url(head);
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
