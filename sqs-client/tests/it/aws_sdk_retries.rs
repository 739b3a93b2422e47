//! Retries of the AWS SDK, depending on the call options.

use std::time::Duration;

use aws_sdk_sqs::config::retry::RetryConfig;
use aws_sdk_sqs::config::timeout::TimeoutConfig;
use sqs_client::Error;
use sqs_client::client::{CallOptions, Execute as _, Retries};
use sqs_client::operation::MaybeRepeated as _;
use sqs_client::operation::send_message::{SendMessage, SendMessageInput, SendMessageOutput};
use sqs_client::time::{SystemClock, TimeSource as _};
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use tokio::time::Instant;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::aws_sdk::{sdk, sdk_settings, send};
use crate::aws_sdk_in_process::in_process;
use crate::service::{HELLO, QUEUE, accepted, refusal};

/// The first `times` requests get `answer`, all later ones succeed.
async fn first(times: u64, answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(answer).up_to_n_times(times).mount(&server).await;
    Mock::given(method("POST")).respond_with(accepted()).mount(&server).await;
    server
}

async fn run(
    client: &aws_sdk_sqs::Client,
    retries: Retries,
    earlier: Option<Error>,
) -> Result<SendMessageOutput, Error> {
    let input = SendMessageInput::builder().queue_url(QUEUE).message_body(HELLO).build()?;
    client.execute::<SendMessage>(&input, CallOptions::with_retries(retries).after(earlier)).await
}

async fn requests(server: &MockServer) -> usize {
    server.received_requests().await.expect("recording").len()
}

fn throttled() -> ResponseTemplate {
    refusal(403, "RequestThrottled", "RequestThrottled", "Slow down.")
}

#[tokio::test]
async fn aws_sdk_retries_as_configured() {
    let server = first(2, ResponseTemplate::new(500)).await;
    assert_eq!(send(&sdk(&server.uri())).await.expect("third attempt"), "m-1");
    assert_eq!(requests(&server).await, 3);
    let retry = RetryConfig::standard().with_max_attempts(5).with_initial_backoff(Duration::from_millis(1));
    let server = first(9, throttled()).await;
    let client = aws_sdk_sqs::Client::from_conf(sdk_settings(&server.uri()).retry_config(retry).build());
    assert_eq!(send(&client).await.expect_err("always throttled").attempts(), 5);
}

#[tokio::test]
async fn aws_sdk_makes_one_attempt_with_retries_never() {
    for answer in [ResponseTemplate::new(500), throttled()] {
        let server = first(9, answer).await;
        let error = run(&sdk(&server.uri()), Retries::Never, None).await.expect_err("not retried");
        assert_eq!((error.attempts(), requests(&server).await), (1, 1));
        assert!(error.is_retryable() && error.repeat_after().is_none());
    }
}

#[tokio::test]
async fn wrong_clock_is_corrected_once_even_with_retries_never() {
    let ahead = SystemClock.now() + Duration::from_hours(1);
    let refused = refusal(403, "SignatureDoesNotMatch", "InvalidSignatureException", "Signature expired.");
    let refused = refused.insert_header("date", httpdate::fmt_http_date(ahead));
    let server = first(1, refused.clone()).await;
    run(&sdk(&server.uri()), Retries::Never, None).await.expect("signed with the service's time");
    assert_eq!(requests(&server).await, 2);
    let server = first(9, refused).await;
    let error = run(&sdk(&server.uri()), Retries::Never, None).await.expect_err("rejected again");
    assert_eq!((error.attempts(), requests(&server).await), (2, 2));
}

#[tokio::test]
async fn aws_sdk_does_not_retry_an_unknown_outcome_with_unless_in_doubt() {
    let server = first(1, ResponseTemplate::new(500)).await;
    let client = sdk(&server.uri());
    let error = run(&client, Retries::UnlessInDoubt, None).await.expect_err("not retried");
    assert!(error.is_outcome_unknown() && error.repeat_after().is_some());
    assert_eq!((error.attempts(), requests(&server).await), (1, 1));
    let sent = run(&client, Retries::UnlessInDoubt, Some(error)).await.expect("accepted");
    assert!(!sent.is_maybe_repeated());
}

#[tokio::test]
async fn aws_sdk_retries_a_rejected_request_with_unless_in_doubt() {
    let server = first(1, throttled()).await;
    run(&sdk(&server.uri()), Retries::UnlessInDoubt, None).await.expect("accepted");
    assert_eq!(requests(&server).await, 2);
    let server = first(9, throttled()).await;
    let error = run(&sdk(&server.uri()), Retries::UnlessInDoubt, None).await.expect_err("always throttled");
    assert_eq!((error.attempts(), error.repeat_after()), (3, None));
}

#[tokio::test]
async fn attempts_of_earlier_calls_count_over_the_aws_sdk() {
    let server = first(9, ResponseTemplate::new(500)).await;
    let (client, mut earlier) = (sdk(&server.uri()), None);
    for number in 1..=3 {
        let error = run(&client, Retries::UnlessInDoubt, earlier).await.expect_err("rejected");
        assert_eq!((error.attempts(), error.repeat_after().is_some()), (number, number < 3));
        earlier = Some(error);
    }
    let server = first(1, ResponseTemplate::new(500)).await;
    let error = run(&sdk(&server.uri()), Retries::UnlessInDoubt, None).await.expect_err("unknown outcome");
    let server = first(9, throttled()).await;
    let error = run(&sdk(&server.uri()), Retries::UnlessInDoubt, Some(error)).await.expect_err("throttled");
    assert_eq!((error.attempts(), requests(&server).await), (3, 2));
    // The outcome of the earlier call is not that of this one.
    assert!(!error.is_outcome_unknown());
}

#[tokio::test(start_paused = true)]
async fn time_of_earlier_calls_counts_over_the_aws_sdk() {
    let server = MockSqs::in_process();
    server.faults().inject(Fault::error(ErrorCode::InternalFailure).times(1));
    let timeouts = TimeoutConfig::builder().operation_timeout(Duration::from_secs(10)).build();
    let client = in_process(server.transport(), RetryConfig::standard(), timeouts);
    let start = Instant::now();
    let error = run(&client, Retries::UnlessInDoubt, None).await.expect_err("unknown outcome");
    assert!(!error.is_timeout(), "{error:?}");
    server.faults().inject(Fault::latency(Duration::from_hours(1)));
    tokio::time::advance(Duration::from_secs(8)).await;
    let error = run(&client, Retries::UnlessInDoubt, Some(error)).await.expect_err("too late");
    assert_eq!((start.elapsed(), error.attempts()), (Duration::from_secs(10), 2));
    assert!(error.is_timeout() && error.repeat_after().is_none(), "{error:?}");
    assert!(error.to_string().contains("not finished within 10s"), "{error}");
}

#[tokio::test]
async fn output_over_the_aws_sdk_tells_whether_the_request_may_be_repeated() {
    for (answer, is_maybe) in [(ResponseTemplate::new(500), true), (throttled(), false)] {
        let server = first(1, answer).await;
        let sent = run(&sdk(&server.uri()), Retries::AsConfigured, None).await.expect("accepted");
        assert_eq!(sent.is_maybe_repeated(), is_maybe);
    }
}
