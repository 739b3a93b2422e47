//! Permissions: statements of a queue's access policy.

shape! {
    /// What `AddPermission` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_AddPermission.html>
    input AddPermissionInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Name of the statement, at most 80 characters. Required.
        label: opt str => "Label";
        /// The accounts that get the permission, 12 digits each. Required.
        aws_account_ids: opt [String] => "AWSAccountIds";
        /// At most 7 actions, or `*`. Required.
        actions: opt [String] => "Actions";
    }
}

shape! {
    /// What `AddPermission` answers: nothing.
    output AddPermissionOutput {}
}

shape! {
    /// What `RemovePermission` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_RemovePermission.html>
    input RemovePermissionInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Name of the statement. Required.
        label: opt str => "Label";
    }
}

shape! {
    /// What `RemovePermission` answers: nothing.
    output RemovePermissionOutput {}
}
