//! A topic shared by its callers. Its changes go to the reader before it is unlocked, which preserves their order.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::changes::TopicReader;
use crate::service::delivery::{Queues, Whole};
use crate::sns::engine::topic::Topic;
use crate::sns::engine::{TopicChange, TopicNumber};

/// A topic behind its lock.
#[derive(Debug)]
pub(super) struct SharedTopic {
    number: TopicNumber,
    topic: Mutex<Topic>,
    reader: Option<Arc<dyn TopicReader>>,
}

/// A locked topic.
#[derive(Debug)]
pub(super) struct LockedTopic<'a> {
    shared: &'a SharedTopic,
    topic: MutexGuard<'a, Topic>,
    _whole: Whole<'a>,
}

impl SharedTopic {
    /// A new topic.
    pub(super) fn created(
        number: TopicNumber,
        mut topic: Topic,
        reader: Option<Arc<dyn TopicReader>>,
    ) -> Self {
        if reader.is_some() {
            topic.record_changes();
        }
        let shared = Self { number, topic: Mutex::new(topic), reader };
        drop(shared.lock());
        shared
    }

    /// A topic of an earlier process.
    #[cfg(feature = "durable")]
    pub(super) fn restored(number: TopicNumber, topic: Topic, reader: Option<Arc<dyn TopicReader>>) -> Self {
        Self { number, topic: Mutex::new(topic), reader }
    }

    /// Locks the topic.
    pub(super) fn lock(&self) -> LockedTopic<'_> {
        LockedTopic { shared: self, topic: self.topic.lock(), _whole: None }
    }

    /// Locks the topic for an action that puts messages into queues. They are stored together with the changes of the
    /// topic, or not at all.
    pub(super) fn lock_to_deliver<'a>(&'a self, queues: &'a dyn Queues) -> LockedTopic<'a> {
        // In this order, a publish that waits for the topic does not delay the store.
        let topic = self.topic.lock();
        LockedTopic { shared: self, topic, _whole: queues.whole() }
    }

    /// Tells the reader that the topic was deleted.
    pub(super) fn note_deletion(&self) {
        self.pass_on(vec![TopicChange::Deleted]);
    }

    fn pass_on(&self, changes: Vec<TopicChange>) {
        if let Some(reader) = self.reader.as_deref().filter(|_| !changes.is_empty()) {
            reader.read(self.number, changes);
        }
    }
}

impl Deref for LockedTopic<'_> {
    type Target = Topic;

    fn deref(&self) -> &Topic {
        &self.topic
    }
}

impl DerefMut for LockedTopic<'_> {
    fn deref_mut(&mut self) -> &mut Topic {
        &mut self.topic
    }
}

impl Drop for LockedTopic<'_> {
    fn drop(&mut self) {
        let changes = self.topic.take_changes();
        self.shared.pass_on(changes);
    }
}
