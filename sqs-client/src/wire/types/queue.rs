//! Queues: create, get, list, configure, purge, delete.

use super::QueueAttributeName;

shape! {
    /// Input of `CreateQueue`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html>
    input CreateQueueInput {
        /// 1 to 80 characters of `A-Za-z0-9_-`. Names of FIFO queues end in `.fifo`. Required.
        queue_name: opt str => "QueueName";
        /// Queue attributes. The rest have their defaults.
        attributes: opt {QueueAttributeName: String} => "Attributes";
        /// Cost allocation tags.
        tags: opt {String: String} => "tags";
    }
}

shape! {
    /// Output of `CreateQueue`.
    output CreateQueueOutput {
        /// URL of the queue.
        queue_url: opt str => "QueueUrl";
    }
}

shape! {
    /// Input of `DeleteQueue`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteQueue.html>
    input DeleteQueueInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
    }
}

shape! {
    /// Output of `DeleteQueue`. It has no members.
    output DeleteQueueOutput {}
}

shape! {
    /// Input of `PurgeQueue`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_PurgeQueue.html>
    input PurgeQueueInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
    }
}

shape! {
    /// Output of `PurgeQueue`. It has no members.
    output PurgeQueueOutput {}
}

shape! {
    /// Input of `GetQueueUrl`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueUrl.html>
    input GetQueueUrlInput {
        /// Name of the queue. Required.
        queue_name: opt str => "QueueName";
        /// Account id of the owner, 12 digits. Default: the caller's account.
        queue_owner_aws_account_id: opt str => "QueueOwnerAWSAccountId";
    }
}

shape! {
    /// Output of `GetQueueUrl`.
    output GetQueueUrlOutput {
        /// URL of the queue.
        queue_url: opt str => "QueueUrl";
    }
}

shape! {
    /// Input of `GetQueueAttributes`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html>
    input GetQueueAttributesInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Attribute names, or `All`. Without names the output is empty.
        attribute_names: opt [QueueAttributeName] => "AttributeNames";
    }
}

shape! {
    /// Output of `GetQueueAttributes`.
    output GetQueueAttributesOutput {
        /// The attributes. All values are text.
        attributes: opt {QueueAttributeName: String} => "Attributes", with "crate::types::shape::sorted";
    }
}

shape! {
    /// Input of `SetQueueAttributes`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>
    input SetQueueAttributesInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// The attributes to change. Required.
        attributes: opt {QueueAttributeName: String} => "Attributes";
    }
}

shape! {
    /// Output of `SetQueueAttributes`. It has no members.
    output SetQueueAttributesOutput {}
}

shape! {
    /// Input of `ListQueues`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListQueues.html>
    input ListQueuesInput {
        /// Lists only queues whose names start with this prefix.
        queue_name_prefix: opt str => "QueueNamePrefix";
        /// `next_token` of the previous page.
        next_token: opt str => "NextToken";
        /// Page size, 1 to 1,000. Without it SQS returns at most 1,000 queues and no token.
        max_results: opt i32 => "MaxResults";
    }
}

shape! {
    /// Output of `ListQueues`.
    output ListQueuesOutput {
        /// URLs of the queues.
        queue_urls: opt [String] => "QueueUrls";
        /// Token of the next page, if there is one.
        next_token: opt str => "NextToken";
    }
}

shape! {
    /// Input of `ListDeadLetterSourceQueues`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListDeadLetterSourceQueues.html>
    input ListDeadLetterSourceQueuesInput {
        /// URL of the dead-letter queue. Required.
        queue_url: opt str => "QueueUrl";
        /// `next_token` of the previous page.
        next_token: opt str => "NextToken";
        /// Page size, 1 to 1,000.
        max_results: opt i32 => "MaxResults";
    }
}

shape! {
    /// Output of `ListDeadLetterSourceQueues`.
    try_output ListDeadLetterSourceQueuesOutput {
        /// URLs of the queues that use this queue as their dead-letter queue.
        queue_urls: req [String] => "queueUrls";
        /// Token of the next page, if there is one.
        next_token: opt str => "NextToken";
    }
}
