//! Messages and their attributes, and the operations on single messages: send, receive, delete, change visibility.

use std::time::Duration;

use aws_smithy_types::Blob;

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

names! {
    /// A queue attribute.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>
    QueueAttributeName {
        /// All attributes. Valid in requests only.
        All => "All",
        /// Number of messages that can be received now. Approximate.
        ApproximateNumberOfMessages => "ApproximateNumberOfMessages",
        /// Number of delayed messages. Approximate.
        ApproximateNumberOfMessagesDelayed => "ApproximateNumberOfMessagesDelayed",
        /// Number of messages in flight: received, not deleted and not visible again. Approximate.
        ApproximateNumberOfMessagesNotVisible => "ApproximateNumberOfMessagesNotVisible",
        /// FIFO queues: use the SHA-256 of the body as deduplication id if the message has none. `true` or `false`.
        ContentBasedDeduplication => "ContentBasedDeduplication",
        /// Creation time in epoch seconds.
        CreatedTimestamp => "CreatedTimestamp",
        /// FIFO queues: `queue` or `messageGroup`.
        DeduplicationScope => "DeduplicationScope",
        /// Default delivery delay of messages, 0 to 900 seconds.
        DelaySeconds => "DelaySeconds",
        /// `true` for FIFO queues. It can be set at creation only.
        FifoQueue => "FifoQueue",
        /// FIFO queues: `perQueue` or `perMessageGroupId`.
        FifoThroughputLimit => "FifoThroughputLimit",
        /// How long SQS reuses a KMS data key, 60 to 86,400 seconds.
        KmsDataKeyReusePeriodSeconds => "KmsDataKeyReusePeriodSeconds",
        /// Id, ARN or alias of a KMS key.
        KmsMasterKeyId => "KmsMasterKeyId",
        /// Time of the last change in epoch seconds.
        LastModifiedTimestamp => "LastModifiedTimestamp",
        /// Maximum message size, 1,024 to 1,048,576 bytes.
        MaximumMessageSize => "MaximumMessageSize",
        /// How long SQS keeps messages, 60 to 1,209,600 seconds.
        MessageRetentionPeriod => "MessageRetentionPeriod",
        /// The access policy, a JSON document.
        Policy => "Policy",
        /// The ARN of the queue.
        QueueArn => "QueueArn",
        /// Default wait time of a receive, 0 to 20 seconds.
        ReceiveMessageWaitTimeSeconds => "ReceiveMessageWaitTimeSeconds",
        /// The queues that may use this queue as dead-letter queue, a JSON document.
        RedriveAllowPolicy => "RedriveAllowPolicy",
        /// Dead-letter queue and maximum receive count, a JSON document.
        RedrivePolicy => "RedrivePolicy",
        /// Server-side encryption with SQS-owned keys. `true` or `false`.
        SqsManagedSseEnabled => "SqsManagedSseEnabled",
        /// Default visibility timeout of messages, 0 to 43,200 seconds.
        VisibilityTimeout => "VisibilityTimeout",
    }
}

names! {
    /// A message system attribute. SQS returns them in the order of the variants.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html>
    MessageSystemAttributeName {
        /// All system attributes. Valid in requests only.
        All => "All",
        /// The IAM user or role id of the sender.
        SenderId => "SenderId",
        /// Time of the first receive in epoch milliseconds.
        ApproximateFirstReceiveTimestamp => "ApproximateFirstReceiveTimestamp",
        /// Number of receives.
        ApproximateReceiveCount => "ApproximateReceiveCount",
        /// Send time in epoch milliseconds.
        SentTimestamp => "SentTimestamp",
        /// FIFO queues: a 20-digit number that increases within a message group.
        SequenceNumber => "SequenceNumber",
        /// FIFO queues: the deduplication id.
        MessageDeduplicationId => "MessageDeduplicationId",
        /// The message group id.
        MessageGroupId => "MessageGroupId",
        /// The AWS X-Ray trace header.
        AwsTraceHeader => "AWSTraceHeader",
        /// ARN of the queue that moved the message to this dead-letter queue.
        DeadLetterQueueSourceArn => "DeadLetterQueueSourceArn",
    }
}

names! {
    /// A message system attribute that a sender may set.
    MessageSystemAttributeNameForSends {
        /// The AWS X-Ray trace header, a `String`.
        AwsTraceHeader => "AWSTraceHeader",
    }
}

