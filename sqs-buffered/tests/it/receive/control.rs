//! Consumers that are spawned, paused, resumed or resized while they run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sqs_buffered::{Concurrency, Consumer, GroupAdvance, Outcome, ReadyConsumer, ReceiveErrorKind};
use sqs_client::operation::Action;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use super::super::base_client::BaseClient;
use super::diary::Diary;
use super::rig::{Rig, millis, secs, until};

fn numbers(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| number.to_string())
}

/// A consumer whose handlers take this long and write to the diary.
fn noting(rig: &Rig, diary: &Diary, time: std::time::Duration) -> ReadyConsumer<BaseClient> {
    let diary = diary.clone();
    Consumer::builder(rig.base.clone(), &rig.url).message_handler(move |message, _| {
        let page = diary.start(&message);
        async move {
            sleep(time).await;
            drop(page);
            Ok(Outcome::Ack)
        }
    })
}

#[tokio::test(start_paused = true)]
async fn spawned_consumer_runs_until_its_handle_shuts_it_down() {
    let rig = Rig::new("jobs").await;
    rig.send(numbers(25)).await;
    let consumer = noting(&rig, &Diary::default(), millis(10)).build().unwrap();
    let handle = consumer.spawn().unwrap();
    until(|| rig.left() == 0).await;
    assert_eq!(handle.consumer().stats().started, 25);
    let report = handle.shutdown(secs(30)).await.unwrap();
    assert!(report.is_clean && report.stats.acked == 25 && rig.in_flight() == 0);
    assert_eq!(consumer.spawn().unwrap_err().kind(), ReceiveErrorKind::Running);
}

#[tokio::test(start_paused = true)]
async fn spawned_consumer_reports_why_it_ended_and_outlives_its_handle() {
    let rig = Rig::new("jobs").await;
    let wrong = Consumer::builder(rig.base.clone(), rig.server.queue_url("jbos"));
    let wrong = wrong.message_handler(|_, _| async { Ok(Outcome::Ack) }).build().unwrap();
    assert_eq!(wrong.spawn().unwrap().await.unwrap_err().kind(), ReceiveErrorKind::Refused);

    let consumer = noting(&rig, &Diary::default(), millis(10)).build().unwrap();
    drop(consumer.spawn().unwrap());
    rig.send(numbers(3)).await;
    until(|| rig.left() == 0).await;
    assert_eq!(consumer.shutdown(secs(5)).await.unwrap().stats.acked, 3);
}

#[test]
fn spawn_outside_of_a_runtime_is_an_error() {
    let client = sqs_mock_server::MockSqs::in_process().client();
    let consumer = Consumer::builder(client, "http://localhost/000000000000/jobs");
    let consumer = consumer.message_handler(|_, _| async { Ok(Outcome::Ack) }).build().unwrap();
    assert_eq!(consumer.spawn().unwrap_err().kind(), ReceiveErrorKind::NoRuntime);
}

#[tokio::test(start_paused = true)]
async fn paused_consumer_starts_and_receives_nothing_finishes_handlers_and_keeps_leases() {
    let rig = Rig::new("jobs").await;
    rig.send(numbers(30)).await;
    let diary = Diary::default();
    let consumer = noting(&rig, &diary, secs(5)).concurrency(2).prefetch(8).build().unwrap();
    let handle = consumer.spawn().unwrap();
    until(|| diary.bodies().len() == 2).await;
    sleep(secs(1)).await;
    consumer.pause();
    assert!(consumer.is_paused());
    sleep(secs(10)).await;
    let (receives, stats) = (rig.sent_of(Action::ReceiveMessage).len(), consumer.stats());
    assert_eq!((stats.acked, stats.held, diary.bodies().len()), (2, 8, 2), "handlers have finished");
    sleep(secs(600)).await;
    assert_eq!(rig.sent_of(Action::ReceiveMessage).len(), receives, "nothing is received");
    assert_eq!((rig.in_flight(), consumer.stats().leases_lost), (8, 0), "what is here is kept");
    consumer.resume();
    until(|| rig.left() == 0).await;
    let report = handle.shutdown(secs(20)).await.unwrap();
    assert_eq!((report.stats.acked, report.stats.received, diary.overlapping().len()), (30, 30, 0));
}

#[tokio::test(start_paused = true)]
async fn consumer_may_be_paused_before_its_run_and_be_shut_down_while_it_is_paused() {
    let rig = Rig::new("jobs.fifo").await;
    rig.send_to("g", numbers(5)).await;
    let diary = Diary::default();
    let consumer =
        noting(&rig, &diary, millis(10)).group_advance(GroupAdvance::AfterHandler).build().unwrap();
    consumer.pause();
    let handle = consumer.spawn().unwrap();
    sleep(secs(60)).await;
    assert_eq!((consumer.stats().receives, rig.in_flight()), (0, 0));
    consumer.resume();
    until(|| diary.bodies().len() == 2).await;
    consumer.pause();
    sleep(secs(60)).await;
    let report = handle.shutdown(secs(5)).await.unwrap();
    assert!(report.is_clean && rig.in_flight() == 0 && rig.left() == 3, "{report:?}");
    assert_eq!(diary.bodies(), ["0", "1"]);
}

