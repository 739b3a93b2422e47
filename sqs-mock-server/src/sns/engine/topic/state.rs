//! Saving and restoring the state of a topic.

use std::collections::BTreeMap;

use super::Topic;
#[cfg(test)]
use crate::sns::engine::change::TopicChange;
use crate::sns::engine::change::{Recorder, TopicSettings};
use crate::sns::engine::fifo::{FifoMemory, Known};
use crate::sns::engine::subscription::Subscription;

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

    /// Applies a change.
    #[cfg(test)]
    pub(crate) fn apply(&mut self, change: TopicChange) {
        match change {
            TopicChange::Created(settings) => *self = Self::new(*settings),
            TopicChange::Set(settings) => self.settings = *settings,
            TopicChange::Deleted => panic!("a deleted topic has no state"),
            TopicChange::Subscribed(subscription) => {
                self.subscriptions.insert(subscription.arn.id.clone(), *subscription);
            }
            TopicChange::Unsubscribed { ids, deleted } => {
                self.subscriptions.retain(|id, _| !ids.contains(id));
                self.unsubscribed = deleted;
            }
            TopicChange::Published { known, forgotten } => {
                self.numbered = known.number;
                self.known.push(*known);
                self.known.retain(|known| known.number > forgotten);
            }
        }
    }
}

impl Topic {
    /// Restores a topic. Its changes are recorded.
    pub(crate) fn restore(state: TopicState) -> Self {
        let TopicState { settings, subscriptions, unsubscribed, numbered, known } = state;
        let fifo = settings.arn.is_fifo().then(|| FifoMemory::restore(numbered, known));
        let mut changes = Recorder::default();
        changes.start();
        Self { settings, subscriptions, unsubscribed, fifo, changes }
    }

    /// The state of the topic.
    #[cfg(test)]
    pub(crate) fn state(&self) -> TopicState {
        let fifo = self.fifo.as_ref();
        TopicState {
            settings: self.settings.clone(),
            subscriptions: self.subscriptions.clone(),
            unsubscribed: self.unsubscribed,
            numbered: fifo.map_or(0, FifoMemory::numbered),
            known: fifo.map(|fifo| fifo.known().cloned().collect()).unwrap_or_default(),
        }
    }
}
