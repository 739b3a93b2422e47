//! A topic with a web hook that fails now and then: each confirmed message arrives at least once.

use std::collections::BTreeSet;
use std::time::Duration;

use super::topics::ask;
use super::{Killed, Outcome};
use crate::hook::{Hook, status};
use crate::sns::{RAW, topic_arn};
use crate::wire::Wire;

const TOPIC: &str = "hooked";

/// The requests of which the hook refuses one.
const REFUSED: usize = 5;

fn is_refused(number: usize) -> bool {
    number % REFUSED == REFUSED - 1
}

/// Longer than any retry takes after a jump of the clock.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is known of the messages.
pub(super) struct Hooks {
    hook: Hook,
    /// The number of the latest message.
    last: u64,
    confirmed: BTreeSet<String>,
    total: usize,
}

impl Hooks {
    pub(super) async fn start() -> Self {
        let hook =
            Hook::answering(|number, _| async move { status(if is_refused(number) { 503 } else { 200 }) });
        Self { hook: hook.await, last: 0, confirmed: BTreeSet::new(), total: 0 }
    }

    pub(super) async fn create(&mut self, endpoint: &str) {
        let mut wire = Wire::open(endpoint).await.unwrap();
        ask(&mut wire, "CreateTopic", &[("Name", TOPIC)]).await.unwrap();
        let (topic, url) = (topic_arn(TOPIC), self.hook.url("/"));
        let raw = [("Attributes.entry.1.key", RAW.0), ("Attributes.entry.1.value", RAW.1)];
        let subscription = [("TopicArn", &*topic), ("Protocol", "http"), ("Endpoint", &*url)];
        ask(&mut wire, "Subscribe", &[subscription.as_slice(), &raw].concat()).await.unwrap();
        let token = self.hook.wait_for(1).await[0].json()["Token"].as_str().unwrap().to_owned();
        ask(&mut wire, "ConfirmSubscription", &[("TopicArn", &topic), ("Token", &token)]).await.unwrap();
    }

    /// Publishes until the server dies.
    pub(super) async fn work(&mut self, endpoint: &str) {
        let _killed = self.work_until_killed(endpoint).await;
    }

    async fn work_until_killed(&mut self, endpoint: &str) -> Outcome<()> {
        let mut wire = Wire::open(endpoint).await.map_err(|_| Killed)?;
        loop {
            self.last += 1;
            let message = self.last.to_string();
            ask(&mut wire, "Publish", &[("TopicArn", &topic_arn(TOPIC)), ("Message", &message)]).await?;
            self.confirmed.insert(message);
            self.total += 1;
        }
    }

    /// Waits until each confirmed message has arrived.
    pub(super) async fn check(&mut self) {
        let arrives = async {
            loop {
                let arrived = self.hook.arrived().into_iter().enumerate();
                for (_, request) in arrived.filter(|(number, _)| !is_refused(*number)) {
                    self.confirmed.remove(&request.body);
                }
                if self.confirmed.is_empty() {
                    return;
                }
                tokio::time::sleep(PATIENCE / 500).await;
            }
        };
        let arrives = tokio::time::timeout(PATIENCE, arrives).await;
        assert!(arrives.is_ok(), "messages that did not arrive: {:?}", self.confirmed);
    }

    pub(super) fn summary(&self) -> String {
        format!("{} messages for a web hook in {} requests", self.total, self.hook.arrived().len())
    }

    pub(super) fn assert_busy(&self, kills: u32) {
        assert!(self.total > kills as usize, "only {} messages for the web hook", self.total);
    }
}
