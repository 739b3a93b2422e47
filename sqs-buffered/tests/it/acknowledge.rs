//! Deletes and visibility changes.

use std::time::Duration;

use sqs_buffered::{BufferedClient, Entry, Linger, SendErrorKind};
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::operation::Action;
use sqs_client::types::QueueAttributeName;
use sqs_mock_server::faults::Fault;
use tokio::time::Instant;

use super::rig::Rig;

async fn handles(rig: &Rig, count: usize) -> Vec<String> {
    for number in 0..count {
        let send = rig.client.send_message().queue_url(&rig.url).message_body(number.to_string());
        send.set_message_group_id(rig.url.ends_with(".fifo").then(|| number.to_string()))
            .send()
            .await
            .unwrap();
    }
    rig.receive().await.into_iter().map(|message| message.receipt_handle.unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn deletes_share_requests() {
    let rig = Rig::standard().await;
    let handles = handles(&rig, 40).await;
    let (buffered, requests) = (rig.buffered(), rig.count(Action::DeleteMessageBatch));
    let mut tickets = Vec::new();
    for handle in handles {
        tickets.push(buffered.enqueue_delete(&rig.url, handle).await.unwrap());
    }
    for ticket in tickets {
        ticket.await.unwrap();
    }
    assert!(rig.bodies().is_empty());
    assert!(requests.hits() <= 5, "{}", requests.hits());
}

/// Entries of one receipt handle are merged.
#[tokio::test(start_paused = true)]
async fn one_handle_twice_is_one_entry_with_two_tickets() {
    let rig = Rig::standard().await;
    let handle = handles(&rig, 1).await.remove(0);
    let buffered = rig.builder().linger(Linger::Fixed(Duration::from_millis(10))).build().unwrap();
    let first = buffered.enqueue_delete(&rig.url, &handle).await.unwrap();
    let second = buffered.enqueue_delete(&rig.url, &handle).await.unwrap();
    first.await.unwrap();
    second.await.unwrap();
    let stats = buffered.stats();
    assert_eq!((stats.batched_entries, stats.admitted, stats.succeeded, stats.entries), (1, 2, 2, 0));
}

#[tokio::test(start_paused = true)]
async fn pending_deletes_of_one_handle_are_bounded() {
    let rig = Rig::standard().await;
    let handle = handles(&rig, 1).await.remove(0);
    let buffered =
        rig.builder().capacity(3, 1 << 20).linger(Linger::Fixed(Duration::from_secs(1))).build().unwrap();
    let tickets: Vec<_> = (0..2).map(|_| buffered.try_enqueue_delete(&rig.url, &handle).unwrap()).collect();
    assert!(buffered.try_enqueue_delete(&rig.url, &handle).unwrap_err().is_full());
    let change = buffered.try_enqueue_visibility(&rig.url, &handle, Duration::from_secs(1)).unwrap();
    assert!(
        buffered.try_enqueue_visibility(&rig.url, &handle, Duration::from_secs(1)).unwrap_err().is_full()
    );
    for ticket in tickets {
        ticket.await.unwrap();
    }
    drop(change.await);
    assert_eq!(buffered.stats().entries, 0);
}

#[tokio::test(start_paused = true)]
async fn full_buffer_of_sends_does_not_delay_deletes() {
    let rig = Rig::standard().await;
    let handles = handles(&rig, 2).await;
    rig.server.faults().inject(Fault::latency(Duration::from_secs(20)).on(Action::SendMessageBatch));
    let buffered = rig.builder().capacity(1, 1 << 20).build().unwrap();
    let first = buffered.enqueue(Entry::new(&rig.url, "1")).await.unwrap();
    let second = tokio::spawn({
        let (buffered, url) = (buffered.clone(), rig.url.clone());
        async move { buffered.send(url, "2").await }
    });
    tokio::task::yield_now().await;
    let start = Instant::now();
    buffered.delete(&rig.url, &handles[0]).await.unwrap();
    buffered.change_visibility(&rig.url, &handles[1], Duration::from_secs(60)).await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
    first.await.unwrap();
    second.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn delete_that_is_not_admitted_keeps_the_pending_visibility_change() {
    let rig = Rig::standard().await;
    let handle = handles(&rig, 1).await.remove(0);
    let buffered =
        rig.builder().capacity(1, 1 << 20).linger(Linger::Fixed(Duration::from_secs(1))).build().unwrap();
    let change = buffered.try_enqueue_visibility(&rig.url, &handle, Duration::from_secs(600)).unwrap();
    assert!(buffered.try_enqueue_delete(&rig.url, &handle).unwrap_err().is_full());
    change.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn last_visibility_change_wins() {
    let rig = Rig::standard().await;
    let handle = handles(&rig, 1).await.remove(0);
    let buffered = rig.builder().linger(Linger::Fixed(Duration::from_millis(10))).build().unwrap();
    let first = buffered.enqueue_visibility(&rig.url, &handle, Duration::from_secs(600)).await.unwrap();
    let second = buffered.enqueue_visibility(&rig.url, &handle, Duration::ZERO).await.unwrap();
    first.await.unwrap();
    second.await.unwrap();
    assert_eq!((buffered.stats().batched_entries, rig.receive().await.len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn delete_drops_a_pending_visibility_change() {
    let rig = Rig::standard().await;
    let handle = handles(&rig, 1).await.remove(0);
    let (buffered, changes) = (
        rig.builder().linger(Linger::Fixed(Duration::from_millis(10))).build().unwrap(),
        rig.count(Action::ChangeMessageVisibilityBatch),
    );
    let change = buffered.enqueue_visibility(&rig.url, &handle, Duration::from_secs(600)).await.unwrap();
    buffered.delete(&rig.url, &handle).await.unwrap();
    assert_eq!(change.await.unwrap_err().kind(), SendErrorKind::Superseded);
    assert_eq!((changes.hits(), rig.bodies().len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn delete_is_retried_when_its_response_is_lost() {
    let rig = Rig::standard().await;
    let handle = handles(&rig, 1).await.remove(0);
    let lost = rig.server.faults().inject(Fault::reset_after().times(2));
    rig.buffered().delete(&rig.url, &handle).await.unwrap();
    assert_eq!((lost.hits(), rig.bodies().len()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn expired_handle_is_a_lost_lease() {
    let attributes =
        [(QueueAttributeName::FifoQueue, "true"), (QueueAttributeName::ContentBasedDeduplication, "true")];
    let rig = Rig::of("q.fifo", 1, &attributes).await;
    let handle = handles(&rig, 1).await.remove(0);
    rig.server.clock().advance(Duration::from_secs(31));
    let error = rig.buffered().delete(&rig.url, &handle).await.unwrap_err();
    assert_eq!(error.kind(), SendErrorKind::LeaseLost, "{error}");
    rig.receive().await;
    let rig = Rig::standard().await;
    let handle = handles(&rig, 1).await.remove(0);
    let buffered = rig.buffered();
    buffered.delete(&rig.url, &handle).await.unwrap();
    let error = buffered.change_visibility(&rig.url, &handle, Duration::from_secs(60)).await.unwrap_err();
    assert_eq!(error.kind(), SendErrorKind::LeaseLost, "{error}");
}

#[tokio::test(start_paused = true)]
async fn delete_that_is_never_answered_is_retried_also_over_a_client_without_timeouts() {
    let rig = Rig::standard().await;
    let handle = handles(&rig, 1).await.remove(0);
    rig.server
        .faults()
        .inject(Fault::latency(Duration::from_hours(1)).on(Action::DeleteMessageBatch).times(1));
    let config = rig.server.client_config().timeout_config(TimeoutConfig::disabled()).build();
    let buffered = BufferedClient::new(sqs_client::Client::from_conf(config));
    let start = Instant::now();
    buffered.delete(&rig.url, &handle).await.unwrap();
    let took = start.elapsed();
    assert!((Duration::from_secs(30)..Duration::from_secs(31)).contains(&took), "{took:?}");
    assert!(rig.bodies().is_empty());
}
