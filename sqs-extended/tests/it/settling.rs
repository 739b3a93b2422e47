//! Deletes and changes of the visibility timeout.

use std::time::Duration;

use sqs_client::operation::Action;
use sqs_client::types::{ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry, Message};
use sqs_client::wire::service_error::ErrorCode;
use sqs_extended::ExtendedHandle;
use sqs_mock_server::faults::Fault;

use super::rig::{EventLog, Rig, large};

fn original_handle(message: &Message) -> String {
    let handle = message.receipt_handle().unwrap();
    ExtendedHandle::parse(handle).map_or_else(|| handle.to_owned(), |handle| handle.original().to_owned())
}

fn delete_entries(messages: &[Message]) -> Vec<DeleteMessageBatchRequestEntry> {
    let entry = |(place, message): (usize, &Message)| {
        let entry = DeleteMessageBatchRequestEntry::builder().id(place.to_string());
        entry.receipt_handle(message.receipt_handle().unwrap()).build().unwrap()
    };
    messages.iter().enumerate().map(entry).collect()
}

/// All libraries use keys with a UUID. A forged pointer must not delete other files of the bucket.
#[tokio::test(start_paused = true)]
async fn object_whose_key_has_no_uuid_is_never_deleted() {
    let rig = Rig::new().await;
    let uuid = "orders/01234567-89ab-4cde-8f01-23456789abcd";
    for key in ["backups/db.dump", uuid] {
        for is_lazy in [true, false] {
            let pointer = rig.store_and_send(key, b"tea").await;
            let receive = rig.client.receive(&rig.url);
            let receive = if is_lazy { receive.lazy() } else { receive };
            let received = receive.send().await.unwrap().remove(0);
            rig.client.queue(&rig.url).delete(&received.message).send().await.unwrap();
            assert!(rig.bodies().is_empty());
            rig.client.finish_cleanup().await;
            assert_eq!(rig.store.objects().contains(&pointer), key != uuid, "{key}, lazy: {is_lazy}");
            let pointer = rig.store_and_send(key, b"tea").await;
            let batch = rig.client.delete_message_batch().queue_url(&rig.url);
            batch.set_entries(Some(delete_entries(&rig.receive().await))).send().await.unwrap();
            rig.client.finish_cleanup().await;
            assert_eq!(rig.store.objects().contains(&pointer), key != uuid, "{key} in a batch");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn keys_chosen_by_the_sender_are_deleted_below_the_prefix_that_allows_it() {
    let rig = Rig::with("q", |builder| builder.delete_keys_with_prefix("incoming/")).await;
    for (key, is_kept) in [("incoming/report.txt", false), ("backups/db.dump", true)] {
        let pointer = rig.store_and_send(key, b"tea").await;
        let message = rig.receive().await.remove(0);
        rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
        rig.client.finish_cleanup().await;
        assert_eq!(rig.store.objects().contains(&pointer), is_kept, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn deleting_a_message_deletes_its_object() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    let message = rig.receive().await.remove(0);
    rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
    rig.client.finish_cleanup().await;
    assert!(rig.bodies().is_empty() && rig.store.objects().is_empty());
    assert_eq!(rig.client.stats().objects_deleted, 1);
}

#[tokio::test(start_paused = true)]
async fn delete_with_a_raw_handle_keeps_the_object() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    let message = rig.receive().await.remove(0);
    let handle = original_handle(&message);
    rig.client.delete_message().queue_url(&rig.url).receipt_handle(handle).send().await.unwrap();
    // A raw handle does not name the object.
    assert_eq!((rig.bodies().len(), rig.store.objects().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn object_is_kept_if_its_message_is_not_deleted() {
    for fault in [Fault::error(ErrorCode::AccessDenied), Fault::reset_before(), Fault::throttle()] {
        let rig = Rig::new().await;
        rig.send(large("")).await;
        let messages = rig.receive().await;
        rig.server.faults().inject(fault.times(2));
        assert!(rig.client.queue(&rig.url).delete(&messages[0]).send().await.is_err());
        let batch = rig.client.delete_message_batch().queue_url(&rig.url);
        assert!(batch.set_entries(Some(delete_entries(&messages))).send().await.is_err());
        assert_eq!((rig.bodies().len(), rig.store.objects().len()), (1, 1));
        assert_eq!(rig.store.calls().deletes, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn object_is_kept_and_reported_if_the_outcome_of_its_delete_is_unknown() {
    let events = EventLog::default();
    let rig = Rig::with("q", |builder| builder.on_event(events.listener())).await;
    for mark in ["a", "b", "c", "d"] {
        rig.send(large(mark)).await;
    }
    let messages = rig.receive().await;
    let queue = rig.client.queue(&rig.url);
    rig.server.faults().inject(Fault::reset_after().times(2));
    assert!(queue.delete(&messages[0]).send().await.is_err());
    let batch = rig.client.delete_message_batch().queue_url(&rig.url);
    assert!(batch.set_entries(Some(delete_entries(&messages[1..3]))).send().await.is_err());
    rig.server.faults().inject(Fault::latency(Duration::from_mins(1)).times(1));
    let dropped = tokio::time::timeout(Duration::from_secs(1), queue.delete(&messages[3]).send()).await;
    assert!(dropped.is_err());
    assert_eq!((rig.store.objects().len(), rig.store.calls().deletes), (4, 0));
    assert_eq!((events.count("OutcomeUnknown"), rig.client.stats().outcomes_unknown), (4, 4));
}

#[tokio::test(start_paused = true)]
async fn object_that_must_not_be_deleted_is_reported() {
    let events = EventLog::default();
    let rig = Rig::with("q", |builder| builder.on_event(events.listener())).await;
    rig.store_and_send("backups/db.dump", b"tea").await;
    let message = rig.receive().await.remove(0);
    rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
    assert_eq!((rig.bodies().len(), rig.store.objects().len()), (0, 1));
    assert_eq!((events.count("CleanupGivenUp"), rig.client.stats().cleanup_given_up), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn batch_delete_removes_only_objects_of_deleted_messages() {
    let rig = Rig::new().await;
    for mark in ["a", "b", "c"] {
        rig.send(large(mark)).await;
    }
    rig.send("small").await;
    let messages = rig.receive().await;
    let refused = Fault::fail_entries(ErrorCode::InternalFailure).entry(1).on(Action::DeleteMessageBatch);
    rig.server.faults().inject(refused);
    let omitted = Fault::omit_entries().entry(2).on(Action::DeleteMessageBatch);
    rig.server.faults().inject(omitted);
    let batch = rig.client.delete_message_batch().queue_url(&rig.url);
    let output = batch.set_entries(Some(delete_entries(&messages))).send().await.unwrap();
    assert_eq!((output.successful.len(), output.failed.len()), (2, 1));
    rig.client.finish_cleanup().await;
    let kept = usize::from(ExtendedHandle::parse(messages[1].receipt_handle().unwrap()).is_some())
        + usize::from(ExtendedHandle::parse(messages[2].receipt_handle().unwrap()).is_some());
    assert_eq!(rig.store.objects().len(), kept);
    let left = rig.pointers();
    assert!(left.iter().all(|pointer| rig.store.bytes(pointer).is_some()));
}

#[tokio::test(start_paused = true)]
async fn retain_keeps_the_objects_of_deleted_messages() {
    let rig = Rig::with("q", sqs_extended::ExtendedClientBuilder::retain).await;
    rig.send(large("")).await;
    let messages = rig.receive().await;
    let batch = rig.client.delete_message_batch().queue_url(&rig.url);
    batch.set_entries(Some(delete_entries(&messages))).send().await.unwrap();
    assert_eq!((rig.bodies().len(), rig.store.objects().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn visibility_is_changed_with_extended_and_raw_handles() {
    let rig = Rig::new().await;
    for mark in ["a", "b", "c"] {
        rig.send(large(mark)).await;
    }
    let messages = rig.receive().await;
    let change = rig.client.change_message_visibility().queue_url(&rig.url).visibility_timeout(0);
    change.clone().set_receipt_handle(messages[0].receipt_handle.clone()).send().await.unwrap();
    assert_eq!(rig.in_flight(), 2);
    let entry = |id: &str, handle: &str| {
        let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(id).receipt_handle(handle);
        entry.visibility_timeout(0).build().unwrap()
    };
    let batch = rig.client.change_message_visibility_batch().queue_url(&rig.url);
    let batch = batch.entries(entry("a", messages[1].receipt_handle().unwrap()));
    let output = batch.entries(entry("b", &original_handle(&messages[2]))).send().await.unwrap();
    assert_eq!((output.successful.len(), rig.in_flight()), (2, 0));
    assert_eq!(rig.store.calls().deletes, 0);
}
