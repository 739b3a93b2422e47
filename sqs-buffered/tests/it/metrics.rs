//! The metrics of sends, deletes and visibility changes.

use std::time::Duration;

use metrics::Unit;
use sqs_buffered::metrics::{
    BATCH_ENTRIES, BATCH_SIZE, BATCHES_IN_FLIGHT, BUFFER_DURATION, BYTES_HELD, ENTRIES_ACCEPTED,
    ENTRIES_ADMITTED, ENTRIES_FAILED, ENTRIES_HELD, ENTRIES_RETRIED, IN_FLIGHT_LIMIT, OLDEST_AGE,
    OPERATION_DURATION, SENT_MESSAGES,
};
use sqs_buffered::{BatchLimits, Entry, InFlight, Linger};
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;

use super::recorder::Recorded;
use super::rig::Rig;

const SENDS: [(&str, &str); 2] =
    [("messaging.destination.name", "q"), ("messaging.operation.name", "SendMessageBatch")];
const DELETES: [(&str, &str); 2] =
    [("messaging.destination.name", "q"), ("messaging.operation.name", "DeleteMessageBatch")];

fn failed(kind: &'static str) -> [(&'static str, &'static str); 3] {
    [SENDS[0], SENDS[1], ("error.type", kind)]
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[tokio::test(start_paused = true)]
async fn sends_that_succeed_fail_and_are_retried_are_recorded() {
    let recorded = Recorded::default();
    let _guard = recorded.install();
    let rig = Rig::standard().await;
    let buffered =
        rig.builder().linger(Linger::Fixed(millis(10))).in_flight(InFlight::Fixed(7)).build().unwrap();
    rig.server.faults().inject(Fault::fail_entries(ErrorCode::InvalidMessageContents).body_contains("bad"));
    rig.server.faults().inject(Fault::throttle().times(1));
    rig.server.faults().inject(Fault::latency(millis(30)));
    let good = buffered.enqueue(Entry::new(&rig.url, "good")).await.unwrap();
    let bad = buffered.enqueue(Entry::new(&rig.url, "bad")).await.unwrap();
    tokio::time::sleep(millis(20)).await;
    let held = [ENTRIES_HELD, BYTES_HELD, BATCHES_IN_FLIGHT, IN_FLIGHT_LIMIT];
    assert_eq!(recorded.each(&held, &SENDS), [2.0, 7.0, 1.0, 7.0]);
    good.await.unwrap();
    bad.await.unwrap_err();
    assert_eq!(recorded.each(&held, &SENDS), [0.0, 0.0, 0.0, 7.0]);
    let counted = [ENTRIES_ADMITTED, ENTRIES_ACCEPTED, ENTRIES_RETRIED, SENT_MESSAGES];
    assert_eq!(recorded.each(&counted, &SENDS), [2.0, 1.0, 2.0, 1.0]);
    for name in [ENTRIES_FAILED, SENT_MESSAGES] {
        assert_eq!(recorded.values(name, &failed("rejected")), [1.0], "{name}");
    }
    assert_eq!(recorded.values(BATCH_ENTRIES, &SENDS), [2.0, 2.0]);
    assert_eq!(recorded.values(BATCH_SIZE, &SENDS), [7.0, 7.0]);
    assert_eq!(recorded.values(BUFFER_DURATION, &SENDS), [0.01, 0.01], "the retry is not counted again");
    assert_eq!(recorded.values(OPERATION_DURATION, &failed("request")), [0.03]);
    assert_eq!(recorded.values(OPERATION_DURATION, &SENDS), [0.03]);
    drop((buffered, rig));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(recorded.value(IN_FLIGHT_LIMIT, &SENDS).abs() < 0.5, "a lane that is gone has no limit");
}

#[tokio::test(start_paused = true)]
async fn age_of_the_oldest_entry_grows_while_a_queue_hangs_and_falls_when_it_recovers() {
    let recorded = Recorded::default();
    let _guard = recorded.install();
    let rig = Rig::standard().await;
    let one = BatchLimits::default().entries(1);
    let buffered = rig.builder().batch_limits(one).in_flight(InFlight::Fixed(1)).build().unwrap();
    rig.server.faults().inject(Fault::latency(Duration::from_secs(20)).times(1));
    let first = buffered.enqueue(Entry::new(&rig.url, "1")).await.unwrap();
    tokio::time::sleep(millis(100)).await;
    let second = buffered.enqueue(Entry::new(&rig.url, "2")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(10)).await;
    let age = recorded.value(OLDEST_AGE, &SENDS);
    assert!((8.5..=10.0).contains(&age), "{age}");
    first.await.unwrap();
    second.await.unwrap();
    assert_eq!(recorded.values(OLDEST_AGE, &SENDS), [0.0]);
}

#[tokio::test(start_paused = true)]
async fn deletes_are_told_apart_by_their_operation_and_have_no_size() {
    let recorded = Recorded::default();
    let _guard = recorded.install();
    let rig = Rig::standard().await;
    let buffered = rig.buffered();
    buffered.send(&rig.url, "tea").await.unwrap();
    let message = rig.receive().await.remove(0);
    buffered.delete(&rig.url, message.receipt_handle().unwrap()).await.unwrap();
    assert_eq!(recorded.values(ENTRIES_ACCEPTED, &DELETES), [1.0]);
    assert_eq!(recorded.values(BATCH_ENTRIES, &DELETES), [1.0]);
    for name in [BATCH_SIZE, SENT_MESSAGES] {
        assert!(recorded.values(name, &DELETES).is_empty(), "{name}");
    }
    assert_eq!(recorded.each(&[BYTES_HELD], &DELETES), [0.0]);
}

#[test]
fn metrics_are_described_with_their_units_when_a_client_is_made() {
    let recorded = Recorded::default();
    let guard = recorded.install();
    drop(sqs_buffered::BufferedClient::new(sqs_mock_server::MockSqs::in_process().client()));
    drop(guard);
    assert_eq!(recorded.unit(OPERATION_DURATION), Some(Unit::Seconds));
    assert_eq!(recorded.unit(BATCH_SIZE), Some(Unit::Bytes));
    assert_eq!(recorded.unit(ENTRIES_ADMITTED), Some(Unit::Count));
}
