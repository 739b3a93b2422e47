//! Sweeps delete orphans and nothing else.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_client::types::QueueAttributeName;
use sqs_client::wire::service_error::ErrorCode;
use sqs_extended::{
    ErrorKind, ExtendedClient, ObjectPage, PayloadStore as _, Pointer, SWEEP_MARGIN, StoreCall, StoreFault,
    Upload, UploadBody,
};
use sqs_mock_server::faults::Fault;

use super::rig::{Rig, large};
use super::wrapped_store::WrappedStore;

const DAY: Duration = Duration::from_secs(86_400);
/// Twice the longest retention period plus the margin.
const OLD: Duration = Duration::from_secs(29 * 86_400);

fn uuid(number: usize) -> String {
    format!("orders/{number:08x}-0000-4000-8000-000000000000")
}

/// Writes an object with the metadata that marks objects of this crate.
async fn put(rig: &Rig, key: String, body: &'static str) {
    let upload = Upload::new(UploadBody::Bytes(body.into()));
    rig.store.put(&Pointer::new("own", key), upload).await.unwrap();
}

/// Old objects, young objects, and objects of other programs.
async fn rig() -> Rig {
    let rig = Rig::new().await;
    for number in 0..25 {
        put(&rig, uuid(number), "orphan").await;
    }
    put(&rig, "orders/readme.txt".to_owned(), "no uuid").await;
    put(&rig, uuid(1).replace("orders", "other"), "other prefix").await;
    rig.store.overwrite(&Pointer::new("own", uuid(100)), "unmarked");
    rig.store.overwrite(&Pointer::new("foreign", uuid(1)), "other bucket");
    rig.server.clock().advance(OLD + Duration::from_secs(60));
    for number in 25..30 {
        put(&rig, uuid(number), "young").await;
    }
    rig.store.set_page_size(7);
    rig
}

#[tokio::test(start_paused = true)]
async fn sweep_lists_orphans_and_deletes_them_only_with_delete() {
    let rig = rig().await;
    let reported = Arc::new(Mutex::new(Vec::new()));
    let (orphans, pages) = (Arc::clone(&reported), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&pages);
    let sweep = rig.client.sweep("orders/", OLD);
    let sweep = sweep.on_orphan(move |orphan| orphans.lock().unwrap().push(orphan.key.clone()));
    let report = sweep.on_progress(move |progress| seen.lock().unwrap().push(progress.examined)).run().await;
    let report = report.unwrap();
    let expected: Vec<_> = (0..25).map(uuid).collect();
    assert_eq!(*reported.lock().unwrap(), expected);
    assert_eq!(report.orphans.iter().map(|orphan| orphan.key.clone()).collect::<Vec<_>>(), expected);
    let progress = report.progress;
    assert_eq!((progress.examined, progress.orphans, progress.foreign, progress.deleted), (32, 25, 2, 0));
    assert_eq!(progress.orphaned_bytes, 25 * 6);
    assert_eq!(*pages.lock().unwrap(), [7, 14, 21, 28, 32]);
    assert_eq!(rig.store.objects().len(), 34);

    let report = rig.client.sweep("orders/", OLD).delete().run().await.unwrap();
    assert_eq!((report.progress.orphans, report.progress.deleted), (25, 25));
    assert_eq!(rig.store.objects().len(), 9);

    let report = rig.client.sweep("orders/", OLD).unmarked().delete().run().await.unwrap();
    assert_eq!((report.progress.orphans, report.progress.foreign), (1, 1), "unmarked, with a UUID");
}

#[tokio::test(start_paused = true)]
async fn sweep_continues_if_an_object_cannot_be_read_or_deleted() {
    let rig = rig().await;
    rig.store.pass_next(StoreCall::Delete);
    rig.store.fail_next(StoreCall::Delete, StoreFault::Fail(ErrorKind::Forbidden));
    rig.store.fail_next(StoreCall::Get, StoreFault::Fail(ErrorKind::Forbidden));
    let report = rig.client.sweep("orders/", OLD).delete().run().await.unwrap();
    assert_eq!((report.progress.deleted, report.progress.failed), (23, 2));
    assert_eq!(report.first_error.unwrap().kind(), ErrorKind::Forbidden);
    rig.store.fail_next(StoreCall::List, StoreFault::Fail(ErrorKind::Forbidden));
    let error = rig.client.sweep("orders/", OLD).run().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
}

