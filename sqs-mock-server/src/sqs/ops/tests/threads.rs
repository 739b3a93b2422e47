//! Concurrent receives and sends on several threads, in real time.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::task;
use std::task::Wake;

use parking_lot::Mutex;
use sqs_client::operation::set_queue_attributes::SetQueueAttributesInput;
use sqs_client::types::QueueAttributeName;

use super::*;

const MESSAGES: usize = 2_000;

/// Receives until the service is shut down, and records the bodies.
async fn consume(rig: Rig, url: String, patience: Option<Duration>, seen: Arc<Mutex<Vec<String>>>) {
    loop {
        let poll = rig.call(long_poll(&url, 20));
        let answer = match patience {
            None => Ok(poll.await),
            // The receive is dropped while it waits; a message that it had taken would be lost.
            Some(patience) => tokio::time::timeout(patience, poll).await,
        };
        match answer {
            Ok(answer) => {
                let messages = answer.expect("an answer").messages.unwrap_or_default();
                if messages.is_empty() {
                    return;
                }
                seen.lock().extend(bodies(&messages));
            }
            Err(_) if *rig.service.shared.stop.borrow() => return,
            Err(_) => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn threads_lose_no_message_and_no_wakeup() {
    let rig = rig();
    let url = rig.queue("orders", &[("VisibilityTimeout", "43200")]).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let patience = |n: u64| n.is_multiple_of(2).then(|| Duration::from_micros(200 + 50 * n));
    let consumers: Vec<_> = (0..40)
        .map(|n| tokio::spawn(consume(rig.clone(), url.clone(), patience(n), Arc::clone(&seen))))
        .collect();
    let producers = (0..4).map(|producer| {
        let (rig, url) = (rig.clone(), url.clone());
        tokio::spawn(async move {
            for n in 0..MESSAGES / 4 {
                rig.send(&url, &format!("{producer}-{n}")).await;
                tokio::task::yield_now().await;
            }
        })
    });
    for producer in producers.collect::<Vec<_>>() {
        producer.await.expect("a producer");
    }
    let all_seen = async {
        while seen.lock().len() < MESSAGES {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    // A lost wakeup would delay a message by up to 20 seconds.
    tokio::time::timeout(Duration::from_secs(10), all_seen).await.expect("all messages in time");
    rig.service.shut_down();
    for consumer in consumers {
        consumer.await.expect("a consumer");
    }
    let seen = seen.lock();
    assert_eq!((seen.len(), seen.iter().collect::<BTreeSet<_>>().len()), (MESSAGES, MESSAGES));
}

/// How long the first change waits for the second one, which cannot finish while the first holds the lock.
const PATIENCE: Duration = Duration::from_millis(100);

/// Pauses a thread that changes a queue, right after the change, until another thread has changed it too.
struct Pause {
    reached: mpsc::Sender<()>,
    other_is_done: Mutex<mpsc::Receiver<()>>,
}

impl Wake for Pause {
    fn wake(self: Arc<Self>) {
        // An error means that the test has failed.
        let _ = self.reached.send(());
        // A timeout means that the other thread waits for the lock.
        let _ = self.other_is_done.lock().recv_timeout(PATIENCE);
    }
}

/// Sets the redrive policy of `source`.
fn set_target(rig: &Rig, source: &str, target: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let input = SetQueueAttributesInput::builder()
        .queue_url(source)
        .attributes(QueueAttributeName::RedrivePolicy, redrive_to(target, 1));
    runtime.block_on(rig.call(input)).expect("a legal policy");
}

/// Sets the redrive policy to `one`, and to `other` when the queue is changed but the relation may not be.
fn set_both(rig: &Rig, source: &str) {
    let queue = rig.service.shared.find_arn(&arn("source").parse().unwrap()).expect("the queue");
    let (reached, is_reached) = mpsc::channel();
    let (done, other_is_done) = mpsc::channel();
    let waker = Arc::new(Pause { reached, other_is_done: Mutex::new(other_is_done) }).into();
    let _watching = queue.watchers.enter();
    let mut changed = std::pin::pin!(queue.changed.notified());
    assert!(changed.as_mut().poll(&mut task::Context::from_waker(&waker)).is_pending());
    std::thread::scope(|threads| {
        threads.spawn(|| set_target(rig, source, "one"));
        is_reached.recv().expect("the first change");
        set_target(rig, source, "other");
        // An error means that the first thread has lost its patience.
        let _ = done.send(());
    });
}

#[test]
fn policy_and_sources_agree_after_concurrent_changes_of_a_redrive_policy() {
    let rig = rig();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let source = runtime.block_on(async {
        rig.queue("one", &[]).await;
        rig.queue("other", &[]).await;
        rig.queue("source", &[]).await
    });
    // Without the lock, one round fails unless the machine is too busy to run the second thread.
    for round in 0..3 {
        set_both(&rig, &source);
        let policy = rig.service.describe(&arn("source").parse().unwrap()).unwrap().attributes;
        let policy = &policy[&QueueAttributeName::RedrivePolicy];
        for target in ["one", "other"].map(arn) {
            let is_noted = !rig.service.dead_letter_sources(&target.parse().unwrap()).is_empty();
            assert_eq!(policy.contains(&target), is_noted, "round {round}, {target}");
        }
    }
}
