//! Looks into topics, for tests and metrics.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::Sns;
use super::published::PublishedMessage;
use crate::service::arn::{QueueArn, TopicArn};
use crate::service::metrics::Exposition;
use crate::sns::engine::subscription::Subscription;

/// A subscription of a topic.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SubscriptionDescription {
    /// The ARN.
    pub arn: String,
    /// Such as `sqs`.
    pub protocol: String,
    /// The ARN of a queue, a URL or another address.
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
}

impl SubscriptionDescription {
    fn of(subscription: &Subscription) -> Self {
        let mut attributes = subscription.shown();
        Self {
            arn: subscription.arn.to_string(),
            protocol: subscription.protocol().as_str().to_owned(),
            endpoint: subscription.endpoint.to_string(),
            raw: subscription.attributes.raw,
            filter_policy: attributes.remove("FilterPolicy"),
            filter_policy_scope: attributes.remove("FilterPolicyScope"),
            dead_letter_queue: subscription.attributes.dead_letter_queue().cloned(),
            confirmed: subscription.is_confirmed(),
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
        let topic = topic.lock();
        let tags = topic.tags().iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
        Some((topic.shown(self.clock.now()), tags.collect()))
    }

    /// The subscriptions of a topic, sorted by protocol and endpoint; none if it does not exist.
    pub(crate) fn subscriptions_of(&self, topic: &TopicArn) -> Vec<SubscriptionDescription> {
        let Ok(topic) = self.topics.get(topic) else { return Vec::new() };
        let topic = topic.lock();
        let mut all: Vec<_> =
            topic.subscriptions(self.clock.now()).map(SubscriptionDescription::of).collect();
        all.sort_unstable_by(|one, other| {
            (&one.protocol, &one.endpoint).cmp(&(&other.protocol, &other.endpoint))
        });
        all
    }

    /// The latest messages that a topic took, oldest first.
    pub(crate) fn published_to(&self, topic: &TopicArn) -> Vec<Arc<PublishedMessage>> {
        self.published.of(topic)
    }

    /// Writes the metrics of deliveries.
    pub(crate) fn write_metrics(&self, text: &mut Exposition) {
        self.deliveries.write(text);
    }
}
