//! Signatures: the verifier must accept a signed request and reject it after any change.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_credential_types::Credentials;
use http::header::{AUTHORIZATION, HOST, HeaderMap};
use sqs_client::wire::sign::{Claim, Signable, Signer, Verifiable, VerifyError, verify};

use crate::message;

const TOKEN: &str = "x-amz-security-token";
const REGION: &str = "eu-west-1";

/// Checks an HTTP request: `POST <path>?<query>`, headers, an empty line and the body.
///
/// # Panics
/// A signed request is rejected, or a changed request is accepted.
pub fn signature(data: &[u8]) {
    let (mut head, body) = message::head_and_body(data);
    let request_line = String::from_utf8_lossy(head.next().unwrap_or_default());
    let (method, uri) = request_line.split_once(' ').unwrap_or(("POST", &request_line));
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let mut headers = HeaderMap::new();
    for (name, value) in head.filter_map(message::header) {
        headers.insert(name, value);
    }
    // The fuzzer does not know the secret, so it cannot forge a signature.
    let unsigned = verify(Verifiable { method, path, query, headers: &headers, body }, &keys(), now());
    assert!(unsigned.is_err(), "{unsigned:?}");
    sign_and_verify(path, headers, body);
}

fn keys() -> HashMap<String, String> {
    HashMap::from([("AKID".to_owned(), "a secret that the fuzzer does not know".to_owned())])
}

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn sign_and_verify(path: &str, mut headers: HeaderMap, body: &[u8]) {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()).map(str::to_owned) else { return };
    let token = headers.get(TOKEN).map(|token| String::from_utf8_lossy(token.as_bytes()).into_owned());
    let credentials =
        Credentials::new("AKID", keys().remove("AKID").expect("has a secret"), token.clone(), None, "fuzz");
    let request = Signable { host: &host, path, body };
    if Signer::default().sign(request, &mut headers, &credentials, REGION, now()).is_err() {
        // The token is not allowed in a header.
        assert!(!token.expect("only a token can be invalid").is_ascii());
        return;
    }
    let check = |path: &str, headers: &HeaderMap, body: &[u8]| {
        verify(Verifiable { method: "POST", path, query: "", headers, body }, &keys(), now())
    };
    let claim = Claim { access_key_id: "AKID".to_owned(), region: REGION.to_owned(), session_token: token };
    assert_eq!(check(path, &headers, body), Ok(claim), "{headers:?}");

    // With `x-amz-content-sha256: UNSIGNED-PAYLOAD` the verifier ignores the body.
    if !headers.contains_key("x-amz-content-sha256") {
        assert_eq!(check(path, &headers, &[body, b"!"].concat()), Err(VerifyError::Mismatch));
    }
    assert_eq!(check(&format!("{path}!"), &headers, body), Err(VerifyError::Mismatch));
    headers.insert(HOST, format!("x{}", host.trim()).parse().expect("text"));
    assert_eq!(check(path, &headers, body), Err(VerifyError::Mismatch));
    headers.remove(AUTHORIZATION);
    assert_eq!(check(path, &headers, body), Err(VerifyError::Unsigned));
}
