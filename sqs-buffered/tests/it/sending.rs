//! Batches of sends.

use std::time::Duration;

use sqs_buffered::{BatchLimits, Entry, Linger};
use sqs_client::operation::Action;
use tokio::time::Instant;

use super::rig::Rig;

/// A lone sender waits only for its request.
#[tokio::test(start_paused = true)]
async fn lone_serial_sender_is_not_delayed() {
    let rig = Rig::standard().await;
    let (buffered, requests) = (rig.buffered(), rig.count(Action::SendMessageBatch));
    let start = Instant::now();
    for number in 0..20 {
        buffered.send(&rig.url, number.to_string()).await.unwrap();
    }
    assert_eq!((requests.hits(), start.elapsed()), (20, Duration::ZERO));
    assert_eq!(rig.bodies(), (0..20).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn many_senders_share_requests() {
    let rig = Rig::standard().await;
    let (buffered, requests) = (rig.buffered(), rig.count(Action::SendMessageBatch));
    let senders: Vec<_> = (0..1000)
        .map(|number| {
            let (buffered, url) = (buffered.clone(), rig.url.clone());
            tokio::spawn(async move { buffered.send(url, number.to_string()).await })
        })
        .collect();
    for sender in senders {
        sender.await.unwrap().unwrap();
    }
    assert_eq!(rig.bodies().len(), 1000);
    assert!(requests.hits() <= 110, "{}", requests.hits());
    let stats = buffered.stats();
    assert_eq!((stats.admitted, stats.succeeded, stats.entries, stats.bytes), (1000, 1000, 0, 0));
    assert!(stats.mean_fill() > 9.0, "{stats:?}");
}

/// No batch exceeds its limits.
#[tokio::test(start_paused = true)]
async fn batches_are_limited_by_bytes() {
    let rig = Rig::standard().await;
    let requests = rig.count(Action::SendMessageBatch);
    let limits = BatchLimits::default().bytes(1000);
    let buffered =
        rig.builder().batch_limits(limits).linger(Linger::Fixed(Duration::from_secs(1))).build().unwrap();
    let mut tickets = Vec::new();
    for _ in 0..9 {
        tickets.push(buffered.enqueue(Entry::new(&rig.url, "x".repeat(400))).await.unwrap());
    }
    buffered.flush().await;
    for ticket in tickets {
        ticket.await.unwrap();
    }
    assert_eq!(requests.hits(), 5, "two fit into one");
}

/// No entry waits longer than the linger.
#[tokio::test(start_paused = true)]
async fn linger_runs_from_the_first_entry() {
    let rig = Rig::standard().await;
    let buffered = rig.builder().linger(Linger::Fixed(Duration::from_millis(100))).build().unwrap();
    let start = Instant::now();
    let first = buffered.enqueue(Entry::new(&rig.url, "1")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(60)).await;
    let second = buffered.enqueue(Entry::new(&rig.url, "2")).await.unwrap();
    first.await.unwrap();
    second.await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_millis(100));
    assert_eq!(buffered.stats().batches, 1);
}

#[tokio::test(start_paused = true)]
async fn each_queue_has_a_lane_of_its_own() {
    let rig = Rig::standard().await;
    let other = rig.client.create_queue().queue_name("other").send().await.unwrap().queue_url.unwrap();
    let buffered = rig.builder().linger(Linger::Fixed(Duration::from_millis(100))).build().unwrap();
    let (mine, theirs) = (buffered.clone(), buffered.clone());
    let (first, second) = tokio::join!(mine.send(&rig.url, "1"), theirs.send(&other, "2"));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!((rig.bodies(), buffered.stats().batches), (vec!["1".to_owned()], 2));
}

#[tokio::test(start_paused = true)]
async fn receipt_has_the_values_of_the_response() {
    let rig = Rig::fifo().await;
    let entry = Entry::new(&rig.url, "tea").message_group_id("g").message_deduplication_id("d");
    let receipt = rig.buffered().send_entry(entry).await.unwrap();
    let stored = rig.receive().await;
    assert_eq!(stored[0].message_id(), Some(receipt.message_id.as_str()));
    assert_eq!(receipt.sequence_number.unwrap().len(), 20);
    assert_eq!(receipt.md5_of_message_body, stored[0].md5_of_body().unwrap());
    assert!(!receipt.maybe_duplicate);
}
