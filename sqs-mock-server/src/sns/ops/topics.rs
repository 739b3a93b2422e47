//! The topics of all accounts and regions.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard, RwLock};

use super::{Restored, Sns};
use crate::service::arn::TopicArn;
use crate::service::clock::Timestamp;
use crate::service::delivery::Whole;
use crate::service::query_error::QueryError;
use crate::sns::engine::topic::Topic;
use crate::sns::engine::{Recorder, TopicChange, TopicNumber, TopicReader};

/// A limit of this server that bounds memory, over all accounts; AWS allows as many in each.
const MAX_TOPICS: usize = 100_000;

/// A topic that requests share.
#[derive(Debug)]
pub(super) struct SharedTopic {
    topic: Mutex<Topic>,
    /// Beside the lock: a publish holds it for long, and a deletion does not wait for it.
    changes: Recorder,
}

impl SharedTopic {
    /// Locks the topic. Its subscriptions that were not confirmed in time are gone.
    fn lock(&self, now: Timestamp) -> MutexGuard<'_, Topic> {
        let mut topic = self.topic.lock();
        topic.forget_lapsed(now);
        topic
    }
}

/// The topics of all accounts and regions.
#[derive(Debug)]
pub(super) struct Topics {
    /// Locked for lookups and deletions only. Its holders lock no topic, and holders of a topic do not lock it.
    table: RwLock<Table>,
    /// Gets the changes of all topics.
    reader: Option<Arc<dyn TopicReader>>,
}

#[derive(Debug, Default)]
struct Table {
    topics: BTreeMap<TopicArn, Arc<SharedTopic>>,
    /// The number of the last topic.
    last: u64,
}

impl Sns {
    /// Restores the state of an earlier process, before the first request.
    pub(crate) fn restore(&self, Restored { topics, waiting }: Restored) {
        let table = &mut *self.topics.table.write();
        for (number, state) in topics {
            table.last = number.0.max(table.last);
            let changes = self.topics.recorder(number);
            let topic = Topic::restore(state, changes.clone());
            let arn = topic.arn().clone();
            table.topics.insert(arn, Arc::new(SharedTopic { topic: Mutex::new(topic), changes }));
        }
        self.deliveries.restore(waiting);
    }

    /// Locks a topic. Its subscriptions that were not confirmed in time are removed first, which is a change.
    pub(super) fn lock<'a>(&self, topic: &'a SharedTopic) -> MutexGuard<'a, Topic> {
        topic.lock(self.clock.now())
    }

    /// Locks a topic for an action that puts messages into queues. Until the guard is dropped, they are stored together with
    /// the changes of the topic, or not at all.
    pub(super) fn lock_to_deliver<'a>(
        &'a self,
        topic: &'a SharedTopic,
    ) -> (MutexGuard<'a, Topic>, Whole<'a>) {
        // In this order, a publish that waits for the topic does not delay the store.
        (self.lock(topic), self.queues.whole())
    }
}

impl Topics {
    pub(super) fn new(reader: Option<Arc<dyn TopicReader>>) -> Self {
        Self { table: RwLock::default(), reader }
    }

    /// Finds a topic.
    ///
    /// # Errors
    /// `NotFound`.
    pub(super) fn get(&self, arn: &TopicArn) -> Result<Arc<SharedTopic>, QueryError> {
        let known = self.table.read().topics.get(arn).map(Arc::clone);
        known.ok_or_else(|| QueryError::new(404, "NotFound", "Topic does not exist"))
    }

    /// Adds a topic, unless there is one, which this returns.
    ///
    /// # Errors
    /// `TopicLimitExceeded`.
    pub(super) fn add(&self, mut topic: Topic) -> Result<Option<Arc<SharedTopic>>, QueryError> {
        let Table { topics, last } = &mut *self.table.write();
        if let Some(known) = topics.get(topic.arn()) {
            return Ok(Some(Arc::clone(known)));
        }
        if topics.len() >= MAX_TOPICS {
            let text = format!("This server has at most {MAX_TOPICS} topics.");
            return Err(QueryError::new(403, "TopicLimitExceeded", text));
        }
        *last += 1;
        let changes = self.recorder(TopicNumber(*last));
        topic.record_changes(changes.clone());
        let arn = topic.arn().clone();
        topics.insert(arn, Arc::new(SharedTopic { topic: Mutex::new(topic), changes }));
        Ok(None)
    }

    fn recorder(&self, topic: TopicNumber) -> Recorder {
        Recorder(self.reader.clone().map(|reader| (topic, reader)))
    }

    /// Removes a topic with its subscriptions, if it exists.
    pub(super) fn remove(&self, arn: &TopicArn) {
        let mut table = self.table.write();
        if let Some(topic) = table.topics.remove(arn) {
            // Under the lock: the reader learns of the next topic of this name later.
            topic.changes.record(|| TopicChange::Deleted);
        }
    }

    /// All topics of a region, sorted by account and name.
    pub(super) fn in_region(&self, region: &str) -> Vec<Arc<SharedTopic>> {
        let table = self.table.read();
        let own = table.topics.range(TopicArn::new(region, "", "")..);
        let own = own.take_while(|(arn, _)| *arn.region == *region);
        own.map(|(_, topic)| Arc::clone(topic)).collect()
    }

    /// The ARNs of an account in a region, sorted by name.
    pub(super) fn of_account(&self, region: &str, account: &str) -> Vec<TopicArn> {
        let table = self.table.read();
        let own = table.topics.range(TopicArn::new(region, account, "")..).map(|(arn, _)| arn);
        own.take_while(|arn| *arn.region == *region && *arn.account == *account).cloned().collect()
    }

    /// All ARNs, sorted by region, account and name.
    pub(super) fn all(&self) -> Vec<TopicArn> {
        self.table.read().topics.keys().cloned().collect()
    }

    /// Removes all topics.
    pub(super) fn clear(&self) {
        let mut table = self.table.write();
        for topic in std::mem::take(&mut table.topics).values() {
            topic.changes.record(|| TopicChange::Deleted);
        }
    }
}
