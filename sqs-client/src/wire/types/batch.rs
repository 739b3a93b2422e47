//! Batch operations: up to ten sends, deletes or visibility changes. Each entry has its own result.

use super::{MessageAttributeValue, MessageSystemAttributeNameForSends, MessageSystemAttributeValue};

shape! {
    /// One message in a `SendMessageBatch` request.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatchRequestEntry.html>
    try_data SendMessageBatchRequestEntry {
        /// Id of the entry, unique within the batch: 1 to 80 characters of `A-Za-z0-9_-`.
        id: req str => "Id";
        /// Message body: 1 byte to 1 MiB of characters that XML 1.0 allows.
        message_body: req str => "MessageBody";
        /// Delivery delay, 0 to 900 seconds. Default: the queue's `DelaySeconds`. Not allowed on FIFO queues.
        delay_seconds: opt i32 => "DelaySeconds";
        /// At most 10 attributes. Names, data types and values count toward the message size.
        message_attributes: opt {String: MessageAttributeValue} => "MessageAttributes";
        /// System attributes. The only one is `AWSTraceHeader`.
        message_system_attributes: opt {MessageSystemAttributeNameForSends: MessageSystemAttributeValue} => "MessageSystemAttributes";
        /// FIFO queues: 1 to 128 characters. SQS accepts a duplicate within 5 minutes but does not deliver it.
        message_deduplication_id: opt str => "MessageDeduplicationId";
        /// 1 to 128 characters. FIFO queues: required, orders messages within the group. Standard queues: the tenant for fair queues.
        message_group_id: opt str => "MessageGroupId";
    }
}

shape! {
    /// An accepted message in a `SendMessageBatch` response.
    try_data SendMessageBatchResultEntry {
        /// Id of the batch entry.
        id: req str => "Id";
        /// Message id.
        message_id: req str => "MessageId";
        /// MD5 of the body, 32 lower-case hex digits.
        md5_of_message_body: req str => "MD5OfMessageBody";
        /// MD5 of the message attributes, if there are any.
        md5_of_message_attributes: opt str => "MD5OfMessageAttributes";
        /// MD5 of the system attributes, if there are any.
        md5_of_message_system_attributes: opt str => "MD5OfMessageSystemAttributes";
        /// FIFO queues: a 20-digit number that increases within a message group.
        sequence_number: opt str => "SequenceNumber";
    }
}

shape! {
    /// A rejected entry in a batch response.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_BatchResultErrorEntry.html>
    try_data BatchResultErrorEntry {
        /// Id of the batch entry.
        id: req str => "Id";
        /// `true` if the request caused the error, `false` if the service did.
        sender_fault: req bool => "SenderFault";
        /// Error code.
        code: req str => "Code";
        /// Error message.
        message: opt str => "Message";
    }
}

shape! {
    /// One entry in a `DeleteMessageBatch` request.
    try_data DeleteMessageBatchRequestEntry {
        /// Id of the entry, unique within the batch: 1 to 80 characters of `A-Za-z0-9_-`.
        id: req str => "Id";
        /// Receipt handle from the latest receive.
        receipt_handle: req str => "ReceiptHandle";
    }
}

shape! {
    /// A deleted message in a `DeleteMessageBatch` response.
    try_data DeleteMessageBatchResultEntry {
        /// Id of the batch entry.
        id: req str => "Id";
    }
}

shape! {
    /// One entry in a `ChangeMessageVisibilityBatch` request.
    try_data ChangeMessageVisibilityBatchRequestEntry {
        /// Id of the entry, unique within the batch: 1 to 80 characters of `A-Za-z0-9_-`.
        id: req str => "Id";
        /// Receipt handle from the latest receive.
        receipt_handle: req str => "ReceiptHandle";
        /// New visibility timeout, counted from now: 0 to 43,200 seconds.
        visibility_timeout: opt i32 => "VisibilityTimeout";
    }
}

shape! {
    /// A changed message in a `ChangeMessageVisibilityBatch` response.
    try_data ChangeMessageVisibilityBatchResultEntry {
        /// Id of the batch entry.
        id: req str => "Id";
    }
}

