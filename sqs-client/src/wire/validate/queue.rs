//! Rules for queues: names, URLs, attribute names and page sizes.

use super::error::{invalid_parameter, missing_parameter, require_queue_url, unknown_attribute, within};
use super::{Validate, characters, tags};
use crate::types::QueueAttributeName;
use crate::types::queue::{
    CreateQueueInput, DeleteQueueInput, GetQueueAttributesInput, GetQueueUrlInput,
    ListDeadLetterSourceQueuesInput, ListQueuesInput, PurgeQueueInput, SetQueueAttributesInput,
};
use crate::wire::limits::{LIST_RESULTS, MAX_QUEUE_NAME_CHARS};
use crate::wire::service_error::ServiceError;

/// Suffix of the names of FIFO queues.
pub const FIFO_SUFFIX: &str = ".fifo";

/// Validates a queue name: 1 to 80 characters of `A-Za-z0-9_-`, including the suffix of a FIFO queue.
///
/// # Errors
/// `InvalidParameterValue`.
pub fn name(name: &str) -> Result<(), ServiceError> {
    let suffix = if name.ends_with(FIFO_SUFFIX) { FIFO_SUFFIX.len() } else { 0 };
    let stem = name.get(..name.len() - suffix).unwrap_or_default();
    if characters::is_name(stem, MAX_QUEUE_NAME_CHARS - suffix) {
        return Ok(());
    }
    Err(invalid_parameter(format!(
        "Can only include alphanumeric characters, hyphens, or underscores. 1 to {MAX_QUEUE_NAME_CHARS} in length"
    )))
}

/// Validates the names of queue attributes.
///
/// # Errors
/// `InvalidAttributeName` for an unknown name.
pub fn attribute_names<'a>(
    names: impl IntoIterator<Item = &'a QueueAttributeName>,
) -> Result<(), ServiceError> {
    match names.into_iter().find(|name| matches!(name, QueueAttributeName::Unknown(_))) {
        Some(unknown) => Err(unknown_attribute(unknown.as_str())),
        None => Ok(()),
    }
}

fn page_size(max_results: Option<i32>) -> Result<(), ServiceError> {
    let reason = |low, high| format!("MaxResults must be an integer between {low} and {high}.");
    within("MaxResults", max_results, &LIST_RESULTS, reason)
}

fn require_name(queue_name: Option<&str>) -> Result<&str, ServiceError> {
    let missing_name =
        || invalid_parameter("Value for parameter QueueName is invalid. Reason: Must specify a queue name.");
    queue_name.filter(|name| !name.is_empty()).ok_or_else(missing_name)
}

impl Validate for CreateQueueInput {
    fn validate(&self) -> Result<(), ServiceError> {
        name(require_name(self.queue_name())?)?;
        attribute_names(self.attributes.iter().flat_map(|attributes| attributes.keys()))?;
        self.tags.as_ref().map_or(Ok(()), tags::tags)
    }
}

impl Validate for GetQueueUrlInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_name(self.queue_name()).map(drop)
    }
}

impl Validate for DeleteQueueInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())
    }
}

impl Validate for PurgeQueueInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())
    }
}

impl Validate for GetQueueAttributesInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        attribute_names(self.attribute_names())
    }
}

impl Validate for SetQueueAttributesInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        match &self.attributes {
            Some(attributes) if !attributes.is_empty() => attribute_names(attributes.keys()),
            _ => Err(missing_parameter("Attributes")),
        }
    }
}

impl Validate for ListQueuesInput {
    fn validate(&self) -> Result<(), ServiceError> {
        page_size(self.max_results)
    }
}

impl Validate for ListDeadLetterSourceQueuesInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        page_size(self.max_results)
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
