//! Looks into topics, for tests and metrics.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use serde::{Serialize, Serializer};
use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum::message_size;

use crate::control::arn::{QueueArn, TopicArn};
use crate::control::clock::Timestamp;
use crate::control::seed::Uuid;
use crate::sns::Sns;
use crate::sns::engine::subscription::Subscription;

/// The maximum total size of the published messages; the latest message alone may exceed it.
const MAX_BYTES: usize = 16 << 20;

/// A subscription of a topic.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SubscriptionDescription {
    /// The ARN.
    pub arn: String,
    /// Such as `sqs`.
    pub protocol: String,
    /// The ARN of a queue, a URL without its password, or another address.
    pub endpoint: String,
    /// Whether the endpoint gets messages without an envelope.
    pub raw: bool,
    /// The filter policy, as it was given.
    pub filter_policy: Option<String>,
    /// `MessageAttributes` or `MessageBody`, if there is a filter policy.
    pub filter_policy_scope: Option<String>,
    /// The dead-letter queue.
    pub dead_letter_queue: Option<QueueArn>,
    /// Whether it gets messages. Endpoints such as `https` must confirm first.
    pub confirmed: bool,
    /// Requests to its web hook that are not answered yet, or wait for a retry.
    pub waiting: usize,
}

impl SubscriptionDescription {
    fn of(subscription: &Subscription, waiting: usize) -> Self {
        let mut attributes = subscription.shown(None);
        Self {
            arn: subscription.arn.to_string(),
            protocol: subscription.protocol().into_str().to_owned(),
            endpoint: subscription.endpoint.shown(),
            raw: subscription.attributes.raw,
            filter_policy: attributes.remove("FilterPolicy"),
            filter_policy_scope: attributes.remove("FilterPolicyScope"),
            dead_letter_queue: subscription.attributes.dead_letter_queue.clone(),
            confirmed: subscription.is_confirmed(),
            waiting,
        }
    }
}

impl Sns {
    /// All topics of all accounts and regions, sorted.
    pub(crate) fn topics(&self) -> Vec<TopicArn> {
        self.topics.all()
    }

    /// Whether a topic exists.
    pub(crate) fn has(&self, topic: &TopicArn) -> bool {
        self.topics.get(topic).is_ok()
    }

    /// The attributes and the tags of a topic; `None` if it does not exist.
    pub(crate) fn settings_of(
        &self,
        topic: &TopicArn,
    ) -> Option<(BTreeMap<String, String>, BTreeMap<String, String>)> {
        let topic = self.topics.get(topic).ok()?;
        let topic = self.lock(&topic);
        Some((topic.shown(), topic.settings().tags.clone()))
    }

    /// The subscriptions of a topic, sorted by protocol and endpoint; none if it does not exist.
    pub(crate) fn subscriptions_of(&self, topic: &TopicArn) -> Vec<SubscriptionDescription> {
        let Ok(topic) = self.topics.get(topic) else { return Vec::new() };
        let topic = self.lock(&topic);
        let mut all: Vec<_> = topic
            .subscriptions()
            .map(|one| SubscriptionDescription::of(one, self.hooks.waiting(&one.arn.id)))
            .collect();
        all.sort_by_cached_key(|one| (one.protocol.clone(), one.endpoint.clone()));
        all
    }

    /// Differs whenever topics, subscriptions or published messages have changed.
    pub(crate) fn revision(&self) -> (u64, u64) {
        (self.changes.load(Ordering::Relaxed), self.published.last())
    }

    /// The latest messages that a topic took, oldest first.
    pub(crate) fn published_to(&self, topic: &TopicArn) -> Vec<Arc<PublishedMessage>> {
        self.published.of(topic)
    }
}

/// A message that a topic took.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedMessage {
    /// Counts the messages of all topics from 1. A reset does not restart it.
    pub number: u64,
    /// The topic.
    #[serde(skip)]
    pub topic: TopicArn,
    /// The id in the response.
    pub id: Uuid,
    /// When it was published, by the clock of the server.
    pub time: Timestamp,
    /// The text; for a message with a text for each protocol, the default one.
    #[serde(rename = "body")]
    pub message: String,
    /// The subject.
    pub subject: Option<String>,
    /// The message attributes.
    #[serde(skip_serializing_if = "HashMap::is_empty")]
    pub attributes: HashMap<String, MessageAttributeValue>,
    /// The message group id.
    pub group: Option<String>,
    /// The deduplication id on FIFO topics: as given, or computed from the text.
    pub deduplication_id: Option<String>,
    /// The sequence number on FIFO topics.
    #[serde(serialize_with = "text")]
    pub sequence_number: Option<u64>,
    /// Deliveries that were dropped, moved to a dead-letter queue or not sent, and those that AWS would deny; at most
    /// the first 20.
    pub notes: Vec<String>,
}

