//! Which responses are retried, how often, and what all attempts have in common.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::HeaderValue;
use sqs_client::client::{CallOptions, Execute as _, Retries};
use sqs_client::config::DeduplicationIds;
use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::operation::MaybeRepeated as _;
use sqs_client::operation::send_message::{SendMessage, SendMessageInput};
use sqs_client::transport::{Transport, TransportFuture};
use sqs_client::{Client, Error, ErrorKind};
use tokio::time::Instant;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::service::{FIFO_QUEUE, HELLO, QUEUE, accepted, client, impatient, json, refusal, settings};

/// Responds with `response` to the first `times` requests and accepts the rest.
async fn first(times: u64, response: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(response).up_to_n_times(times).mount(&server).await;
    Mock::given(method("POST")).respond_with(accepted()).mount(&server).await;
    server
}

async fn send(client: &Client) -> Result<String, sqs_client::Error> {
    let sent = client.send_message().queue_url(QUEUE).message_body(HELLO).send().await?;
    Ok(sent.message_id.expect("has an id"))
}

async fn requests(server: &MockServer) -> Vec<Request> {
    server.received_requests().await.expect("recording")
}

#[tokio::test]
async fn server_error_is_retried() {
    for status in [500, 502, 503, 504] {
        let server = first(2, ResponseTemplate::new(status)).await;
        assert_eq!(send(&client(&server.uri())).await.expect("the third attempt succeeds"), "m-1");
        assert_eq!(requests(&server).await.len(), 3);
    }
}

#[tokio::test]
async fn error_after_three_attempts_has_code_message_status_id_and_attempts() {
    let server = first(9, refusal(500, "InternalFailure", "InternalFailure", "Oops.")).await;
    let error = send(&client(&server.uri())).await.expect_err("fails");
    assert_eq!(
        error.to_string(),
        "SendMessage: InternalFailure: Oops. (status 500, request id request-1, attempts 3)"
    );
    assert!(error.is_retryable() && error.is_outcome_unknown());
    assert_eq!(
        (error.kind(), error.attempts(), error.code()),
        (ErrorKind::Service, 3, Some("InternalFailure"))
    );
}

fn unless_in_doubt(earlier: Option<Error>) -> CallOptions {
    CallOptions::with_retries(Retries::UnlessInDoubt).after(earlier)
}

#[tokio::test]
async fn unknown_outcome_is_not_retried_with_unless_in_doubt() {
    let server = first(1, ResponseTemplate::new(500)).await;
    let client = client(&server.uri());
    let input =
        || SendMessageInput::builder().queue_url(QUEUE).message_body(HELLO).build().expect("complete");
    let error =
        client.execute::<SendMessage>(&input(), unless_in_doubt(None)).await.expect_err("not retried");
    assert!(error.is_outcome_unknown() && error.repeat_after().is_some());
    assert_eq!((error.attempts(), requests(&server).await.len()), (1, 1));
    let sent = client.execute::<SendMessage>(&input(), unless_in_doubt(Some(error))).await.expect("accepted");
    assert!(!sent.is_maybe_repeated());
}

#[tokio::test]
async fn attempts_of_an_earlier_call_count_toward_the_maximum() {
    let server = first(9, ResponseTemplate::new(500)).await;
    let input = SendMessageInput::builder().queue_url(QUEUE).message_body(HELLO).build().expect("complete");
    let (client, mut earlier) = (client(&server.uri()), None);
    for number in 1..=3 {
        let sent = client.execute::<SendMessage>(&input, unless_in_doubt(earlier)).await;
        let error = sent.expect_err("rejected");
        assert_eq!((error.attempts(), error.repeat_after().is_some()), (number, number < 3));
        earlier = Some(error);
    }
}

#[tokio::test]
async fn throttling_is_retried_with_unless_in_doubt() {
    let server = first(1, refusal(403, "RequestThrottled", "RequestThrottled", "Slow down.")).await;
    let input = SendMessageInput::builder().queue_url(QUEUE).message_body(HELLO).build().expect("complete");
    client(&server.uri()).execute::<SendMessage>(&input, unless_in_doubt(None)).await.expect("accepted");
    assert_eq!(requests(&server).await.len(), 2);
}

