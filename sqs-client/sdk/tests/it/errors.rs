//! A program gets the same errors from aws-sdk-sqs and from `sqs_sdk`.

use std::time::Duration;

use aws_smithy_runtime_api::shared::IntoShared as _;
use sqs_mock_server::MockSqs;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::service::{Act, raw_service, refusal};

mod with_aws_sdk {
    include!("programs/errors.rs");
}

mod with_sqs_client {
    use sqs_sdk as aws_sdk_sqs;
    include!("programs/errors.rs");
}

use aws_sdk_sqs::config::SharedHttpClient;

/// The HTTP client of the AWS SDK, without TLS, which this build omits.
fn http() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new().build_http().into_shared()
}

/// The error at this endpoint through both crates, with the same settings.
macro_rules! both {
    ($endpoint:expr) => {
        both!($endpoint, |config| config)
    };
    ($endpoint:expr, |$config:ident| $settings:expr) => {{
        let endpoint: &str = &$endpoint;
        let $config = with_aws_sdk::config(endpoint, Some(http()));
        let theirs = with_aws_sdk::failure($settings.build()).await;
        let $config = with_sqs_client::config(endpoint, None);
        let ours = with_sqs_client::failure($settings.build()).await;
        let $config = with_sqs_client::config(endpoint, Some(http()));
        let ours_over_their_http_client = with_sqs_client::failure($settings.build()).await;
        assert_eq!(ours, ours_over_their_http_client, "the transport makes no difference");
        (theirs, ours)
    }};
}

#[tokio::test]
async fn service_errors_are_the_same() {
    let server = MockSqs::builder().one_minute_rules(true).start().await.expect("a server");
    let theirs =
        aws_sdk_sqs::Client::from_conf(with_aws_sdk::config(server.endpoint_url(), Some(http())).build());
    let theirs = with_aws_sdk::refusals(&theirs, "theirs").await;
    let ours = with_sqs_client::config(server.endpoint_url(), None).build();
    let ours = with_sqs_client::refusals(&sqs_sdk::Client::from_conf(ours), "ours").await;
    assert_eq!(theirs, ours);
    assert!(theirs.len() > 10 && theirs[0].contains("QueueDoesNotExist"), "{theirs:#?}");
}

#[tokio::test]
async fn unknown_codes_and_denials_are_the_same() {
    for (status, code) in
        [(403, "AccessDenied"), (400, "BrandNew"), (403, "RequestThrottled"), (500, "InternalFailure")]
    {
        let server = MockServer::start().await;
        Mock::given(any()).respond_with(refusal(status, code, code, "no")).mount(&server).await;
        let (theirs, ours) = both!(server.uri());
        assert_eq!(theirs, ours);
        assert!(theirs.contains(code), "{theirs}");
    }
}

#[tokio::test]
async fn responses_not_from_sqs_give_the_same_error() {
    for answer in [
        ResponseTemplate::new(503).set_body_string("<html>busy</html>"),
        ResponseTemplate::new(200).set_body_string("<html>log in</html>"),
    ] {
        let server = MockServer::start().await;
        Mock::given(any()).respond_with(answer.insert_header("x-amzn-requestid", "r-1")).mount(&server).await;
        let (theirs, ours) = both!(server.uri());
        assert_eq!(theirs, ours);
    }
}

#[tokio::test]
async fn refused_connection_is_an_io_error() {
    let (theirs, ours) = both!("http://127.0.0.1:1");
    assert_eq!(theirs, ours);
    assert!(ours.contains("io true"), "{ours}");
}

#[tokio::test]
async fn closed_connection_is_a_transient_error() {
    let (endpoint, _) = raw_service(vec![Act::Close]).await;
    let (theirs, ours) = both!(endpoint);
    assert_eq!(theirs, ours);
}

#[tokio::test]
async fn timeouts_are_the_same() {
    let (endpoint, _) = raw_service(vec![Act::Hang(String::new())]).await;
    let limit = Duration::from_millis(50);
    let (theirs, ours) = both!(endpoint, |config| config.timeout_config(
        aws_smithy_types::timeout::TimeoutConfig::builder().operation_timeout(limit).build()
    ));
    assert_eq!(theirs, ours);
    assert!(ours.starts_with("timeout error"), "{ours}");
    let (theirs, ours) = both!(endpoint, |config| config.timeout_config(
        aws_smithy_types::timeout::TimeoutConfig::builder().operation_attempt_timeout(limit).build()
    ));
    assert_eq!(theirs, ours);
    let (theirs, ours) = both!(endpoint, |config| config
        .timeout_config(aws_smithy_types::timeout::TimeoutConfig::builder().read_timeout(limit).build()));
    assert_eq!(theirs, ours);
    assert!(ours.contains("dispatch failure, timeout true"), "{ours}");
}