/// As text, since JSON parsers may round 64-bit numbers.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn text<S: Serializer>(number: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    number.map(|number| number.to_string()).serialize(serializer)
}

impl PublishedMessage {
    /// Its approximate size.
    pub(crate) fn bytes(&self) -> usize {
        let notes: usize = self.notes.iter().map(String::len).sum();
        message_size(&self.message, Some(&self.attributes)) + notes
    }
}

/// The latest messages of all topics. Not a part of the journal: other services publish too, without a request to SNS.
#[derive(Debug)]
pub(crate) struct PublishedLog {
    capacity: usize,
    /// Locked within the lock of a topic; holders take no other lock.
    latest: Mutex<Latest>,
}

#[derive(Debug, Default)]
struct Latest {
    messages: VecDeque<Arc<PublishedMessage>>,
    bytes: usize,
    /// The number of the last message.
    last: u64,
}

impl PublishedLog {
    /// A log of at most `capacity` messages; with 0 it records nothing.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, latest: Mutex::default() }
    }

    /// Adds a message, and removes the oldest ones over the limits.
    pub(crate) fn record(&self, message: impl FnOnce() -> PublishedMessage) {
        if self.capacity == 0 {
            return;
        }
        let message = message();
        let mut latest = self.latest.lock();
        latest.last += 1;
        latest.bytes += message.bytes();
        let number = latest.last;
        latest.messages.push_back(Arc::new(PublishedMessage { number, ..message }));
        while latest.messages.len() > self.capacity || (latest.bytes > MAX_BYTES && latest.messages.len() > 1)
        {
            let oldest = latest.messages.pop_front();
            latest.bytes -= oldest.map_or(0, |oldest| oldest.bytes());
        }
    }

    /// The messages of a topic, oldest first.
    pub(crate) fn of(&self, topic: &TopicArn) -> Vec<Arc<PublishedMessage>> {
        let latest = self.latest.lock();
        latest.messages.iter().filter(|message| message.topic == *topic).map(Arc::clone).collect()
    }

    /// The number of the last message of all topics.
    pub(crate) fn last(&self) -> u64 {
        self.latest.lock().last
    }

    /// Removes all messages.
    pub(crate) fn clear(&self) {
        let mut latest = self.latest.lock();
        *latest = Latest { last: latest.last, ..Latest::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::seed::{Seed, uuid};

    fn message(text: &str) -> PublishedMessage {
        PublishedMessage {
            number: 0,
            topic: TopicArn::new("us-east-1", "000000000000", "a"),
            id: uuid(&mut Seed(1).generator("ids")),
            time: Timestamp::from_millis(0),
            message: text.to_owned(),
            subject: None,
            attributes: HashMap::new(),
            group: None,
            deduplication_id: None,
            sequence_number: None,
            notes: Vec::new(),
        }
    }

    fn after(capacity: usize, texts: &[&str]) -> Vec<usize> {
        let log = PublishedLog::new(capacity);
        for text in texts {
            log.record(|| message(text));
        }
        let kept = log.of(&message("").topic);
        kept.iter().map(|message| message.message.len()).collect()
    }

    #[test]
    fn oldest_messages_are_removed_over_the_limits() {
        assert_eq!(after(2, &["", "a", "bb"]), [1, 2]);
        assert_eq!(after(0, &["a"]), [0; 0]);
        let (half, more) = ("x".repeat(MAX_BYTES / 2), "x".repeat(MAX_BYTES / 2 + 1));
        assert_eq!(after(9, &["a", &half, &more]), [more.len()]);
        assert_eq!(after(9, &[&half, &half]), [half.len(); 2]);
        let huge = "x".repeat(MAX_BYTES + 1);
        assert_eq!(after(9, &["a", &huge]), [huge.len()]);
    }
}
