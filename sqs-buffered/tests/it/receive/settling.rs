//! Deletes and visibility changes that fail.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;

use sqs_buffered::{BackOff, Consumer, GroupAdvance, Outcome, ReceiveEvent};
use sqs_client::config::retry::RetryConfig;
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use tokio::time::sleep;

use super::super::base_client::BaseClient;
use super::diary::Diary;
use super::rig::{Rig, millis, secs, until};

/// A consumer whose handlers succeed at once.
fn quick(rig: &Rig, diary: &Diary) -> sqs_buffered::ReadyConsumer<BaseClient> {
    let seen = diary.clone();
    Consumer::builder(rig.base.clone(), &rig.url).message_handler(move |message, _| {
        seen.start(&message);
        async { Ok(Outcome::Ack) }
    })
}

#[tokio::test(start_paused = true)]
async fn delete_is_retried_for_seconds_and_its_message_is_handled_once() {
    for fault in [Fault::status(503, "busy"), Fault::fail_entries(ErrorCode::InternalFailure)] {
        let rig = Rig::new("jobs").await;
        rig.send((0..20).map(|number| number.to_string())).await;
        let diary = Diary::default();
        let consumer = quick(&rig, &diary).build().unwrap();
        let fault = rig.server.faults().inject(fault.on(Action::DeleteMessageBatch));
        let end = async {
            sleep(secs(10)).await;
            fault.remove();
            until(|| rig.left() == 0).await;
        };
        let report = consumer.run_until(end).await.unwrap();
        assert_eq!((report.stats.received, report.stats.acked), (20, 20), "{:?}", report.stats);
        assert_eq!((diary.bodies().len(), report.stats.settle_errors), (20, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn shutdown_uses_its_grace_to_give_back_although_requests_fail_for_seconds() {
    let rig = Rig::new("jobs").await;
    rig.send((0..20).map(|number| number.to_string())).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(2)
        .prefetch(10)
        .message_handler(|_, _| async {
            sleep(secs(2)).await;
            Ok(Outcome::Ack)
        })
        .build()
        .unwrap();
    let fault = rig.server.faults().inject(Fault::status(503, "down").skip(4));
    let calm = async {
        sleep(secs(12)).await;
        fault.remove();
    };
    let (report, ()) = tokio::join!(consumer.run_until(sleep(secs(1))), calm);
    let report = report.unwrap();
    assert_eq!((rig.in_flight(), report.stats.unsettled), (0, 0), "I10: {:?}", report.stats);
    assert_eq!((report.stats.acked, rig.left()), (2, 18));
}

#[tokio::test(start_paused = true)]
async fn message_whose_failed_delete_was_executed_counts_as_deleted() {
    let rig = Rig::with(MockSqs::in_process(), "jobs", RetryConfig::disabled()).await;
    rig.send(["1"]).await;
    rig.server.faults().inject(Fault::reset_after().on(Action::DeleteMessageBatch).times(1));
    rig.server.faults().inject(Fault::error(ErrorCode::AccessDenied).on(Action::DeleteMessageBatch));
    let (diary, lost) = (Diary::default(), Arc::new(Mutex::new(0)));
    let (told, seen) = (Arc::clone(&lost), diary.clone());
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .on_event(move |event| {
            *told.lock().unwrap() += u32::from(matches!(event, ReceiveEvent::LeaseLost { .. }));
        })
        .message_handler(move |message, _| {
            seen.start(&message);
            async { Ok(Outcome::Ack) }
        })
        .build()
        .unwrap();
    let report = consumer.run_until(sleep(secs(60))).await.unwrap();
    let stats = report.stats;
    assert_eq!((stats.acked, stats.leases_lost, stats.settle_errors, *lost.lock().unwrap()), (1, 0, 1, 0));
    assert_eq!((diary.bodies().len(), rig.left()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn handlers_do_not_spin_when_deletes_are_refused() {
    let ways = [
        ("jobs", BackOff::default(), GroupAdvance::AfterDelete),
        ("jobs", BackOff::None, GroupAdvance::AfterDelete),
        ("jobs.fifo", BackOff::None, GroupAdvance::AfterDelete),
        ("jobs.fifo", BackOff::None, GroupAdvance::AfterHandler),
    ];
    for (name, back_off, pace) in ways {
        let rig = Rig::new(name).await;
        rig.send_to("a", ["1"]).await;
        rig.server.faults().inject(Fault::error(ErrorCode::AccessDenied).on(Action::DeleteMessageBatch));
        let diary = Diary::default();
        let seen = diary.clone();
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .back_off(back_off)
            .group_advance(pace)
            .message_handler(move |message, _| {
                seen.start(&message);
                async {
                    sleep(millis(100)).await;
                    Ok(Outcome::Ack)
                }
            })
            .build()
            .unwrap();
        let report = consumer.run_until(sleep(secs(60))).await.unwrap();
        let starts = diary.bodies().len();
        assert!((2..=61).contains(&starts), "at most once a second: {starts} with {pace:?}");
        assert_eq!(report.stats.settle_errors, u64::try_from(starts).unwrap(), "{:?}", report.stats);
    }
}

#[tokio::test(start_paused = true)]
async fn message_that_is_already_visible_is_not_released() {
    // Without retries below, which would continue after the client has given up.
    let rig = Rig::with(MockSqs::in_process(), "jobs", RetryConfig::disabled()).await;
    rig.send(["1"]).await;
    let fault = Fault::throttle().on(Action::ChangeMessageVisibilityBatch);
    let fault = rig.server.faults().inject(fault);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(|message, _| async move {
            let count = message.attributes().unwrap();
            let count = &count[&sqs_client::types::MessageSystemAttributeName::ApproximateReceiveCount];
            if count == "1" { Ok(Outcome::Nack(secs(600))) } else { Ok(Outcome::Ack) }
        })
        .build()
        .unwrap();
    let end = async {
        sleep(millis(28_500)).await;
        let tried = rig.sent_of(Action::ChangeMessageVisibilityBatch).len();
        assert!(tried > 5, "{tried}");
        sleep(millis(1_000)).await;
        assert_eq!(rig.sent_of(Action::ChangeMessageVisibilityBatch).len(), tried);
        fault.remove();
        until(|| rig.left() == 0).await;
    };
    let report = consumer.run_until(end).await.unwrap();
    assert_eq!((report.stats.unsettled, report.stats.acked), (1, 1));
    rig.check_requests(&BTreeMap::new(), "");
}
