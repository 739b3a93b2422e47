//! Changes of topics, as values.
//!
//! A topic with a reader records each change while it is locked, so readers receive the changes of a topic in the order in
//! which they happened. Applied in this order, they yield the state of the topic, see [`TopicState`](super::TopicState). A
//! topic without a reader records nothing.

use super::fifo::Known;
use super::subscription::Subscription;
use super::tags::Tags;
use super::topic_attributes::Attributes;
use crate::service::arn::TopicArn;

/// The number of a topic. Each topic of a server has its own, so that topics of the same name differ.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct TopicNumber(pub(crate) u64);

/// A change of one topic.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TopicChange {
    /// The topic was created.
    Created(Box<TopicSettings>),
    /// Attributes or tags were changed.
    Set(Box<TopicSettings>),
    /// The topic was deleted with its subscriptions. Later changes have no effect.
    Deleted,
    /// A subscription was added or confirmed, or an attribute of it was set.
    Subscribed(Box<Subscription>),
    /// Subscriptions were deleted, or not confirmed in time.
    Unsubscribed {
        /// The ids of the subscriptions.
        ids: Vec<Box<str>>,
        /// The number of subscriptions that were deleted so far.
        deleted: u64,
    },
    /// A FIFO topic took a message.
    Published {
        /// Its deduplication id and its number.
        known: Box<Known>,
        /// The deduplication ids of messages up to this number are forgotten.
        forgotten: u64,
    },
}

/// What a request can set of a topic.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TopicSettings {
    /// The ARN, which never changes.
    pub(crate) arn: TopicArn,
    /// The attributes, with the policy.
    pub(crate) attributes: Attributes,
    /// The tags.
    pub(crate) tags: Tags,
}

/// The changes of a topic since they were last taken. `None` without a reader.
#[derive(Debug, Default)]
pub(super) struct Recorder(Option<Vec<TopicChange>>);

impl Recorder {
    /// Records changes from now on.
    pub(super) fn start(&mut self) {
        self.0.get_or_insert_default();
    }

    /// Records a change. `change` is called only if there is a reader.
    pub(super) fn record(&mut self, change: impl FnOnce() -> TopicChange) {
        if let Some(changes) = &mut self.0 {
            changes.push(change());
        }
    }

    /// The changes since the last call; empty without a reader.
    pub(super) fn take(&mut self) -> Vec<TopicChange> {
        self.0.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
