//! Incorrect use returns clear errors.

use std::time::Duration;

use sqs_buffered::{BufferedClient, Consumer, ConsumerBuilder, Outcome, ReceiveErrorKind, Receiver};
use sqs_client::operation::Action;
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;

use super::super::base_client::BaseClient;
use super::rig::{Rig, secs, until};

async fn refusal(
    rig: &Rig,
    url: &str,
    change: impl FnOnce(ConsumerBuilder<BaseClient>) -> ConsumerBuilder<BaseClient>,
) -> sqs_buffered::ReceiveError {
    let builder = change(Consumer::builder(rig.base.clone(), url));
    let consumer = builder.message_handler(|_, _| async { Ok(Outcome::Ack) }).build().unwrap();
    consumer.run().await.expect_err("it cannot work")
}

#[tokio::test]
async fn build_names_the_invalid_setting_its_value_and_what_is_allowed() {
    type Change = fn(ConsumerBuilder<BaseClient>) -> ConsumerBuilder<BaseClient>;
    let rig = Rig::new("jobs").await;
    let table: [(&str, Change, &str); 5] = [
        (&rig.url, |builder| builder.concurrency(0), "concurrency is 0, allowed is 1 to 120000"),
        (&rig.url, |builder| builder.prefetch(120_000), "prefetch is 120000, allowed is at most 120000"),
        (&rig.url, |builder| builder.visibility_timeout(Duration::ZERO), "visibility_timeout is 0ns"),
        (
            &rig.url,
            |builder| builder.wait_time(secs(21)),
            "wait_time is 21s, allowed is 0 to 20 whole seconds",
        ),
        ("", |builder| builder, "queue_url is \"\""),
    ];
    for (url, change, text) in table {
        let builder = change(Consumer::builder(rig.base.clone(), url));
        let error = builder.message_handler(|_, _| async { Ok(Outcome::Ack) }).build().unwrap_err();
        assert!(error.to_string().starts_with(text), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn queue_that_does_not_exist_ends_the_run_at_once() {
    let rig = Rig::new("jobs").await;
    let wrong = rig.server.queue_url("jbos");
    let asked = refusal(&rig, &wrong, |builder| builder).await;
    let received = refusal(&rig, &wrong, |builder| builder.visibility_timeout(secs(30))).await;
    for error in [asked, received] {
        assert_eq!(error.kind(), ReceiveErrorKind::Refused);
        assert_eq!(error.code(), Some("AWS.SimpleQueueService.NonExistentQueue"));
        assert!(error.to_string().contains(&wrong), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn queue_with_visibility_timeout_zero_is_refused_unless_one_is_set() {
    let rig = Rig::new("jobs").await;
    rig.set(QueueAttributeName::VisibilityTimeout, "0").await;
    let error = refusal(&rig, &rig.url, |builder| builder).await;
    assert!(error.to_string().contains("visibility_timeout"), "{error}");
    let buffered = BufferedClient::new(rig.base.clone());
    let receiver = Receiver::builder(&buffered, &rig.url).visibility_timeout(secs(5)).start().await;
    assert!(receiver.is_ok());
    assert_eq!(
        Receiver::builder(&buffered, &rig.url).start().await.unwrap_err().kind(),
        ReceiveErrorKind::Invalid
    );
}

#[tokio::test(start_paused = true)]
async fn consumer_runs_once() {
    let rig = Rig::new("jobs").await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    let first = consumer.run_until(async {}).await.unwrap();
    assert!(first.is_clean);
    assert_eq!(consumer.run().await.unwrap_err().kind(), ReceiveErrorKind::Running);
    assert_eq!(consumer.shutdown(secs(1)).await.unwrap(), first, "it is over already");
}

#[tokio::test(start_paused = true)]
async fn consumer_that_was_shut_down_before_its_run_receives_nothing() {
    let rig = Rig::new("jobs").await;
    rig.send(["a"]).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    consumer.shutdown(secs(1)).await.unwrap();
    let report = consumer.run().await.unwrap();
    assert_eq!((report.stats.received, rig.left(), rig.in_flight()), (0, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn transient_failures_at_the_start_are_retried() {
    for code in [ErrorCode::OverLimit, ErrorCode::ExpiredToken, ErrorCode::InternalFailure] {
        for action in [Action::ReceiveMessage, Action::GetQueueAttributes] {
            let rig = Rig::new("jobs").await;
            rig.send(["a"]).await;
            rig.server.faults().inject(Fault::error(code.clone()).on(action).times(20));
            let consumer = Consumer::builder(rig.base.clone(), &rig.url)
                .message_handler(|_, _| async { Ok(Outcome::Ack) })
                .build()
                .unwrap();
            let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
            assert!(report.stats.acked == 1 && report.stats.receive_errors > 0, "{code} of {action:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn first_refused_receive_ends_all_receives() {
    let rig = Rig::new("jobs").await;
    rig.server.faults().inject(Fault::error(ErrorCode::AccessDenied).on(Action::ReceiveMessage).times(1));
    rig.server.faults().inject(Fault::throttle().on(Action::ReceiveMessage));
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(30)
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    let error = tokio::time::timeout(secs(100), consumer.run()).await.expect("it ends").unwrap_err();
    assert_eq!((error.kind(), error.code()), (ReceiveErrorKind::Refused, Some("AccessDenied")));
}

#[tokio::test(start_paused = true)]
async fn invalid_limit_of_a_receiver_is_refused() {
    let rig = Rig::new("jobs").await;
    let buffered = BufferedClient::new(rig.base.clone());
    for limit in [0, 120_001] {
        let error = Receiver::builder(&buffered, &rig.url).limit(limit).start().await.unwrap_err();
        assert_eq!(error.kind(), ReceiveErrorKind::Invalid);
        assert!(error.to_string().contains("allowed is 1 to 120000 messages"), "{error}");
    }
}

#[tokio::test]
async fn settings_may_follow_the_handler() {
    let rig = Rig::new("jobs").await;
    let builder =
        Consumer::builder(rig.base.clone(), &rig.url).message_handler(|_, _| async { Ok(Outcome::Ack) });
    let error = builder.wait_time(secs(1)).concurrency(0).build().unwrap_err();
    assert_eq!(error.setting(), "concurrency");
}

#[test]
fn run_outside_of_a_runtime_is_an_error() {
    let client = sqs_mock_server::MockSqs::in_process().client();
    let url = "http://localhost/000000000000/jobs";
    let consumer =
        Consumer::builder(client, url).message_handler(|_, _| async { Ok(Outcome::Ack) }).build().unwrap();
    let mut run = std::pin::pin!(consumer.run());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = run.as_mut().poll(&mut context) else { panic!("it cannot run") };
    assert_eq!(error.kind(), ReceiveErrorKind::NoRuntime);
}

#[tokio::test(start_paused = true)]
async fn error_has_code_message_and_request_id() {
    let rig = Rig::new("jobs").await;
    let wrong = rig.server.queue_url("jbos");
    let error = refusal(&rig, &wrong, |builder| builder).await;
    assert!(error.message().is_some_and(|text| text.contains("does not exist")), "{error}");
    assert!(error.request_id().is_some_and(|id| !id.is_empty()) && !error.is_retryable());
}

#[test]
fn run_until_signal_without_a_runtime_is_an_error() {
    let client = sqs_mock_server::MockSqs::in_process().client();
    let consumer =
        sqs_buffered::Consumer::builder(client, "http://h/0/q").handler(async || ()).build().unwrap();
    let result = futures_util::FutureExt::now_or_never(consumer.run_until_signal());
    let error = result.expect("it ends at once").unwrap_err();
    assert_eq!(error.kind(), sqs_buffered::ReceiveErrorKind::NoRuntime);
}
