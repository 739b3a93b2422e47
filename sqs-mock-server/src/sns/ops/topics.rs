//! The topics of all accounts and regions.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::service::arn::TopicArn;
use crate::service::query_error::QueryError;
use crate::sns::engine::refusal::no_topic;
use crate::sns::engine::topic::Topic;

/// A limit of this server that bounds memory, over all accounts; AWS allows as many in each.
const MAX_TOPICS: usize = 100_000;

/// A topic behind its lock.
pub(super) type SharedTopic = Arc<Mutex<Topic>>;

/// The topics of all accounts and regions. Locked for lookups only; while it is locked, no topic may be locked.
#[derive(Debug, Default)]
pub(super) struct Topics(RwLock<BTreeMap<TopicArn, SharedTopic>>);

impl Topics {
    /// Finds a topic.
    ///
    /// # Errors
    /// `NotFound`.
    pub(super) fn get(&self, arn: &TopicArn) -> Result<SharedTopic, QueryError> {
        self.0.read().get(arn).map(Arc::clone).ok_or_else(no_topic)
    }

    /// Adds a topic, or returns the one that exists.
    ///
    /// # Errors
    /// `TopicLimitExceeded`.
    pub(super) fn add(&self, topic: Topic) -> Result<Added, QueryError> {
        let mut topics = self.0.write();
        if let Some(known) = topics.get(topic.arn()) {
            return Ok(Added::Known(Arc::clone(known)));
        }
        if topics.len() >= MAX_TOPICS {
            let text = format!("This server has at most {MAX_TOPICS} topics.");
            return Err(QueryError::new(403, "TopicLimitExceeded", text));
        }
        topics.insert(topic.arn().clone(), Arc::new(Mutex::new(topic)));
        Ok(Added::New)
    }

    /// Removes a topic with its subscriptions, if it exists.
    pub(super) fn remove(&self, arn: &TopicArn) {
        self.0.write().remove(arn);
    }

    /// All topics of a region, sorted by account and name.
    pub(super) fn in_region(&self, region: &str) -> Vec<SharedTopic> {
        self.range(&TopicArn::new(region, "", ""), |arn| *arn.region == *region, |topic| Arc::clone(topic.1))
    }

    /// The ARNs of an account, sorted by name.
    pub(super) fn of_account(&self, region: &str, account: &str) -> Vec<TopicArn> {
        let is_own = |arn: &TopicArn| *arn.region == *region && *arn.account == *account;
        self.range(&TopicArn::new(region, account, ""), is_own, |(arn, _)| arn.clone())
    }

    fn range<T>(
        &self,
        first: &TopicArn,
        belongs: impl Fn(&TopicArn) -> bool,
        of: impl Fn((&TopicArn, &SharedTopic)) -> T,
    ) -> Vec<T> {
        self.0.read().range(first..).take_while(|(arn, _)| belongs(arn)).map(of).collect()
    }

    /// Removes all topics.
    pub(super) fn clear(&self) {
        let topics = std::mem::take(&mut *self.0.write());
        drop(topics);
    }
}

/// Whether a topic existed before.
#[derive(Debug)]
pub(super) enum Added {
    New,
    Known(SharedTopic),
}
