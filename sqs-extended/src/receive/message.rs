//! A received message with its payload.

use std::sync::Arc;

use sqs_client::types::Message;
use sqs_client::wire::checksum::{Md5Hex, md5_of_attributes};

use super::PayloadRef;
use crate::client::Shared;
use crate::config::RESERVED_ATTRIBUTES;
use crate::error::Error;
use crate::handle::ExtendedHandle;
use crate::pointer::Pointer;

/// A received message with its payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExtendedMessage {
    /// The message. If the payload is [`Inline`](MessagePayload::Inline) or [`Loaded`](MessagePayload::Loaded), it is the body;
    /// otherwise the body is what was received, usually a pointer. Delete the message with this receipt handle, through the extended
    /// client: that also deletes the object of a `Loaded` or [`Lazy`](MessagePayload::Lazy) payload. The object of a
    /// [`Failed`](MessagePayload::Failed) payload is kept, since its pointer may be in another queue, such as a dead-letter
    /// queue; a sweep deletes it later.
    pub message: Message,
    /// Its payload.
    pub payload: MessagePayload,
    pub(super) shared: Arc<Shared>,
}

/// The payload of a message.
#[derive(Clone, Debug)]
pub enum MessagePayload {
    /// It was in the message.
    Inline,
    /// It was in the store, and is now the body of the message.
    Loaded(PayloadRef),
    /// It is in the store and was not requested.
    Lazy(PayloadRef),
    /// It could not be loaded; see [`Error::is_retryable`].
    Failed(Error),
}

impl ExtendedMessage {
    /// The body as it was sent; `None` if it was not requested.
    ///
    /// # Errors
    /// The payload could not be loaded.
    pub fn body(&self) -> Result<Option<&str>, &Error> {
        match &self.payload {
            MessagePayload::Inline | MessagePayload::Loaded(_) => Ok(self.message.body()),
            MessagePayload::Lazy(_) => Ok(None),
            MessagePayload::Failed(error) => Err(error),
        }
    }

    /// The receipt handle to delete the message or change its visibility.
    pub fn receipt_handle(&self) -> Option<&str> {
        self.message.receipt_handle()
    }
}

/// The receipt handle of SQS, without a pointer.
pub(super) fn original_handle(message: &Message) -> Option<String> {
    let handle = message.receipt_handle()?;
    Some(
        ExtendedHandle::parse(handle)
            .map_or_else(|| handle.to_owned(), |parsed| parsed.original().to_owned()),
    )
}

/// Puts a pointer in front of the receipt handle, unless there is one.
pub(super) fn extend_handle(message: &mut Message, pointer: &Pointer) {
    if let Some(original) = original_handle(message) {
        message.receipt_handle = Some(ExtendedHandle::new(pointer.clone(), original).to_string());
    }
}

/// Restores body, attributes and their checksums as they were sent.
pub(super) fn restore_original(message: &mut Message, body: String, md5_of_body: Md5Hex) {
    message.body = Some(body);
    message.md5_of_body = Some(md5_of_body.into());
    if let Some(attributes) = &mut message.message_attributes {
        attributes.retain(|name, _| !RESERVED_ATTRIBUTES.contains(&name.as_str()));
    }
    message.message_attributes.take_if(|attributes| attributes.is_empty());
    let sum = md5_of_attributes(message.message_attributes.iter().flatten());
    message.md5_of_message_attributes = sum.map(Into::into);
}
