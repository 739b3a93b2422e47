//! Queue tags.

use std::collections::{BTreeMap, HashMap};

use sqs_client::wire::service_error::ServiceError;

use super::Queue;
use crate::sqs::engine::Tags;
use crate::sqs::engine::change::QueueChange;

impl Queue {
    /// The tags, sorted by key.
    pub(crate) fn tags(&self) -> &BTreeMap<String, String> {
        self.tags.all()
    }

    /// The first of `tags`, by key, that is absent or has another value.
    pub(crate) fn first_tag_other_than<'t>(&self, tags: &'t Tags) -> Option<&'t str> {
        self.tags.first_other(tags)
    }

    /// See [`Tags::add`].
    ///
    /// # Errors
    /// See [`Tags::add`].
    pub(crate) fn tag(&mut self, tags: HashMap<String, String>) -> Result<(), ServiceError> {
        self.tags.add(tags)?;
        self.record(|queue| QueueChange::TagsSet(queue.tags.clone()));
        Ok(())
    }

    /// See [`Tags::remove`].
    pub(crate) fn untag<'a>(&mut self, keys: impl IntoIterator<Item = &'a str>) {
        self.tags.remove(keys);
        self.record(|queue| QueueChange::TagsSet(queue.tags.clone()));
    }
}
