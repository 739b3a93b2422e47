//! What the signer signs is accepted; everything else has its own refusal.

use std::collections::HashMap;
use std::time::UNIX_EPOCH;

use aws_credential_types::Credentials;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};

use super::*;
use crate::sign::{Signable, Signer};

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

fn check(headers: &HeaderMap, path: &str, body: &[u8], at: SystemTime) -> Result<Claim, Refusal> {
    verify(Verifiable { method: "POST", path, query: "", headers, body }, &keys(), at)
}

#[test]
fn what_the_signer_signs_is_accepted() {
    for path in ["/", "/000000000000/name", "/a%20b/c"] {
        for token in [None, Some("token")] {
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
fn whatever_is_changed_afterwards_breaks_the_signature() {
    let headers = signed("/", Some("token"));
    assert_eq!(check(&headers, "/other", BODY, now()), Err(Refusal::Mismatch));
    assert_eq!(check(&headers, "/", b"{}", now()), Err(Refusal::Mismatch));
    for name in ["content-type", "host", "x-amz-security-token"] {
        let mut changed = headers.clone();
        changed.insert(http::HeaderName::from_static(name), HeaderValue::from_static("changed"));
        assert_eq!(check(&changed, "/", BODY, now()), Err(Refusal::Mismatch), "{name}");
    }
    let get = Verifiable { method: "GET", path: "/", query: "", headers: &headers, body: BODY };
    assert_eq!(verify(get, &keys(), now()), Err(Refusal::Mismatch));
    let with_query = Verifiable { method: "POST", query: "Action=ListQueues", ..get };
    assert_eq!(verify(with_query, &keys(), now()), Err(Refusal::Mismatch));
}

#[test]
fn clocks_may_differ_by_five_minutes() {
    let headers = signed("/", None);
    for (seconds, fine) in [(0, true), (299, true), (301, false)] {
        let off = Duration::from_secs(seconds);
        for at in [now() + off, now() - off] {
            let result = check(&headers, "/", BODY, at);
            assert_eq!(result.is_ok(), fine, "{seconds} {result:?}");
        }
    }
}

#[test]
fn each_fault_has_its_own_refusal() {
    let headers = signed("/", None);
    let with = |name: &'static str, value: Option<String>| {
        let mut changed = headers.clone();
        match value {
            Some(value) => drop(changed.insert(name, HeaderValue::try_from(value).expect("text"))),
            None => drop(changed.remove(name)),
        }
        check(&changed, "/", BODY, now()).expect_err("refused")
    };
    let authorization = headers[AUTHORIZATION].to_str().expect("text").to_owned();
    let replaced = |from: &str, to: &str| with("authorization", Some(authorization.replace(from, to)));
    assert_eq!(with("authorization", None), Refusal::Unsigned);
    assert_eq!(replaced("AKID", "OTHER"), Refusal::UnknownKey);
    assert!(matches!(replaced("/sqs/", "/sns/"), Refusal::WrongScope(_)));
    assert!(matches!(replaced("/2027", "/2026"), Refusal::WrongScope(_)));
    assert!(matches!(with("x-amz-date", None), Refusal::Incomplete(_)));
    assert!(matches!(with("x-amz-date", Some("yesterday".into())), Refusal::Incomplete(_)));
    for (from, to) in [
        ("AWS4-HMAC-SHA256", "AWS3"),
        ("Credential=", "Cred="),
        ("SignedHeaders=", "Headers="),
        ("Signature=", "Sig="),
    ] {
        assert!(matches!(replaced(from, to), Refusal::Incomplete(_)), "{from}");
    }
    assert!(matches!(replaced(";host", ""), Refusal::Incomplete(_)));
    assert!(matches!(replaced("/aws4_request", ""), Refusal::Incomplete(_)));
}

#[test]
fn a_query_counts_whatever_order_it_came_in() {
    assert_eq!(canonical_query("b=2&a=x%20y&a=1&c"), "a=1&a=x%20y&b=2&c=");
    assert_eq!(canonical_query(""), "");
}

#[test]
fn garbage_is_refused_without_harm() {
    for header in
        ["", " ", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=////, SignedHeaders=;, Signature="]
    {
        let mut headers = signed("/", None);
        headers.insert(AUTHORIZATION, HeaderValue::from_str(header).expect("text"));
        assert!(check(&headers, "/", BODY, now()).is_err(), "{header:?}");
    }
}

/// A URL as the signer of AWS presigns it, good for five minutes.
fn presigned(body: &[u8], token: Option<&str>) -> String {
    use aws_sigv4::http_request::{SignableBody, SignableRequest, SignatureLocation, SigningSettings, sign};
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
        .expect("all is there");
    let mut request = http::Request::builder().method("POST").uri(URL).body(()).expect("a request");
    let signable =
        SignableRequest::new("POST", URL, std::iter::empty(), SignableBody::Bytes(body)).expect("a URL");
    sign(signable, &params.into()).expect("signs").into_parts().0.apply_to_request_http1x(&mut request);
    request.uri().query().expect("it is signed").to_owned()
}

const URL: &str =
    "https://sqs.eu-west-1.amazonaws.com/000000000000/q?Action=SendMessage&MessageBody=a%20b%2Bc";

fn check_url(query: &str, body: &[u8], at: SystemTime) -> Result<Claim, Refusal> {
    let mut headers = HeaderMap::new();
    headers.insert(HOST, HeaderValue::from_static(HOST_NAME));
    verify(
        Verifiable { method: "POST", path: "/000000000000/q", query, headers: &headers, body },
        &keys(),
        at,
    )
}

#[test]
fn url_that_aws_presigns_is_accepted_until_it_expires() {
    for token in [None, Some("to/ken+==")] {
        let query = presigned(b"", token);
        let claim = check_url(&query, b"", now()).expect("valid");
        assert_eq!((claim.access_key_id.as_str(), claim.region.as_str()), ("AKID", "eu-west-1"));
        assert_eq!(claim.session_token.as_deref(), token);
        assert!(check_url(&query, b"", now() + Duration::from_secs(300)).is_ok());
        let late = check_url(&query, b"", now() + Duration::from_secs(301));
        assert!(matches!(late, Err(Refusal::Expired { seconds: 300, .. })), "{late:?}");
        let early = check_url(&query, b"", now() - Duration::from_secs(301));
        assert!(matches!(early, Err(Refusal::Skewed { .. })), "{early:?}");
    }
}

#[test]
fn url_is_signed_with_all_that_is_in_it_and_with_the_body() {
    let query = presigned(b"MessageGroupId=g", None);
    assert!(check_url(&query, b"MessageGroupId=g", now()).is_ok());
    assert_eq!(check_url(&query, b"MessageGroupId=h", now()), Err(Refusal::Mismatch));
    for (from, to) in [("SendMessage", "PurgeQueue"), ("X-Amz-Expires=300", "X-Amz-Expires=301")] {
        let changed = query.replace(from, to);
        assert_eq!(check_url(&changed, b"MessageGroupId=g", now()), Err(Refusal::Mismatch), "{from}");
    }
    let more = format!("{query}&DelaySeconds=1");
    assert_eq!(check_url(&more, b"MessageGroupId=g", now()), Err(Refusal::Mismatch));
}

#[test]
fn url_without_one_of_the_parameters_is_incomplete() {
    let query = presigned(b"", None);
    for name in
        ["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Signature"]
    {
        let less: Vec<_> = query.split('&').filter(|pair| !pair.starts_with(name)).collect();
        let refusal = check_url(&less.join("&"), b"", now()).expect_err(name);
        assert!(matches!(&refusal, Refusal::Incomplete(text) if text.contains(name)), "{name}: {refusal:?}");
    }
    for bad in ["0", "604801", "-1", "x", ""] {
        let query = query.replace("X-Amz-Expires=300", &format!("X-Amz-Expires={bad}"));
        assert!(matches!(check_url(&query, b"", now()), Err(Refusal::Incomplete(_))), "{bad}");
    }
    assert_eq!(check_url("Action=ListQueues", b"", now()), Err(Refusal::Unsigned));
}
