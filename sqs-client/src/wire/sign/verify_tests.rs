//! The verifier accepts requests signed by [`Signer`] and rejects all others with a specific error.

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
        assert!(matches!(&error, VerifyError::Incomplete(text) if text.contains(name)), "{name}: {error:?}");
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
