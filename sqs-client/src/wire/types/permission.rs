//! Permissions: statements in the access policy of a queue.

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
