//! The tags of a queue.

use std::collections::{BTreeMap, HashMap};

use sqs_client::wire::service_error::{ErrorCode, ServiceError};

/// A limit of this server that bounds memory. AWS recommends at most 50 tags and accepts more; its limit is unknown.
const MAX_TAGS: usize = 1_000;

/// The tags of a queue.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tags(BTreeMap<String, String>);

impl Tags {
    /// The tags of a new queue.
    ///
    /// # Errors
    /// See [`add`](Self::add).
    pub(crate) fn new(tags: HashMap<String, String>) -> Result<Self, ServiceError> {
        let mut new = Self::default();
        new.add(tags)?;
        Ok(new)
    }

    /// Tags, sorted by key.
    pub(crate) fn all(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// Adds tags, all or none. Values of existing keys are replaced.
    ///
    /// # Errors
    /// `InvalidParameterValue` for more than 1,000 tags on a queue.
    pub(super) fn add(&mut self, tags: HashMap<String, String>) -> Result<(), ServiceError> {
        let count = self.0.len() + tags.keys().filter(|key| !self.0.contains_key(*key)).count();
        if count > MAX_TAGS {
            let text = format!("Too many tags added for queue. Maximum allowed is {MAX_TAGS}.");
            return Err(ServiceError::new(ErrorCode::InvalidParameterValue, text));
        }
        self.0.extend(tags);
        Ok(())
    }

    /// Removes tags. Unknown keys are ignored.
    pub(super) fn remove<'a>(&mut self, keys: impl IntoIterator<Item = &'a str>) {
        for key in keys {
            self.0.remove(key);
        }
    }

    /// The first of `tags`, by key, that is absent or has another value.
    pub(crate) fn first_other<'t>(&self, tags: &'t Self) -> Option<&'t str> {
        let differs = |(key, value): &(&String, &String)| self.0.get(*key) != Some(*value);
        tags.0.iter().find(differs).map(|(key, _)| key.as_str())
    }
}
