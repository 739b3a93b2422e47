//! Errors of the AWS SDK, converted, equal the errors of this crate for the same failures.

use std::sync::atomic::Ordering;
use std::time::Duration;

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use aws_sdk_sqs::config::IdentityCache;
use aws_sdk_sqs::config::timeout::TimeoutConfig;
use sqs_client::transport::{TransportError, TransportErrorKind};
use sqs_client::{Error, ErrorKind};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::aws_sdk::{impatient_sdk, sdk, sdk_settings, send};
use crate::service::{Act, client, impatient, raw_service, refusal};

/// The properties of an error.
#[derive(Debug, PartialEq)]
struct Facts {
    kind: ErrorKind,
    code: Option<String>,
    message: Option<String>,
    status: Option<u16>,
    request_id: Option<String>,
    attempts: u32,
    is_retryable: bool,
    is_throttle: bool,
    is_outcome_unknown: bool,
    transport: Option<TransportErrorKind>,
}

fn facts(error: &Error) -> Facts {
    Facts {
        kind: error.kind(),
        code: error.code().map(str::to_owned),
        message: error.message().map(str::to_owned),
        status: error.status(),
        request_id: error.request_id().map(str::to_owned),
        attempts: error.attempts(),
        is_retryable: error.is_retryable(),
        is_throttle: error.is_throttle(),
        is_outcome_unknown: error.is_outcome_unknown(),
        transport: error.transport_error().map(TransportError::kind),
    }
}

/// The errors of both clients from a service that always returns this response.
async fn both(answer: ResponseTemplate) -> (Error, Error) {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(answer).mount(&server).await;
    let ours = send(&client(&server.uri())).await.expect_err("fails");
    let theirs = send(&sdk(&server.uri())).await.expect_err("fails");
    (ours, theirs)
}

#[tokio::test]
async fn service_errors_are_the_same_over_the_aws_sdk() {
    let no_queue = ("AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist");
    for (status, (query_code, shape), attempts) in [
        (400, no_queue, 1),
        (403, ("RequestThrottled", "RequestThrottled"), 3),
        (403, ("AccessDenied", "AccessDeniedException"), 1),
        (400, ("BrandNew", "BrandNew"), 1),
        (500, ("InternalFailure", "InternalFailure"), 3),
        (503, ("ServiceUnavailable", "ServiceUnavailable"), 3),
    ] {
        let (ours, theirs) = both(refusal(status, query_code, shape, "Why.")).await;
        assert_eq!(facts(&ours), facts(&theirs), "{query_code}");
        assert_eq!((theirs.attempts(), theirs.code()), (attempts, Some(query_code)));
        assert_eq!((theirs.message(), theirs.request_id()), (Some("Why."), Some("request-1")));
        assert_eq!(theirs.to_string(), ours.to_string());
    }
    let (_, theirs) = both(refusal(400, no_queue.0, no_queue.1, "Why.")).await;
    assert!(theirs.is_queue_does_not_exist() && !theirs.is_outcome_unknown());
}

#[tokio::test]
async fn responses_not_from_sqs_give_the_same_error_over_the_aws_sdk() {
    for (status, body, attempts) in [
        (200, "<html>hello</html>", 3),
        (502, "<html>bad gateway</html>", 3),
        (500, "", 3),
        (404, "<html>not found</html>", 1),
        (307, "", 1),
    ] {
        let answer = ResponseTemplate::new(status).set_body_raw(body, "text/html");
        let (ours, theirs) = both(answer).await;
        assert_eq!(theirs.kind(), ErrorKind::Unreadable, "{status}: {theirs:?}");
        if status != 200 {
            assert_eq!(theirs.to_string(), ours.to_string());
        }
        let theirs = facts(&theirs);
        // The SDK does not retry if it cannot parse a successful response.
        let attempts = if status == 200 { 1 } else { attempts };
        assert_eq!(Facts { attempts, ..facts(&ours) }, theirs, "{status}");
    }
}

#[tokio::test]
async fn broken_connections_give_the_same_error_over_the_aws_sdk() {
    const ACCEPTED: &str = r#"{"MessageId":"m-1","MD5OfMessageBody":"5d41402abc4b2a76b9719d911017c592"}"#;
    for act in [Act::Close, Act::cut(ACCEPTED, 7)] {
        let (url, _) = raw_service(vec![act.clone()]).await;
        let ours = send(&client(&url)).await.expect_err("fails");
        let theirs = send(&sdk(&url)).await.expect_err("fails");
        assert_eq!(
            (theirs.kind(), theirs.is_outcome_unknown()),
            (ErrorKind::Transport, true),
            "{act:?}: {theirs:?}"
        );
        assert!(std::error::Error::source(&theirs).is_some(), "the cause is in the source");
        assert_eq!(facts(&theirs).transport, facts(&ours).transport);
        assert!(theirs.is_retryable());
    }
}

#[tokio::test]
async fn attempt_without_response_times_out_over_the_aws_sdk() {
    let (url, _) = raw_service(vec![Act::Hang(String::new())]).await;
    let limit = Duration::from_millis(100);
    let ours = send(&impatient(&url, limit)).await.expect_err("hangs");
    let theirs = send(&impatient_sdk(&url, limit)).await.expect_err("hangs");
    assert_eq!(facts(&ours), facts(&theirs));
    assert_eq!(theirs.to_string(), ours.to_string());
    assert!(theirs.is_timeout() && theirs.is_outcome_unknown());
}

