//! Rules about tags of queues: keys, values, and what AWS keeps for itself.

use std::collections::HashMap;
use std::hash::BuildHasher;

use super::Validate;
use super::refusal::{has_queue_url, invalid, missing};
use crate::limits::{MAX_TAG_KEY_CHARS, MAX_TAG_VALUE_CHARS};
use crate::service_error::ServiceError;
use crate::types::tags::{ListQueueTagsInput, TagQueueInput, UntagQueueInput};

/// What AWS keeps for itself, in any case.
const RESERVED: &str = "aws:";

/// Keys of 1 to 128 characters without the prefix `aws:`, values of 0 to 256. More than 50 on a queue are
/// against AWS's advice and no error.
///
/// # Errors
/// `InvalidParameterValue`.
pub fn tags<S: BuildHasher>(tags: &HashMap<String, String, S>) -> Result<(), ServiceError> {
    tags.iter().try_for_each(|(key, value)| {
        let length = key.chars().count();
        if !(1..=MAX_TAG_KEY_CHARS).contains(&length) {
            let reason = format!("Tag keys must be between 1 and {MAX_TAG_KEY_CHARS} characters in length.");
            return Err(invalid("Tags", key, reason));
        }
        if key.get(..RESERVED.len()).is_some_and(|start| start.eq_ignore_ascii_case(RESERVED)) {
            return Err(invalid("Tags", key, "Tag keys must not start with aws:."));
        }
        if value.chars().count() > MAX_TAG_VALUE_CHARS {
            let reason =
                format!("Tag values must be between 0 and {MAX_TAG_VALUE_CHARS} characters in length.");
            return Err(invalid("Tags", value, reason));
        }
        Ok(())
    })
}

impl Validate for TagQueueInput {
    fn validate(&self) -> Result<(), ServiceError> {
        has_queue_url(self.queue_url())?;
        match &self.tags {
            Some(given) if !given.is_empty() => tags(given),
            _ => Err(missing("Tags")),
        }
    }
}

impl Validate for UntagQueueInput {
    fn validate(&self) -> Result<(), ServiceError> {
        has_queue_url(self.queue_url())?;
        if self.tag_keys().is_empty() { Err(missing("TagKeys")) } else { Ok(()) }
    }
}

impl Validate for ListQueueTagsInput {
    fn validate(&self) -> Result<(), ServiceError> {
        has_queue_url(self.queue_url())
    }
}

#[cfg(test)]
#[path = "tags_tests.rs"]
mod tests;
