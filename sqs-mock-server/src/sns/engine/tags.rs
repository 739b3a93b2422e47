//! The tags of a topic.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::refusal::invalid;
use crate::service::query_error::QueryError;

const MAX_TAGS: usize = 50;
/// The limits of AWS tags. They bound memory.
const MAX_KEY: usize = 128;
const MAX_VALUE: usize = 256;

/// The tags of a topic.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Tags(BTreeMap<String, String>);

impl Tags {
    /// Reads the tags of a request.
    ///
    /// # Errors
    /// `InvalidParameter` for a key that occurs twice, or a key or value that is too long; `TagLimitExceeded`.
    pub(crate) fn read(pairs: &[(&str, &str)]) -> Result<Self, QueryError> {
        let mut tags = BTreeMap::new();
        for (key, value) in pairs {
            if !(1..=MAX_KEY).contains(&key.chars().count()) || value.chars().count() > MAX_VALUE {
                return Err(invalid(format_args!(
                    "Tags Reason: a key must have 1 to {MAX_KEY} characters, and a value at most {MAX_VALUE}"
                )));
            }
            if tags.insert((*key).to_owned(), (*value).to_owned()).is_some() {
                return Err(invalid("Duplicated keys are not allowed."));
            }
        }
        check_count(tags.len())?;
        Ok(Self(tags))
    }

    /// All tags.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Whether all of `others` are among these tags.
    pub(super) fn include(&self, others: &Self) -> bool {
        others.0.iter().all(|(key, value)| self.0.get(key) == Some(value))
    }

    /// Adds tags, all or none. Values of existing keys are replaced.
    ///
    /// # Errors
    /// `TagLimitExceeded`.
    pub(super) fn add(&mut self, others: Self) -> Result<(), QueryError> {
        let new = others.0.keys().filter(|key| !self.0.contains_key(*key)).count();
        check_count(self.0.len() + new)?;
        self.0.extend(others.0);
        Ok(())
    }

    /// Removes tags. Unknown keys are ignored.
    pub(super) fn remove(&mut self, keys: &[&str]) {
        for key in keys {
            self.0.remove(*key);
        }
    }
}

fn check_count(count: usize) -> Result<(), QueryError> {
    let text = "Could not complete request: tag quota of per resource exceeded";
    if count > MAX_TAGS { Err(QueryError::new(400, "TagLimitExceeded", text)) } else { Ok(()) }
}
