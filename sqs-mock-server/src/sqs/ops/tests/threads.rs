//! Concurrent receives and sends on several threads, in real time.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Without the lock, policy and sources disagreed after 20 of 100,000 rounds.
const ROUNDS: usize = 10_000;

/// Sets the redrive policy of `source` once a round, concurrently with other threads.
fn set_each_round(rig: &Rig, source: &str, target: &str, round: &Barrier) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let policy = redrive_to(target, 1);
    for _ in 0..ROUNDS {
        let input = SetQueueAttributesInput::builder()
            .queue_url(source)
            .attributes(QueueAttributeName::RedrivePolicy, &policy);
        round.wait();
        runtime.block_on(rig.call(input)).expect("a legal policy");
        round.wait();
    }
}

#[tokio::test]
async fn policy_and_sources_agree_after_concurrent_changes_of_a_redrive_policy() {
    let rig = rig();
    let source = rig.queue("source", &[]).await;
    for name in ["one", "other"] {
        rig.queue(name, &[]).await;
    }
    let round = Barrier::new(3);
    let is_over = AtomicBool::new(false);
    let targets = [arn("one").parse().unwrap(), arn("other").parse().unwrap()];
    std::thread::scope(|threads| {
        threads.spawn(|| set_each_round(&rig, &source, "one", &round));
        threads.spawn(|| set_each_round(&rig, &source, "other", &round));
        // Readers of the relation delay its writers, which can then run in another order.
        threads.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                rig.service.dead_letter_sources(&targets[0]);
            }
        });
        let mut disagreements = 0;
        for _ in 0..ROUNDS {
            round.wait();
            round.wait();
            let policy = rig.service.describe(&arn("source").parse().unwrap()).unwrap().attributes;
            let policy = &policy[&QueueAttributeName::RedrivePolicy];
            for target in &targets {
                let is_target = policy.contains(&target.to_string());
                let is_noted = !rig.service.dead_letter_sources(target).is_empty();
                disagreements += usize::from(is_target != is_noted);
            }
        }
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(disagreements, 0, "of {ROUNDS} rounds");
    });
}
