//! Capacity, and waiting for it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use sqs_buffered::{Entry, Linger, SendErrorKind, SendReceipt, Ticket};
use sqs_mock_server::faults::Fault;
use tokio::time::Instant;

use super::rig::Rig;

fn unresolved(tickets: &Mutex<Vec<Ticket<SendReceipt>>>) -> usize {
    let mut tickets = tickets.lock().unwrap();
    tickets.retain_mut(|ticket| ticket.now_or_never().is_none());
    tickets.len()
}

/// Entries that have not ended are within the capacity, as their callers see it.
#[tokio::test(start_paused = true)]
async fn entries_and_bytes_stay_within_the_capacity() {
    for (entries, bytes) in [(25, usize::MAX), (1000, 2500)] {
        let rig = Rig::standard().await;
        rig.server.faults().inject(Fault::latency(Duration::from_millis(50)));
        let buffered = rig.builder().capacity(entries, bytes.min(1 << 20)).build().unwrap();
        let tickets = Arc::<Mutex<Vec<_>>>::default();
        let (url, sender, admitted) = (rig.url.clone(), buffered.clone(), Arc::clone(&tickets));
        let sending = tokio::spawn(async move {
            for _ in 0..200 {
                let ticket = sender.enqueue(Entry::new(&url, "x".repeat(100))).await.unwrap();
                admitted.lock().unwrap().push(ticket);
            }
        });
        let (bound, mut most) = (entries.min(bytes / 100), 0);
        while !sending.is_finished() {
            most = most.max(unresolved(&tickets));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(most <= bound && most * 10 >= bound * 8, "{most} of {bound}");
        buffered.flush().await;
        let stats = buffered.stats();
        assert_eq!((stats.succeeded, stats.entries, stats.bytes), (200, 0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_for_room_ends_the_linger() {
    let rig = Rig::standard().await;
    let buffered =
        rig.builder().capacity(3, 1 << 20).linger(Linger::Fixed(Duration::from_secs(50))).build().unwrap();
    let start = Instant::now();
    for number in 0..9 {
        drop(buffered.enqueue(Entry::new(&rig.url, number.to_string())).await.unwrap());
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn error_of_a_full_client_returns_the_entry() {
    let rig = Rig::standard().await;
    rig.server.faults().inject(Fault::latency(Duration::from_secs(20)));
    let buffered =
        rig.builder().capacity(1, 1 << 20).admission_timeout(Duration::from_secs(5)).build().unwrap();
    let ticket = buffered.try_enqueue(Entry::new(&rig.url, "1")).unwrap();
    let refused = buffered.try_enqueue(Entry::new(&rig.url, "2")).unwrap_err();
    assert!(refused.is_full());
    let start = Instant::now();
    let refused = buffered.enqueue(refused.into_entry()).await.unwrap_err();
    assert_eq!((refused.is_full(), start.elapsed()), (true, Duration::from_secs(5)));
    assert_eq!(refused.into_entry().message().message_body(), "2");
    ticket.await.unwrap();
    assert_eq!(buffered.stats().entries, 0);
}

/// Dropping the future of an enqueue frees its capacity.
#[tokio::test(start_paused = true)]
async fn dropped_futures_send_nothing_before_and_everything_after_admission() {
    let rig = Rig::standard().await;
    rig.server.faults().inject(Fault::latency(Duration::from_secs(10)));
    let buffered = rig.builder().capacity(3, 1 << 20).build().unwrap();
    for body in ["1", "2"] {
        drop(buffered.enqueue(Entry::new(&rig.url, body)).await.unwrap());
    }
    // Alone and as one of several, at every point of the wait.
    for patience in 0..50 {
        let several =
            futures_util::future::join_all((0..patience % 3).map(|_| buffered.send(&rig.url, "never")));
        let never = futures_util::future::join(buffered.send(&rig.url, "never"), several);
        assert!(tokio::time::timeout(Duration::from_millis(patience), never).await.is_err());
        assert_eq!(buffered.stats().entries, 2);
    }
    buffered.flush().await;
    assert_eq!(rig.bodies(), ["1", "2"]);
    let stats = buffered.stats();
    assert_eq!((stats.admitted, stats.entries, stats.bytes), (2, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn close_ends_waits_for_room() {
    let rig = Rig::standard().await;
    rig.server.faults().inject(Fault::latency(Duration::from_secs(1)));
    let buffered = rig.builder().capacity(1, 1 << 20).build().unwrap();
    let first = buffered.enqueue(Entry::new(&rig.url, "1")).await.unwrap();
    let (second, _) = tokio::join!(buffered.enqueue(Entry::new(&rig.url, "2")), buffered.close());
    assert_eq!(second.unwrap_err().kind(), SendErrorKind::Closed);
    first.await.unwrap();
}
