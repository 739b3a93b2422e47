//! Queues: create, find, list, change, purge, delete.

use super::QueueAttributeName;

shape! {
    /// What `CreateQueue` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html>
    input CreateQueueInput {
        /// 1 to 80 of `A-Za-z0-9_-`; FIFO names end in `.fifo`. Required.
        queue_name: opt str => "QueueName";
        /// Attributes that differ from the defaults.
        attributes: opt {QueueAttributeName: String} => "Attributes";
        /// Tags for cost allocation.
        tags: opt {String: String} => "tags";
    }
}

shape! {
    /// What `CreateQueue` answers.
    output CreateQueueOutput {
        /// URL of the queue.
        queue_url: opt str => "QueueUrl";
    }
}

shape! {
    /// What `DeleteQueue` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteQueue.html>
    input DeleteQueueInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
    }
}

shape! {
    /// What `DeleteQueue` answers: nothing.
    output DeleteQueueOutput {}
}

shape! {
    /// What `PurgeQueue` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_PurgeQueue.html>
    input PurgeQueueInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
    }
}

shape! {
    /// What `PurgeQueue` answers: nothing.
    output PurgeQueueOutput {}
}

shape! {
    /// What `GetQueueUrl` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueUrl.html>
    input GetQueueUrlInput {
        /// Name of the queue. Required.
        queue_name: opt str => "QueueName";
        /// Account of the owner, 12 digits; the caller's by default.
        queue_owner_aws_account_id: opt str => "QueueOwnerAWSAccountId";
    }
}

shape! {
    /// What `GetQueueUrl` answers.
    output GetQueueUrlOutput {
        /// URL of the queue.
        queue_url: opt str => "QueueUrl";
    }
}

shape! {
    /// What `GetQueueAttributes` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html>
    input GetQueueAttributesInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Names, or `All`; without any the answer is empty.
        attribute_names: opt [QueueAttributeName] => "AttributeNames";
    }
}

shape! {
    /// What `GetQueueAttributes` answers.
    output GetQueueAttributesOutput {
        /// The attributes; all values are text.
        attributes: opt {QueueAttributeName: String} => "Attributes";
    }
}

shape! {
    /// What `SetQueueAttributes` takes.
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
    /// What `SetQueueAttributes` answers: nothing.
    output SetQueueAttributesOutput {}
}

shape! {
    /// What `ListQueues` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListQueues.html>
    input ListQueuesInput {
        /// Only queues whose names start with this.
        queue_name_prefix: opt str => "QueueNamePrefix";
        /// Where to go on, from the previous page.
        next_token: opt str => "NextToken";
        /// Page size, 1 to 1,000. Without it at most 1,000 queues come and no token.
        max_results: opt i32 => "MaxResults";
    }
}

shape! {
    /// What `ListQueues` answers.
    output ListQueuesOutput {
        /// URLs of the queues.
        queue_urls: opt [String] => "QueueUrls";
        /// Where to go on, when there is more.
        next_token: opt str => "NextToken";
    }
}

shape! {
    /// What `ListDeadLetterSourceQueues` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListDeadLetterSourceQueues.html>
    input ListDeadLetterSourceQueuesInput {
        /// URL of the dead-letter queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Where to go on, from the previous page.
        next_token: opt str => "NextToken";
        /// Page size, 1 to 1,000.
        max_results: opt i32 => "MaxResults";
    }
}

shape! {
    /// What `ListDeadLetterSourceQueues` answers.
    try_output ListDeadLetterSourceQueuesOutput {
        /// URLs of the queues whose dead letters come here.
        queue_urls: req [String] => "queueUrls";
        /// Where to go on, when there is more.
        next_token: opt str => "NextToken";
    }
}
