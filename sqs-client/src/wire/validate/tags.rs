//! Rules for queue tags: keys and values.

use std::collections::HashMap;
use std::hash::BuildHasher;

use super::Validate;
use super::error::{invalid_value, missing_parameter, require_queue_url};
use crate::types::tags::{ListQueueTagsInput, TagQueueInput, UntagQueueInput};
use crate::wire::limits::{MAX_TAG_KEY_CHARS, MAX_TAG_VALUE_CHARS};
use crate::wire::service_error::ServiceError;

/// Prefix that AWS reserves, in upper and lower case.
const RESERVED_PREFIX: &str = "aws:";

/// Validates tags: keys of 1 to 128 characters without the prefix `aws:`, values of 0 to 256 characters.
///
/// AWS recommends at most 50 tags per queue, but accepts more.
///
/// # Errors
/// `InvalidParameterValue`.
pub fn tags<S: BuildHasher>(tags: &HashMap<String, String, S>) -> Result<(), ServiceError> {
    tags.iter().try_for_each(|(key, value)| {
        let length = key.chars().count();
        if !(1..=MAX_TAG_KEY_CHARS).contains(&length) {
            let reason = format!("Tag keys must be between 1 and {MAX_TAG_KEY_CHARS} characters in length.");
            return Err(invalid_value("Tags", key, reason));
        }
        if key.get(..RESERVED_PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(RESERVED_PREFIX)) {
            return Err(invalid_value("Tags", key, "Tag keys must not start with aws:."));
        }
        if value.chars().count() > MAX_TAG_VALUE_CHARS {
            let reason =
                format!("Tag values must be between 0 and {MAX_TAG_VALUE_CHARS} characters in length.");
            return Err(invalid_value("Tags", value, reason));
        }
        Ok(())
    })
}

impl Validate for TagQueueInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        match &self.tags {
            Some(given) if !given.is_empty() => tags(given),
            _ => Err(missing_parameter("Tags")),
        }
    }
}

impl Validate for UntagQueueInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        if self.tag_keys().is_empty() { Err(missing_parameter("TagKeys")) } else { Ok(()) }
    }
}

impl Validate for ListQueueTagsInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())
    }
}

#[cfg(test)]
#[path = "tags_tests.rs"]
mod tests;
