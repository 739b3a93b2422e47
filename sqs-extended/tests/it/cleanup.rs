//! Objects whose deletion fails.

use std::time::Duration;

use sqs_extended::{StoreCall, StoreErrorKind, StoreFault};

use super::rig::{Diary, Rig, large};

async fn delete_one(rig: &Rig) {
    rig.send(large("")).await;
    let message = rig.receive().await.remove(0);
    rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
    assert!(rig.bodies().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_failed_delete_of_an_object_is_told_and_tried_again() {
    let diary = Diary::default();
    let rig = Rig::with("q", |builder| builder.on_event(diary.listener())).await;
    for _ in 0..3 {
        rig.store.fail_next(StoreCall::Delete, StoreFault::Refuse(StoreErrorKind::Unavailable));
    }
    delete_one(&rig).await;
    let stats = rig.client.stats();
    assert_eq!((stats.cleanup_failed, stats.cleanup_pending, diary.count("CleanupFailed")), (1, 1, 1));
    assert_eq!(rig.store.objects().len(), 1);
    rig.client.finish_cleanup().await;
    let stats = rig.client.stats();
    assert_eq!((stats.cleanup_failed, stats.cleanup_pending, stats.objects_deleted), (3, 0, 1));
    assert!(rig.store.objects().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_delete_that_always_fails_is_given_up() {
    let rig = Rig::new().await;
    rig.store.fail_when(|call, _| {
        (call == StoreCall::Delete).then_some(StoreFault::Refuse(StoreErrorKind::Forbidden))
    });
    delete_one(&rig).await;
    rig.client.finish_cleanup().await;
    let stats = rig.client.stats();
    assert_eq!((stats.cleanup_failed, stats.cleanup_given_up, stats.objects_deleted), (5, 1, 0));
    assert_eq!((rig.store.calls().deletes, rig.store.objects().len()), (5, 1));
    // And the next one is tried anew.
    rig.store.heal();
    delete_one(&rig).await;
    assert_eq!(rig.store.objects().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_delete_that_is_dropped_after_its_message_is_gone_deletes_the_object_in_the_background() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    let message = rig.receive().await.remove(0);
    rig.store.fail_next(StoreCall::Delete, StoreFault::Hang);
    let queue = rig.client.queue(&rig.url);
    let delete = queue.delete(&message).send();
    assert!(tokio::time::timeout(Duration::from_secs(1), delete).await.is_err());
    assert_eq!((rig.bodies().len(), rig.store.objects().len()), (0, 1));
    rig.client.finish_cleanup().await;
    assert!(rig.store.objects().is_empty());
}

async fn fill(rig: &Rig, count: usize) {
    for number in 0..count {
        rig.send(number.to_string()).await;
        let message = rig.receive().await.remove(0);
        rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_waiting_is_bounded() {
    let rig = Rig::with("q", |builder| builder.always_through_s3(true)).await;
    rig.store.fail_when(|call, _| {
        (call == StoreCall::Delete).then_some(StoreFault::Refuse(StoreErrorKind::Unavailable))
    });
    fill(&rig, 1_010).await;
    let stats = rig.client.stats();
    assert!(stats.cleanup_pending <= 1_000, "{stats:?}");
    assert!(stats.cleanup_given_up >= 10, "{stats:?}");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_finds_no_room_to_wait_is_told() {
    let diary = Diary::default();
    let rig = Rig::with("q", |builder| builder.always_through_s3(true).on_event(diary.listener())).await;
    rig.store.fail_when(|call, _| {
        (call == StoreCall::Delete).then_some(StoreFault::Refuse(StoreErrorKind::Unavailable))
    });
    fill(&rig, 1_000).await;
    assert_eq!((rig.client.stats().cleanup_pending, diary.count("CleanupGivenUp")), (1_000, 0));
    rig.send("one more").await;
    let message = rig.receive().await.remove(0);
    rig.store.fail_when(|call, _| (call == StoreCall::Delete).then_some(StoreFault::Hang));
    let queue = rig.client.queue(&rig.url);
    let delete = queue.delete(&message).send();
    assert!(tokio::time::timeout(Duration::from_millis(1), delete).await.is_err());
    assert_eq!((rig.client.stats().cleanup_given_up, diary.count("CleanupGivenUp")), (1, 1));
    assert_eq!(diary.count("CleanupFailed"), 1_000);
}

#[test]
fn an_object_that_nobody_is_there_to_delete_is_told() {
    let diary = Diary::default();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let first = runtime().unwrap();
    let rig = first.block_on(Rig::with("q", |builder| builder.on_event(diary.listener())));
    let message = first.block_on(async {
        rig.send(large("")).await;
        rig.receive().await.remove(0)
    });
    rig.store.fail_next(StoreCall::Delete, StoreFault::Hang);
    let queue = rig.client.queue(&rig.url);
    let mut delete = Box::pin(queue.delete(&message).send());
    first.block_on(async {
        assert!(tokio::time::timeout(Duration::from_secs(1), &mut delete).await.is_err());
    });
    drop(delete);
    assert_eq!((rig.client.stats().cleanup_given_up, diary.count("CleanupGivenUp")), (1, 1));
    assert_eq!((rig.client.stats().cleanup_pending, rig.store.objects().len()), (0, 1));
}
