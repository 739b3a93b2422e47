//! A received message with its payload.

use std::sync::Arc;

use sqs_client::types::Message;

use crate::client::Shared;
use crate::error::Error;
use crate::format::PayloadRef;

/// A received message with its payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExtendedMessage {
    /// The message. If the payload is [`Inline`](MessagePayload::Inline) or [`Loaded`](MessagePayload::Loaded), it is
    /// the body of the message. Otherwise the body is what SQS returned, usually a pointer.
    ///
    /// Delete the message with its receipt handle, through the extended client. That also deletes the object of a
    /// `Loaded` or [`Lazy`](MessagePayload::Lazy) payload. The object of a [`Failed`](MessagePayload::Failed) payload
    /// is kept, because another queue may have its pointer, such as a dead-letter queue. A sweep deletes it later.
    pub message: Message,
    /// Its payload.
    pub payload: MessagePayload,
    pub(crate) shared: Arc<Shared>,
}

/// The payload of a message.
#[derive(Clone, Debug)]
pub enum MessagePayload {
    /// The payload was in the message.
    Inline,
    /// The payload was in the store, and is now the body of the message.
    Loaded(PayloadRef),
    /// The payload is in the store, and was not requested.
    Lazy(PayloadRef),
    /// The payload could not be loaded; see [`Error::is_retryable`].
    Failed(Error),
}

impl ExtendedMessage {
    /// The body as it was sent; `None` if it was not requested.
    ///
    /// # Errors
    /// The payload could not be loaded.
    pub fn body(&self) -> Result<Option<&str>, Error> {
        match &self.payload {
            MessagePayload::Inline | MessagePayload::Loaded(_) => Ok(self.message.body()),
            MessagePayload::Lazy(_) => Ok(None),
            MessagePayload::Failed(error) => Err(error.clone()),
        }
    }

    /// The receipt handle to delete the message or change its visibility.
    pub fn receipt_handle(&self) -> Option<&str> {
        self.message.receipt_handle()
    }
}
