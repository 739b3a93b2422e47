//! Bad input gets a clear answer, and does not take the neighbours down.

use sqs_buffered::{Entry, SendErrorKind};

use crate::rig::Rig;

#[tokio::test(start_paused = true)]
async fn what_the_service_would_refuse_is_refused_before() {
    let (standard, fifo) = (Rig::standard().await, Rig::fifo().await);
    let table = [
        (Entry::new("", "x"), SendErrorKind::Invalid, "queue"),
        (Entry::new(&standard.url, ""), SendErrorKind::Invalid, "MessageBody"),
        (Entry::new(&standard.url, "x".repeat((1 << 20) + 1)), SendErrorKind::TooLarge, "too large"),
        (Entry::new(&fifo.url, "x"), SendErrorKind::Invalid, "MessageGroupId"),
        (
            Entry::new(&fifo.url, "x").message_group_id("g").delay_seconds(5),
            SendErrorKind::Invalid,
            "DelaySeconds",
        ),
        (
            Entry::new(&standard.url, "x").message_deduplication_id("d"),
            SendErrorKind::Invalid,
            "MessageDeduplicationId",
        ),
    ];
    let buffered = standard.buffered();
    for (entry, kind, word) in table {
        let refused = buffered.enqueue(entry.clone()).await.unwrap_err();
        assert_eq!(refused.kind(), kind, "{refused}");
        assert!(refused.to_string().contains(word), "{refused}");
        assert_eq!(refused.into_entry(), entry);
    }
    assert_eq!(buffered.stats().entries, 0);
    let whole = buffered.send(&standard.url, "x".repeat(1 << 20)).await;
    assert!(whole.is_ok(), "exactly the limit is legal");
}

#[tokio::test(start_paused = true)]
async fn unknown_queue_is_named_by_the_service() {
    let rig = Rig::standard().await;
    let error = rig.buffered().send(rig.server.queue_url("other"), "x").await.unwrap_err();
    assert_eq!(error.kind(), SendErrorKind::Request);
    assert_eq!(error.code(), Some("AWS.SimpleQueueService.NonExistentQueue"));
}

#[tokio::test(start_paused = true)]
async fn settings_of_zero_are_brought_inside() {
    let rig = Rig::standard().await;
    let buffered = rig.builder().capacity(0, 0).max_in_flight(0).max_attempts(0).build();
    buffered.send(&rig.url, "x").await.unwrap();
    assert_eq!(rig.bodies(), ["x"]);
}

#[tokio::test(start_paused = true)]
async fn visibility_out_of_range_and_missing_handles_are_refused() {
    let rig = Rig::standard().await;
    let buffered = rig.buffered();
    for seconds in [-1, 43_201] {
        let refused = buffered.enqueue_visibility(&rig.url, "handle", seconds).await.unwrap_err();
        assert!(refused.to_string().contains("43200"), "{refused}");
    }
    let refused = buffered.enqueue_delete(&rig.url, "").await.unwrap_err();
    assert!(refused.to_string().contains("ReceiptHandle"), "{refused}");
    let error = buffered.delete(&rig.url, "garbage").await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (SendErrorKind::Rejected, Some("ReceiptHandleIsInvalid")));
}