#[tokio::test]
async fn configured_timeouts_cut_long_polls_in_both() {
    use aws_smithy_types::timeout::TimeoutConfig;

    let (endpoint, _) = raw_service(vec![Act::Hang(String::new())]).await;
    let limit = Duration::from_millis(50);
    for timeouts in [
        TimeoutConfig::builder().operation_timeout(limit).build(),
        TimeoutConfig::builder().operation_attempt_timeout(limit).build(),
        TimeoutConfig::builder().read_timeout(limit).build(),
    ] {
        let started = tokio::time::Instant::now();
        let config = with_aws_sdk::config(&endpoint, Some(http())).timeout_config(timeouts.clone()).build();
        let theirs = with_aws_sdk::failure_of_receive(config, 20).await;
        let config = with_sqs_client::config(&endpoint, None).timeout_config(timeouts).build();
        let ours = with_sqs_client::failure_of_receive(config, 20).await;
        assert_eq!(theirs, ours);
        assert!(started.elapsed() < Duration::from_secs(10), "neither waits for the 20 s of the poll");
    }
}

#[tokio::test]
async fn missing_region_is_a_dispatch_failure_in_both() {
    let (theirs, ours) = both!("http://127.0.0.1:1", |config| {
        let mut config = config;
        config.set_region(None).set_endpoint_url(None);
        config
    });
    assert_eq!(theirs, ours);
}

#[tokio::test]
async fn missing_credentials_are_a_dispatch_failure_in_both() {
    let theirs = with_aws_sdk::without_credentials("http://127.0.0.1:1", Some(http())).build();
    let ours = with_sqs_client::without_credentials("http://127.0.0.1:1", None).build();
    let (theirs, ours) = (with_aws_sdk::failure(theirs).await, with_sqs_client::failure(ours).await);
    assert_eq!(theirs, ours);
}

#[tokio::test]
async fn source_of_sdk_error_is_the_error_of_the_plain_client() {
    let config = with_sqs_client::config("http://127.0.0.1:1", None).build();
    let request = sqs_sdk::Client::from_conf(config).list_queues();
    let source = request.send().await.expect_err("connection refused").into_source().expect("it has one");
    let connector = source.downcast_ref::<sqs_sdk::error::ConnectorError>().expect("of the connection");
    let plain =
        std::error::Error::source(connector).and_then(|cause| cause.downcast_ref::<sqs_client::Error>());
    let plain = plain.expect("the error of the plain client");
    assert_eq!((plain.attempts(), plain.is_outcome_unknown()), (1, false));
}

#[tokio::test]
async fn error_keeps_the_first_64_kib_of_a_long_answer() {
    for (status, length, kept) in [(200, 1_000, 1_000), (200, 200_000, 65_536), (503, 200_000, 65_536)] {
        let server = MockServer::start().await;
        let answer = ResponseTemplate::new(status).set_body_string("<".repeat(length));
        Mock::given(any()).respond_with(answer).mount(&server).await;
        let config = with_sqs_client::config(&server.uri(), None).build();
        let request = sqs_sdk::Client::from_conf(config).list_queues();
        let error = request.send().await.expect_err("unreadable");
        let raw = error.raw_response().expect("it was answered");
        assert_eq!(raw.body().bytes().map(<[u8]>::len), Some(kept));
    }
}

#[tokio::test]
async fn session_token_that_the_service_quotes_is_in_no_text_of_an_error() {
    const TOKEN: &str = "FwoGZXIvYXdzEBYaD-session-token";
    let quoted = format!("The canonical request was POST\\nx-amz-security-token:{TOKEN}\\nx-amz-date:1");
    for answer in [
        refusal(403, "SignatureDoesNotMatch", "InvalidSignatureException", &quoted),
        ResponseTemplate::new(403).set_body_string(format!("<html>X-Amz-Security-Token: {TOKEN}</html>")),
        ResponseTemplate::new(200)
            .set_body_string(format!(r#"["x-amz-security-token", "x-amz-security-token={TOKEN}"]"#)),
    ] {
        let server = MockServer::start().await;
        Mock::given(any()).respond_with(answer).mount(&server).await;
        let config = with_sqs_client::config(&server.uri(), None).build();
        let error = sqs_sdk::Client::from_conf(config).list_queues().send().await.expect_err("refused");
        let raw = error.raw_response().expect("a response");
        assert!(raw.body().bytes().is_some_and(|body| !body.is_empty()), "the rest of the body is kept");
        let shown =
            format!("{error} {error:?} {error:#?} {raw:?} {}", sqs_sdk::error::DisplayErrorContext(&error));
        assert!(!shown.contains(TOKEN), "{shown}");
        let plain = crate::service::client(&server.uri()).list_queues().send().await.expect_err("refused");
        let shown = format!("{plain} {plain:?}");
        assert!(!shown.contains(TOKEN), "{shown}");
    }
}
