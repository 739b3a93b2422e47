//! `aws_sdk_sqs::Client` as the client of a layer behaves like ours.

use std::time::Duration;

use aws_sdk_sqs::config::retry::RetryConfig;
use aws_sdk_sqs::config::timeout::TimeoutConfig;
use aws_sdk_sqs::config::{BehaviorVersion, Builder, Credentials, Region};
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextMut;
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use sqs_client::client::Queue;
use sqs_client::operation::receive_message::ReceiveMessageOutput;
use sqs_client::operation::{MaybeRepeated as _, RequestId as _};
use sqs_client::types::SendMessageBatchRequestEntry;
use sqs_client::wire::protocol::Protocol;
use sqs_client::{Error, ErrorKind};
use wiremock::matchers::{header, method};
use wiremock::{Mock, MockServer};

use crate::actions::Actions;
use crate::aws_sdk_in_process::in_process;
use crate::both_protocols::{server_and_client, tour};
use crate::service::{FIFO_QUEUE, HELLO, HELLO_MD5, QUEUE, json, sent_with_md5};

/// Settings for fast tests, with pauses of at most a millisecond.
pub(crate) fn sdk_settings(endpoint: &str) -> Builder {
    aws_sdk_sqs::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .endpoint_url(endpoint)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("AKID", "secret", None, None, "test"))
        .retry_config(RetryConfig::standard().with_initial_backoff(Duration::from_millis(1)))
}

pub(crate) fn sdk(endpoint: &str) -> aws_sdk_sqs::Client {
    aws_sdk_sqs::Client::from_conf(sdk_settings(endpoint).build())
}

/// A client with an attempt timeout.
pub(crate) fn impatient_sdk(endpoint: &str, attempt: Duration) -> aws_sdk_sqs::Client {
    let timeouts = TimeoutConfig::builder().operation_attempt_timeout(attempt).build();
    aws_sdk_sqs::Client::from_conf(sdk_settings(endpoint).timeout_config(timeouts).build())
}

/// Sends [`HELLO`] through the trait `Execute`.
pub(crate) async fn send(client: &impl Actions<Error = Error>) -> Result<String, Error> {
    let sent = client.send_message().queue_url(QUEUE).message_body(HELLO).send().await?;
    Ok(sent.message_id.expect("has an id"))
}

#[tokio::test]
async fn every_action_returns_the_same_output_over_the_aws_sdk() {
    let (server, client) = server_and_client(Protocol::AwsJson).await;
    let ours = tour(server, &client).await;
    let (server, _) = server_and_client(Protocol::AwsJson).await;
    let theirs = sdk(server.endpoint_url());
    assert_eq!(ours, tour(server, &theirs).await);
}

#[tokio::test(start_paused = true)]
async fn long_poll_over_the_aws_sdk_ends_after_its_wait_time() {
    let server = sqs_mock_server::MockSqs::in_process();
    let client = in_process(server.transport(), RetryConfig::standard(), TimeoutConfig::disabled());
    let created = Actions::create_queue(&client).queue_name("q").send().await.expect("created");
    let (url, start) = (created.queue_url.expect("has a URL"), tokio::time::Instant::now());
    let received = Queue::new(client, url).receive().send().await.expect("received");
    assert_eq!((received.messages().len(), start.elapsed()), (0, Duration::from_secs(20)));
}

/// Adds a header to each request.
#[derive(Debug)]
struct Mark;

#[dyn_dispatch_hint]
impl Intercept for Mark {
    fn name(&self) -> &'static str {
        "Mark"
    }

    fn modify_before_transmit(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        context.request_mut().headers_mut().insert("x-mark", "orders");
        Ok(())
    }
}

#[tokio::test]
async fn interceptors_of_the_aws_sdk_client_run() {
    let server = MockServer::start().await;
    Mock::given(header("x-mark", "orders")).respond_with(sent_with_md5(HELLO_MD5)).mount(&server).await;
    let client = aws_sdk_sqs::Client::from_conf(sdk_settings(&server.uri()).interceptor(Mark).build());
    assert_eq!(send(&client).await.expect("marked"), "m-1");
}

#[tokio::test]
async fn output_over_the_aws_sdk_has_its_request_id() {
    let (server, client) = server_and_client(Protocol::AwsJson).await;
    let url =
        client.create_queue().queue_name("q").send().await.expect("created").queue_url.expect("has a URL");
    let sent = Queue::new(sdk(server.endpoint_url()), url).send(HELLO).send().await.expect("sent");
    assert!(sent.request_id().is_some_and(|id| !id.is_empty()));
    assert!(!sent.is_maybe_repeated());
}

#[tokio::test]
async fn wrong_md5_over_the_aws_sdk_is_an_error_with_the_output() {
    let server = MockServer::start().await;
    let wrong = "00000000000000000000000000000000";
    Mock::given(method("POST")).respond_with(sent_with_md5(wrong)).expect(1).mount(&server).await;
    let error = send(&sdk(&server.uri())).await.expect_err("damaged");
    assert_eq!((error.kind(), error.attempts(), error.is_retryable()), (ErrorKind::Checksum, 1, false));
    assert!(error.to_string().contains(HELLO_MD5) && error.to_string().contains(wrong), "{error}");
    assert_eq!(error.request_id(), Some("request-1"));
}

