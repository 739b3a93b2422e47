//! Rules for batches: number of entries, entry ids and total size. Violations reject the whole request. Errors of a single
//! entry are in the result of the entry.

use super::error::{invalid_parameter, missing_in_entry, require_queue_url, required};
use super::{Draft, QueueRules, Validate, characters, message};
use crate::types::batch::{
    ChangeMessageVisibilityBatchInput, DeleteMessageBatchInput, SendMessageBatchInput,
};
use crate::types::{
    ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry, SendMessageBatchRequestEntry,
};
use crate::wire::limits::{MAX_BATCH_BYTES, MAX_BATCH_ENTRIES, MAX_BATCH_ENTRY_ID_CHARS};
use crate::wire::service_error::{ErrorCode, ServiceError};

/// A batch entry. Its [`Validate`] returns the error for the result of the entry, without the number of the entry.
pub trait BatchEntry: Validate {
    /// The name of the shape.
    const SHAPE: &'static str;

    /// The id within the batch.
    fn id(&self) -> &str;

    /// Validates the entry with this number in its request, from 1. Missing parameters are named in full, as SQS names them.
    ///
    /// # Errors
    /// Those of [`Validate::validate`].
    fn validate_numbered(&self, number: usize) -> Result<(), ServiceError> {
        self.validate().map_err(|error| missing_in_entry(error, Self::SHAPE, number))
    }

    /// The bytes that count toward the total size of the request.
    fn size(&self) -> usize {
        0
    }

    /// Checks for list values. They reject the whole request.
    ///
    /// # Errors
    /// `UnsupportedOperation`.
    fn check_lists(&self) -> Result<(), ServiceError> {
        Ok(())
    }

    /// Checks for the ids that the queue requires. A missing id rejects the whole request.
    ///
    /// # Errors
    /// `InvalidParameterValue`.
    fn check_required_ids(&self, queue: &QueueRules) -> Result<(), ServiceError> {
        let _ = queue;
        Ok(())
    }
}

/// Validates a batch request as a whole.
///
/// Checks in the order of SQS: the number of entries; list values; then for each entry its id, the ids that `queue` requires, and
/// whether its id is unique; then the total size.
///
/// # Errors
/// `EmptyBatchRequest`, `TooManyEntriesInBatchRequest`, `UnsupportedOperation`, `InvalidBatchEntryId`, `InvalidParameterValue`,
/// `BatchEntryIdsNotDistinct` or `BatchRequestTooLong`.
pub fn whole_request<E: BatchEntry>(entries: &[E], queue: Option<&QueueRules>) -> Result<(), ServiceError> {
    count::<E>(entries.len())?;
    entries.iter().try_for_each(BatchEntry::check_lists)?;
    for (position, entry) in entries.iter().enumerate() {
        id(entry.id())?;
        if let Some(queue) = queue {
            entry.check_required_ids(queue)?;
        }
        // With at most ten entries, comparing all pairs is cheaper than a set.
        if entries.iter().take(position).any(|other| other.id() == entry.id()) {
            let message = format!("Id {} repeated.", entry.id());
            return Err(ServiceError::new(ErrorCode::BatchEntryIdsNotDistinct, message));
        }
    }
    total_size(entries.iter().map(BatchEntry::size).sum())
}

fn count<E: BatchEntry>(count: usize) -> Result<(), ServiceError> {
    if count == 0 {
        let message = format!("There should be at least one {} in the request.", E::SHAPE);
        return Err(ServiceError::new(ErrorCode::EmptyBatchRequest, message));
    }
    if count > MAX_BATCH_ENTRIES {
        let message =
            format!("Maximum number of entries per request are {MAX_BATCH_ENTRIES}. You have sent {count}.");
        return Err(ServiceError::new(ErrorCode::TooManyEntriesInBatchRequest, message));
    }
    Ok(())
}

fn id(id: &str) -> Result<(), ServiceError> {
    if characters::is_name(id, MAX_BATCH_ENTRY_ID_CHARS) {
        return Ok(());
    }
    let message = format!(
        "A batch entry id can only contain alphanumeric characters, hyphens and underscores. \
         It can be at most {MAX_BATCH_ENTRY_ID_CHARS} letters long."
    );
    Err(ServiceError::new(ErrorCode::InvalidBatchEntryId, message))
}

fn total_size(bytes: usize) -> Result<(), ServiceError> {
    if bytes <= MAX_BATCH_BYTES {
        return Ok(());
    }
    let message =
        format!("Batch requests cannot be longer than {MAX_BATCH_BYTES} bytes. You have sent {bytes} bytes.");
    Err(ServiceError::new(ErrorCode::BatchRequestTooLong, message))
}

impl BatchEntry for SendMessageBatchRequestEntry {
    const SHAPE: &'static str = "SendMessageBatchRequestEntry";

    fn id(&self) -> &str {
        &self.id
    }

    fn size(&self) -> usize {
        Draft::from(self).size()
    }

    fn check_lists(&self) -> Result<(), ServiceError> {
        Draft::from(self).check_lists()
    }

    fn check_required_ids(&self, queue: &QueueRules) -> Result<(), ServiceError> {
        if !queue.fifo {
            return Ok(());
        }
        // The code differs from that of a single send without a group, MissingParameter.
        Draft::from(self)
            .check_fifo_ids(queue)
            .map_err(|error| invalid_parameter(error.message.unwrap_or_default()))
    }
}

impl Validate for SendMessageBatchRequestEntry {
    fn validate(&self) -> Result<(), ServiceError> {
        Draft::from(self).validate()
    }
}

impl BatchEntry for DeleteMessageBatchRequestEntry {
    const SHAPE: &'static str = "DeleteMessageBatchRequestEntry";

    fn id(&self) -> &str {
        &self.id
    }
}

impl Validate for DeleteMessageBatchRequestEntry {
    fn validate(&self) -> Result<(), ServiceError> {
        required("ReceiptHandle", Some(self.receipt_handle())).map(drop)
    }
}

impl BatchEntry for ChangeMessageVisibilityBatchRequestEntry {
    const SHAPE: &'static str = "ChangeMessageVisibilityBatchRequestEntry";

    fn id(&self) -> &str {
        &self.id
    }
}

impl Validate for ChangeMessageVisibilityBatchRequestEntry {
    fn validate(&self) -> Result<(), ServiceError> {
        required("ReceiptHandle", Some(self.receipt_handle()))?;
        message::new_visibility(self.visibility_timeout)
    }
}

macro_rules! validate_batch {
    ($($input:ty),*) => {
        $(
            impl Validate for $input {
                fn validate(&self) -> Result<(), ServiceError> {
                    require_queue_url(self.queue_url())?;
                    whole_request(self.entries(), None)
                }
            }
        )*
    };
}
validate_batch!(SendMessageBatchInput, DeleteMessageBatchInput, ChangeMessageVisibilityBatchInput);

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
