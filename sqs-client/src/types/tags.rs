//! Tags of queues.

shape! {
    /// What `TagQueue` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_TagQueue.html>
    input TagQueueInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
        /// Tags to add or overwrite: keys of 1 to 128 characters, values of 0 to 256. Required.
        tags: opt {String: String} => "Tags";
    }
}

shape! {
    /// What `TagQueue` answers: nothing.
    output TagQueueOutput {}
}

shape! {
    /// What `UntagQueue` takes.
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
    /// What `UntagQueue` answers: nothing.
    output UntagQueueOutput {}
}

shape! {
    /// What `ListQueueTags` takes.
    ///
    /// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListQueueTags.html>
    input ListQueueTagsInput {
        /// URL of the queue. Required.
        queue_url: opt str => "QueueUrl";
    }
}

shape! {
    /// What `ListQueueTags` answers.
    output ListQueueTagsOutput {
        /// The tags; absent when there are none.
        tags: opt {String: String} => "Tags";
    }
}
