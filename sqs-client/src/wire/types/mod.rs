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
#[cfg(feature = "aws-sdk-sqs")]
pub(crate) mod aws_sdk;
pub(crate) mod batch;
pub(crate) mod message;
pub(crate) mod queue;

use std::fmt;
use std::sync::Arc;

use crate::wire::types::message::ReceiveMessageOutput;

pub use batch::{
    BatchResultErrorEntry, ChangeMessageVisibilityBatchRequestEntry, ChangeMessageVisibilityBatchResultEntry,
    DeleteMessageBatchRequestEntry, DeleteMessageBatchResultEntry, SendMessageBatchRequestEntry,
    SendMessageBatchResultEntry,
};
pub use message::{
    Message, MessageAttributeValue, MessageSystemAttributeName, MessageSystemAttributeNameForSends,
    MessageSystemAttributeValue, QueueAttributeName,
};
pub use queue::ListMessageMoveTasksResultEntry;
pub use shape::{UnknownVariantError, UnknownVariantValue};

/// Builder types, for code that names them. Create one with `builder()`, for example `Message::builder()`.
pub mod builders {
    pub use super::batch::{
        BatchResultErrorEntryBuilder, ChangeMessageVisibilityBatchRequestEntryBuilder,
        ChangeMessageVisibilityBatchResultEntryBuilder, DeleteMessageBatchRequestEntryBuilder,
        DeleteMessageBatchResultEntryBuilder, SendMessageBatchRequestEntryBuilder,
        SendMessageBatchResultEntryBuilder,
    };
    pub use super::message::MessageBuilder;
    pub use super::message::{MessageAttributeValueBuilder, MessageSystemAttributeValueBuilder};
    pub use super::queue::ListMessageMoveTasksResultEntryBuilder;
}

/// An input builder `B` bound to a handle `H` that executes operations.
///
/// The action methods of every client in this workspace return it, for example `client.send_message()`. It has the same
/// setters as the input builder.
#[derive(Clone, Debug)]
pub struct FluentBuilder<B, H> {
    pub(crate) inner: B,
    pub(crate) handle: H,
}

impl<B: Default, H> FluentBuilder<B, H> {
    /// Creates an empty builder. `handle` executes the request.
    pub fn new(handle: H) -> Self {
        Self { inner: B::default(), handle }
    }
}

impl<B, H> FluentBuilder<B, H> {
    /// Returns the input builder.
    pub fn as_input(&self) -> &B {
        &self.inner
    }

    /// Splits into the input builder and the handle.
    pub fn into_parts(self) -> (B, H) {
        (self.inner, self.handle)
    }

    /// Binds an existing input builder to a handle.
    pub fn from_parts(inner: B, handle: H) -> Self {
        Self { inner, handle }
    }
}

/// The request id that the service assigned. AWS Support asks for it.
pub trait RequestId {
    /// The request id, if the service sent one.
    fn request_id(&self) -> Option<&str>;
}

/// Whether the service may have executed a request more than once.
///
/// This happens if the response to an earlier attempt was lost.
/// A batch entry that such a response reports as failed may have succeeded in the earlier attempt.
pub trait MaybeRepeated {
    /// Whether the service may also have executed an earlier attempt.
    fn is_maybe_repeated(&self) -> bool;
}

/// Metadata of a response, for the client and for layers over it.
#[doc(hidden)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseMetadata {
    /// See [`RequestId`].
    pub request_id: Option<String>,
    /// See [`MaybeRepeated`].
    pub maybe_repeated: bool,
    /// See [`ReceiveMessageOutput::damaged_messages`].
    pub damaged: Vec<DamagedMessage>,
    /// See [`ReceiveMessageOutput::unopened_messages`].
    pub unopened: Vec<UnopenedMessage>,
}

/// An output with metadata, for the client and for layers over it.
#[doc(hidden)]
pub trait HasMetadata {
    /// The metadata.
    fn metadata(&self) -> &ResponseMetadata;
    /// The metadata, mutable.
    fn metadata_mut(&mut self) -> &mut ResponseMetadata;
}

impl<T: HasMetadata> RequestId for T {
    fn request_id(&self) -> Option<&str> {
        self.metadata().request_id.as_deref()
    }
}

impl<T: HasMetadata> MaybeRepeated for T {
    fn is_maybe_repeated(&self) -> bool {
        self.metadata().maybe_repeated
    }
}

impl ReceiveMessageOutput {
    /// Messages with a wrong checksum. They are not in `messages`.
    ///
    /// They stay in the queue, and SQS delivers them again after the visibility timeout. To receive them sooner, change
    /// their visibility. On a FIFO queue, or if no message is intact, the receive fails, and
    /// [`Error::output`](crate::Error::output) contains this output.
    pub fn damaged_messages(&self) -> &[DamagedMessage] {
        &self.metadata().damaged
    }

    /// Messages that a layer over the client could not open, such as those whose payload does not load. They are not in
    /// `messages`. The plain client has none.
    ///
    /// They stay in the queue, and SQS delivers them again after the visibility timeout.
    pub fn unopened_messages(&self) -> &[UnopenedMessage] {
        &self.metadata().unopened
    }
}

/// A received message that a layer over the client could not open; see [`ReceiveMessageOutput::unopened_messages`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnopenedMessage {
    /// The message as received, with the receipt handle of SQS.
    pub message: Message,
    /// Why it could not be opened: the error type of the layer.
    pub error: Arc<dyn std::error::Error + Send + Sync>,
}

impl UnopenedMessage {
    /// A message, and why it could not be opened.
    pub fn new(message: Message, error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { message, error: Arc::new(error) }
    }
}

/// Errors are equal only if they are the same.
impl PartialEq for UnopenedMessage {
    fn eq(&self, other: &Self) -> bool {
        self.message == other.message && Arc::ptr_eq(&self.error, &other.error)
    }
}

/// A received message with a wrong checksum.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DamagedMessage {
    /// The message as received. Do not trust its body or attributes. No checksum covers its id and receipt handle.
    pub message: Message,
    /// The parts with wrong checksums.
    pub mismatches: Vec<ChecksumMismatch>,
}

/// The checksum in a response differs from the computed one.
///
/// The message was damaged in transit, or the service computes checksums differently.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChecksumMismatch {
    /// The part that was hashed: `body`, `message attributes` or `message system attributes`.
    pub(crate) part: &'static str,
    /// Id of the batch entry or of the received message.
    pub(crate) id: Option<String>,
    /// `None` if the part is absent.
    pub(crate) expected: Option<String>,
    /// `None` if the service sent no checksum.
    pub(crate) found: Option<String>,
}

impl ChecksumMismatch {
    /// The id of the damaged batch entry or received message.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

impl fmt::Display for ChecksumMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, id, expected, found } = self;
        write!(f, "MD5 of the {part}")?;
        if let Some(id) = id {
            write!(f, " of {id}")?;
        }
        match (expected, found) {
            (Some(expected), Some(found)) => write!(f, ": the service sent {found}, expected {expected}"),
            (_, None) => {
                f.write_str(": the service sent none; to allow that, set ChecksumPolicy::VerifyIfPresent")
            }
            (None, Some(found)) => write!(f, ": the service sent {found}, but the message has none"),
        }
    }
}

impl std::error::Error for ChecksumMismatch {}