#[tokio::test]
async fn damaged_batch_entry_over_the_aws_sdk_is_named() {
    let server = MockServer::start().await;
    let answer = format!(
        r#"{{"Successful":[{{"Id":"a","MessageId":"m-1","MD5OfMessageBody":"{HELLO_MD5}"}},
            {{"Id":"b","MessageId":"m-2","MD5OfMessageBody":"0{}"}}]}}"#,
        &HELLO_MD5[1..]
    );
    Mock::given(method("POST")).respond_with(json(200, &answer)).mount(&server).await;
    let entry =
        |id| SendMessageBatchRequestEntry::builder().id(id).message_body(HELLO).build().expect("complete");
    let client = sdk(&server.uri());
    let batch = Actions::send_message_batch(&client).queue_url(QUEUE).entries(entry("a")).entries(entry("b"));
    let error = batch.send().await.expect_err("damaged");
    let ids: Vec<_> = error.checksum_mismatches().iter().filter_map(|mismatch| mismatch.id()).collect();
    assert_eq!(ids, ["b"]);
}

#[tokio::test]
async fn receive_over_the_aws_sdk_returns_the_intact_messages() {
    let server = MockServer::start().await;
    let message = |id: &str, md5: &str| {
        format!(r#"{{"MessageId":"{id}","ReceiptHandle":"h-{id}","Body":"hello","MD5OfBody":"{md5}"}}"#)
    };
    let wrong = format!("0{}", &HELLO_MD5[1..]);
    let answer = format!(r#"{{"Messages":[{},{}]}}"#, message("good", HELLO_MD5), message("bad", &wrong));
    Mock::given(method("POST")).respond_with(json(200, &answer)).mount(&server).await;
    let client = sdk(&server.uri());
    let received = Actions::receive_message(&client).queue_url(QUEUE).send().await.expect("one is intact");
    assert_eq!(received.messages()[0].message_id(), Some("good"));
    assert_eq!(received.damaged_messages()[0].message.message_id(), Some("bad"));

    let error = Actions::receive_message(&client)
        .queue_url(FIFO_QUEUE)
        .send()
        .await
        .expect_err("would break the order");
    let output = error.output::<ReceiveMessageOutput>().expect("it is in the error");
    assert_eq!(output.messages()[0].message_id(), Some("good"));
}

#[tokio::test]
async fn a_send_without_md5_over_the_aws_sdk_succeeds() {
    let server = MockServer::start().await;
    let answer = json(200, r#"{"MessageId":"m-1"}"#);
    Mock::given(method("POST")).respond_with(answer).expect(1).mount(&server).await;
    assert_eq!(send(&sdk(&server.uri())).await.expect("stored"), "m-1");
}

/// Never answers its first request, like a connection that died silently.
#[derive(Debug)]
struct Dead {
    inner: sqs_mock_server::InProcess,
    requests: std::sync::atomic::AtomicUsize,
}

impl sqs_client::transport::Transport for Dead {
    fn send(&self, request: http::Request<bytes::Bytes>) -> sqs_client::transport::TransportFuture<'_> {
        if self.requests.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 {
            return Box::pin(std::future::pending());
        }
        self.inner.send(request)
    }
}

#[tokio::test(start_paused = true)]
async fn request_over_an_sdk_without_timeouts_ends_although_its_connection_is_dead() {
    use sqs_client::client::{CallOptions, Execute as _, Retries};
    use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageInput};

    for (wait, limit) in [(20, 50), (0, 30)] {
        let server = sqs_mock_server::MockSqs::in_process();
        let created = server.client().create_queue().queue_name("q").send().await.expect("created");
        let dead = Dead { inner: server.transport(), requests: 0.into() };
        let client = in_process(dead, RetryConfig::standard(), TimeoutConfig::builder().build());
        let input = ReceiveMessageInput::builder()
            .queue_url(created.queue_url().expect("a URL"))
            .wait_time_seconds(wait);
        let (input, start) = (input.build().expect("complete"), tokio::time::Instant::now());
        let once = client.execute::<ReceiveMessage>(&input, CallOptions::with_retries(Retries::Never));
        let error = once.await.expect_err("no answer");
        assert!(error.is_timeout() && error.is_outcome_unknown(), "{error:?}");
        assert_eq!(start.elapsed(), Duration::from_secs(limit));
        client
            .execute::<ReceiveMessage>(&input, CallOptions::default())
            .await
            .expect("the next request succeeds");
    }
}

#[tokio::test(start_paused = true)]
async fn timeouts_of_the_sdk_do_not_cut_long_polls_of_layers() {
    let builder = TimeoutConfig::builder;
    for timeouts in [
        builder().operation_attempt_timeout(Duration::from_secs(5)).build(),
        builder().read_timeout(Duration::from_secs(5)).build(),
    ] {
        let server = sqs_mock_server::MockSqs::in_process();
        let created = server.client().create_queue().queue_name("q").send().await.expect("created");
        let client = in_process(server.transport(), RetryConfig::disabled(), timeouts);
        let received = Queue::new(client, created.queue_url().expect("a URL")).receive().send().await;
        assert_eq!(received.expect("an empty answer").messages().len(), 0);
    }
}
