//! Move tasks: bring dead letters back.

shape! {
    /// What `StartMessageMoveTask` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html>
    input StartMessageMoveTaskInput {
        /// ARN of the dead-letter queue whose messages move. Required.
        source_arn: opt str => "SourceArn";
        /// ARN of the queue that gets them; by default each goes back to where it came from.
        destination_arn: opt str => "DestinationArn";
        /// Fixed rate, 1 to 500 messages a second; by default the service picks.
        max_number_of_messages_per_second: opt i32 => "MaxNumberOfMessagesPerSecond";
    }
}

shape! {
    /// What `StartMessageMoveTask` answers.
    output StartMessageMoveTaskOutput {
        /// Names the task, for cancelling it.
        task_handle: opt str => "TaskHandle";
    }
}

shape! {
    /// What `CancelMessageMoveTask` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CancelMessageMoveTask.html>
    input CancelMessageMoveTaskInput {
        /// The task. Required.
        task_handle: opt str => "TaskHandle";
    }
}

shape! {
    /// What `CancelMessageMoveTask` answers.
    output CancelMessageMoveTaskOutput {
        /// Messages moved before the cancel. Approximate.
        approximate_number_of_messages_moved: req i64 => "ApproximateNumberOfMessagesMoved";
    }
}

shape! {
    /// What `ListMessageMoveTasks` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListMessageMoveTasks.html>
    input ListMessageMoveTasksInput {
        /// ARN of the queue whose messages move. Required.
        source_arn: opt str => "SourceArn";
        /// How many tasks at most, 1 to 10; 1 by default.
        max_results: opt i32 => "MaxResults";
    }
}

shape! {
    /// What `ListMessageMoveTasks` answers.
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
        /// Names the task; only while it runs.
        task_handle: opt str => "TaskHandle";
        /// `RUNNING`, `COMPLETED`, `CANCELLING`, `CANCELLED` or `FAILED`.
        status: opt str => "Status";
        /// ARN of the queue whose messages move.
        source_arn: opt str => "SourceArn";
        /// ARN of the queue that gets them, when one was given.
        destination_arn: opt str => "DestinationArn";
        /// The fixed rate, when one was given.
        max_number_of_messages_per_second: opt i32 => "MaxNumberOfMessagesPerSecond";
        /// Messages moved so far. Approximate.
        approximate_number_of_messages_moved: req i64 => "ApproximateNumberOfMessagesMoved";
        /// Messages to move at the start. Approximate.
        approximate_number_of_messages_to_move: opt i64 => "ApproximateNumberOfMessagesToMove";
        /// Why the task failed.
        failure_reason: opt str => "FailureReason";
        /// When the task started, in epoch milliseconds.
        started_timestamp: req i64 => "StartedTimestamp";
    }
}
