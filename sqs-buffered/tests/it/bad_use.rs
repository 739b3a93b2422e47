//! Invalid entries return clear errors, and do not affect other entries.

use std::time::Duration;

use sqs_buffered::{BatchLimits, Entry, Linger, SendErrorKind};
use sqs_client::operation::Action;

use super::rig::Rig;

#[tokio::test(start_paused = true)]
async fn invalid_entries_are_refused_locally() {
    let (standard, fifo) = (Rig::standard().await, Rig::fifo().await);
    let table = [
        (Entry::new("", "x"), SendErrorKind::Invalid, "queue"),
        (Entry::new(&standard.url, ""), SendErrorKind::Invalid, "MessageBody"),
        (
            Entry::new(&standard.url, "x".repeat((1 << 20) + 1)),
            SendErrorKind::TooLarge,
            "1048577 bytes, `max_message_bytes` allows 1048576",
        ),
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
async fn unknown_queue_fails_with_the_error_of_sqs() {
    let rig = Rig::standard().await;
    let error = rig.buffered().send(rig.server.queue_url("other"), "x").await.unwrap_err();
    assert_eq!(error.kind(), SendErrorKind::Request);
    assert_eq!(error.code(), Some("AWS.SimpleQueueService.NonExistentQueue"));
    assert!(error.to_string().contains(error.request_id().unwrap()) && !error.is_retryable(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn invalid_settings_are_refused() {
    let rig = Rig::standard().await;
    let limits = BatchLimits::default;
    let millis = Duration::from_millis;
    let table = [
        (rig.builder().capacity(0, 1), "capacity (entries) is 0, allowed is 1 or more"),
        (rig.builder().capacity(1, 0), "capacity (bytes) is 0, allowed is 1 or more"),
        (rig.builder().in_flight(sqs_buffered::InFlight::Fixed(0)), "in_flight is 0, allowed is 1 or more"),
        (rig.builder().max_attempts(0), "max_attempts is 0, allowed is 1 or more"),
        (rig.builder().max_message_bytes(0), "max_message_bytes is 0, allowed is 1 to 2147483647"),
        (
            rig.builder().delivery_timeout(Duration::ZERO),
            "delivery_timeout is zero, allowed is more than zero",
        ),
        (rig.builder().attempt_timeout(Duration::ZERO), "attempt_timeout is zero, allowed is more than zero"),
        (
            rig.builder().back_off(Duration::ZERO, Duration::ZERO),
            "back_off (first) is 0ns, allowed is 1ms or more",
        ),
        (
            rig.builder().back_off(Duration::from_nanos(1), millis(5)),
            "back_off (first) is 1ns, allowed is 1ms or more",
        ),
        (rig.builder().back_off(millis(9), millis(5)), "back_off (max) is 5ms, allowed is 9ms or more"),
        (
            rig.builder().batch_limits(limits().entries(11)),
            "batch_limits (entries) is 11, allowed is 1 to 10",
        ),
        (rig.builder().batch_limits(limits().bytes(0)), "batch_limits (bytes) is 0, allowed is 1 to 1048576"),
    ];
    for (builder, text) in table {
        let error = builder.build().unwrap_err();
        assert_eq!(error.to_string(), text);
        assert!(text.starts_with(error.setting()));
    }
    let least = rig
        .builder()
        .capacity(1, 1)
        .in_flight(sqs_buffered::InFlight::Fixed(1))
        .max_attempts(1)
        .back_off(millis(1), millis(1));
    assert!(least.build().is_ok());
}

/// For a client below that stores large bodies elsewhere.
#[tokio::test(start_paused = true)]
async fn message_larger_than_a_batch_is_sent_alone() {
    let rig = Rig::standard().await;
    let small = BatchLimits::default().bytes(100);
    let buffered = rig.builder().batch_limits(small).build().unwrap();
    buffered.send(&rig.url, "x".repeat(101)).await.unwrap();
    let linger = Linger::Fixed(Duration::from_millis(10));
    let buffered = rig.builder().max_message_bytes(2 << 20).linger(linger).build().unwrap();
    let requests = rig.count(Action::SendMessageBatch);
    let send = |bytes: usize| buffered.send(&rig.url, "x".repeat(bytes));
    let (before, huge, after) = tokio::join!(send(1), send((1 << 20) + 1), send(1));
    assert!(before.is_ok() && after.is_ok());
    assert_eq!(
        (huge.unwrap_err().kind(), requests.hits()),
        (SendErrorKind::TooLarge, 3),
        "the service says so"
    );
}

#[tokio::test(start_paused = true)]
async fn visibility_out_of_range_and_missing_handles_are_refused() {
    let rig = Rig::standard().await;
    let buffered = rig.buffered();
    for timeout in [Duration::from_millis(43_200_001), Duration::MAX] {
        let refused = buffered.enqueue_visibility(&rig.url, "handle", timeout).await.unwrap_err();
        assert!(refused.to_string().contains("43200"), "{refused}");
        assert!(refused.code().is_some(), "{refused}");
    }
    let refused = buffered.enqueue_delete(&rig.url, "").await.unwrap_err();
    assert!(refused.to_string().contains("ReceiptHandle"), "{refused}");
    let error = buffered.delete(&rig.url, "garbage").await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (SendErrorKind::Rejected, Some("ReceiptHandleIsInvalid")));
}
