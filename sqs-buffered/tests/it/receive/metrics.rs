//! The metrics of consumers and receivers.

use sqs_buffered::metrics::{
    CONSUMED_MESSAGES, HANDLERS_LIMIT, HANDLERS_RUNNING, LEASES_LOST, MESSAGES_DUPLICATE, MESSAGES_HELD,
    MESSAGES_SETTLED, OPERATION_DURATION, PROCESS_DURATION, RECEIVES_ANSWERED, RECEIVES_EMPTY,
    RENEWALS_FAILED, SETTLES_FAILED,
};
use sqs_buffered::{BackOff, BufferedClient, Consumer, Outcome};
use sqs_client::config::retry::RetryConfig;
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use tokio::time::sleep;

use super::rig::{Rig, millis, secs, until};
use crate::recorder::Recorded;

const QUEUE: (&str, &str) = ("messaging.destination.name", "jobs");
const RECEIVE: (&str, &str) = ("messaging.operation.name", "ReceiveMessage");

fn outcome(outcome: &'static str) -> [(&'static str, &'static str); 2] {
    [QUEUE, ("sqs_buffered.outcome", outcome)]
}

#[tokio::test(start_paused = true)]
async fn receives_handlers_and_outcomes_are_recorded() {
    let recorded = Recorded::default();
    let _guard = recorded.install();
    let rig = Rig::with(MockSqs::in_process(), "jobs", RetryConfig::disabled()).await;
    rig.send(["ack", "nack", "error"]).await;
    rig.server.faults().inject(Fault::status(503, "busy").on(Action::ReceiveMessage).times(1));
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(4)
        .back_off(BackOff::Fixed(secs(3_600)))
        .message_handler(|message, _| async move {
            sleep(secs(2)).await;
            match message.body() {
                Some("nack") => Ok(Outcome::Nack(secs(3_600))),
                Some("error") => Err("broken".into()),
                _ => Ok(Outcome::Ack),
            }
        })
        .build()
        .unwrap();
    let levels = || recorded.each(&[MESSAGES_HELD, HANDLERS_RUNNING, HANDLERS_LIMIT], &[QUEUE]);
    let end = async {
        until(|| recorded.value(HANDLERS_RUNNING, &[QUEUE]) > 2.5).await;
        assert_eq!(levels(), [3.0, 3.0, 4.0]);
        until(|| recorded.value(RECEIVES_EMPTY, &[QUEUE]) > 0.5).await;
    };
    let report = consumer.run_until(end).await.unwrap();
    assert_eq!(levels(), [0.0, 0.0, 0.0]);
    let stats = report.stats;
    let counted = [RECEIVES_ANSWERED, RECEIVES_EMPTY].map(|name| recorded.value(name, &[QUEUE]).to_string());
    assert_eq!(counted, [stats.receives, stats.empty_receives].map(|count| count.to_string()));
    assert_eq!(recorded.values(CONSUMED_MESSAGES, &[QUEUE, RECEIVE]), [3.0]);
    let failed = recorded.values(OPERATION_DURATION, &[QUEUE, RECEIVE, ("error.type", "request")]);
    assert_eq!(failed.len(), 1);
    let answered = recorded.values(OPERATION_DURATION, &[QUEUE, RECEIVE]);
    assert_eq!(answered.len().to_string(), stats.receives.to_string());
    for ended in ["ack", "nack", "failed"] {
        assert_eq!(recorded.values(PROCESS_DURATION, &outcome(ended)), [2.0], "{ended}");
    }
    assert_eq!(recorded.values(MESSAGES_SETTLED, &outcome("acked")), [1.0]);
    assert_eq!(recorded.values(MESSAGES_SETTLED, &outcome("nacked")), [2.0]);
}

#[tokio::test(start_paused = true)]
async fn lost_leases_and_failures_to_renew_and_to_settle_are_recorded() {
    let recorded = Recorded::default();
    let _guard = recorded.install();
    let rig = Rig::with(MockSqs::in_process(), "jobs", RetryConfig::disabled()).await;
    rig.send(["1"]).await;
    let changes = Action::ChangeMessageVisibilityBatch;
    let faults = rig.server.faults();
    faults.inject(Fault::error(ErrorCode::AccessDenied).on(changes).times(1));
    faults.inject(Fault::fail_entries(ErrorCode::MessageNotInflight).on(changes).times(1));
    faults.inject(Fault::error(ErrorCode::AccessDenied).on(Action::DeleteMessageBatch).times(1));
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(|_, lease| async move {
            tokio::select! {
                () = lease.lost() => {}
                () = sleep(secs(10)) => {}
            }
            Ok(Outcome::Ack)
        })
        .visibility_timeout(secs(6))
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    let stats = report.stats;
    let counted = recorded.each(&[LEASES_LOST, RENEWALS_FAILED, SETTLES_FAILED], &[QUEUE]);
    assert_eq!(counted, [1.0, 1.0, 1.0], "{stats:?}");
    assert_eq!((stats.leases_lost, stats.renewal_failures, stats.settle_errors), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn duplicates_are_recorded() {
    let recorded = Recorded::default();
    let _guard = recorded.install();
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    rig.server.faults().inject(Fault::redeliver().times(1));
    let buffered = BufferedClient::new(rig.base.clone());
    let consumer = Consumer::builder_with(&buffered, &rig.url)
        .message_handler(|_, _| async {
            sleep(millis(500)).await;
            Ok(Outcome::Ack)
        })
        .build()
        .unwrap();
    let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
    assert_eq!(recorded.values(MESSAGES_DUPLICATE, &[QUEUE]), [1.0], "{:?}", report.stats);
}
