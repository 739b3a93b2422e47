//! Rules for batches: number of entries, entry ids and total size. Violations reject the whole request. Errors of a single
//! entry are in the result of the entry.

use super::error::{invalid_parameter, is_name, missing_in_entry, require_queue_url, required};
use super::{Draft, QueueRules, Validate, message};
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
    if is_name(id, MAX_BATCH_ENTRY_ID_CHARS) {
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
mod tests {
    use super::*;
    use crate::types::MessageAttributeValue;
    use crate::types::builders::SendMessageBatchRequestEntryBuilder;

    fn entry(id: &str) -> SendMessageBatchRequestEntryBuilder {
        SendMessageBatchRequestEntry::builder().id(id).message_body("x")
    }

    fn entries(
        builders: impl IntoIterator<Item = SendMessageBatchRequestEntryBuilder>,
    ) -> Vec<SendMessageBatchRequestEntry> {
        builders.into_iter().map(|builder| builder.build().expect("an entry")).collect()
    }

    fn error_of(entries: &[SendMessageBatchRequestEntry], queue: Option<&QueueRules>) -> (ErrorCode, String) {
        let error = whole_request(entries, queue).expect_err("an error");
        (error.code, error.message.unwrap_or_default())
    }

    fn fifo() -> QueueRules {
        QueueRules { fifo: true, content_based_deduplication: false, maximum_message_size: 1_024 }
    }

    #[test]
    fn empty_batch_error_names_the_entry_shape() {
        let text = "There should be at least one SendMessageBatchRequestEntry in the request.";
        assert_eq!(error_of(&[], None), (ErrorCode::EmptyBatchRequest, text.to_owned()));
        let delete = DeleteMessageBatchInput::builder().queue_url("q").build().expect("an input");
        let text = "There should be at least one DeleteMessageBatchRequestEntry in the request.";
        assert_eq!(delete.validate().expect_err("empty").message.as_deref(), Some(text));
        let change = ChangeMessageVisibilityBatchInput::builder().queue_url("q").build().expect("an input");
        let text = "There should be at least one ChangeMessageVisibilityBatchRequestEntry in the request.";
        assert_eq!(change.validate().expect_err("empty").message.as_deref(), Some(text));
    }

    #[test]
    fn more_than_ten_entries_are_rejected() {
        let many = |count: usize| entries((0..count).map(|n| entry(&n.to_string())));
        assert_eq!(whole_request(&many(10), None), Ok(()));
        let text = "Maximum number of entries per request are 10. You have sent 11.";
        assert_eq!(error_of(&many(11), None), (ErrorCode::TooManyEntriesInBatchRequest, text.to_owned()));
    }

    #[test]
    fn entry_ids_have_1_to_80_name_characters() {
        for bad in ["", "a b", "a.b", "ü", &"x".repeat(81)] {
            assert_eq!(error_of(&entries([entry(bad)]), None).0, ErrorCode::InvalidBatchEntryId, "{bad}");
        }
        assert_eq!(whole_request(&entries([entry(&"x".repeat(80)), entry("A-z_0")]), None), Ok(()));
    }

    #[test]
    fn error_names_the_first_repeated_id() {
        let repeated = entries([entry("a"), entry("b"), entry("c"), entry("b"), entry("a")]);
        assert_eq!(
            error_of(&repeated, None),
            (ErrorCode::BatchEntryIdsNotDistinct, "Id b repeated.".to_owned())
        );
    }

    #[test]
    fn total_size_of_all_entries_is_limited() {
        let half = MAX_BATCH_BYTES / 2;
        let two = |more: usize| {
            entries([
                entry("a").message_body("x".repeat(half)),
                entry("b").message_body("x".repeat(half + more)),
            ])
        };
        assert_eq!(whole_request(&two(0), None), Ok(()));
        let text = "Batch requests cannot be longer than 1048576 bytes. You have sent 1048577 bytes.";
        assert_eq!(error_of(&two(1), None), (ErrorCode::BatchRequestTooLong, text.to_owned()));
    }

    #[test]
    fn fifo_entry_without_group_or_deduplication_id_rejects_the_batch() {
        let good = || entry("good").message_group_id("g").message_deduplication_id("d");
        assert_eq!(whole_request(&entries([good()]), Some(&fifo())), Ok(()));
        let no_group = entries([good(), entry("b").message_deduplication_id("d")]);
        let text = "The request must contain the parameter MessageGroupId.";
        assert_eq!(error_of(&no_group, Some(&fifo())), (ErrorCode::InvalidParameterValue, text.to_owned()));
        let no_id = entries([good(), entry("b").message_group_id("g")]);
        assert_eq!(error_of(&no_id, Some(&fifo())).0, ErrorCode::InvalidParameterValue);
        let by_content = QueueRules { content_based_deduplication: true, ..fifo() };
        assert_eq!(whole_request(&no_id, Some(&by_content)), Ok(()));
    }

    /// No recording shows which of two errors AWS reports.
    #[test]
    fn errors_are_reported_in_documented_order() {
        let huge = || entry("a").message_body("x".repeat(MAX_BATCH_BYTES));
        assert_eq!(error_of(&entries([huge(), huge()]), None).0, ErrorCode::BatchEntryIdsNotDistinct);
        assert_eq!(error_of(&entries([huge(), entry("!")]), None).0, ErrorCode::InvalidBatchEntryId);
        assert_eq!(
            error_of(&entries([entry("a"), entry("a")]), Some(&fifo())).0,
            ErrorCode::InvalidParameterValue
        );
        let eleven = entries((0..11).map(|_| entry("!")));
        assert_eq!(error_of(&eleven, None).0, ErrorCode::TooManyEntriesInBatchRequest);
    }

    #[test]
    fn list_value_of_one_entry_rejects_the_request() {
        let list = MessageAttributeValue::builder().data_type("String").string_value("x");
        let list = list.set_string_list_values(Some(Vec::new())).build().expect("a value");
        let second = entry("b").message_attributes("X", list).build().expect("complete");
        // The list is reported before the ids.
        let same_id = entry("b").build().expect("complete");
        let error = error_of(&[same_id, second], None);
        let text = "Message attribute list values in SendMessageBatch operation are not supported.";
        assert_eq!(error, (ErrorCode::UnsupportedOperation, text.to_owned()));
    }

    #[test]
    fn error_of_one_entry_does_not_reject_the_request() {
        let input = SendMessageBatchInput::builder()
            .queue_url("q")
            .set_entries(Some(entries([entry("bad").message_body(""), entry("good")])))
            .build()
            .expect("an input");
        assert_eq!(input.validate(), Ok(()));
        let is_error: Vec<_> = input.entries().iter().map(|entry| entry.validate().is_err()).collect();
        assert_eq!(is_error, [true, false]);
    }

    #[test]
    fn visibility_entries_require_handle_and_timeout() {
        let entry = |handle: &str, timeout| {
            let builder = ChangeMessageVisibilityBatchRequestEntry::builder().id("a").receipt_handle(handle);
            builder.set_visibility_timeout(timeout).build().expect("an entry").validate()
        };
        assert_eq!(entry("h", Some(0)), Ok(()));
        assert_eq!(entry("", Some(0)).expect_err("no handle").code, ErrorCode::MissingParameter);
        assert_eq!(entry("h", None).expect_err("no timeout").code, ErrorCode::MissingParameter);
        assert_eq!(entry("h", Some(-1)).expect_err("negative").code, ErrorCode::InvalidParameterValue);
    }
}
