//! A service behind the handlers that cannot keep up.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sqs_buffered::{Concurrency, Consumer, Outcome};
use sqs_client::operation::Action;
use tokio::time::{Instant, sleep};

use super::diary::Diary;
use super::rig::{Rig, millis, secs, until};

/// Serves at most `capacity` requests at a time, of `millis` each, and refuses the others.
#[derive(Debug)]
struct Downstream {
    capacity: AtomicUsize,
    millis: AtomicU64,
    running: AtomicUsize,
}

impl Downstream {
    async fn call(&self) -> Outcome {
        let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
        let is_refused = running > self.capacity.load(Ordering::Relaxed);
        sleep(millis(if is_refused { 1 } else { self.millis.load(Ordering::Relaxed) })).await;
        self.running.fetch_sub(1, Ordering::Relaxed);
        if is_refused { Outcome::Overloaded } else { Outcome::Ack }
    }
}

#[tokio::test(start_paused = true)]
async fn adaptive_consumer_follows_a_downstream_that_becomes_ten_times_slower() {
    let rig = Rig::new("jobs").await;
    let dead = rig.dead_letter_after(2).await;
    let downstream = Arc::new(Downstream {
        capacity: AtomicUsize::new(60),
        millis: AtomicU64::new(50),
        running: AtomicUsize::new(0),
    });
    let behind = Arc::clone(&downstream);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(Concurrency::Adaptive { min: 1, max: 200 })
        .message_handler(move |_, _| {
            let behind = Arc::clone(&behind);
            async move { Ok(behind.call().await) }
        })
        .build()
        .unwrap();
    let feed = async {
        for _ in 0..50 {
            rig.send((0..200).map(|number| number.to_string())).await;
            sleep(secs(1)).await;
        }
    };
    let change = async {
        sleep(secs(20)).await;
        let usual = consumer.concurrency();
        assert!((15..=80).contains(&usual), "{usual} handlers for a downstream that takes 60");
        downstream.capacity.store(6, Ordering::Relaxed);
        downstream.millis.store(500, Ordering::Relaxed);
        sleep(secs(5)).await;
        let slow = consumer.concurrency();
        assert!(slow <= 10, "{slow} handlers five seconds after it has slowed down");
        sleep(secs(10)).await;
        downstream.capacity.store(60, Ordering::Relaxed);
        downstream.millis.store(50, Ordering::Relaxed);
        sleep(secs(10)).await;
        let recovered = consumer.concurrency();
        assert!(recovered >= 15, "{recovered} handlers ten seconds after it has recovered");
    };
    let end = async {
        tokio::join!(feed, change);
        until(|| rig.left() == 0).await;
    };
    let report = consumer.run_until(end).await.unwrap();
    let dead = rig.server.queue(dead).messages().len();
    assert_eq!((report.stats.acked, dead, rig.left()), (10_000, 0, 0), "{report:?}");
    assert!(report.stats.overloaded > 0, "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn overloaded_message_is_kept_and_runs_again_without_another_receive() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        rig.send_to("g", ["1", "2"]).await;
        let diary = Diary::default();
        let (seen, starts) = (diary.clone(), Arc::new(Mutex::new(Vec::new())));
        let noted = Arc::clone(&starts);
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .message_handler(move |message, _| {
                let page = seen.start(&message);
                let mut noted = noted.lock().unwrap();
                noted.push(Instant::now());
                let is_first = message.body() == Some("1");
                let times = seen.bodies().iter().filter(|body| *body == "1").count();
                async move {
                    let _page = page;
                    Ok(if is_first && times <= 12 { Outcome::Overloaded } else { Outcome::Ack })
                }
            })
            .build()
            .unwrap();
        let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
        let stats = report.stats;
        assert_eq!((stats.overloaded, stats.acked, stats.received, stats.nacked), (12, 2, 2, 0), "{name}");
        assert!(diary.overlapping().is_empty());
        if name == "jobs.fifo" {
            assert_eq!(diary.bodies().last().map(String::as_str), Some("2"), "the group waits");
            let starts = starts.lock().unwrap().clone();
            for pair in starts[..13].windows(2) {
                assert!((millis(100)..=secs(5) + millis(5)).contains(&(pair[1] - pair[0])), "{pair:?}");
            }
            let took = starts[12] - starts[0];
            assert!(took > secs(10), "pauses grow: {took:?}");
            let renewals = rig.sent_of(Action::ChangeMessageVisibilityBatch).len();
            assert!(renewals > 0 && stats.leases_lost == 0, "leases were renewed");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn retried_message_runs_again_after_its_pause_without_another_receive() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        let dead = rig.dead_letter_after(2).await;
        rig.send_to("g", ["1", "2"]).await;
        let starts = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&starts);
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .message_handler(move |message, _| {
                let mut noted = noted.lock().unwrap();
                let is_first = message.body() == Some("1");
                if is_first || name == "jobs.fifo" {
                    noted.push(Instant::now());
                }
                let again = is_first && noted.len() <= 5;
                async move { Ok(if again { Outcome::Retry(secs(20)) } else { Outcome::Ack }) }
            })
            .build()
            .unwrap();
        let report = consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
        let stats = report.stats;
        assert_eq!((stats.retried, stats.acked, stats.received, stats.leases_lost), (5, 2, 2, 0), "{name}");
        let starts = starts.lock().unwrap().clone();
        for pair in starts[..6].windows(2) {
            assert!((secs(20)..=secs(21)).contains(&(pair[1] - pair[0])), "{pair:?}");
        }
        assert_eq!(rig.server.queue(dead).messages().len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn message_with_a_long_retry_is_received_again_when_its_lease_is_lost() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        rig.send_to("g", ["1"]).await;
        let starts = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&starts);
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .max_lease(secs(60))
            .message_handler(move |_, _| {
                let mut noted = noted.lock().unwrap();
                noted.push(Instant::now());
                let is_first = noted.len() == 1;
                async move { Ok(if is_first { Outcome::Retry(secs(7_200)) } else { Outcome::Ack }) }
            })
            .build()
            .unwrap();
        consumer.run_until(until(|| rig.left() == 0)).await.unwrap();
        let starts = starts.lock().unwrap().clone();
        assert!(starts[1] - starts[0] < secs(150), "{name}: {:?}", starts[1] - starts[0]);
    }
}

