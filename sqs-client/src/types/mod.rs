//! The shapes of the service, by family. Names, getters and builders are those of aws-sdk-sqs.
//!
//! Here is what inputs and outputs are made of: [`Message`], values and names of attributes, entries of batches and their
//! results. The inputs and outputs themselves are in [`operation`](crate::operation). Shapes are plain data: they have public
//! fields, getters, builders, `Clone` and `PartialEq`, and names that are not known yet are kept as they came.
//!
//! ```
//! use sqs_client::types::{MessageAttributeValue, QueueAttributeName, SendMessageBatchRequestEntry};
//!
//! let entry = SendMessageBatchRequestEntry::builder()
//!     .id("1")
//!     .message_body("one apple, please")
//!     .message_attributes("kind", MessageAttributeValue::string("fruit"))
//!     .build()?;
//! assert_eq!(entry.message_attributes().unwrap()["kind"].string_value(), Some("fruit"));
//! assert_eq!(QueueAttributeName::from("DelaySeconds"), QueueAttributeName::DelaySeconds);
//! # Ok::<(), sqs_client::error::BuildError>(())
//! ```
//!
//! Source of every shape: the public service model of Amazon SQS, API version 2012-11-05
//! (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_Operations.html>).

#[macro_use]
pub(crate) mod shape;
#[macro_use]
mod name;

mod attribute;
#[cfg(feature = "aws-sdk-sqs")]
pub(crate) mod aws_sdk;
pub(crate) mod batch;
mod blob;
mod damaged;
mod fluent;
pub(crate) mod message;
mod metadata;
pub(crate) mod move_task;
pub(crate) mod permission;
pub(crate) mod queue;
pub(crate) mod tags;

pub use attribute::{
    MessageAttributeValue, MessageSystemAttributeName, MessageSystemAttributeNameForSends,
    MessageSystemAttributeValue, QueueAttributeName,
};
pub use batch::{
    BatchResultErrorEntry, ChangeMessageVisibilityBatchRequestEntry, ChangeMessageVisibilityBatchResultEntry,
    DeleteMessageBatchRequestEntry, DeleteMessageBatchResultEntry, SendMessageBatchRequestEntry,
    SendMessageBatchResultEntry,
};
pub use damaged::{ChecksumMismatch, DamagedMessage};
pub use fluent::FluentBuilder;
pub use message::Message;
#[doc(hidden)]
pub use metadata::{HasMetadata, ResponseMetadata};
pub use metadata::{MaybeRepeated, RequestId};
pub use move_task::ListMessageMoveTasksResultEntry;
pub use name::{UnknownVariantError, UnknownVariantValue};

/// The builders of the shared shapes, for code that names their types: `Message::builder()` and its relatives make them.
pub mod builders {
    pub use super::attribute::{MessageAttributeValueBuilder, MessageSystemAttributeValueBuilder};
    pub use super::batch::{
        BatchResultErrorEntryBuilder, ChangeMessageVisibilityBatchRequestEntryBuilder,
        ChangeMessageVisibilityBatchResultEntryBuilder, DeleteMessageBatchRequestEntryBuilder,
        DeleteMessageBatchResultEntryBuilder, SendMessageBatchRequestEntryBuilder,
        SendMessageBatchResultEntryBuilder,
    };
    pub use super::message::MessageBuilder;
    pub use super::move_task::ListMessageMoveTasksResultEntryBuilder;
}
