//! A FIFO queue with a trigger whose function fails now and then: each confirmed message is handled at least once, and each group
//! in order.

use std::collections::BTreeMap;
use std::time::Duration;

use sqs_client::Client;
use sqs_client::types::QueueAttributeName;

use super::{Killed, Outcome, answered};
use crate::hook::{Hook, status};

pub(super) const QUEUE: &str = "tasks.fifo";

const URL: &str = "http://localhost/000000000000/tasks.fifo";

const GROUPS: [&str; 3] = ["a", "b", "c"];

/// The invocations of which the function fails one.
const FAILING: usize = 5;

const PATIENCE: Duration = Duration::from_secs(20);

/// What is known of the messages.
pub(super) struct Triggers {
    hook: Hook,
    /// By group: the number of the last confirmed message.
    sent: BTreeMap<&'static str, u64>,
}

impl Triggers {
    pub(super) async fn start() -> Self {
        let hook = Hook::answering(|number, _| async move { status(if fails(number) { 500 } else { 200 }) });
        Self { hook: hook.await, sent: GROUPS.map(|group| (group, 0)).into() }
    }

    /// The value of `--trigger`.
    pub(super) fn flag(&self) -> String {
        format!("{QUEUE}={}", self.hook.url("/"))
    }

    pub(super) async fn create(&mut self, client: &Client) {
        let create =
            client.create_queue().queue_name(QUEUE).attributes(QueueAttributeName::FifoQueue, "true");
        // Messages of killed invocations return soon.
        create.attributes(QueueAttributeName::VisibilityTimeout, "1").send().await.unwrap();
    }

    /// Sends until the server dies.
    pub(super) async fn work(&mut self, client: &Client) {
        let _killed = self.work_until_killed(client).await;
    }

    async fn work_until_killed(&mut self, client: &Client) -> Outcome<()> {
        loop {
            self.send_all(client).await?;
        }
    }

    /// Resolves unknown outcomes, within the deduplication window.
    pub(super) async fn send_again(&mut self, client: &Client) {
        self.send_all(client).await.unwrap_or_else(|Killed| panic!("nobody kills the server"));
    }

    async fn send_all(&mut self, client: &Client) -> Outcome<()> {
        for (group, sent) in &mut self.sent {
            let body = format!("{group}-{}", *sent + 1);
            let send = client.send_message().queue_url(URL).message_body(&body).message_group_id(*group);
            answered(send.message_deduplication_id(&body).send().await)?;
            *sent += 1;
        }
        Ok(())
    }

    /// Waits until each confirmed message was handled, and checks the order of the groups.
    pub(super) async fn check(&mut self) {
        let done = async {
            while self.handled() != self.sent {
                tokio::time::sleep(PATIENCE / 500).await;
            }
        };
        let done = tokio::time::timeout(PATIENCE, done).await;
        assert!(done.is_ok(), "sent {:?}, handled {:?}", self.sent, self.handled());
    }

    /// By group: the number of the last message that was handled.
    fn handled(&self) -> BTreeMap<&'static str, u64> {
        let mut last: BTreeMap<_, _> = GROUPS.map(|group| (group, 0)).into();
        for (number, request) in self.hook.arrived().iter().enumerate() {
            if fails(number) {
                continue;
            }
            let event = request.json();
            for record in event["Records"].as_array().unwrap() {
                let (group, number) = record["body"].as_str().unwrap().split_once('-').unwrap();
                let number: u64 = number.parse().unwrap();
                let last = last.get_mut(group).unwrap();
                assert!(number <= *last + 1, "{group}-{number} overtook {group}-{}", *last + 1);
                *last = number.max(*last);
            }
        }
        last
    }

    pub(super) fn summary(&self) -> String {
        let messages: u64 = self.sent.values().sum();
        format!("{messages} messages of a trigger in {} invocations", self.hook.arrived().len())
    }

    pub(super) fn assert_busy(&self, kills: u32) {
        let messages: u64 = self.sent.values().sum();
        assert!(messages > u64::from(kills), "only {messages} messages of the trigger");
    }
}

fn fails(number: usize) -> bool {
    number % FAILING == FAILING - 1
}