#[tokio::test]
async fn operation_timeout_applies_over_the_aws_sdk() {
    let (url, requests) = raw_service(vec![Act::Hang(String::new())]).await;
    let limit = Duration::from_millis(100);
    let timeouts = TimeoutConfig::builder().operation_timeout(limit).build();
    let client = aws_sdk_sqs::Client::from_conf(sdk_settings(&url).timeout_config(timeouts).build());
    let error = send(&client).await.expect_err("hangs");
    assert!(error.is_timeout() && error.is_outcome_unknown(), "{error:?}");
    assert!(error.to_string().contains("operation timeout: not finished within 100ms"), "{error}");
    assert_eq!((error.attempts(), requests.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test]
async fn refused_connection_has_a_known_outcome_over_the_aws_sdk() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    drop(listener);
    let ours = send(&client(&url)).await.expect_err("connection refused");
    let theirs = send(&sdk(&url)).await.expect_err("connection refused");
    assert_eq!(facts(&ours), facts(&theirs), "{theirs:?}");
    assert_eq!(theirs.to_string(), ours.to_string(), "both name the host");
    assert!(!theirs.is_outcome_unknown());
}

/// Fails to provide credentials.
#[derive(Debug)]
struct Failing(fn() -> CredentialsError);

impl ProvideCredentials for Failing {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::ready(Err((self.0)()))
    }
}

#[tokio::test]
async fn failing_credentials_provider_is_a_credentials_error_over_the_aws_sdk() {
    for (failure, is_retryable) in [
        ((|| CredentialsError::provider_error("SSO is down")) as fn() -> _, true),
        (|| CredentialsError::not_loaded("no profile"), false),
    ] {
        let settings = sdk_settings("http://127.0.0.1:9").credentials_provider(Failing(failure));
        let error =
            send(&aws_sdk_sqs::Client::from_conf(settings.build())).await.expect_err("no credentials");
        assert_eq!((error.kind(), error.attempts()), (ErrorKind::Credentials, 0), "{error:?}");
        assert_eq!((error.is_retryable(), error.is_outcome_unknown()), (is_retryable, false));
    }
}

/// Never returns credentials.
#[derive(Debug)]
struct Hanging;

impl ProvideCredentials for Hanging {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(std::future::pending())
    }
}

#[tokio::test]
async fn credentials_timeout_is_retryable_over_the_aws_sdk() {
    let cache = IdentityCache::lazy().load_timeout(Duration::from_millis(20)).build();
    let settings = sdk_settings("http://127.0.0.1:9").credentials_provider(Hanging).identity_cache(cache);
    let error = send(&aws_sdk_sqs::Client::from_conf(settings.build())).await.expect_err("no credentials");
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Credentials, 0), "{error:?}");
    assert!(error.is_retryable() && !error.is_outcome_unknown());
}

/// The accept queue of the socket is full, so further connection attempts get no response.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn connect_timeout_has_a_known_outcome_over_the_aws_sdk() {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let listener = socket.listen(1).expect("listens");
    let address = listener.local_addr().expect("bound");
    let mut waiting = Vec::new();
    while let Ok(connection) =
        tokio::time::timeout(Duration::from_millis(50), tokio::net::TcpStream::connect(address)).await
    {
        waiting.push(connection);
    }
    let timeouts = TimeoutConfig::builder().connect_timeout(Duration::from_millis(30)).build();
    let settings = sdk_settings(&format!("http://{address}")).timeout_config(timeouts);
    let error = send(&aws_sdk_sqs::Client::from_conf(settings.build())).await.expect_err("no connection");
    assert_eq!(facts(&error).transport, Some(TransportErrorKind::Connect), "{error:?}");
    assert_eq!((error.attempts(), error.is_outcome_unknown()), (3, false));
}

#[tokio::test]
async fn missing_credentials_are_a_credentials_error_over_the_aws_sdk() {
    let config = aws_sdk_sqs::Config::builder()
        .behavior_version(aws_sdk_sqs::config::BehaviorVersion::latest())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .endpoint_url("http://127.0.0.1:9")
        .region(aws_sdk_sqs::config::Region::new("us-east-1"));
    let error = send(&aws_sdk_sqs::Client::from_conf(config.build())).await.expect_err("no credentials");
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Credentials, 0), "{error:?}");
    assert!(!error.is_retryable() && !error.is_outcome_unknown());
}

#[tokio::test]
async fn missing_region_is_a_configuration_error_over_the_aws_sdk() {
    let config = aws_sdk_sqs::Config::builder()
        .behavior_version(aws_sdk_sqs::config::BehaviorVersion::latest())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .credentials_provider(aws_sdk_sqs::config::Credentials::new("AKID", "secret", None, None, "test"));
    let error = send(&aws_sdk_sqs::Client::from_conf(config.build())).await.expect_err("no region");
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Config, 0), "{error:?}");
    assert!(!error.is_retryable() && !error.is_outcome_unknown());
    assert!(format!("{error:?}").contains("Missing Region"), "{error:?}");
}
