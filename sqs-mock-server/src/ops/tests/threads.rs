//! Receives and sends on several threads at once, in real time.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use sqs_client::operation::create_queue::CreateQueueInput;
use sqs_client::operation::delete_queue::DeleteQueueInput;
use sqs_client::operation::list_dead_letter_source_queues::ListDeadLetterSourceQueuesInput;
use sqs_client::operation::set_queue_attributes::SetQueueAttributesInput;
use sqs_client::types::QueueAttributeName;

use super::*;

const MESSAGES: usize = 2_000;

/// Receives until the service is shut down, noting what came.
async fn consume(rig: Rig, url: String, patience: Option<Duration>, seen: Arc<Mutex<Vec<String>>>) {
    loop {
        let poll = rig.call(long_poll(&url, 20));
        let answer = match patience {
            None => Ok(poll.await),
            // Dropped while it waits; what it had taken would never be seen by anyone.
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
async fn no_message_and_no_wake_up_is_lost_between_threads() {
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
    // A lost wake-up would cost the 20 seconds of a long poll.
    tokio::time::timeout(Duration::from_secs(10), all_seen).await.expect("all messages in time");
    rig.service.shut_down();
    for consumer in consumers {
        consumer.await.expect("a consumer");
    }
    let seen = seen.lock();
    assert_eq!((seen.len(), seen.iter().collect::<BTreeSet<_>>().len()), (MESSAGES, MESSAGES));
}

/// Sets the redrive policy of a queue many times, each time to another target, or deletes it in between.
async fn change(rig: Rig, url: String, first: usize) {
    for number in first..first + 300 {
        match number % 7 {
            0 => drop(rig.call(DeleteQueueInput::builder().queue_url(&url)).await),
            1 => drop(rig.call(CreateQueueInput::builder().queue_name("source")).await),
            _ => {
                let policy = redrive_to(["one", "other"][number % 2], 1);
                let input = SetQueueAttributesInput::builder()
                    .queue_url(&url)
                    .attributes(QueueAttributeName::RedrivePolicy, policy);
                // Another task may have deleted the queue.
                drop(rig.call(input).await);
            }
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_changes_of_a_redrive_policy_leave_policy_and_sources_in_agreement() {
    for round in 0..20 {
        let rig = rig_with(Settings { relaxed_timing: true, ..Settings::default() });
        rig.queue("one", &[]).await;
        rig.queue("other", &[]).await;
        let url = rig.queue("source", &[]).await;
        let changes: Vec<_> =
            (0..4).map(|task| tokio::spawn(change(rig.clone(), url.clone(), round + 2 * task))).collect();
        for change in changes {
            change.await.expect("a task");
        }
        rig.call(CreateQueueInput::builder().queue_name("source")).await.expect("it exists again");
        let policy = rig.attribute(&url, "RedrivePolicy").await.unwrap_or_default();
        for name in ["one", "other"] {
            let input = ListDeadLetterSourceQueuesInput::builder()
                .queue_url(format!("http://sqs.test/{ACCOUNT}/{name}"));
            let sources = rig.call(input).await.expect("a list").queue_urls;
            let is_target = policy.contains(&format!(":{name}\""));
            assert_eq!(!sources.is_empty(), is_target, "{name}: {sources:?}, {policy:?}");
        }
    }
}