#[tokio::test]
async fn output_is_maybe_repeated_after_an_attempt_with_unknown_outcome() {
    for (response, is_maybe) in [
        (ResponseTemplate::new(500), true),
        (refusal(403, "RequestThrottled", "RequestThrottled", "Slow down."), false),
    ] {
        let server = first(1, response).await;
        let send = client(&server.uri()).send_message().queue_url(QUEUE).message_body(HELLO);
        assert_eq!(send.send().await.expect("accepted").is_maybe_repeated(), is_maybe);
    }
}

#[tokio::test]
async fn throttling_is_retried_with_any_status() {
    for (status, code, shape) in [
        (403, "RequestThrottled", "RequestThrottled"),
        (400, "ThrottlingException", "ThrottlingException"),
        (400, "KMS.ThrottlingException", "KmsThrottled"),
    ] {
        let server = first(1, refusal(status, code, shape, "Request is throttled")).await;
        send(&client(&server.uri())).await.expect("the second attempt succeeds");
        let server = first(9, refusal(status, code, shape, "Request is throttled")).await;
        assert!(send(&client(&server.uri())).await.expect_err("throttled").is_throttle());
    }
    let server = first(1, ResponseTemplate::new(429)).await;
    send(&client(&server.uri())).await.expect("the second attempt succeeds");
}

#[tokio::test]
async fn client_error_is_not_retried() {
    for (status, code, shape) in [
        (400, "AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"),
        (403, "OverLimit", "OverLimit"),
        (400, "InvalidParameterValue", "InvalidParameterValueException"),
        (403, "AccessDenied", "AccessDeniedException"),
    ] {
        let server = first(1, refusal(status, code, shape, "No.")).await;
        let error = send(&client(&server.uri())).await.expect_err("rejected");
        assert_eq!((error.code(), error.attempts()), (Some(code), 1));
        assert!(!error.is_retryable() && !error.is_outcome_unknown());
    }
}

#[tokio::test]
async fn attempt_timeout_is_retried() {
    let server = first(1, accepted().set_delay(Duration::from_secs(30))).await;
    send(&impatient(&server.uri(), Duration::from_millis(80))).await.expect("the second attempt succeeds");

    let server = first(9, accepted().set_delay(Duration::from_secs(30))).await;
    let error = send(&impatient(&server.uri(), Duration::from_millis(30))).await.expect_err("too slow");
    assert!(error.is_timeout() && error.is_outcome_unknown() && error.is_retryable(), "{error}");
    assert_eq!(error.attempts(), 3);
}

#[tokio::test]
async fn operation_timeout_limits_all_attempts_together() {
    let server = first(9, accepted().set_delay(Duration::from_secs(30))).await;
    let timeouts = TimeoutConfig::builder().operation_timeout(Duration::from_millis(60)).build();
    let client = Client::from_conf(settings(&server.uri()).timeout_config(timeouts).build());
    let error = send(&client).await.expect_err("too slow");
    assert!(error.is_timeout());
    assert_eq!(error.attempts(), 1);
    assert!(error.to_string().contains("operation timeout: not finished within 60ms"), "{error}");
}

#[tokio::test]
async fn attempt_timeout_is_extended_by_the_wait_of_a_long_poll() {
    let server = MockServer::start().await;
    let response = json(200, "{}").set_delay(Duration::from_millis(300));
    Mock::given(method("POST")).respond_with(response).mount(&server).await;
    let client = impatient(&server.uri(), Duration::from_millis(50));
    let receive = || client.receive_message().queue_url(QUEUE);
    let received = receive().wait_time_seconds(1).send().await.expect("the wait time extends the timeout");
    assert!(received.messages().is_empty());
    receive().send().await.expect("the maximum wait time extends the timeout");
    assert!(
        receive()
            .wait_time_seconds(0)
            .send()
            .await
            .expect_err("a short poll does not extend the timeout")
            .is_timeout()
    );
}

#[tokio::test]
async fn proxy_page_is_an_unreadable_response() {
    let page = "<html><body>Please sign in</body></html>";
    let server = first(9, ResponseTemplate::new(200).set_body_raw(page, "text/html")).await;
    let error = send(&client(&server.uri())).await.expect_err("unreadable response");
    assert_eq!((error.kind(), error.status(), error.attempts()), (ErrorKind::Unreadable, Some(200), 3));

    let server = first(9, ResponseTemplate::new(407).set_body_raw(page, "text/html")).await;
    let error = send(&client(&server.uri())).await.expect_err("unreadable response");
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Unreadable, 1));
    assert!(error.to_string().contains("status 407"), "{error}");
}

