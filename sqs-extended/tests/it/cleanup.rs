//! Objects that cannot be deleted at first, or at all.

use std::time::Duration;

use sqs_client::operation::Action;
use sqs_client::types::DeleteMessageBatchRequestEntry;
use sqs_extended::{ErrorKind, ExtendedClient, Pointer, PointerClass};
use sqs_mock_server::faults::Fault;
use tokio::time::Instant;

use super::faulty_store::{StoreCall, StoreFault};
use super::rig::{EventLog, Rig, large};
use super::sizes::entry;
use super::wrapped_store::WrappedStore;

async fn delete_one(rig: &Rig) {
    rig.send(large("")).await;
    let message = rig.receive().await.remove(0);
    rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
    assert!(rig.bodies().is_empty());
}

#[tokio::test(start_paused = true)]
async fn failed_object_delete_is_reported_and_retried() {
    let events = EventLog::default();
    let rig = Rig::with("q", |builder| builder.on_event(events.listener())).await;
    for _ in 0..3 {
        rig.store.fail_next(StoreCall::Delete, StoreFault::Fail(ErrorKind::Unavailable));
    }
    delete_one(&rig).await;
    assert_eq!((rig.client.stats().cleanup_pending, rig.store.objects().len()), (1, 1), "in the background");
    rig.client.finish_cleanup().await;
    let stats = rig.client.stats();
    assert_eq!((stats.cleanup_failed, stats.cleanup_pending, stats.objects_deleted), (3, 0, 1));
    assert_eq!(events.count("CleanupFailed"), 3);
    assert!(rig.store.objects().is_empty());
}

