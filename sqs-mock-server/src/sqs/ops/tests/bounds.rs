//! Limits of memory and of the number of queues.

use proptest::prelude::*;
use sqs_client::operation::delete_queue::DeleteQueueInput;
use sqs_client::operation::list_message_move_tasks::ListMessageMoveTasksInput;
use sqs_client::operation::purge_queue::PurgeQueueInput;
use sqs_client::operation::send_message_batch::SendMessageBatchInput;
use sqs_client::operation::start_message_move_task::StartMessageMoveTaskInput;
use sqs_client::types::SendMessageBatchRequestEntry;

use super::*;
use crate::sqs::engine::DeliveryMode;

const QUEUES: [&str; 3] = ["source", "dead", "other.fifo"];

fn relaxed() -> Settings {
    Settings { one_minute_rules: false, ..Settings::default() }
}

#[derive(Clone, Debug)]
enum Step {
    Send { queue: usize, length: usize },
    Receive { queue: usize },
    Delete,
    Pass { seconds: u64 },
    Purge { queue: usize },
    Renew { queue: usize },
    Move,
}

fn step() -> impl Strategy<Value = Step> {
    let queue = || 0..QUEUES.len();
    prop_oneof![
        6 => (queue(), 1_usize..300).prop_map(|(queue, length)| Step::Send { queue, length }),
        6 => queue().prop_map(|queue| Step::Receive { queue }),
        3 => Just(Step::Delete),
        3 => prop_oneof![0_u64..60, Just(400_u64), Just(400_000)].prop_map(|seconds| Step::Pass { seconds }),
        1 => queue().prop_map(|queue| Step::Purge { queue }),
        1 => queue().prop_map(|queue| Step::Renew { queue }),
        2 => Just(Step::Move),
    ]
}

/// The queues, and the latest message received from one of them.
struct Bench {
    rig: Rig,
    received: Option<(String, Message)>,
    sent: usize,
}

impl Bench {
    async fn create(rig: &Rig, name: &str) -> String {
        match name {
            "source" => {
                let policy = redrive_to("dead", 1);
                rig.queue(name, &[("RedrivePolicy", &policy), ("VisibilityTimeout", "0")]).await
            }
            "dead" => rig.queue(name, &[]).await,
            _ => rig.fifo_queue(name).await,
        }
    }

    async fn apply(&mut self, step: &Step) {
        let url = |queue: usize| format!("http://sqs.test/{ACCOUNT}/{}", QUEUES[queue]);
        match *step {
            Step::Send { queue, length } => {
                self.sent += 1;
                let body = format!("{:>length$}", self.sent);
                let group = Some("g".to_owned()).filter(|_| queue == 2);
                self.rig.call(send(&url(queue), &body).set_message_group_id(group)).await.expect("room");
            }
            Step::Receive { queue } => {
                let message = self.rig.receive(&url(queue)).await.pop();
                self.received = message.map(|message| (url(queue), message));
            }
            Step::Delete => {
                if let Some((url, message)) = self.received.take() {
                    let handle = message.receipt_handle().expect("a handle");
                    let input = DeleteMessageInput::builder().queue_url(url).receipt_handle(handle);
                    // The handle may have expired.
                    let _ = self.rig.call(input).await;
                }
            }
            Step::Pass { seconds } => self.rig.pass(seconds).await,
            Step::Purge { queue } => {
                self.rig.call(PurgeQueueInput::builder().queue_url(url(queue))).await.expect("a purge");
            }
            Step::Renew { queue } => {
                self.rig.call(DeleteQueueInput::builder().queue_url(url(queue))).await.expect("a delete");
                Self::create(&self.rig, QUEUES[queue]).await;
            }
            Step::Move => {
                // A task may be active already.
                let _ = self.rig.call(StartMessageMoveTaskInput::builder().source_arn(arn("dead"))).await;
                let_others_run().await;
            }
        }
        let by_queue = self.rig.service.usage_by_queue().await;
        let sum: usize = by_queue.iter().map(|queue| queue.stored_bytes).sum();
        assert_eq!(self.rig.service.usage().stored_bytes, sum, "{step:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn total_of_stored_bytes_matches_all_queues_and_returns_to_zero(aws_like: bool, steps in prop::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let delivery = if aws_like { DeliveryMode::AwsLike } else { DeliveryMode::Ordered };
            let rig = rig_with(Settings { delivery, ..relaxed() });
            rig.service.clock().freeze();
            for name in ["dead", "source", "other.fifo"] {
                Bench::create(&rig, name).await;
            }
            let mut bench = Bench { rig, received: None, sent: 0 };
            for step in &steps {
                bench.apply(step).await;
            }
            bench.rig.pass(2_000_000).await;
            // Messages expire when a queue is accessed.
            bench.rig.service.usage_by_queue().await;
            assert_eq!(bench.rig.service.usage().stored_bytes, 0);
        });
    }
}