#[tokio::test]
async fn generated_deduplication_id_is_the_same_in_all_attempts() {
    let server = first(2, ResponseTemplate::new(500)).await;
    let settings = settings(&server.uri()).deduplication_ids(DeduplicationIds::Generate);
    let client = Client::from_conf(settings.build());
    for _ in 0..2 {
        let send = client.send_message().queue_url(FIFO_QUEUE).message_body(HELLO).message_group_id("g");
        send.send().await.expect("sent");
    }
    let ids: Vec<String> = requests(&server)
        .await
        .iter()
        .map(|request| {
            request.body_json::<serde_json::Value>().expect("JSON")["MessageDeduplicationId"].to_string()
        })
        .collect();
    let [first, second, third, other] = ids.as_slice() else { panic!("{ids:?}") };
    assert!(first == second && second == third && third != other, "{ids:?}");
}

#[tokio::test]
async fn corrected_clock_skew_applies_to_later_calls() {
    let server = MockServer::start().await;
    let hour = Duration::from_secs(3_600);
    #[expect(clippy::disallowed_methods, reason = "the service's clock is one hour ahead of the real one")]
    let ahead = SystemTime::now() + hour;
    let stale = refusal(403, "SignatureDoesNotMatch", "InvalidSignatureException", "Signature expired")
        .insert_header("date", httpdate::fmt_http_date(ahead));
    Mock::given(method("POST")).respond_with(stale).up_to_n_times(1).mount(&server).await;
    Mock::given(method("POST")).respond_with(accepted()).mount(&server).await;
    let client = client(&server.uri());
    send(&client).await.expect("corrected");
    send(&client).await.expect("the correction persists");
    let dates: Vec<String> = requests(&server)
        .await
        .iter()
        .map(|request| request.headers["x-amz-date"].to_str().expect("text").to_owned())
        .collect();
    let hours: Vec<&str> = dates.iter().map(|date| &date[..11]).collect();
    assert!(hours[0] != hours[1] && hours[1] == hours[2], "{dates:?}");
}

#[tokio::test]
async fn signature_error_without_clock_skew_is_not_retried() {
    let server = MockServer::start().await;
    let response = refusal(403, "SignatureDoesNotMatch", "InvalidSignatureException", "No match");
    Mock::given(method("POST")).respond_with(response).mount(&server).await;
    let error = send(&client(&server.uri())).await.expect_err("rejected");
    assert_eq!(error.attempts(), 1, "wiremock sends the real Date");
}

#[tokio::test]
async fn disabled_retries_make_one_attempt() {
    let server = first(1, ResponseTemplate::new(500)).await;
    let client = Client::from_conf(settings(&server.uri()).retry_config(RetryConfig::disabled()).build());
    assert_eq!(send(&client).await.expect_err("no retries").attempts(), 1);
}

#[tokio::test]
async fn retries_stop_when_the_token_bucket_is_empty() {
    let server = first(u64::from(u32::MAX), ResponseTemplate::new(500)).await;
    let client = client(&server.uri());
    for _ in 0..100 {
        send(&client).await.expect_err("fails");
    }
    let sent = requests(&server).await.len();
    assert_eq!(sent, 100 + 500 / 5, "100 calls, and 500 tokens for retries at 5 tokens each");
}

#[tokio::test]
async fn retries_never_makes_one_attempt_and_generates_no_deduplication_id() {
    let server = first(1, ResponseTemplate::new(503)).await;
    let client =
        Client::from_conf(settings(&server.uri()).deduplication_ids(DeduplicationIds::Generate).build());
    let mut input = SendMessageInput::default();
    input.queue_url = Some(FIFO_QUEUE.to_owned());
    input.message_body = Some(HELLO.to_owned());
    input.message_group_id = Some("g".to_owned());
    let error = client
        .execute::<SendMessage>(&input, CallOptions::with_retries(Retries::Never))
        .await
        .expect_err("not retried");
    assert!(error.is_retryable() && error.attempts() == 1);
    client.execute::<SendMessage>(&input, CallOptions::with_retries(Retries::Never)).await.expect("accepted");
    let sent: Vec<_> = requests(&server).await.into_iter().map(|request| request.body).collect();
    assert_eq!((sent.len(), &sent[0]), (2, &sent[1]));
}

/// Throttles every request. Optionally requests a pause, in milliseconds.
#[derive(Debug, Default)]
struct Throttling {
    retry_after: Option<&'static str>,
}

