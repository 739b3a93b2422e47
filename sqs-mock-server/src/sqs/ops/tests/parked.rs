//! Many receives that are parked at one queue.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use sqs_client::operation::send_message_batch::SendMessageBatchInput;
use sqs_client::operation::set_queue_attributes::SetQueueAttributesInput;
use sqs_client::types::SendMessageBatchRequestEntry;

use super::*;

async fn send_batch(rig: &Rig, url: &str, count: usize) {
    let entry =
        |n: usize| SendMessageBatchRequestEntry::builder().id(n.to_string()).message_body(n.to_string());
    let entries = (0..count).map(|n| entry(n).build().expect("an entry")).collect();
    rig.call(SendMessageBatchInput::builder().queue_url(url).set_entries(Some(entries)))
        .await
        .expect("a batch");
}

#[tokio::test(start_paused = true)]
async fn long_polls_are_served_in_the_order_of_their_arrival() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let mut parked = Vec::new();
    for _ in 0..3 {
        parked.push(rig.park(long_poll(&url, 20)).await);
    }
    for body in ["1", "2", "3"] {
        rig.send(&url, body).await;
        let_others_run().await;
        assert_eq!(parked.remove(0).bodies().await, [body]);
        assert!(parked.iter().all(Parked::is_parked));
    }
}

#[tokio::test(start_paused = true)]
async fn batch_of_ten_ends_ten_long_polls_at_once() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let mut parked = Vec::new();
    for _ in 0..11 {
        parked.push(rig.park(long_poll(&url, 20)).await);
    }
    send_batch(&rig, &url, 10).await;
    let_others_run().await;
    assert_eq!(parked.iter().filter(|parked| parked.is_parked()).count(), 1);
    assert_eq!(rig.now(), START);
}

#[tokio::test(start_paused = true)]
async fn wakeup_of_a_dropped_long_poll_is_passed_on() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let first = rig.park(long_poll(&url, 20)).await;
    let second = rig.park(long_poll(&url, 20)).await;
    // The send wakes the first, which is aborted before it runs.
    rig.send(&url, "hello").await;
    first.0.abort();
    assert_eq!(second.bodies().await, ["hello"]);
    assert_eq!(rig.now(), START);
}

#[tokio::test(start_paused = true)]
async fn abandoned_long_poll_leaves_the_message_visible() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let parked = rig.park(long_poll(&url, 20)).await;
    parked.0.abort();
    let_others_run().await;
    rig.send(&url, "hello").await;
    let_others_run().await;
    assert_eq!(rig.attribute(&url, "ApproximateNumberOfMessagesNotVisible").await.as_deref(), Some("0"));
    assert_eq!(rig.bodies(&url).await, ["hello"]);
}

#[tokio::test(start_paused = true)]
async fn another_long_poll_replaces_the_watcher() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    rig.call(send(&url, "later").delay_seconds(8)).await.unwrap();
    let watcher = rig.park(long_poll(&url, 3)).await;
    let dropped = rig.park(long_poll(&url, 20)).await;
    let successor = rig.park(long_poll(&url, 20)).await;
    assert!(watcher.bodies().await.is_empty());
    dropped.0.abort();
    assert_eq!(successor.bodies().await, ["later"]);
    assert_eq!(rig.now().saturating_since(START), Duration::from_secs(8));
}

/// Counts how often a future is polled.
async fn counted<F: Future>(polls: Arc<AtomicUsize>, future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|cx| {
        polls.fetch_add(1, Ordering::Relaxed);
        future.as_mut().poll(cx)
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn one_message_does_not_wake_a_thousand_long_polls() {
    let rig = rig();
    let url = rig.queue("orders", &[("VisibilityTimeout", "5")]).await;
    rig.send(&url, "in flight").await;
    rig.receive(&url).await;
    let polls = Arc::new(AtomicUsize::new(0));
    for _ in 0..1_000 {
        let (rig, polls, input) = (rig.clone(), Arc::clone(&polls), long_poll(&url, 20));
        tokio::spawn(counted(polls, async move { rig.call(input).await }));
    }
    let_others_run().await;
    polls.store(0, Ordering::Relaxed);
    rig.send(&url, "now").await;
    let_others_run().await;
    let woken = polls.swap(0, Ordering::Relaxed);
    assert!((1..10).contains(&woken), "a send woke {woken}");
    // Both messages become visible after five seconds, and only the watcher waits for that.
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(rig.attribute(&url, "ApproximateNumberOfMessagesNotVisible").await.as_deref(), Some("2"));
    let woken = polls.load(Ordering::Relaxed);
    assert!((1..20).contains(&woken), "a visibility timeout woke {woken}");
}

async fn set_delay(rig: &Rig, url: &str, seconds: &str) {
    let set = SetQueueAttributesInput::builder().queue_url(url).attributes("DelaySeconds".into(), seconds);
    rig.call(set).await.expect("a change");
}

#[tokio::test(start_paused = true)]
async fn more_messages_than_one_operation_wakes_receives_for_reach_all() {
    let rig = rig();
    let url = rig.fifo_queue("orders.fifo").await;
    let mut parked = Vec::new();
    for _ in 0..30 {
        parked.push(rig.park(long_poll(&url, 20)).await);
    }
    // The watcher, the first receive, wakes for a message that is taken already: now it is the last in line.
    rig.send_to_group(&url, "gone", "gone").await;
    rig.receive(&url).await;
    let_others_run().await;
    set_delay(&rig, &url, "900").await;
    for n in 0..30 {
        rig.send_to_group(&url, &n.to_string(), &n.to_string()).await;
    }
    let_others_run().await;
    set_delay(&rig, &url, "0").await;
    for parked in parked {
        assert_eq!(parked.bodies().await.len(), 1);
    }
    assert_eq!(rig.now(), START);
}

#[tokio::test(start_paused = true)]
async fn hundred_messages_reach_hundred_long_polls() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let mut parked = Vec::new();
    for _ in 0..100 {
        parked.push(rig.park(long_poll(&url, 20)).await);
    }
    for _ in 0..10 {
        send_batch(&rig, &url, 10).await;
    }
    for parked in parked {
        assert_eq!(parked.bodies().await.len(), 1);
    }
    assert_eq!(rig.now(), START);
}

#[tokio::test(start_paused = true)]
async fn messages_visible_at_the_same_time_reach_all_long_polls() {
    let rig = rig();
    let url = rig.queue("orders", &[("VisibilityTimeout", "5")]).await;
    for _ in 0..4 {
        send_batch(&rig, &url, 10).await;
        rig.receive(&url).await;
    }
    let mut parked = Vec::new();
    for _ in 0..40 {
        parked.push(rig.park(long_poll(&url, 20)).await);
    }
    for parked in parked {
        assert_eq!(parked.bodies().await.len(), 1);
    }
    assert_eq!(rig.now().saturating_since(START), Duration::from_secs(5));
}

#[tokio::test]
async fn parked_receive_holds_no_lock() {
    let rig = rig();
    let url = rig.queue("orders", &[]).await;
    let parked = rig.park(long_poll(&url, 20)).await;
    rig.send(&rig.queue("other", &[]).await, "x").await;
    assert_eq!(rig.attribute(&url, "ApproximateNumberOfMessages").await.as_deref(), Some("0"));
    assert!(parked.is_parked());
    parked.0.abort();
}
