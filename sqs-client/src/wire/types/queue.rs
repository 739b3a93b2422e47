//! Queues: create, get, list, configure, purge, delete; their tags, permissions and move tasks.

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

shape! {
    /// Input of `TagQueue`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_TagQueue.html>
    input TagQueueInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Tags to add or overwrite. Keys have 1 to 128 characters, values 0 to 256. Required.
        tags: opt {String: String} => "Tags";
    }
}

shape! {
    /// Output of `TagQueue`. It has no members.
    output TagQueueOutput {}
}

shape! {
    /// Input of `UntagQueue`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_UntagQueue.html>
    input UntagQueueInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Keys of the tags to remove. Required.
        tag_keys: opt [String] => "TagKeys";
    }
}

shape! {
    /// Output of `UntagQueue`. It has no members.
    output UntagQueueOutput {}
}

shape! {
    /// Input of `ListQueueTags`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListQueueTags.html>
    input ListQueueTagsInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
    }
}

shape! {
    /// Output of `ListQueueTags`.
    output ListQueueTagsOutput {
        /// The tags. `None` if there are none.
        tags: opt {String: String} => "Tags", with "crate::types::shape::sorted";
    }
}

shape! {
    /// Input of `AddPermission`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_AddPermission.html>
    input AddPermissionInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Label of the statement, at most 80 characters. Required.
        label: opt str => "Label";
        /// Ids of the accounts to grant the permission to, 12 digits each. Required.
        aws_account_ids: opt [String] => "AWSAccountIds";
        /// At most 7 actions, or `*`. Required.
        actions: opt [String] => "Actions";
    }
}

shape! {
    /// Output of `AddPermission`. It has no members.
    output AddPermissionOutput {}
}

shape! {
    /// Input of `RemovePermission`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_RemovePermission.html>
    input RemovePermissionInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Label of the statement. Required.
        label: opt str => "Label";
    }
}

shape! {
    /// Output of `RemovePermission`. It has no members.
    output RemovePermissionOutput {}
}

shape! {
    /// Input of `StartMessageMoveTask`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html>
    input StartMessageMoveTaskInput {
        /// ARN of the dead-letter queue to move messages from. Required.
        source_arn: opt str => "SourceArn";
        /// ARN of the queue to move messages to. Default: each message returns to its source queue.
        destination_arn: opt str => "DestinationArn";
        /// Fixed rate, 1 to 500 messages per second. Default: SQS chooses the rate.
        max_number_of_messages_per_second: opt i32 => "MaxNumberOfMessagesPerSecond";
    }
}

shape! {
    /// Output of `StartMessageMoveTask`.
    output StartMessageMoveTaskOutput {
        /// Handle of the task, required to cancel it.
        task_handle: opt str => "TaskHandle";
    }
}

shape! {
    /// Input of `CancelMessageMoveTask`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CancelMessageMoveTask.html>
    input CancelMessageMoveTaskInput {
        /// Handle of the task. Required.
        task_handle: opt str => "TaskHandle";
    }
}

shape! {
    /// Output of `CancelMessageMoveTask`.
    output CancelMessageMoveTaskOutput {
        /// Number of messages moved before the cancellation. Approximate.
        approximate_number_of_messages_moved: req i64 => "ApproximateNumberOfMessagesMoved";
    }
}

shape! {
    /// Input of `ListMessageMoveTasks`.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListMessageMoveTasks.html>
    input ListMessageMoveTasksInput {
        /// ARN of the dead-letter queue. Required.
        source_arn: opt str => "SourceArn";
        /// Maximum number of tasks, 1 to 10. Default: 1.
        max_results: opt i32 => "MaxResults";
    }
}

shape! {
    /// Output of `ListMessageMoveTasks`.
    output ListMessageMoveTasksOutput {
        /// The tasks, newest first.
        results: opt [ListMessageMoveTasksResultEntry] => "Results";
    }
}

shape! {
    /// A move task.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListMessageMoveTasksResultEntry.html>
    data ListMessageMoveTasksResultEntry {
        /// Handle of the task. Present only while the task runs.
        task_handle: opt str => "TaskHandle";
        /// `RUNNING`, `COMPLETED`, `CANCELLING`, `CANCELLED` or `FAILED`.
        status: opt str => "Status";
        /// ARN of the dead-letter queue.
        source_arn: opt str => "SourceArn";
        /// ARN of the destination queue, if one was set.
        destination_arn: opt str => "DestinationArn";
        /// The fixed rate, if one was set.
        max_number_of_messages_per_second: opt i32 => "MaxNumberOfMessagesPerSecond";
        /// Number of messages moved so far. Approximate.
        approximate_number_of_messages_moved: req i64 => "ApproximateNumberOfMessagesMoved";
        /// Number of messages to move when the task started. Approximate.
        approximate_number_of_messages_to_move: opt i64 => "ApproximateNumberOfMessagesToMove";
        /// Why the task failed.
        failure_reason: opt str => "FailureReason";
        /// Start time in epoch milliseconds.
        started_timestamp: req i64 => "StartedTimestamp";
    }
}