#[tokio::test]
async fn batch_over_the_memory_limit_fails_by_entry() {
    let rig = rig_with(Settings { max_memory: 100_000, ..Settings::default() });
    let url = rig.queue("q", &[]).await;
    let entry = |id: &str, length: usize| {
        SendMessageBatchRequestEntry::builder().id(id).message_body("x".repeat(length)).build().unwrap()
    };
    let entries = vec![entry("a", 50_000), entry("b", 60_000), entry("c", 10_000)];
    let batch = SendMessageBatchInput::builder().queue_url(&url).set_entries(Some(entries));
    let answer = rig.call(batch).await.unwrap();
    let successful: Vec<_> = answer.successful().iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(successful, ["a", "c"]);
    let failed = &answer.failed()[0];
    assert_eq!((failed.id.as_str(), failed.code.as_str(), failed.sender_fault), ("b", "OverLimit", true));
    assert!(failed.message.as_deref().is_some_and(|text| text.contains("at most 100000 bytes")));
}

#[tokio::test]
async fn full_server_rejects_sends_only() {
    let rig = rig_with(Settings { max_memory: 500, ..Settings::default() });
    let dead = rig.queue("dead", &[]).await;
    let policy = redrive_to("dead", 1);
    let url = rig.queue("q", &[("RedrivePolicy", &policy), ("VisibilityTimeout", "0")]).await;
    rig.send(&url, "fits").await;
    assert_eq!(rig.refusal(send(&url, "does not")).await.0, ErrorCode::OverLimit);
    assert_eq!(rig.bodies(&url).await, ["fits"]);
    assert!(rig.receive(&url).await.is_empty(), "the message is a dead letter now");
    let letters = rig.receive(&dead).await;
    rig.delete(&dead, &letters[0]).await;
    rig.send(&url, "fits again").await;
}

#[tokio::test]
async fn number_of_queues_is_limited_across_accounts() {
    let rig = rig_with(Settings { max_queues: 2, ..relaxed() });
    let mut other = rig.clone();
    other.context.account = "111122223333".to_owned();
    rig.queue("a", &[]).await;
    let url = other.queue("b", &[]).await;
    let (code, text) = rig.refusal(CreateQueueInput::builder().queue_name("c")).await;
    assert_eq!(code, ErrorCode::OverLimit);
    assert!(text.contains("has 2 queues") && text.contains("--max-queues"), "{text}");
    rig.queue("a", &[]).await;
    other.call(DeleteQueueInput::builder().queue_url(url)).await.unwrap();
    rig.queue("c", &[]).await;
}

#[tokio::test]
async fn move_tasks_of_a_deleted_queue_are_forgotten() {
    let rig = rig_with(relaxed());
    let dead = rig.queue("dead", &[]).await;
    rig.queue("source", &[("RedrivePolicy", &redrive_to("dead", 1))]).await;
    rig.call(StartMessageMoveTaskInput::builder().source_arn(arn("dead"))).await.unwrap();
    let_others_run().await;
    let list = || ListMessageMoveTasksInput::builder().source_arn(arn("dead"));
    assert_eq!(rig.call(list()).await.unwrap().results().len(), 1);
    rig.call(DeleteQueueInput::builder().queue_url(dead)).await.unwrap();
    rig.queue("dead", &[]).await;
    assert!(rig.call(list()).await.unwrap().results().is_empty());
}
