//! Tags.

use std::collections::{BTreeMap, HashMap};

use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::Queue;
use crate::sqs::engine::change::QueueChange;

/// Tags that one queue can have here, so that nobody fills the memory with them.
const MAX_TAGS: usize = 1_000;

/// The tags of a queue.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tags(BTreeMap<String, String>);

impl Tags {
    /// The tags of a new queue.
    ///
    /// # Errors
    /// As [`Queue::tag`].
    pub(crate) fn new(tags: HashMap<String, String>) -> Result<Self, ServiceError> {
        let mut new = Self::default();
        new.add(tags)?;
        Ok(new)
    }

    /// AWS recommends at most 50 and takes more; where it stops is not known.
    fn add(&mut self, tags: HashMap<String, String>) -> Result<(), ServiceError> {
        let count = self.0.len() + tags.keys().filter(|key| !self.0.contains_key(*key)).count();
        if count > MAX_TAGS {
            let text = format!("Too many tags added for queue. Maximum allowed is {MAX_TAGS}.");
            return Err(ServiceError::new(ErrorCode::InvalidParameterValue, text));
        }
        self.0.extend(tags);
        Ok(())
    }
}

impl Queue {
    /// The tags.
    pub(crate) fn tags(&self) -> &BTreeMap<String, String> {
        &self.tags.0
    }

    /// The first of these tags, by key, that the queue has not, or with another value.
    pub(crate) fn first_tag_other_than(&self, tags: &Tags) -> Option<String> {
        let differs = |(key, value): &(&String, &String)| self.tags.0.get(*key) != Some(*value);
        tags.0.iter().find(differs).map(|(key, _)| key.clone())
    }

    /// Adds tags, all or none; values of those that exist are replaced.
    ///
    /// # Errors
    /// `InvalidParameterValue` for more than 1,000 on one queue.
    pub(crate) fn tag(&mut self, tags: HashMap<String, String>) -> Result<(), ServiceError> {
        self.tags.add(tags)?;
        self.record(|queue| QueueChange::TagsSet(queue.tags.clone()));
        Ok(())
    }

    /// Removes tags; it does not matter whether they exist.
    pub(crate) fn untag<'a>(&mut self, keys: impl IntoIterator<Item = &'a str>) {
        for key in keys {
            self.tags.0.remove(key);
        }
        self.record(|queue| QueueChange::TagsSet(queue.tags.clone()));
    }
}