#[tokio::test(start_paused = true)]
async fn object_delete_is_given_up_after_five_failures() {
    let rig = Rig::new().await;
    rig.store
        .fail_when(|call, _| (call == StoreCall::Delete).then_some(StoreFault::Fail(ErrorKind::Unavailable)));
    delete_one(&rig).await;
    rig.client.finish_cleanup().await;
    let stats = rig.client.stats();
    assert_eq!((stats.cleanup_failed, stats.cleanup_given_up, stats.objects_deleted), (5, 1, 0));
    assert_eq!((rig.store.calls().deletes, rig.store.objects().len()), (5, 1));
    // Giving up one object does not affect the next one.
    rig.store.heal();
    delete_one(&rig).await;
    rig.client.finish_cleanup().await;
    assert_eq!(rig.store.objects().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn delete_does_not_wait_for_a_store_that_hangs() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    let message = rig.receive().await.remove(0);
    rig.store.fail_next(StoreCall::Delete, StoreFault::Hang);
    let started = tokio::time::Instant::now();
    rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!((rig.bodies().len(), rig.store.objects().len()), (0, 1));
    rig.client.finish_cleanup().await;
    assert!(rig.store.objects().is_empty());
}

#[tokio::test(start_paused = true)]
async fn denied_delete_is_given_up_at_once() {
    let events = EventLog::default();
    let rig = Rig::with("q", |builder| builder.on_event(events.listener())).await;
    rig.store.fail_next(StoreCall::Delete, StoreFault::Fail(ErrorKind::Forbidden));
    delete_one(&rig).await;
    rig.client.finish_cleanup().await;
    let stats = rig.client.stats();
    assert_eq!((stats.cleanup_failed, stats.cleanup_given_up, stats.cleanup_pending), (1, 1, 0));
    assert_eq!((events.count("CleanupFailed"), events.count("CleanupGivenUp")), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn pending_object_deletes_are_limited_to_10_000() {
    let rig = Rig::with("q", |builder| builder.store_all(true)).await;
    rig.store
        .fail_when(|call, _| (call == StoreCall::Delete).then_some(StoreFault::Fail(ErrorKind::Unavailable)));
    for _ in 0..1_001 {
        let mut send = rig.client.send_message_batch().queue_url(&rig.url);
        for id in 0..10 {
            send = send.entries(entry(&id.to_string(), "x"));
        }
        send.send().await.unwrap();
        let mut delete = rig.client.delete_message_batch().queue_url(&rig.url);
        for (id, message) in rig.receive().await.iter().enumerate() {
            let entry = DeleteMessageBatchRequestEntry::builder().id(id.to_string());
            delete = delete.entries(entry.receipt_handle(message.receipt_handle().unwrap()).build().unwrap());
        }
        assert_eq!(delete.send().await.unwrap().successful.len(), 10);
    }
    let stats = rig.client.stats();
    assert_eq!((stats.cleanup_pending, stats.cleanup_given_up), (10_000, 10));
    rig.store.heal();
    rig.client.finish_cleanup().await;
    assert_eq!(rig.client.stats().objects_deleted, 10_000);
}

/// Sends `count` messages and deletes them, so that their objects wait.
async fn delete_many(rig: &Rig, count: usize) {
    for number in 0..count {
        rig.send(number.to_string()).await;
        let message = rig.receive().await.remove(0);
        rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn finish_cleanup_ends_in_bounded_time_with_any_number_of_objects() {
    let events = EventLog::default();
    let settings = |builder: sqs_extended::ExtendedClientBuilder<_>| {
        builder.store_all(true).on_event(events.listener()).store_timeout(Duration::from_secs(10))
    };
    let rig = Rig::with("q", settings).await;
    rig.store.fail_when(|call, _| (call == StoreCall::Delete).then_some(StoreFault::Hang));
    delete_many(&rig, 1_000).await;
    let started = Instant::now();
    rig.client.finish_cleanup().await;
    assert!(started.elapsed() <= Duration::from_secs(90 + 5 * 10), "{:?}", started.elapsed());
    let stats = rig.client.stats();
    assert_eq!((stats.cleanup_pending, stats.cleanup_given_up), (0, 1_000));
    assert_eq!(events.count("CleanupGivenUp"), 1_000);
    // Each object that is given up has an error that says why.
    assert_eq!(events.count_with("CleanupGivenUp", "error: None"), 0);
    assert!(events.count_with("CleanupGivenUp", "did not succeed within 140s") > 0);
    assert!(events.count_with("CleanupGivenUp", "did not respond within 10s") > 0);
}

#[tokio::test(start_paused = true)]
async fn bucket_out_of_reach_delays_no_deletes_in_another() {
    let rig = Rig::with("q", |builder| builder.allow_bucket("other")).await;
    let size = Some(("ExtendedPayloadSize", "1"));
    for number in 0..100 {
        let key = format!("01234567-89ab-4cde-8f01-23456789{number:04}");
        let pointer = Pointer::new("other", key);
        rig.store.overwrite(&pointer, "x");
        rig.send_raw(pointer.to_body(PointerClass::Modern), size).await;
    }
    let hangs = |at: &Pointer| (at.bucket() == "other").then_some(StoreFault::Hang);
    rig.store.fail_when(move |call, at| if call == StoreCall::Delete { hangs(at) } else { None });
    for _ in 0..100 {
        let message = rig.receive().await.remove(0);
        rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
        rig.server.clock().advance(Duration::from_secs(31));
    }
    delete_one(&rig).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let left = rig.store.objects();
    assert!(left.len() == 100 && left.iter().all(|at| at.bucket() == "other"));
}

#[tokio::test(start_paused = true)]
async fn finish_cleanup_does_not_wait_for_a_service_that_hangs() {
    let events = EventLog::default();
    let rig = Rig::with("q", |builder| builder.on_event(events.listener())).await;
    rig.send(large("")).await;
    rig.store.fail_next(StoreCall::Get, StoreFault::Hang);
    let hangs = Fault::latency(Duration::from_secs(1 << 20)).on(Action::ChangeMessageVisibilityBatch);
    rig.server.faults().inject(hangs);
    assert!(tokio::time::timeout(Duration::from_secs(1), rig.receive()).await.is_err());
    let started = Instant::now();
    rig.client.finish_cleanup().await;
    assert_eq!((started.elapsed().as_secs(), events.count("ReleaseFailed")), (30, 1));
}

#[test]
fn pending_delete_is_reported_as_given_up_when_its_runtime_ends() {
    let events = EventLog::default();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let rig = runtime.block_on(async {
        let rig = Rig::with("q", |builder| builder.on_event(events.listener())).await;
        rig.store.fail_next(StoreCall::Delete, StoreFault::Hang);
        delete_one(&rig).await;
        tokio::task::yield_now().await;
        rig
    });
    assert_eq!((rig.client.stats().cleanup_pending, events.count("CleanupGivenUp")), (1, 0));
    drop(runtime);
    assert_eq!((rig.client.stats().cleanup_pending, events.count("CleanupGivenUp")), (0, 1));
    assert_eq!(rig.client.stats().cleanup_given_up, 1);
}

/// A store may execute a write after its call was dropped, and so after the first delete.
#[tokio::test(start_paused = true)]
async fn object_that_appears_after_its_upload_was_dropped_is_deleted() {
    let rig = Rig::new().await;
    let mut store = WrappedStore::new(rig.store.clone());
    store.late_puts = Some(Duration::from_secs(10));
    let client = ExtendedClient::new(rig.plain.clone(), store);
    let send = client.send_message().queue_url(&rig.url).message_body(large("")).send();
    assert!(tokio::time::timeout(Duration::from_secs(1), send).await.is_err());
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(rig.store.objects().len(), 1);
    client.finish_cleanup().await;
    assert_eq!((rig.store.objects().len(), client.stats().objects_deleted), (0, 1));
}
