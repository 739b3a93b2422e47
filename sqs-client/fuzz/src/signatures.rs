//! Signatures: the signer and the verifier must agree, and on nothing that was changed.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_credential_types::Credentials;
use http::header::{AUTHORIZATION, HOST, HeaderMap};
use sqs_client::sign::{Claim, VerifyError, Signable, Signer, Verifiable, verify};

use crate::message;

const TOKEN: &str = "x-amz-security-token";
const REGION: &str = "eu-west-1";

/// Checks an HTTP request: `POST <path>?<query>`, headers, an empty line, the body.
///
/// # Panics
/// What was signed is refused, or what was changed is accepted.
pub fn signature(data: &[u8]) {
    let (mut head, body) = message::head_and_body(data);
    let request_line = String::from_utf8_lossy(head.next().unwrap_or_default());
    let (method, uri) = request_line.split_once(' ').unwrap_or(("POST", &request_line));
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let mut headers = HeaderMap::new();
    for (name, value) in head.filter_map(message::header) {
        headers.insert(name, value);
    }
    // Nobody can write a signature without the secret.
    let as_it_came = verify(Verifiable { method, path, query, headers: &headers, body }, &keys(), now());
    assert!(as_it_came.is_err(), "{as_it_came:?}");
    sign_and_verify(path, headers, body);
}

fn keys() -> HashMap<String, String> {
    HashMap::from([("AKID".to_owned(), "a secret that no input knows".to_owned())])
}

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn sign_and_verify(path: &str, mut headers: HeaderMap, body: &[u8]) {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()).map(str::to_owned) else { return };
    let token = headers.get(TOKEN).map(|token| String::from_utf8_lossy(token.as_bytes()).into_owned());
    let credentials =
        Credentials::new("AKID", keys().remove("AKID").expect("its secret"), token.clone(), None, "fuzz");
    let request = Signable { host: &host, path, body };
    if Signer::default().sign(request, &mut headers, &credentials, REGION, now()).is_err() {
        // No header can carry the token.
        assert!(!token.expect("nothing else can be wrong").is_ascii());
        return;
    }
    let check = |path: &str, headers: &HeaderMap, body: &[u8]| {
        verify(Verifiable { method: "POST", path, query: "", headers, body }, &keys(), now())
    };
    let claim = Claim { access_key_id: "AKID".to_owned(), region: REGION.to_owned(), session_token: token };
    assert_eq!(check(path, &headers, body), Ok(claim), "{headers:?}");

    // Whatever the announced hash says: it counts only for a payload that is not signed, which ours always are.
    if !headers.contains_key("x-amz-content-sha256") {
        assert_eq!(check(path, &headers, &[body, b"!"].concat()), Err(VerifyError::Mismatch));
    }
    assert_eq!(check(&format!("{path}!"), &headers, body), Err(VerifyError::Mismatch));
    headers.insert(HOST, format!("x{}", host.trim()).parse().expect("text"));
    assert_eq!(check(path, &headers, body), Err(VerifyError::Mismatch));
    headers.remove(AUTHORIZATION);
    assert_eq!(check(path, &headers, body), Err(VerifyError::Unsigned));
}