#[tokio::test(start_paused = true)]
async fn retries_occupy_half_of_the_places_and_do_not_change_the_concurrency() {
    let rig = Rig::new("jobs").await;
    rig.send((0..30).map(|number| if number < 20 { "wait".to_owned() } else { number.to_string() })).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(Concurrency::Adaptive { min: 4, max: 10 })
        .message_handler(move |message, _| {
            let waits = message.body() == Some("wait");
            async move { Ok(if waits { Outcome::Retry(secs(300)) } else { Outcome::Ack }) }
        })
        .build()
        .unwrap();
    let (handle, begun) = (consumer.clone(), Instant::now());
    let end = async {
        until(|| handle.stats().acked == 10).await;
        assert!(begun.elapsed() < secs(60), "others have places: {:?}", begun.elapsed());
        assert!(handle.concurrency() >= 4);
    };
    let report = consumer.run_until(end).await.unwrap();
    assert!(report.is_clean && report.elapsed < secs(200), "the shutdown does not wait: {report:?}");
    assert!(report.stats.nacked > 0 && report.stats.overloaded == 0, "{report:?}");
    assert_eq!((rig.in_flight() > 0, rig.left()), (true, 20), "those with a delay stay hidden");
}

#[tokio::test(start_paused = true)]
async fn overloaded_message_is_given_back_by_a_shutdown() {
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        rig.send_to("g", ["1", "2", "3"]).await;
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .message_handler(|_, _| async { Ok(Outcome::Overloaded) })
            .build()
            .unwrap();
        let stats = || consumer.stats();
        let report = consumer.run_until(until(|| stats().overloaded >= 8)).await.unwrap();
        assert!(report.is_clean && report.elapsed < secs(200), "{report:?}");
        // A message that is visible again may be returned by the last receive.
        assert!(report.stats.returned >= 3, "{name}: {report:?}");
        assert_eq!((rig.in_flight(), rig.left()), (0, 3), "{name}");
    }
}
