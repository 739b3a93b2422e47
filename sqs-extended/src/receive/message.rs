//! A received message with its payload.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::operation::receive_message::ReceiveMessageInput;
use sqs_client::types::{Message, MessageSystemAttributeName};

use crate::client::{ExtendedClient, Shared};
use crate::error::Error;
use crate::format::message::{PayloadRef, request_attributes};

/// A received message with its payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExtendedMessage {
    /// The message. If the payload is [`Inline`](MessagePayload::Inline) or [`Loaded`](MessagePayload::Loaded), it is
    /// the body of the message. Otherwise the body is what SQS returned, usually a pointer.
    ///
    /// Delete the message with its receipt handle, through the extended client. That also deletes the object of a
    /// `Loaded` or [`Lazy`](MessagePayload::Lazy) payload. The object of a [`Failed`](MessagePayload::Failed) payload
    /// is kept, because another queue may have its pointer, such as a dead-letter queue. A lifecycle rule expires it.
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

/// A receive that returns messages with their payloads.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let url = server.client().create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// # let client = sqs_extended::ExtendedClient::new(server.client(), sqs_extended::MemoryStore::new("payloads"));
/// use sqs_extended::MessagePayload;
///
/// client.send_message().queue_url(&url).message_body("x".repeat(300_000)).send().await?;
/// for received in client.receive(&url).max_messages(1).send().await? {
///     match &received.payload {
///         MessagePayload::Failed(error) => {
///             eprintln!("{error}");
///             continue; // not deleted: it is received again, or becomes a dead letter
///         }
///         _ => println!("{} bytes", received.message.body().unwrap_or_default().len()),
///     }
///     client.queue(&url).delete(&received.message).send().await?;
/// }
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct Receive<H> {
    client: ExtendedClient<H>,
    input: ReceiveMessageInput,
    is_lazy: bool,
}

impl<H: Execute> ExtendedClient<H> {
    /// Receives up to ten messages with all attributes, and waits up to 20 seconds for the first.
    pub fn receive(&self, queue_url: impl Into<String>) -> Receive<H> {
        let mut input = ReceiveMessageInput::default();
        input.queue_url = Some(queue_url.into());
        input.max_number_of_messages = Some(10);
        input.wait_time_seconds = Some(20);
        input.message_attribute_names = Some(vec!["All".to_owned()]);
        input.message_system_attribute_names = Some(vec![MessageSystemAttributeName::All]);
        Receive { client: self.clone(), input, is_lazy: false }
    }
}

impl<H: Execute> Receive<H> {
    /// Loads no payloads: [`ExtendedMessage::body_stream`] reads them.
    pub fn lazy(mut self) -> Self {
        self.is_lazy = true;
        self
    }

    /// Sets the maximum number of messages: 1 to 10.
    pub fn max_messages(mut self, count: i32) -> Self {
        self.input.max_number_of_messages = Some(count);
        self
    }

    /// Sets how long to wait for the first message: 0 to 20 seconds. Fractions of a second are dropped.
    pub fn wait_time(mut self, wait: Duration) -> Self {
        self.input.wait_time_seconds = i32::try_from(wait.as_secs()).ok();
        self
    }

    /// Sets how long the messages are hidden: 0 to 43,200 seconds. Fractions of a second are dropped. The default is that of the queue.
    pub fn visibility_timeout(mut self, timeout: Duration) -> Self {
        self.input.visibility_timeout = i32::try_from(timeout.as_secs()).ok();
        self
    }

    /// Sets all parameters of the request. The attributes of pointers are added.
    pub fn input(mut self, input: ReceiveMessageInput) -> Self {
        self.input = input;
        self
    }

    /// Receives messages and loads their payloads. A payload that cannot be loaded does not affect other messages. A message with a
    /// wrong checksum is [`Failed`](MessagePayload::Failed) with the error of the client below, and comes last.
    ///
    /// # Errors
    /// The client below failed. Wrong checksums are not an error.
    ///
    /// # Cancel safety
    /// If the future is dropped while payloads are loaded, the messages are made visible again in the background. If it is dropped before
    /// the response arrives, they may stay hidden until their visibility timeout.
    pub async fn send(self) -> Result<Vec<ExtendedMessage>, Error> {
        let Self { client, mut input, is_lazy } = self;
        request_attributes(&mut input);
        client.receive_opened(&input, is_lazy).await
    }
}
