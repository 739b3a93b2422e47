//! Compares signatures with those of the aws-sigv4 crate.

use std::time::{Duration, UNIX_EPOCH};

use aws_sigv4::http_request::{
    PercentEncodingMode, SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode,
};
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

fn reference(path: &str, body: &[u8], credentials: &Credentials, region: &str, time: SystemTime) -> String {
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
    let headers = [("content-type", "application/x-amz-json-1.0"), ("x-amz-target", "AmazonSQS.SendMessage")];
    let uri = format!("https://sqs.eu-west-1.amazonaws.com{path}");
    let signable = SignableRequest::new("POST", uri, headers.into_iter(), SignableBody::Bytes(body))
        .expect("a valid request");
    let (instructions, _) =
        aws_sigv4::http_request::sign(signable, &params.into()).expect("signs").into_parts();
    let (headers, _) = instructions.into_parts();
    let authorization = headers.into_iter().find(|header| header.name() == "authorization").expect("signed");
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
    let early = at(-62_167_219_201);
    let result = Signer::default().sign(request, &mut request_headers(), &credentials, "eu-west-1", early);
    assert_eq!(result, Err(SignError::Time));
}
