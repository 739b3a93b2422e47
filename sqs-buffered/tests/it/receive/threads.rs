//! Several threads and real time, so that no test passes only because tasks take turns.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_buffered::{Consumer, Outcome};
use sqs_client::operation::Action;
use tokio::sync::{Notify, Semaphore};

use super::rig::{Rig, Sent, millis, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn thousands_of_messages_are_handled_on_several_threads() {
    const MESSAGES: u32 = 3_000;
    for name in ["jobs", "jobs.fifo"] {
        let rig = Rig::new(name).await;
        for number in 0..MESSAGES {
            rig.send_to(&(number % 97).to_string(), [number.to_string()]).await;
        }
        let (done, bodies) = (Arc::new(Semaphore::new(0)), Arc::new(Mutex::new(HashSet::new())));
        let (finished, seen) = (Arc::clone(&done), Arc::clone(&bodies));
        let consumer = Consumer::builder(rig.base.clone(), &rig.url)
            .concurrency(64)
            .prefetch(64)
            .wait_time(Duration::ZERO)
            .message_handler(move |message, _| {
                let is_new = seen.lock().unwrap().insert(message.body().unwrap_or_default().to_owned());
                let finished = Arc::clone(&finished);
                async move {
                    tokio::task::yield_now().await;
                    assert!(is_new);
                    finished.add_permits(1);
                    Ok(Outcome::Ack)
                }
            })
            .build()
            .unwrap();
        let all = tokio::time::timeout(Duration::from_secs(60), done.acquire_many(MESSAGES));
        let report = consumer.run_until(all).await.unwrap();
        assert_eq!((report.stats.acked, report.stats.panicked), (MESSAGES.into(), 0), "{report:?}");
        assert_eq!((rig.left(), rig.in_flight()), (0, 0));
        assert!(report.is_clean, "{report:?}");
        let bodies = bodies.lock().unwrap();
        assert!((0..MESSAGES).all(|number| bodies.contains(&number.to_string())));
    }
}

/// On drop, notes how many visibility changes were sent by then.
struct AtItsEnd(Arc<Mutex<Option<usize>>>, Log);

type Log = Arc<Mutex<Vec<Sent>>>;

impl Drop for AtItsEnd {
    fn drop(&mut self) {
        let sent = self.1.lock().unwrap();
        let changes = sent.iter().filter(|sent| sent.action == Action::ChangeMessageVisibilityBatch).count();
        *self.0.lock().unwrap() = Some(changes);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn message_of_a_stopped_handler_is_hidden_until_the_handler_has_ended() {
    let rig = Rig::new("jobs").await;
    rig.send(["1"]).await;
    let (began, at_its_end) = (Arc::new(Notify::new()), Arc::new(Mutex::new(None)));
    let (begin, noted, log) = (Arc::clone(&began), Arc::clone(&at_its_end), rig.log());
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .wait_time(Duration::ZERO)
        .message_handler(move |_, _| {
            let (begin, at_its_end) = (Arc::clone(&begin), AtItsEnd(Arc::clone(&noted), Arc::clone(&log)));
            async move {
                let _at_its_end = at_its_end;
                begin.notify_one();
                loop {
                    // Work that cannot be stopped.
                    std::thread::sleep(millis(40));
                    tokio::task::yield_now().await;
                }
            }
        })
        .build()
        .unwrap();
    let run = tokio::spawn({
        let consumer = consumer.clone();
        async move { consumer.run().await }
    });
    began.notified().await;
    let report = consumer.shutdown(Duration::ZERO).await.unwrap();
    assert_eq!((report.stats.aborted, report.stats.returned, rig.in_flight()), (1, 1, 0));
    assert_eq!(*at_its_end.lock().unwrap(), Some(0), "changes of visibility before its end");
    assert!(run.await.unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renewal_thread_keeps_leases_while_handlers_block_all_threads() {
    let rig = Rig::new("jobs").await;
    rig.send(["1", "2"]).await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .visibility_timeout(Duration::from_secs(3))
        .wait_time(Duration::ZERO)
        .concurrency(2)
        .renewal_thread(rig.base.clone())
        .message_handler(move |_, _| async {
            std::thread::sleep(Duration::from_secs(5));
            Ok(Outcome::Ack)
        })
        .build()
        .unwrap();
    let end = until(|| rig.left() == 0);
    let report = consumer.run_until(end).await.unwrap();
    let stats = report.stats;
    assert_eq!((stats.received, stats.started, stats.acked, stats.leases_lost), (2, 2, 2, 0));
    assert!(report.is_clean);
}

#[tokio::test]
async fn consumer_with_a_renewal_thread_can_be_dropped_before_its_run() {
    let rig = Rig::new("jobs").await;
    let consumer = Consumer::builder(rig.base.clone(), &rig.url)
        .renewal_thread(rig.base.clone())
        .message_handler(|_, _| async { Ok(Outcome::Ack) })
        .build()
        .unwrap();
    drop(consumer);
}