shape! {
    /// Input of `SendMessageBatch`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html>
    input SendMessageBatchInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// 1 to 10 messages with a total size of at most 1 MiB. Required.
        entries: opt [SendMessageBatchRequestEntry] => "Entries";
    }
}

shape! {
    /// Output of `SendMessageBatch`. Each entry is in exactly one of the two lists.
    try_output SendMessageBatchOutput {
        /// The accepted messages.
        successful: req [SendMessageBatchResultEntry] => "Successful";
        /// The rejected messages.
        failed: req [BatchResultErrorEntry] => "Failed";
    }
}

shape! {
    /// Input of `DeleteMessageBatch`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessageBatch.html>
    input DeleteMessageBatchInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// 1 to 10 entries. Required.
        entries: opt [DeleteMessageBatchRequestEntry] => "Entries";
    }
}

shape! {
    /// Output of `DeleteMessageBatch`. Each entry is in exactly one of the two lists.
    try_output DeleteMessageBatchOutput {
        /// The deleted messages.
        successful: req [DeleteMessageBatchResultEntry] => "Successful";
        /// The rejected entries.
        failed: req [BatchResultErrorEntry] => "Failed";
    }
}

shape! {
    /// Input of `ChangeMessageVisibilityBatch`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibilityBatch.html>
    input ChangeMessageVisibilityBatchInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// 1 to 10 entries. Required.
        entries: opt [ChangeMessageVisibilityBatchRequestEntry] => "Entries";
    }
}

shape! {
    /// Output of `ChangeMessageVisibilityBatch`. Each entry is in exactly one of the two lists.
    try_output ChangeMessageVisibilityBatchOutput {
        /// The changed messages.
        successful: req [ChangeMessageVisibilityBatchResultEntry] => "Successful";
        /// The rejected entries.
        failed: req [BatchResultErrorEntry] => "Failed";
    }
}

/// Adds the missing deduplication ids of a batch for a FIFO queue. `None` if nothing is missing.
pub(crate) fn with_deduplication_ids(
    input: &SendMessageBatchInput,
    id: fn() -> String,
) -> Option<SendMessageBatchInput> {
    let lacks_id = |entry: &SendMessageBatchRequestEntry| entry.message_deduplication_id.is_none();
    if !input.queue_url().is_some_and(super::message::is_fifo) || !input.entries().iter().any(lacks_id) {
        return None;
    }
    let mut input = input.clone();
    for entry in input.entries.iter_mut().flatten() {
        entry.message_deduplication_id.get_or_insert_with(id);
    }
    Some(input)
}

/// Converts a single message to a batch entry. The entry id is empty; the queue URL is dropped.
impl From<super::message::SendMessageInput> for SendMessageBatchRequestEntry {
    fn from(input: super::message::SendMessageInput) -> Self {
        Self {
            id: String::new(),
            message_body: input.message_body.unwrap_or_default(),
            delay_seconds: input.delay_seconds,
            message_attributes: input.message_attributes,
            message_system_attributes: input.message_system_attributes,
            message_deduplication_id: input.message_deduplication_id,
            message_group_id: input.message_group_id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_entries_without_deduplication_id_get_one() {
        let entry = |id: Option<&str>| {
            let entry = SendMessageBatchRequestEntry::builder().id("1").message_body("b");
            entry.set_message_deduplication_id(id.map(Into::into)).build().expect("complete")
        };
        let batch = SendMessageBatchInput::builder().queue_url("http://h/0/q.fifo");
        let batch = batch.entries(entry(None)).entries(entry(Some("own"))).build().expect("complete");
        let batch = with_deduplication_ids(&batch, || "generated".to_owned()).expect("one entry lacks an id");
        assert_eq!(with_deduplication_ids(&batch, || unreachable!("every entry has an id")), None);
        let ids: Vec<_> =
            batch.entries().iter().filter_map(|entry| entry.message_deduplication_id()).collect();
        assert_eq!(ids, ["generated", "own"]);
    }
}
