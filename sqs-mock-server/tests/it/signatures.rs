//! Required signatures.

use std::time::{Duration, SystemTime};

use aws_sdk_sqs::error::ProvideErrorMetadata as _;
use sqs_client::config::Credentials;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::sign::{Signable, Signer};
use sqs_client::{Client, Error};
use sqs_mock_server::MockSqs;

async fn strict() -> MockSqs {
    let builder = MockSqs::builder().require_signatures([("AKID", "secret"), ("123456789012", "other")]);
    builder.start().await.unwrap()
}

/// A client that signs with this pair.
fn signing(server: &MockSqs, id: &str, secret: &str, protocol: Protocol) -> Client {
    let credentials = Credentials::new(id, secret, None, None, "test");
    Client::from_conf(server.client_config().credentials_provider(credentials).protocol(protocol).build())
}

async fn list(client: &Client) -> Result<(), Error> {
    client.list_queues().send().await.map(drop)
}

const PROTOCOLS: [Protocol; 2] = [Protocol::AwsJson, Protocol::Query];

#[tokio::test]
async fn known_keys_are_accepted_in_both_protocols() {
    let server = strict().await;
    for protocol in PROTOCOLS {
        for (id, secret) in [("AKID", "secret"), ("123456789012", "other")] {
            list(&signing(&server, id, secret, protocol)).await.unwrap();
        }
    }
    list(&server.client()).await.expect("the server's own client has one of the keys");
}

#[tokio::test]
async fn wrong_signatures_get_the_errors_of_aws() {
    let server = strict().await;
    for protocol in PROTOCOLS {
        let unknown = list(&signing(&server, "NOBODY", "secret", protocol)).await.unwrap_err();
        assert_eq!((unknown.code(), unknown.status()), (Some("InvalidClientTokenId"), Some(403)));
        let wrong = list(&signing(&server, "AKID", "guess", protocol)).await.unwrap_err();
        assert_eq!((wrong.code(), wrong.status()), (Some("SignatureDoesNotMatch"), Some(403)));

        let mut config = server.client_config().protocol(protocol).allow_no_auth();
        config.set_credentials_provider(None);
        let unsigned = list(&Client::from_conf(config.build())).await.unwrap_err();
        assert_eq!((unsigned.code(), unsigned.status()), (Some("AccessDenied"), Some(403)));
        assert!(unsigned.message().unwrap().contains("https://sqs.us-east-1.amazonaws.com/"));
    }
}

#[tokio::test]
async fn mock_clock_does_not_affect_signatures() {
    let server = strict().await;
    server.clock().advance(Duration::from_secs(14 * 86_400));
    list(&signing(&server, "AKID", "secret", Protocol::AwsJson)).await.unwrap();
}

#[tokio::test]
async fn signatures_of_the_aws_sdk_are_accepted() {
    let server = strict().await;
    let sdk = |secret: &str| {
        let config = aws_sdk_sqs::Config::builder()
            .behavior_version(aws_sdk_sqs::config::BehaviorVersion::v2026_01_12())
            .region(aws_sdk_sqs::config::Region::new("eu-west-1"))
            .credentials_provider(Credentials::new("AKID", secret, Some("token".into()), None, "test"))
            .endpoint_url(server.endpoint_url())
            .http_client(aws_smithy_http_client::Builder::new().build_http());
        aws_sdk_sqs::Client::from_conf(config.build())
    };
    sdk("secret").create_queue().queue_name("q").send().await.unwrap();
    let error = sdk("guess").create_queue().queue_name("q").send().await.unwrap_err();
    assert_eq!(error.code(), Some("SignatureDoesNotMatch"));
}

#[tokio::test]
async fn signatures_are_not_verified_by_default() {
    let server = MockSqs::start().await;
    list(&signing(&server, "NOBODY", "guess", Protocol::AwsJson)).await.unwrap();
}

#[tokio::test]
async fn required_signatures_without_keys_are_an_error() {
    let none: [(&str, &str); 0] = [];
    let error = MockSqs::builder().require_signatures(none).start().await.unwrap_err();
    assert!(error.to_string().contains("key"), "{error}");
}

#[expect(clippy::disallowed_methods, reason = "callers sign by the time of the system")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// A presigned URL of an empty GET, signed by the AWS SDK.
fn presigned(server: &MockSqs, secret: &str, query: &str) -> String {
    use aws_sigv4::http_request::{SignableBody, SignableRequest, SignatureLocation, SigningSettings, sign};
    let url = format!("{}/?{query}", server.endpoint_url());
    let mut settings = SigningSettings::default();
    settings.signature_location = SignatureLocation::QueryParams;
    settings.expires_in = Some(Duration::from_secs(60));
    let identity = Credentials::new("123456789012", secret, None, None, "test").into();
    let params =
        aws_sigv4::sign::v4::SigningParams::builder().identity(&identity).region("eu-west-1").name("sqs");
    let params = params.time(now()).settings(settings).build().unwrap();
    let mut request = http::Request::builder().uri(&url).body(()).unwrap();
    let signable = SignableRequest::new("GET", &url, std::iter::empty(), SignableBody::Bytes(b"")).unwrap();
    sign(signable, &params.into()).unwrap().into_parts().0.apply_to_request_http1x(&mut request);
    request.uri().path_and_query().unwrap().to_string()
}

#[tokio::test]
async fn presigned_url_is_accepted_with_the_account_of_its_signer() {
    let server = strict().await;
    let mut wire = crate::wire::Wire::connect(&server).await;
    let url = presigned(&server, "other", "Action=CreateQueue&QueueName=q");
    let created = wire.get(&url).await;
    assert!(created.text().contains("/123456789012/q</QueueUrl>"), "{}", created.text());
    let wrong = presigned(&server, "guess", "Action=ListQueues");
    wire.get(&wrong).await.refused_in_xml(403, "SignatureDoesNotMatch");
    let cut: Vec<_> = url.split('&').filter(|pair| !pair.starts_with("X-Amz-Date")).collect();
    wire.get(&cut.join("&")).await.refused_in_xml(400, "IncompleteSignature");
}

#[tokio::test]
async fn account_comes_from_the_signature_not_from_other_claims() {
    let server = strict().await;
    let body =
        "Action=CreateQueue&QueueName=q&X-Amz-Credential=123456789012/20260102/eu-west-1/sqs/aws4_request";
    let host = server.endpoint_url().trim_start_matches("http://");
    let mut headers = http::HeaderMap::new();
    headers.insert("content-type", "application/x-www-form-urlencoded".parse().unwrap());
    let credentials = Credentials::new("AKID", "secret", None, None, "test");
    let signable = Signable { host, path: "/", body: body.as_bytes() };
    Signer::default().sign(signable, &mut headers, &credentials, "us-east-1", now()).unwrap();
    let headers: Vec<_> =
        headers.iter().map(|(name, value)| format!("{name}: {}\r\n", value.to_str().unwrap())).collect();
    let mut wire = crate::wire::Wire::connect(&server).await;
    let created = wire.exchange("POST /", &headers.concat(), body.as_bytes()).await;
    assert!(created.text().contains("/000000000000/q</QueueUrl>"), "{}", created.text());
}
