//! Move tasks: redrive messages from a dead-letter queue.

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
