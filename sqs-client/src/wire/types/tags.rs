//! Queue tags.

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
