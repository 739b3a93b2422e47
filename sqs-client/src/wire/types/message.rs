//! Single messages: send, receive, delete, change visibility.

use std::time::Duration;

use super::{
    MessageAttributeValue, MessageSystemAttributeName, MessageSystemAttributeNameForSends,
    MessageSystemAttributeValue, QueueAttributeName,
};

shape! {
    /// A received message.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_Message.html>
    data Message {
        /// Message id that SQS assigned, up to 100 characters.
        message_id: opt str => "MessageId";
        /// Receipt handle of this receive. Required to delete the message or to change its visibility.
        receipt_handle: opt str => "ReceiptHandle";
        /// MD5 of the body, 32 lower-case hex digits.
        md5_of_body: opt str => "MD5OfBody";
        /// Message body.
        body: opt str => "Body";
        /// The requested system attributes. All values are text.
        attributes: opt {MessageSystemAttributeName: String} => "Attributes", with "crate::types::shape::sorted";
        /// MD5 of the returned message attributes, 32 lower-case hex digits.
        md5_of_message_attributes: opt str => "MD5OfMessageAttributes";
        /// The requested message attributes.
        message_attributes: opt {String: MessageAttributeValue} => "MessageAttributes", with "crate::types::shape::sorted";
    }
}

shape! {
    /// Input of `SendMessage`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html>
    input SendMessageInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Message body: 1 byte to 1 MiB of characters that XML 1.0 allows. Required.
        message_body: opt str => "MessageBody";
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
    /// Output of `SendMessage`.
    output SendMessageOutput {
        /// MD5 of the body, 32 lower-case hex digits.
        md5_of_message_body: opt str => "MD5OfMessageBody";
        /// MD5 of the message attributes, if there are any.
        md5_of_message_attributes: opt str => "MD5OfMessageAttributes";
        /// MD5 of the system attributes, if there are any.
        md5_of_message_system_attributes: opt str => "MD5OfMessageSystemAttributes";
        /// Message id.
        message_id: opt str => "MessageId";
        /// FIFO queues: a 20-digit number that increases within a message group.
        sequence_number: opt str => "SequenceNumber";
    }
}

shape! {
    /// Input of `ReceiveMessage`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html>
    input ReceiveMessageInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// System attributes to return, or `All`. Deprecated by AWS for `message_system_attribute_names`.
        attribute_names: opt [QueueAttributeName] => "AttributeNames";
        /// System attributes to return, or `All`.
        message_system_attribute_names: opt [MessageSystemAttributeName] => "MessageSystemAttributeNames";
        /// Message attributes to return: names, `All`, `.*` or `prefix.*`.
        message_attribute_names: opt [String] => "MessageAttributeNames";
        /// Maximum number of messages, 1 to 10. Default: 1.
        max_number_of_messages: opt i32 => "MaxNumberOfMessages";
        /// Visibility timeout of the messages, 0 to 43,200 seconds. Default: the queue's `VisibilityTimeout`.
        visibility_timeout: opt i32 => "VisibilityTimeout";
        /// How long to wait for a message, 0 to 20 seconds. 0 is a short poll. Default: the queue's `ReceiveMessageWaitTimeSeconds`.
        wait_time_seconds: opt i32 => "WaitTimeSeconds";
        /// FIFO queues: 1 to 128 characters. A repeated receive with the same id returns the same messages.
        receive_request_attempt_id: opt str => "ReceiveRequestAttemptId";
    }
}

shape! {
    /// Output of `ReceiveMessage`.
    output ReceiveMessageOutput {
        /// The messages. SQS may return fewer than requested, or none.
        messages: opt [Message] => "Messages";
    }
}

shape! {
    /// Input of `DeleteMessage`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html>
    input DeleteMessageInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Receipt handle from the latest receive. Required.
        receipt_handle: opt str => "ReceiptHandle";
    }
}

shape! {
    /// Output of `DeleteMessage`. It has no members.
    output DeleteMessageOutput {}
}

shape! {
    /// Input of `ChangeMessageVisibility`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html>
    input ChangeMessageVisibilityInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Receipt handle from the latest receive. Required.
        receipt_handle: opt str => "ReceiptHandle";
        /// New visibility timeout, counted from now: 0 to 43,200 seconds. Required.
        visibility_timeout: opt i32 => "VisibilityTimeout";
    }
}

shape! {
    /// Output of `ChangeMessageVisibility`. It has no members.
    output ChangeMessageVisibilityOutput {}
}

/// How long SQS may delay the response to a receive. Without `WaitTimeSeconds` the queue's setting applies, which the
/// client does not know; this returns the maximum.
pub(crate) fn wait_time(input: &ReceiveMessageInput) -> Duration {
    let seconds = input.wait_time_seconds.unwrap_or(*crate::wire::limits::WAIT_TIME_SECONDS.end());
    Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
}

/// Whether a URL belongs to a FIFO queue. Names of FIFO queues end in `.fifo`.
pub(crate) fn is_fifo(queue_url: &str) -> bool {
    queue_url.ends_with(".fifo")
}

/// Adds a missing deduplication id to a message for a FIFO queue. `None` if nothing is missing.
pub(crate) fn with_deduplication_ids(
    input: &SendMessageInput,
    id: fn() -> String,
) -> Option<SendMessageInput> {
    let lacks_id = input.queue_url().is_some_and(is_fifo) && input.message_deduplication_id.is_none();
    lacks_id.then(|| SendMessageInput { message_deduplication_id: Some(id()), ..input.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_time_is_the_requested_one_or_the_maximum() {
        let receive = |seconds| ReceiveMessageInput::builder().set_wait_time_seconds(seconds).build();
        let wait = |seconds| wait_time(&receive(seconds).expect("complete"));
        assert_eq!(wait(Some(7)), Duration::from_secs(7));
        assert_eq!(wait(Some(-7)), Duration::ZERO);
        assert_eq!(wait(None), Duration::from_secs(20));
    }

    #[test]
    fn fifo_message_without_deduplication_id_gets_one() {
        for (url, own, expected) in [
            ("http://h/0/q.fifo", None, Some("generated")),
            ("http://h/0/q.fifo", Some("own"), None),
            ("http://h/0/q", None, None),
        ] {
            let send = SendMessageInput::builder().queue_url(url);
            let send = send.set_message_deduplication_id(own.map(str::to_owned)).build().expect("complete");
            let with_id = with_deduplication_ids(&send, || "generated".to_owned());
            let id = with_id.and_then(|send| send.message_deduplication_id);
            assert_eq!(id.as_deref(), expected);
        }
    }
}
