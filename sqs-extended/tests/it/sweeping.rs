//! Orphans are found, and nothing else is deleted.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_client::service_error::ErrorCode;
use sqs_client::types::QueueAttributeName;
use sqs_extended::{ErrorKind, Pointer, StoreCall, StoreErrorKind, StoreFault};
use sqs_mock_server::faults::Fault;

use crate::rig::{Rig, large};

const DAY: Duration = Duration::from_secs(86_400);

fn uuid(number: usize) -> String {
    format!("orders/{number:08x}-0000-4000-8000-000000000000")
}

/// Old objects, young ones, and some of others.
async fn rig() -> Rig {
    let rig = Rig::new().await;
    for number in 0..25 {
        rig.store.overwrite(&Pointer::new("own", uuid(number)), "orphan");
    }
    rig.store.overwrite(&Pointer::new("own", "orders/readme.txt"), "not ours");
    rig.store.overwrite(&Pointer::new("own", uuid(1).replace("orders", "other")), "other prefix");
    rig.store.overwrite(&Pointer::new("foreign", uuid(1)), "other bucket");
    rig.server.clock().advance(14 * DAY + Duration::from_secs(60));
    for number in 25..30 {
        rig.store.overwrite(&Pointer::new("own", uuid(number)), "young");
    }
    rig.store.set_page_size(7);
    rig
}

#[tokio::test(start_paused = true)]
async fn a_sweep_lists_orphans_and_deletes_nothing_unless_told_to() {
    let rig = rig().await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let (orphans, pages) = (Arc::clone(&told), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&pages);
    let sweep = rig.client.sweep("orders/", 14 * DAY);
    let sweep = sweep.on_orphan(move |orphan| orphans.lock().unwrap().push(orphan.key.clone()));
    let report = sweep.on_progress(move |progress| seen.lock().unwrap().push(progress.examined)).run().await;
    let report = report.unwrap();
    let expected: Vec<_> = (0..25).map(uuid).collect();
    assert_eq!(*told.lock().unwrap(), expected);
    assert_eq!(report.orphans.iter().map(|orphan| orphan.key.clone()).collect::<Vec<_>>(), expected);
    let progress = report.progress;
    assert_eq!((progress.examined, progress.orphans, progress.foreign, progress.deleted), (31, 25, 1, 0));
    assert_eq!(progress.orphaned_bytes, 25 * 6);
    assert_eq!(*pages.lock().unwrap(), [7, 14, 21, 28, 31]);
    assert_eq!(rig.store.objects().len(), 33);

    let report = rig.client.sweep("orders/", 14 * DAY).delete().run().await.unwrap();
    assert_eq!((report.progress.orphans, report.progress.deleted), (25, 25));
    assert_eq!(rig.store.objects().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_sweep_goes_on_when_a_delete_fails() {
    let rig = rig().await;
    rig.store.pass_next(StoreCall::Delete);
    rig.store.fail_next(StoreCall::Delete, StoreFault::Refuse(StoreErrorKind::Forbidden));
    let report = rig.client.sweep("orders/", 14 * DAY).delete().run().await.unwrap();
    assert_eq!((report.progress.deleted, report.progress.delete_failed), (24, 1));
    assert_eq!(report.first_error.unwrap().kind(), StoreErrorKind::Forbidden);
    rig.store.fail_next(StoreCall::List, StoreFault::Refuse(StoreErrorKind::Forbidden));
    let error = rig.client.sweep("orders/", 14 * DAY).run().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
}

#[tokio::test(start_paused = true)]
async fn ages_that_could_cost_live_messages_their_payload_are_refused() {
    let rig = rig().await;
    let error = rig.client.sweep("", Duration::from_secs(14 * 86_400 - 1)).run().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains("1209600 s is the least"), "{error}");
    // The queue keeps messages for four days, unless told otherwise.
    let sweep = |days| rig.client.sweep("", days * DAY).queues([&rig.url]).run();
    assert!(sweep(4).await.is_ok());
    assert!(sweep(3).await.unwrap_err().to_string().contains("345600 s is the least"));
    let set = rig.plain.set_queue_attributes().queue_url(&rig.url);
    set.attributes(QueueAttributeName::MessageRetentionPeriod, "518400").send().await.unwrap();
    assert!(sweep(4).await.is_err());
    rig.server.faults().inject(Fault::error(ErrorCode::AccessDenied));
    assert_eq!(sweep(14).await.unwrap_err().kind(), ErrorKind::Client);
    assert_eq!(rig.store.calls().deletes, 0);
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_message_may_not_have_been_sent_is_found() {
    let rig = Rig::new().await;
    rig.server.faults().inject(Fault::reset_before().times(1));
    assert!(rig.client.send_message().queue_url(&rig.url).message_body(large("")).send().await.is_err());
    rig.server.clock().advance(14 * DAY + Duration::from_secs(1));
    let report = rig.client.sweep("", 14 * DAY).delete().run().await.unwrap();
    assert_eq!(report.progress.deleted, 1);
    assert!(rig.store.objects().is_empty());
}
