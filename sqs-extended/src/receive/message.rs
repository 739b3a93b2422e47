//! A received message, with its payload or with what is known of it.

use sqs_client::types::Message;
use sqs_client::wire::checksum::{Md5Hex, md5_of_attributes};

use super::PayloadRef;
use super::opener::Opener;
use crate::config::RESERVED_ATTRIBUTES;
use crate::error::Error;
use crate::handle::ExtendedHandle;
use crate::pointer::Pointer;

/// A received message, and what is known of its payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExtendedMessage {
    /// The message. Its body is the payload if that is [`Inline`](MessagePayload::Inline) or
    /// [`Loaded`](MessagePayload::Loaded), and otherwise what came: mostly a pointer. Its receipt handle is good for
    /// deleting the message through the extended client, and its object with it if that is `Loaded` or
    /// [`Lazy`](MessagePayload::Lazy). Deleting one that is [`Failed`](MessagePayload::Failed) leaves the object, since its
    /// pointer may have gone on to another queue, such as one for dead letters; a sweep finds what is left.
    pub message: Message,
    /// What is known of the payload.
    pub payload: MessagePayload,
    pub(super) opener: Opener,
}

/// What is known of the payload of a message.
#[derive(Clone, Debug)]
pub enum MessagePayload {
    /// It came with the message.
    Inline,
    /// It came from the store, and is the body of the message now.
    Loaded(PayloadRef),
    /// It is in the store, and was not asked for.
    Lazy(PayloadRef),
    /// It cannot be had, at least now; [`Error::is_retryable`] says whether it may be later.
    Failed(Error),
}

impl ExtendedMessage {
    /// The body as it was sent, if it is here.
    ///
    /// # Errors
    /// The payload could not be loaded, or was not asked for; the latter is `None`.
    pub fn body(&self) -> Result<Option<&str>, &Error> {
        match &self.payload {
            MessagePayload::Inline | MessagePayload::Loaded(_) => Ok(self.message.body()),
            MessagePayload::Lazy(_) => Ok(None),
            MessagePayload::Failed(error) => Err(error),
        }
    }

    /// The receipt handle, for deleting the message or changing its visibility.
    pub fn receipt_handle(&self) -> Option<&str> {
        self.message.receipt_handle()
    }
}

/// The receipt handle of the service, whether there is a pointer in front of it or not.
pub(super) fn original_handle(message: &Message) -> Option<String> {
    let handle = message.receipt_handle()?;
    Some(
        ExtendedHandle::parse(handle)
            .map_or_else(|| handle.to_owned(), |parsed| parsed.original().to_owned()),
    )
}

/// Puts a pointer in front of the receipt handle, if there is none yet.
pub(super) fn extend_handle(message: &mut Message, pointer: &Pointer) {
    if let Some(original) = original_handle(message) {
        message.receipt_handle = Some(ExtendedHandle::new(pointer.clone(), original).to_string());
    }
}

/// Makes the message what its sender gave: body, attributes, and their checksums.
pub(super) fn unwrap(message: &mut Message, body: String, md5_of_body: Md5Hex) {
    message.body = Some(body);
    message.md5_of_body = Some(md5_of_body.into());
    if let Some(attributes) = &mut message.message_attributes {
        attributes.retain(|name, _| !RESERVED_ATTRIBUTES.contains(&name.as_str()));
    }
    message.message_attributes.take_if(|attributes| attributes.is_empty());
    let sum = md5_of_attributes(message.message_attributes.iter().flatten());
    message.md5_of_message_attributes = sum.map(Into::into);
}
