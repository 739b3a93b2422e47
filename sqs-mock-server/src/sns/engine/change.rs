//! Changes of topics, as values.
//!
//! A topic with a reader passes each change on while it is locked, so readers receive the changes of a topic in the order
//! in which they happened. Applied in this order, they yield the state of the topic.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use super::backlog::Group;
use super::fifo::Known;
use super::settings::TopicSettings;
use super::subscription::Subscription;
use crate::service::arn::QueueArn;
use crate::service::delivery::KeptDelivery;

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

/// A delivery that waits for a retry.
#[derive(Debug)]
pub(crate) struct WaitingDelivery {
    /// Increases with each delivery of a server.
    pub(crate) number: u64,
    /// On FIFO topics.
    pub(crate) group: Option<Group>,
    pub(crate) delivery: KeptDelivery,
    pub(crate) dead_letter_queue: Option<QueueArn>,
}

/// A change of the deliveries that wait.
#[derive(Debug)]
pub(crate) enum WaitingChange {
    Added(Arc<WaitingDelivery>),
    /// It is in a queue, or dropped. Also for deliveries that were not added.
    Ended(u64),
    Cleared,
}

/// Reads every change of topics, while locks are held: a reader must not block and must not call the service.
pub(crate) trait TopicReader: Debug + Send + Sync {
    /// Handles a change of a topic.
    fn read(&self, topic: TopicNumber, change: TopicChange);

    /// Handles a change of the deliveries that wait.
    fn read_waiting(&self, change: WaitingChange);
}

/// Passes the changes of a topic to its reader. Without a reader, changes are not recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder(pub(crate) Option<(TopicNumber, Arc<dyn TopicReader>)>);

impl Recorder {
    /// Records a change. `change` is called only if there is a reader.
    pub(crate) fn record(&self, change: impl FnOnce() -> TopicChange) {
        if let Some((topic, reader)) = &self.0 {
            reader.read(*topic, change());
        }
    }
}

/// A topic as plain data: the result of applying its changes in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TopicState {
    /// ARN, attributes and tags.
    pub(crate) settings: TopicSettings,
    /// The subscriptions by id.
    pub(crate) subscriptions: BTreeMap<Box<str>, Subscription>,
    /// The number of subscriptions that were deleted.
    pub(crate) unsubscribed: u64,
    /// The number of messages that a FIFO topic took.
    pub(crate) numbered: u64,
    /// The deduplication ids of a FIFO topic, oldest first.
    pub(crate) known: Vec<Known>,
}

impl TopicState {
    /// The state of a new topic.
    pub(crate) fn new(settings: TopicSettings) -> Self {
        Self { settings, subscriptions: BTreeMap::new(), unsubscribed: 0, numbered: 0, known: Vec::new() }
    }
}