#[tokio::test(start_paused = true)]
async fn concurrency_grows_at_once_and_shrinks_when_handlers_end() {
    let rig = Rig::new("jobs").await;
    rig.send(numbers(200)).await;
    let running = Arc::new(AtomicUsize::new(0));
    let gate = Arc::new(Semaphore::new(0));
    let (count, wait) = (Arc::clone(&running), Arc::clone(&gate));
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(2)
        .message_handler(move |_, _| {
            let (count, wait) = (Arc::clone(&count), Arc::clone(&wait));
            async move {
                count.fetch_add(1, Ordering::Relaxed);
                wait.acquire().await?.forget();
                count.fetch_sub(1, Ordering::Relaxed);
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let running = || running.load(Ordering::Relaxed);
    let handle = consumer.spawn().unwrap();
    until(|| running() == 2).await;
    let start = Instant::now();
    consumer.set_concurrency(40).unwrap();
    until(|| running() == 40).await;
    assert!(start.elapsed() <= secs(1), "{:?}", start.elapsed());
    consumer.set_concurrency(5).unwrap();
    assert_eq!(consumer.concurrency(), 5);
    for left in (5..40).rev() {
        gate.add_permits(1);
        sleep(secs(1)).await;
        assert_eq!(running(), left, "running handlers finish, and none starts");
    }
    gate.add_permits(1);
    sleep(secs(1)).await;
    assert_eq!(running(), 5, "the next starts in its place");
    for (concurrency, setting) in [
        (Concurrency::Fixed(0), "concurrency"),
        (Concurrency::Fixed(120_001), "concurrency"),
        (Concurrency::Adaptive { min: 5, max: 4 }, "concurrency (max)"),
    ] {
        assert_eq!(consumer.set_concurrency(concurrency).unwrap_err().setting(), setting);
    }
    gate.add_permits(1_000);
    until(|| rig.left() == 0).await;
    assert_eq!(handle.shutdown(secs(5)).await.unwrap().stats.acked, 200);
}

#[tokio::test(start_paused = true)]
async fn rate_limit_spaces_starts_evenly_and_receives_no_more_than_soon_starts() {
    for (rate, most_waiting) in [(2.0, 2), (50.0, 50)] {
        let rig = Rig::new("jobs").await;
        rig.send(numbers(200)).await;
        let starts = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&starts);
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .concurrency(100)
            .rate_limit(rate)
            .message_handler(move |_, _| {
                noted.lock().unwrap().push(Instant::now());
                async { Ok(Outcome::Ack) }
            })
            .build()
            .unwrap();
        let handle = consumer.spawn().unwrap();
        let mut most_held = 0;
        let begin = Instant::now();
        until(|| {
            most_held = most_held.max(consumer.stats().held);
            rig.left() == 0
        })
        .await;
        let took = begin.elapsed().as_secs_f64();
        assert!((198.0 / rate..=204.0 / rate + 0.5).contains(&took), "{rate} per second: {took} s");
        let starts = starts.lock().unwrap().clone();
        for (index, first) in starts.iter().enumerate() {
            let within = starts[index..].iter().take_while(|start| **start - *first < secs(1)).count();
            let most = rate * 1.05 + 1.0;
            assert!(
                f64::from(u32::try_from(within).unwrap()) <= most,
                "{within} starts within a second at {rate}"
            );
        }
        assert!(most_held <= most_waiting + 10, "{most_held} messages were here at {rate} per second");
        assert_eq!(consumer.stats().leases_lost, 0);
        handle.shutdown(secs(5)).await.unwrap();
    }
}

#[cfg(unix)]
#[tokio::test]
async fn first_signal_shuts_down_and_the_second_stops_handlers_at_once() {
    let rig = Rig::new("jobs").await;
    rig.send(["endless"]).await;
    let started = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&started);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .wait_time(secs(0))
        .message_handler(move |_, _| {
            count.fetch_add(1, Ordering::Relaxed);
            std::future::pending()
        })
        .build()
        .unwrap();
    let signal = || {
        let process = std::process::id().to_string();
        let status = std::process::Command::new("kill").args(["-TERM", &process]).status();
        assert!(status.is_ok_and(|status| status.success()), "there is a `kill`");
    };
    let begin = std::time::Duration::from_millis(20);
    let signals = async {
        // Real time, because signals ignore the paused clock.
        while started.load(Ordering::Relaxed) == 0 {
            sleep(begin).await;
        }
        signal();
        sleep(begin * 3).await;
        let receives = rig.sent_of(Action::ReceiveMessage).len();
        sleep(begin * 3).await;
        assert_eq!(rig.sent_of(Action::ReceiveMessage).len(), receives, "nothing is received any more");
        assert_eq!(consumer.stats().aborted, 0, "the handler has 22 seconds to finish");
        signal();
    };
    let (report, ()) = tokio::join!(consumer.run_until_signal(), signals);
    let report = report.unwrap();
    assert_eq!((report.stats.aborted, report.is_clean, rig.in_flight()), (1, false, 0));
}
