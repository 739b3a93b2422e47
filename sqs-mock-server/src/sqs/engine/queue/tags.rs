//! Queue tags.

use std::collections::HashMap;

use sqs_client::wire::service_error::ServiceError;

use super::Queue;
use crate::sqs::engine::Tags;
use crate::sqs::engine::change::QueueChange;

impl Queue {
    pub(crate) fn tags(&self) -> &Tags {
        &self.tags
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
