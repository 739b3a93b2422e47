//! The shapes of the service and its errors: those of [`crate::types`], at the paths of aws-sdk-sqs.

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
