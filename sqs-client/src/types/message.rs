//! Messages: send, receive, delete, change visibility.

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
        /// The id that the service gave to the message; up to 100 characters.
        message_id: opt str => "MessageId";
        /// The handle of this receive, for deleting the message or changing its visibility.
        receipt_handle: opt str => "ReceiptHandle";
        /// MD5 of the body, 32 lower-case hex digits.
        md5_of_body: opt str => "MD5OfBody";
        /// The body.
        body: opt str => "Body";
        /// The system attributes that were asked for. All values are text.
        attributes: opt {MessageSystemAttributeName: String} => "Attributes";
        /// MD5 of the returned message attributes, 32 lower-case hex digits.
        md5_of_message_attributes: opt str => "MD5OfMessageAttributes";
        /// The message attributes that were asked for.
        message_attributes: opt {String: MessageAttributeValue} => "MessageAttributes";
    }
}

shape! {
    /// What `SendMessage` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html>
    input SendMessageInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// The body: 1 byte to 1 MiB of XML characters. Required.
        message_body: opt str => "MessageBody";
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
    /// What `SendMessage` answers.
    output SendMessageOutput {
        /// MD5 of the body, 32 lower-case hex digits.
        md5_of_message_body: opt str => "MD5OfMessageBody";
        /// MD5 of the message attributes, when there are any.
        md5_of_message_attributes: opt str => "MD5OfMessageAttributes";
        /// MD5 of the system attributes, when there are any.
        md5_of_message_system_attributes: opt str => "MD5OfMessageSystemAttributes";
        /// The id of the message.
        message_id: opt str => "MessageId";
        /// FIFO: a 20-digit number that increases within a group.
        sequence_number: opt str => "SequenceNumber";
    }
}

shape! {
    /// What `ReceiveMessage` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html>
    input ReceiveMessageInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// System attributes to return, or `All`. Deprecated by AWS for `message_system_attribute_names`.
        attribute_names: opt [QueueAttributeName] => "AttributeNames";
        /// System attributes to return, or `All`.
        message_system_attribute_names: opt [MessageSystemAttributeName] => "MessageSystemAttributeNames";
        /// Message attributes to return: names, `All`, `.*`, or `prefix.*`.
        message_attribute_names: opt [String] => "MessageAttributeNames";
        /// How many messages at most, 1 to 10; 1 by default.
        max_number_of_messages: opt i32 => "MaxNumberOfMessages";
        /// How long the messages stay hidden, 0 to 43,200 seconds; the queue's by default.
        visibility_timeout: opt i32 => "VisibilityTimeout";
        /// How long to wait for a message, 0 to 20 seconds; the queue's by default. 0 is a short poll.
        wait_time_seconds: opt i32 => "WaitTimeSeconds";
        /// FIFO: 1 to 128 characters; repeating a receive with the same id gives the same messages.
        receive_request_attempt_id: opt str => "ReceiveRequestAttemptId";
    }
}

shape! {
    /// What `ReceiveMessage` answers.
    output ReceiveMessageOutput {
        /// The messages; fewer than asked for, or none, is normal.
        messages: opt [Message] => "Messages";
    }
}

shape! {
    /// What `DeleteMessage` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html>
    input DeleteMessageInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// The handle of the latest receive. Required.
        receipt_handle: opt str => "ReceiptHandle";
    }
}

shape! {
    /// What `DeleteMessage` answers: nothing.
    output DeleteMessageOutput {}
}

shape! {
    /// What `ChangeMessageVisibility` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html>
    input ChangeMessageVisibilityInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// The handle of the latest receive. Required.
        receipt_handle: opt str => "ReceiptHandle";
        /// New time to stay hidden, from now: 0 to 43,200 seconds. Required.
        visibility_timeout: opt i32 => "VisibilityTimeout";
    }
}

shape! {
    /// What `ChangeMessageVisibility` answers: nothing.
    output ChangeMessageVisibilityOutput {}
}

/// How long the service may hold the answer to a receive back: its wait, or the longest one when the queue's own
/// setting applies.
pub(crate) fn wait_time(input: &ReceiveMessageInput) -> Duration {
    let seconds = input.wait_time_seconds.unwrap_or(*crate::limits::WAIT_TIME_SECONDS.end());
    Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
}

/// Whether the URL is that of a FIFO queue, which is in the queue's name.
pub(crate) fn is_fifo(queue_url: &str) -> bool {
    queue_url.ends_with(".fifo")
}

/// The message with a deduplication id, where a FIFO queue needs one and there is none.
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
    fn a_receive_waits_as_long_as_it_says_or_as_the_queue_may() {
        let receive = |seconds| ReceiveMessageInput::builder().set_wait_time_seconds(seconds).build();
        let wait = |seconds| wait_time(&receive(seconds).expect("complete"));
        assert_eq!(wait(Some(7)), Duration::from_secs(7));
        assert_eq!(wait(Some(-7)), Duration::ZERO);
        assert_eq!(wait(None), Duration::from_secs(20));
    }

    #[test]
    fn an_id_is_given_on_fifo_queues_where_there_is_none() {
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