#[tokio::test(start_paused = true)]
async fn sweep_of_objects_that_messages_may_need_is_rejected() {
    let rig = rig().await;
    for days in [0, 14, 28] {
        let error = rig.client.sweep("orders/", days * DAY).run().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.to_string().contains("at least 2505600 s"), "{error}");
    }
    assert_eq!(rig.client.sweep("", OLD).run().await.unwrap_err().kind(), ErrorKind::Config);
    let margin = SWEEP_MARGIN.as_secs();
    // The default retention period is four days.
    let sweep =
        |seconds| rig.client.sweep("orders/", Duration::from_secs(seconds)).queues([&rig.url]).delete().run();
    assert!(sweep(4 * 86_400 + margin).await.is_ok());
    let error = sweep(4 * 86_400 + margin - 1).await.unwrap_err();
    assert!(error.to_string().contains("at least 432000 s"), "{error}");
    let set = rig.plain.set_queue_attributes().queue_url(&rig.url);
    set.attributes(QueueAttributeName::MessageRetentionPeriod, "518400").send().await.unwrap();
    assert!(sweep(4 * 86_400 + margin).await.is_err());
    let deleted = rig.store.calls().deletes;
    rig.server.faults().inject(Fault::error(ErrorCode::AccessDenied));
    assert_eq!(sweep(29 * 86_400).await.unwrap_err().kind(), ErrorKind::Client);
    assert_eq!(rig.store.calls().deletes, deleted);
}

/// A FIFO message gets a new retention period in its dead-letter queue.
#[tokio::test(start_paused = true)]
async fn sweep_keeps_the_payload_of_a_dead_letter_past_its_retention_period() {
    let rig = Rig::with("q.fifo", |builder| builder.key_prefix("orders/")).await;
    let fortnight = (14 * 86_400).to_string();
    let dead =
        rig.plain.create_queue().queue_name("dead.fifo").attributes(QueueAttributeName::FifoQueue, "true");
    let dead = dead.attributes(QueueAttributeName::MessageRetentionPeriod, &fortnight);
    let dead_url = dead.send().await.unwrap().queue_url.unwrap();
    let policy =
        r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead.fifo","maxReceiveCount":"1"}"#;
    let set = rig.plain.set_queue_attributes().queue_url(&rig.url);
    let set = set.attributes(QueueAttributeName::MessageRetentionPeriod, &fortnight);
    set.attributes(QueueAttributeName::RedrivePolicy, policy).send().await.unwrap();

    let send = rig.client.send_message().queue_url(&rig.url).message_body(large(""));
    send.message_group_id("g").send().await.unwrap();
    rig.server.clock().advance(13 * DAY + Duration::from_secs(80_000));
    assert_eq!(rig.receive().await.len(), 1);
    rig.server.clock().advance(Duration::from_secs(60));
    assert_eq!(rig.receive().await.len(), 0, "the message was not moved to the dead-letter queue");
    rig.server.clock().advance(2 * DAY);

    let sweep = |days: u32| rig.client.sweep("orders/", days * DAY).queues([&rig.url]).delete().run();
    let error = sweep(15).await.unwrap_err();
    assert!(error.to_string().contains("at least 2505600 s"), "{error}");
    assert_eq!(sweep(29).await.unwrap().progress.orphans, 0);
    let received = rig.client.receive(&dead_url).send().await.unwrap().remove(0);
    assert!(received.body().unwrap() == Some(&large("")));
}

#[tokio::test(start_paused = true)]
async fn sweep_counts_all_dead_letter_queues_of_a_chain() {
    let rig = Rig::with("q", |builder| builder.key_prefix("orders/")).await;
    let mut dead = None;
    let mut url = String::new();
    for number in 0..13 {
        let mut create = rig.plain.create_queue().queue_name(format!("q{number}"));
        if let Some(arn) = dead.replace(format!("arn:aws:sqs:us-east-1:000000000000:q{number}")) {
            let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":"1"}}"#);
            create = create.attributes(QueueAttributeName::RedrivePolicy, policy);
        }
        url = create.send().await.unwrap().queue_url.unwrap();
    }
    // The default retention period is four days.
    let sweep = |days: u32| rig.client.sweep("orders/", days * DAY).queues([&url]).run();
    assert!(sweep(13 * 4).await.is_err());
    assert!(sweep(13 * 4 + 1).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn object_of_a_send_with_unknown_outcome_is_swept() {
    let rig = Rig::with("q", |builder| builder.key_prefix("orders/")).await;
    rig.server.faults().inject(Fault::reset_before().times(1));
    assert!(rig.client.send_message().queue_url(&rig.url).message_body(large("")).send().await.is_err());
    rig.server.clock().advance(OLD + Duration::from_secs(1));
    let report = rig.client.sweep("orders/", OLD).delete().run().await.unwrap();
    assert_eq!(report.progress.deleted, 1);
    assert!(rig.store.objects().is_empty());
}

#[tokio::test(start_paused = true)]
async fn listing_that_repeats_a_page_is_an_error() {
    let rig = rig().await;
    let mut store = WrappedStore::new(rig.store.clone());
    store.lists = Some(Arc::new(|page: ObjectPage| ObjectPage::new(page.objects, Some("a".to_owned()))));
    let client = ExtendedClient::new(rig.base.clone(), store);
    let error = client.sweep("orders/", OLD).run().await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Rejected, false));
    assert!(error.to_string().contains("same page twice"), "{error}");
    assert_eq!(rig.store.calls().deletes, 0);
}