shape! {
    /// The value of a message attribute.
    ///
    /// The data type is `String`, `Number` or `Binary`, with an optional custom label such as `Number.int`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_MessageAttributeValue.html>
    try_data MessageAttributeValue {
        /// Value of types `String` and `Number`. A `Number` has at most 38 digits of precision.
        string_value: opt str => "StringValue";
        /// Value of type `Binary`.
        binary_value: opt blob => "BinaryValue", with "crate::types::message::blob::option";
        /// Reserved by AWS. SQS rejects it.
        string_list_values: opt [String] => "StringListValues";
        /// Reserved by AWS. SQS rejects it.
        binary_list_values: opt [Blob] => "BinaryListValues", with "crate::types::message::blob::list";
        /// `String`, `Number` or `Binary`, with an optional `.label`. At most 256 characters.
        data_type: req str => "DataType";
    }
}

shape! {
    /// The value of a message system attribute.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_MessageSystemAttributeValue.html>
    try_data MessageSystemAttributeValue {
        /// Value of types `String` and `Number`.
        string_value: opt str => "StringValue";
        /// Value of type `Binary`.
        binary_value: opt blob => "BinaryValue", with "crate::types::message::blob::option";
        /// Reserved by AWS. SQS rejects it.
        string_list_values: opt [String] => "StringListValues";
        /// Reserved by AWS. SQS rejects it.
        binary_list_values: opt [Blob] => "BinaryListValues", with "crate::types::message::blob::list";
        /// `String`, `Number` or `Binary`.
        data_type: req str => "DataType";
    }
}

impl MessageAttributeValue {
    /// Creates a value of type `String`.
    pub fn string(value: impl Into<String>) -> Self {
        Self { string_value: Some(value.into()), data_type: "String".to_owned(), ..Self::default() }
    }

    /// Creates a value of type `Number`: a decimal number, with or without exponent, of at most 38 digits of precision.
    ///
    /// SQS stores the text unchanged. Rust's integers and finite floats are valid.
    #[expect(clippy::needless_pass_by_value, reason = "callers pass numbers by value")]
    pub fn number(value: impl ToString) -> Self {
        Self { string_value: Some(value.to_string()), data_type: "Number".to_owned(), ..Self::default() }
    }

    /// Creates a value of type `Binary`.
    pub fn binary(value: impl Into<Vec<u8>>) -> Self {
        Self { binary_value: Some(Blob::new(value)), data_type: "Binary".to_owned(), ..Self::default() }
    }
}

/// Binary values as base64 text. JSON, forms and XML all use it.
pub(crate) mod blob {
    use aws_smithy_types::Blob;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    fn encode(blob: &Blob) -> String {
        base64_simd::STANDARD.encode_to_string(blob.as_ref())
    }

    fn decode<E: Error>(text: &str) -> Result<Blob, E> {
        base64_simd::STANDARD
            .decode_to_vec(text)
            .map(Blob::new)
            .map_err(|_| E::custom("the binary value is not valid base64"))
    }

    /// `Option<Blob>`.
    pub(crate) mod option {
        use super::{Blob, Deserialize, Deserializer, Serializer, decode, encode};

        #[allow(clippy::ref_option, reason = "serde's `with` requires this signature")]
        pub(crate) fn serialize<S: Serializer>(
            blob: &Option<Blob>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match blob {
                Some(blob) => serializer.serialize_some(&encode(blob)),
                None => serializer.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<Blob>, D::Error> {
            Option::<String>::deserialize(deserializer)?.as_deref().map(decode).transpose()
        }
    }

    /// `Option<Vec<Blob>>`.
    pub(crate) mod list {
        use super::{Blob, Deserialize, Deserializer, Serializer, decode, encode};

        #[allow(clippy::ref_option, reason = "serde's `with` requires this signature")]
        pub(crate) fn serialize<S: Serializer>(
            blobs: &Option<Vec<Blob>>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match blobs {
                Some(blobs) => serializer.serialize_some(&blobs.iter().map(encode).collect::<Vec<_>>()),
                None => serializer.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<Vec<Blob>>, D::Error> {
            let texts = Option::<Vec<String>>::deserialize(deserializer)?;
            texts.map(|texts| texts.iter().map(|text| decode(text)).collect()).transpose()
        }
    }
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
