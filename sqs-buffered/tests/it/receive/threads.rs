//! On several threads and in real time, so that nothing relies on taking turns.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_buffered::{Consumer, Outcome};
use tokio::sync::Semaphore;

use super::rig::{Rig, millis};

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
            .handler(move |message, _| {
                let is_new = seen.lock().unwrap().insert(message.body().unwrap_or_default().to_owned());
                let finished = Arc::clone(&finished);
                async move {
                    tokio::task::yield_now().await;
                    assert!(is_new);
                    finished.add_permits(1);
                    Ok(Outcome::Ack)
                }
            })
            .build();
        let all = tokio::time::timeout(Duration::from_secs(60), done.acquire_many(MESSAGES));
        let report = consumer.run_until(all).await.unwrap();
        assert_eq!((report.stats.acked, report.stats.panicked), (MESSAGES.into(), 0), "{report:?}");
        assert_eq!((rig.left(), rig.in_flight()), (0, 0));
        assert!(report.is_clean && report.elapsed > millis(0));
    }
}
