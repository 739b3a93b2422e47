//! The data types of SQS. Names, getters and builders match aws-sdk-sqs.
//!
//! This module contains the parts of inputs and outputs: [`Message`], attribute names and values, batch entries and
//! their results. The inputs and outputs themselves are in [`operation`](crate::operation). All types are plain data with
//! public fields, getters, builders, `Clone` and `PartialEq`. Enums keep unknown names as text.
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
//! Source: the public service model of Amazon SQS, API version 2012-11-05
//! (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_Operations.html>).

#[macro_use]
pub(crate) mod shape;
#[macro_use]
mod name;

mod attribute;
#[cfg(feature = "aws-sdk-sqs")]
pub(crate) mod aws_sdk;
pub(crate) mod batch;
pub(crate) mod blob;
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

/// Builder types, for code that names them. Create one with `builder()`, for example `Message::builder()`.
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