impl Transport for Throttling {
    fn send(&self, _: http::Request<Bytes>) -> TransportFuture<'_> {
        let mut response = http::Response::new(Bytes::from_static(b"{}"));
        *response.status_mut() = http::StatusCode::FORBIDDEN;
        let headers = response.headers_mut();
        headers.insert("x-amzn-query-error", HeaderValue::from_static("RequestThrottled;Sender"));
        self.retry_after.map(|millis| headers.insert("x-amz-retry-after", HeaderValue::from_static(millis)));
        Box::pin(std::future::ready(Ok(response)))
    }
}

#[tokio::test(start_paused = true)]
async fn throttled_receive_loop_does_not_spin_with_an_empty_token_bucket() {
    let client = Client::from_conf(
        settings("http://h").retry_config(RetryConfig::standard()).transport(Throttling::default()).build(),
    );
    let receive = || client.receive_message().queue_url(QUEUE).send();
    // Each receive makes two retries of 5 tokens each.
    for _ in 0..50 {
        assert_eq!(receive().await.expect_err("throttled").attempts(), 3);
    }
    let started = Instant::now();
    for _ in 0..20 {
        assert_eq!(receive().await.expect_err("throttled").attempts(), 1);
    }
    let paced = started.elapsed();
    assert!(paced > Duration::from_secs(2), "20 receives with pauses of up to a second took only {paced:?}");
    let started = Instant::now();
    client.list_queues().send().await.expect_err("throttled");
    assert!(started.elapsed().is_zero(), "other operations fail immediately");
}

#[tokio::test(start_paused = true)]
async fn retry_waits_as_long_as_the_service_requests() {
    let transport = Throttling { retry_after: Some("4000") };
    let client = Client::from_conf(settings("http://h").transport(transport).build());
    let started = Instant::now();
    client.list_queues().send().await.expect_err("throttled");
    assert!(
        started.elapsed() >= Duration::from_secs(8),
        "expected two pauses of 4 s, took {:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn impossible_date_of_a_response_affects_no_later_call() {
    for date in [
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Mon, 01 Jan 2500 00:00:00 GMT",
        "soon",
    ] {
        let skewed = refusal(403, "RequestTimeTooSkewed", "RequestTimeTooSkewedException", "wrong time");
        let server = first(1, skewed.insert_header("date", date)).await;
        let client = client(&server.uri());
        let _ = send(&client).await;
        assert_eq!(send(&client).await.expect("not affected"), "m-1", "{date}");
        let dates: Vec<_> =
            requests(&server).await.iter().map(|sent| sent.headers["x-amz-date"].clone()).collect();
        let years: Vec<_> = dates.iter().map(|date| &date.to_str().expect("text")[..4]).collect();
        assert!(years.iter().all(|year| *year == years[0]), "{date}: {years:?}");
    }
}

#[tokio::test]
async fn expired_keys_without_replacement_are_not_sent_again() {
    let server = first(9, refusal(403, "ExpiredToken", "ExpiredTokenException", "expired")).await;
    let error = send(&client(&server.uri())).await.expect_err("expired");
    assert_eq!((error.code(), error.attempts()), (Some("ExpiredToken"), 1));
    assert_eq!(requests(&server).await.len(), 1);
}

/// Counts the attempts of all reports.
#[derive(Clone, Debug, Default)]
struct Attempts(std::sync::Arc<std::sync::atomic::AtomicU32>);

impl sqs_client::observe::Observe for Attempts {
    fn call(&self, report: &sqs_client::observe::CallReport<'_>) {
        self.0.fetch_add(report.attempts, std::sync::atomic::Ordering::Relaxed);
    }
}

#[tokio::test]
async fn observer_counts_each_attempt_once_if_a_layer_repeats_a_call() {
    let server = first(2, ResponseTemplate::new(500)).await;
    let attempts = Attempts::default();
    let client = Client::from_conf(settings(&server.uri()).observer(attempts.clone()).build());
    let input = SendMessageInput::builder().queue_url(QUEUE).message_body(HELLO).build().expect("complete");
    let mut earlier = None;
    while let Err(error) = client.execute::<SendMessage>(&input, unless_in_doubt(earlier.take())).await {
        earlier = Some(error);
    }
    let sent = u32::try_from(requests(&server).await.len()).expect("few");
    assert_eq!((sent, attempts.0.load(std::sync::atomic::Ordering::Relaxed)), (3, 3));
}
