//! Names of attributes and the typed values of message attributes.

use aws_smithy_types::Blob;

names! {
    /// An attribute of a queue.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>
    QueueAttributeName {
        /// Asks for every attribute; only in requests.
        All => "All",
        /// Messages that can be received now. Approximate.
        ApproximateNumberOfMessages => "ApproximateNumberOfMessages",
        /// Messages that are still delayed. Approximate.
        ApproximateNumberOfMessagesDelayed => "ApproximateNumberOfMessagesDelayed",
        /// Messages in flight: received and neither deleted nor visible again. Approximate.
        ApproximateNumberOfMessagesNotVisible => "ApproximateNumberOfMessagesNotVisible",
        /// FIFO: the deduplication id is the SHA-256 of the body where none is given. `true` or `false`.
        ContentBasedDeduplication => "ContentBasedDeduplication",
        /// When the queue was created, in epoch seconds.
        CreatedTimestamp => "CreatedTimestamp",
        /// FIFO: `queue` or `messageGroup`.
        DeduplicationScope => "DeduplicationScope",
        /// Delay of new messages, 0 to 900 seconds.
        DelaySeconds => "DelaySeconds",
        /// `true` on FIFO queues; set at creation only.
        FifoQueue => "FifoQueue",
        /// FIFO: `perQueue` or `perMessageGroupId`.
        FifoThroughputLimit => "FifoThroughputLimit",
        /// How long a data key is reused, 60 to 86,400 seconds.
        KmsDataKeyReusePeriodSeconds => "KmsDataKeyReusePeriodSeconds",
        /// Id, ARN or alias of a KMS key.
        KmsMasterKeyId => "KmsMasterKeyId",
        /// When the queue was last changed, in epoch seconds.
        LastModifiedTimestamp => "LastModifiedTimestamp",
        /// Largest message accepted, 1,024 to 1,048,576 bytes.
        MaximumMessageSize => "MaximumMessageSize",
        /// How long messages are kept, 60 to 1,209,600 seconds.
        MessageRetentionPeriod => "MessageRetentionPeriod",
        /// The access policy, a JSON document.
        Policy => "Policy",
        /// The ARN of the queue.
        QueueArn => "QueueArn",
        /// Default wait of a receive, 0 to 20 seconds.
        ReceiveMessageWaitTimeSeconds => "ReceiveMessageWaitTimeSeconds",
        /// Which queues may use this one as dead-letter queue, a JSON document.
        RedriveAllowPolicy => "RedriveAllowPolicy",
        /// Dead-letter queue and maximum receive count, a JSON document.
        RedrivePolicy => "RedrivePolicy",
        /// Encryption with keys that SQS owns. `true` or `false`.
        SqsManagedSseEnabled => "SqsManagedSseEnabled",
        /// How long a received message stays hidden, 0 to 43,200 seconds.
        VisibilityTimeout => "VisibilityTimeout",
    }
}

names! {
    /// A system attribute of a received message.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html>
    MessageSystemAttributeName {
        /// Asks for every system attribute; only in requests.
        All => "All",
        /// When the message was first received, in epoch milliseconds.
        ApproximateFirstReceiveTimestamp => "ApproximateFirstReceiveTimestamp",
        /// How often the message was received without being deleted.
        ApproximateReceiveCount => "ApproximateReceiveCount",
        /// The AWS X-Ray trace header.
        AwsTraceHeader => "AWSTraceHeader",
        /// ARN of the queue from which the message was moved as a dead letter.
        DeadLetterQueueSourceArn => "DeadLetterQueueSourceArn",
        /// FIFO: the deduplication id.
        MessageDeduplicationId => "MessageDeduplicationId",
        /// The message group.
        MessageGroupId => "MessageGroupId",
        /// Who sent the message.
        SenderId => "SenderId",
        /// When the message was sent, in epoch milliseconds.
        SentTimestamp => "SentTimestamp",
        /// FIFO: a 20-digit number that increases within a group.
        SequenceNumber => "SequenceNumber",
    }
}

names! {
    /// A system attribute that a sender may set.
    MessageSystemAttributeNameForSends {
        /// The AWS X-Ray trace header, a `String`.
        AwsTraceHeader => "AWSTraceHeader",
    }
}

shape! {
    /// The value of a message attribute.
    ///
    /// `DataType` is `String`, `Number` or `Binary`, each with an optional `.label`.
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_MessageAttributeValue.html>
    try_data MessageAttributeValue {
        /// Text, for the types `String` and `Number` (up to 38 digits of precision).
        string_value: opt str => "StringValue";
        /// Bytes, for the type `Binary`.
        binary_value: opt blob => "BinaryValue", with "crate::types::blob::option";
        /// Reserved by AWS; the service refuses it.
        string_list_values: opt [String] => "StringListValues";
        /// Reserved by AWS; the service refuses it.
        binary_list_values: opt [Blob] => "BinaryListValues", with "crate::types::blob::list";
        /// `String`, `Number` or `Binary`, with an optional `.label`; at most 256 characters.
        data_type: req str => "DataType";
    }
}

shape! {
    /// The value of a system attribute that a sender sets.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_MessageSystemAttributeValue.html>
    try_data MessageSystemAttributeValue {
        /// Text, for the types `String` and `Number`.
        string_value: opt str => "StringValue";
        /// Bytes, for the type `Binary`.
        binary_value: opt blob => "BinaryValue", with "crate::types::blob::option";
        /// Reserved by AWS; the service refuses it.
        string_list_values: opt [String] => "StringListValues";
        /// Reserved by AWS; the service refuses it.
        binary_list_values: opt [Blob] => "BinaryListValues", with "crate::types::blob::list";
        /// `String`, `Number` or `Binary`.
        data_type: req str => "DataType";
    }
}

impl MessageAttributeValue {
    /// A value of type `String`.
    pub fn string(value: impl Into<String>) -> Self {
        Self { string_value: Some(value.into()), data_type: "String".to_owned(), ..Self::default() }
    }

    /// A value of type `Number`: decimal or exponent text of at most 38 digits of precision.
    ///
    /// The text is sent and returned as it is. Any integer or float of Rust prints in this form.
    #[expect(clippy::needless_pass_by_value, reason = "numbers are given by value")]
    pub fn number(value: impl ToString) -> Self {
        Self { string_value: Some(value.to_string()), data_type: "Number".to_owned(), ..Self::default() }
    }

    /// A value of type `Binary`.
    pub fn binary(value: impl Into<Vec<u8>>) -> Self {
        Self { binary_value: Some(Blob::new(value)), data_type: "Binary".to_owned(), ..Self::default() }
    }
}
