//! Batches of up to ten sends, deletes or visibility changes, each entry with its own result.

use super::{MessageAttributeValue, MessageSystemAttributeNameForSends, MessageSystemAttributeValue};

shape! {
    /// One message of a `SendMessageBatch`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatchRequestEntry.html>
    try_data SendMessageBatchRequestEntry {
        /// Distinguishes the entry within its batch: 1 to 80 of `A-Za-z0-9_-`.
        id: req str => "Id";
        /// The body: 1 byte to 1 MiB of XML characters.
        message_body: req str => "MessageBody";
        /// Delay of this message, 0 to 900 seconds; the queue's by default. Not on FIFO queues.
        delay_seconds: opt i32 => "DelaySeconds";
        /// At most 10 attributes; names and values count towards the size.
        message_attributes: opt {String: MessageAttributeValue} => "MessageAttributes";
        /// System attributes; only `AWSTraceHeader` exists.
        message_system_attributes: opt {MessageSystemAttributeNameForSends: MessageSystemAttributeValue} => "MessageSystemAttributes";
        /// FIFO: 1 to 128 characters; a repeat within 5 minutes is accepted and not delivered again.
        message_deduplication_id: opt str => "MessageDeduplicationId";
        /// 1 to 128 characters. FIFO: order is kept within a group, required. Standard: the tenant of fair queues.
        message_group_id: opt str => "MessageGroupId";
    }
}

shape! {
    /// An accepted message of a `SendMessageBatch`.
    try_data SendMessageBatchResultEntry {
        /// The entry's id.
        id: req str => "Id";
        /// The id of the message.
        message_id: req str => "MessageId";
        /// MD5 of the body, 32 lower-case hex digits.
        md5_of_message_body: req str => "MD5OfMessageBody";
        /// MD5 of the message attributes, when there are any.
        md5_of_message_attributes: opt str => "MD5OfMessageAttributes";
        /// MD5 of the system attributes, when there are any.
        md5_of_message_system_attributes: opt str => "MD5OfMessageSystemAttributes";
        /// FIFO: a 20-digit number that increases within a group.
        sequence_number: opt str => "SequenceNumber";
    }
}

shape! {
    /// A refused entry of any batch.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_BatchResultErrorEntry.html>
    try_data BatchResultErrorEntry {
        /// The entry's id.
        id: req str => "Id";
        /// Whether the sender was at fault (`true`) or the service (`false`).
        sender_fault: req bool => "SenderFault";
        /// The error code.
        code: req str => "Code";
        /// What was wrong.
        message: opt str => "Message";
    }
}

shape! {
    /// One handle of a `DeleteMessageBatch`.
    try_data DeleteMessageBatchRequestEntry {
        /// Distinguishes the entry within its batch: 1 to 80 of `A-Za-z0-9_-`.
        id: req str => "Id";
        /// The handle of the latest receive.
        receipt_handle: req str => "ReceiptHandle";
    }
}

shape! {
    /// A deleted message of a `DeleteMessageBatch`.
    try_data DeleteMessageBatchResultEntry {
        /// The entry's id.
        id: req str => "Id";
    }
}

shape! {
    /// One handle of a `ChangeMessageVisibilityBatch`.
    try_data ChangeMessageVisibilityBatchRequestEntry {
        /// Distinguishes the entry within its batch: 1 to 80 of `A-Za-z0-9_-`.
        id: req str => "Id";
        /// The handle of the latest receive.
        receipt_handle: req str => "ReceiptHandle";
        /// New time to stay hidden, from now: 0 to 43,200 seconds.
        visibility_timeout: opt i32 => "VisibilityTimeout";
    }
}

shape! {
    /// A changed message of a `ChangeMessageVisibilityBatch`.
    try_data ChangeMessageVisibilityBatchResultEntry {
        /// The entry's id.
        id: req str => "Id";
    }
}

shape! {
    /// What `SendMessageBatch` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html>
    input SendMessageBatchInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// 1 to 10 messages of together at most 1 MiB. Required.
        entries: opt [SendMessageBatchRequestEntry] => "Entries";
    }
}

shape! {
    /// What `SendMessageBatch` answers. An entry is in one of the two lists.
    try_output SendMessageBatchOutput {
        /// The accepted messages.
        successful: req [SendMessageBatchResultEntry] => "Successful";
        /// The refused messages.
        failed: req [BatchResultErrorEntry] => "Failed";
    }
}

shape! {
    /// What `DeleteMessageBatch` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessageBatch.html>
    input DeleteMessageBatchInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// 1 to 10 handles. Required.
        entries: opt [DeleteMessageBatchRequestEntry] => "Entries";
    }
}

shape! {
    /// What `DeleteMessageBatch` answers. An entry is in one of the two lists.
    try_output DeleteMessageBatchOutput {
        /// The deleted messages.
        successful: req [DeleteMessageBatchResultEntry] => "Successful";
        /// The refused handles.
        failed: req [BatchResultErrorEntry] => "Failed";
    }
}

shape! {
    /// What `ChangeMessageVisibilityBatch` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibilityBatch.html>
    input ChangeMessageVisibilityBatchInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// 1 to 10 handles. Required.
        entries: opt [ChangeMessageVisibilityBatchRequestEntry] => "Entries";
    }
}

shape! {
    /// What `ChangeMessageVisibilityBatch` answers. An entry is in one of the two lists.
    try_output ChangeMessageVisibilityBatchOutput {
        /// The changed messages.
        successful: req [ChangeMessageVisibilityBatchResultEntry] => "Successful";
        /// The refused handles.
        failed: req [BatchResultErrorEntry] => "Failed";
    }
}

/// The batch with a deduplication id for each message, where a FIFO queue needs one and one is missing.
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

/// A message alone, as it would be in a batch: without an id, and without the URL of its queue.
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
    fn each_entry_without_an_id_gets_one() {
        let entry = |id: Option<&str>| {
            let entry = SendMessageBatchRequestEntry::builder().id("1").message_body("b");
            entry.set_message_deduplication_id(id.map(Into::into)).build().expect("complete")
        };
        let batch = SendMessageBatchInput::builder().queue_url("http://h/0/q.fifo");
        let batch = batch.entries(entry(None)).entries(entry(Some("own"))).build().expect("complete");
        let batch = with_deduplication_ids(&batch, || "generated".to_owned()).expect("one had no id");
        assert_eq!(with_deduplication_ids(&batch, || unreachable!("each has an id")), None);
        let ids: Vec<_> =
            batch.entries().iter().filter_map(|entry| entry.message_deduplication_id()).collect();
        assert_eq!(ids, ["generated", "own"]);
    }
}
