//! The shapes and errors of the service, at the same paths as in aws-sdk-sqs. The shapes are those of [`crate::types`].

pub use crate::types::{
    BatchResultErrorEntry, ChangeMessageVisibilityBatchRequestEntry, ChangeMessageVisibilityBatchResultEntry,
    DeleteMessageBatchRequestEntry, DeleteMessageBatchResultEntry, ListMessageMoveTasksResultEntry, Message,
    MessageAttributeValue, MessageSystemAttributeName, MessageSystemAttributeNameForSends,
    MessageSystemAttributeValue, QueueAttributeName, SendMessageBatchRequestEntry,
    SendMessageBatchResultEntry, builders,
};

/// The errors of the service model.
pub mod error {
    pub use crate::sdk::error::shapes::*;
}
