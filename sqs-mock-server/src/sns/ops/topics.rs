//! The topics of all accounts and regions.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::changes::TopicReader;
use super::shared::SharedTopic;
use crate::service::arn::TopicArn;
use crate::service::query_error::QueryError;
use crate::sns::engine::TopicNumber;
#[cfg(feature = "durable")]
use crate::sns::engine::TopicState;
use crate::sns::engine::refusal::no_topic;
use crate::sns::engine::topic::Topic;

/// A limit of this server that bounds memory, over all accounts; AWS allows as many in each.
const MAX_TOPICS: usize = 100_000;

/// The topics of all accounts and regions.
#[derive(Debug)]
pub(super) struct Topics {
    /// Locked for lookups only; while it is locked, no topic may be locked by others.
    table: RwLock<Table>,
    reader: Option<Arc<dyn TopicReader>>,
}

#[derive(Debug, Default)]
struct Table {
    topics: BTreeMap<TopicArn, Arc<SharedTopic>>,
    /// The number of the last topic.
    last: u64,
}

impl Topics {
    /// No topics. Their changes will go to `reader`.
    pub(super) fn new(reader: Option<Arc<dyn TopicReader>>) -> Self {
        Self { table: RwLock::default(), reader }
    }

    /// Finds a topic.
    ///
    /// # Errors
    /// `NotFound`.
    pub(super) fn get(&self, arn: &TopicArn) -> Result<Arc<SharedTopic>, QueryError> {
        self.table.read().topics.get(arn).map(Arc::clone).ok_or_else(no_topic)
    }

    /// Adds a topic, unless there is one, which this returns.
    ///
    /// # Errors
    /// `TopicLimitExceeded`.
    pub(super) fn add(&self, topic: Topic) -> Result<Option<Arc<SharedTopic>>, QueryError> {
        let Table { topics, last } = &mut *self.table.write();
        if let Some(known) = topics.get(topic.arn()) {
            return Ok(Some(Arc::clone(known)));
        }
        if topics.len() >= MAX_TOPICS {
            let text = format!("This server has at most {MAX_TOPICS} topics.");
            return Err(QueryError::new(403, "TopicLimitExceeded", text));
        }
        *last += 1;
        let arn = topic.arn().clone();
        topics.insert(arn, Arc::new(SharedTopic::created(TopicNumber(*last), topic, self.reader.clone())));
        Ok(None)
    }

    /// Adds a topic of an earlier process.
    #[cfg(feature = "durable")]
    pub(super) fn restore(&self, number: TopicNumber, state: TopicState) {
        let Table { topics, last } = &mut *self.table.write();
        *last = number.0.max(*last);
        let arn = state.settings.arn.clone();
        let topic = SharedTopic::restored(number, Topic::restore(state), self.reader.clone());
        topics.insert(arn, Arc::new(topic));
    }

    /// Removes a topic with its subscriptions, if it exists.
    pub(super) fn remove(&self, arn: &TopicArn) {
        let mut table = self.table.write();
        if let Some(topic) = table.topics.remove(arn) {
            // Under the lock: the reader learns of the next topic of this name later.
            topic.note_deletion();
        }
    }

    /// All topics of a region, sorted by account and name.
    pub(super) fn in_region(&self, region: &str) -> Vec<Arc<SharedTopic>> {
        self.range(&TopicArn::new(region, "", ""), |arn| *arn.region == *region, |topic| Arc::clone(topic.1))
    }

    /// The ARNs of an account, sorted by name.
    pub(super) fn of_account(&self, region: &str, account: &str) -> Vec<TopicArn> {
        let is_own = |arn: &TopicArn| *arn.region == *region && *arn.account == *account;
        self.range(&TopicArn::new(region, account, ""), is_own, |(arn, _)| arn.clone())
    }

    /// All ARNs, sorted.
    pub(super) fn all(&self) -> Vec<TopicArn> {
        self.table.read().topics.keys().cloned().collect()
    }

    fn range<T>(
        &self,
        first: &TopicArn,
        belongs: impl Fn(&TopicArn) -> bool,
        of: impl Fn((&TopicArn, &Arc<SharedTopic>)) -> T,
    ) -> Vec<T> {
        self.table.read().topics.range(first..).take_while(|(arn, _)| belongs(arn)).map(of).collect()
    }

    /// Removes all topics.
    pub(super) fn clear(&self) {
        let mut table = self.table.write();
        let removed = std::mem::take(&mut table.topics);
        for topic in removed.values() {
            topic.note_deletion();
        }
        drop(table);
    }
}
