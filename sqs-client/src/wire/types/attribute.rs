//! Attribute names and typed attribute values.

use aws_smithy_types::Blob;

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
        binary_value: opt blob => "BinaryValue", with "crate::types::blob::option";
        /// Reserved by AWS. SQS rejects it.
        string_list_values: opt [String] => "StringListValues";
        /// Reserved by AWS. SQS rejects it.
        binary_list_values: opt [Blob] => "BinaryListValues", with "crate::types::blob::list";
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
        binary_value: opt blob => "BinaryValue", with "crate::types::blob::option";
        /// Reserved by AWS. SQS rejects it.
        string_list_values: opt [String] => "StringListValues";
        /// Reserved by AWS. SQS rejects it.
        binary_list_values: opt [Blob] => "BinaryListValues", with "crate::types::blob::list";
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
