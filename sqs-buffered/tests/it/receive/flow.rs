//! The number of held messages, and the times of receives.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use sqs_buffered::{BackOff, BufferedClient, Consumer, Outcome, ReceiveEvent};
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;
use tokio::time::{Instant, sleep};

use super::diary::Diary;
use super::meddler::damaging_once;
use super::rig::{Rig, millis, secs, until};

#[tokio::test(start_paused = true)]
async fn failed_receives_are_retried_after_growing_pauses() {
    let rig = Rig::new("jobs").await;
    let fault = rig
        .server
        .faults()
        .inject(Fault::error(ErrorCode::InternalFailure).on(Action::ReceiveMessage).skip(1));
    let pauses = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&pauses);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(1)
        .on_event(move |event| {
            if let ReceiveEvent::ReceiveFailed { retry_in, failures, .. } = event {
                told.lock().unwrap().push((*failures, *retry_in));
            }
        })
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    let run = tokio::spawn({
        let consumer = consumer.clone();
        async move { consumer.run().await }
    });
    until(|| pauses.lock().unwrap().len() == 10).await;
    fault.remove();
    rig.send(["late"]).await;
    until(|| rig.left() == 0).await;
    let report = consumer.shutdown(secs(30)).await.unwrap();
    assert_eq!(run.await.unwrap().unwrap(), report);
    assert_eq!(report.stats.receive_errors, 10);
    let receives: Vec<_> = rig.sent_of(Action::ReceiveMessage).iter().map(|sent| sent.at).collect();
    // The first receive succeeds; the ten after it fail.
    let gaps = receives[1..=11].windows(2).map(|pair| pair[1] - pair[0]);
    for ((gap, (failures, told)), number) in gaps.zip(pauses.lock().unwrap().iter()).zip(1..) {
        let bound = (millis(100) * 2_u32.pow(number)).min(secs(30));
        assert!((millis(100)..=bound + millis(1)).contains(&gap), "{gap:?} after {number} failures");
        assert_eq!((*failures, gap.abs_diff(*told) <= millis(1)), (number, true), "{gap:?}, told {told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn slow_handler_does_not_stop_receives_while_there_is_credit() {
    let rig = Rig::new("jobs").await;
    rig.send(["slow", "a"]).await;
    let done = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&done);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(2)
        .message_handler(move |message, _| {
            let count = Arc::clone(&count);
            async move {
                if message.body() == Some("slow") {
                    sleep(secs(600)).await;
                }
                count.fetch_add(1, Ordering::Relaxed);
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let start = Instant::now();
    let feed = async {
        rig.send((0..20).map(|number| number.to_string())).await;
        until(|| done.load(Ordering::Relaxed) == 21).await;
        assert!(start.elapsed() < secs(60));
    };
    let report = consumer.run_until(feed).await.unwrap();
    assert!(!report.is_clean, "ten minutes are beyond the grace");
    assert_eq!((report.stats.acked, report.stats.aborted, report.stats.returned), (21, 1, 1));
    assert_eq!(rig.in_flight(), 0);
}

#[tokio::test(start_paused = true)]
async fn held_messages_do_not_exceed_concurrency_plus_prefetch() {
    let rig = Rig::new("jobs").await;
    rig.send((0..60).map(|number| number.to_string())).await;
    let most = Arc::new(AtomicU32::new(0));
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(3)
        .prefetch(4)
        .message_handler(|_, _| async {
            sleep(millis(500)).await;
            Ok(Outcome::Ack)
        })
        .build()
        .unwrap();
    let watch = async {
        while rig.left() > 0 {
            most.fetch_max(u32::try_from(rig.in_flight()).unwrap(), Ordering::Relaxed);
            sleep(millis(5)).await;
        }
    };
    consumer.run_until(watch).await.unwrap();
    assert_eq!(most.load(Ordering::Relaxed), 7);
    for receive in rig.sent_of(Action::ReceiveMessage) {
        let asked = receive.body["MaxNumberOfMessages"].as_u64().unwrap();
        assert!((1..=7).contains(&asked));
        assert_eq!(receive.body["WaitTimeSeconds"], 20);
    }
}

#[tokio::test(start_paused = true)]
async fn messages_are_received_while_earlier_ones_are_deleted_up_to_a_bound() {
    let rig = Rig::new("jobs").await;
    rig.send((0..100).map(|number| number.to_string())).await;
    rig.server.faults().inject(Fault::latency(secs(5)).on(Action::DeleteMessageBatch));
    let diary = Diary::default();
    let seen = diary.clone();
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .message_handler(move |message, _| {
            seen.start(&message);
            async { Ok(Outcome::Ack) }
        })
        .build()
        .unwrap();
    let watch = async {
        sleep(secs(4)).await;
        assert_eq!((diary.bodies().len(), rig.in_flight()), (20, 20), "ten are deleted, ten wait for that");
        sleep(secs(80)).await;
    };
    let report = consumer.run_until(watch).await.unwrap();
    assert_eq!((report.stats.acked, rig.left()), (100, 0));
}

#[tokio::test(start_paused = true)]
async fn message_that_waits_for_its_renewal_takes_no_handler_from_others() {
    let rig = Rig::new("jobs").await;
    rig.send(["slow", "stale", "stale too"]).await;
    rig.server.faults().inject(Fault::latency(secs(10)).on(Action::ChangeMessageVisibilityBatch));
    let starts = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&starts);
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .concurrency(1)
        .prefetch(9)
        .message_handler(move |message, _| {
            let body = message.body().unwrap_or_default().to_owned();
            let work = if body == "slow" { millis(13_500) } else { secs(1) };
            seen.lock().unwrap().push((body, Instant::now()));
            async move {
                sleep(work).await;
                Ok(Outcome::Ack)
            }
        })
        .build()
        .unwrap();
    let begin = Instant::now();
    let late = async {
        sleep(secs(14)).await;
        rig.send(["fresh"]).await;
        until(|| rig.left() == 0).await;
    };
    consumer.run_until(late).await.unwrap();
    let starts = starts.lock().unwrap();
    let fresh = starts.iter().find(|(body, _)| body == "fresh").unwrap();
    assert!(fresh.1 - begin < secs(16), "{starts:?}");
    assert_eq!(starts.len(), 4);
}

/// The lines of a log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

/// A log line at the start says why and for which queue; one at the end says that it is over.
#[tokio::test(start_paused = true)]
async fn outage_is_logged_once_at_its_start_and_once_at_its_end() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false);
    let subscriber = subscriber.with_max_level(tracing_subscriber::filter::LevelFilter::INFO);
    let _logging = tracing::subscriber::set_default(subscriber.finish());
    let rig = Rig::new("jobs").await;
    let down = rig.server.faults().inject(Fault::reset_before());
    let buffered = BufferedClient::new(rig.base.clone());
    let ticket = buffered.enqueue(sqs_buffered::Entry::new(&rig.url, "late")).await.unwrap();
    let consumer = Consumer::builder_with(&buffered, &rig.url);
    let consumer = consumer.message_handler(|_, _| async { Ok(Outcome::Ack) }).build().unwrap();
    let over = async {
        sleep(secs(60)).await;
        down.remove();
        ticket.await.unwrap();
        until(|| rig.left() == 0).await;
    };
    consumer.run_until(over).await.unwrap();
    let of = |level: &str| -> Vec<String> {
        log.lines().into_iter().filter(|line| line.contains(level) && line.contains("jobs")).collect()
    };
    let (warnings, ends) = (of(" WARN "), of("again"));
    assert_eq!((warnings.len(), ends.len()), (2, 2), "one of sends, one of receives: {:#?}", log.lines());
    assert!(warnings.iter().all(|line| line.contains("the connection broke")), "{warnings:#?}");
}

#[tokio::test(start_paused = true)]
async fn damaged_message_comes_back_after_the_back_off_and_its_receive_has_not_failed() {
    let rig = Rig::new("jobs").await;
    rig.send(["intact", "damaged"]).await;
    let (diary, started) = (Diary::default(), Instant::now());
    let seen = diary.clone();
    let consumer = Consumer::builder(damaging_once(&rig, "damaged"), &rig.url)
        .back_off(BackOff::Fixed(secs(10)))
        .message_handler(move |message, _| {
            seen.start(&message);
            async { Ok(Outcome::Ack) }
        })
        .build()
        .unwrap();
    let mut took = secs(0);
    let emptied = async {
        until(|| rig.left() == 0).await;
        took = started.elapsed();
    };
    let report = consumer.run_until(emptied).await.unwrap();
    assert_eq!(diary.bodies(), ["intact", "damaged"]);
    assert_eq!((report.stats.damaged, report.stats.receive_errors), (1, 0));
    assert!((secs(10)..secs(11)).contains(&took), "{took:?}");
}
