//! Sends a message with a streamed payload.

use std::fmt;

use sqs_client::client::{CallOptions, Execute, Retries};
use sqs_client::operation::send_message::{SendMessage, SendMessageInput, SendMessageOutput};
use sqs_client::types::{
    MessageAttributeValue, MessageSystemAttributeNameForSends, MessageSystemAttributeValue,
};

use crate::client::ExtendedClient;
use crate::error::Error;
use crate::format::pointer::Pointer;
use crate::payload::checks::Progress;
use crate::payload::upload::Payload;
use crate::send::{NewObject, SendRequest as _, Stored};

/// Sends a message with a streamed payload. The payload is stored whatever its size.
#[must_use]
pub struct SendStream<H> {
    client: ExtendedClient<H>,
    payload: Payload,
    input: SendMessageInput,
}

/// The result of [`SendStream::send`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StreamSent {
    /// The output of SQS. The MD5 of the body is that of the pointer.
    pub output: SendMessageOutput,
    /// The object with the payload.
    pub pointer: Pointer,
    /// The length of the payload in bytes.
    pub length: u64,
}

impl<H: Execute> ExtendedClient<H> {
    /// Sends a message with a streamed payload: a file, a reader, a stream or bytes. A few parts are in memory at a time.
    ///
    /// ```no_run
    /// # async fn send(client: sqs_extended::ExtendedClient, url: &str) -> Result<(), sqs_extended::Error> {
    /// use sqs_extended::Payload;
    ///
    /// let video = Payload::from_path("video.bin").binary();
    /// let sent = client
    ///     .send_stream(url, video)
    ///     .progress(|progress| eprintln!("{} of {:?}", progress.bytes, progress.total))
    ///     .send()
    ///     .await?;
    /// println!("{} bytes at {}", sent.length, sent.pointer);
    /// # Ok(()) }
    /// ```
    pub fn send_stream(&self, queue_url: impl Into<String>, payload: impl Into<Payload>) -> SendStream<H> {
        let mut input = SendMessageInput::default();
        input.queue_url = Some(queue_url.into());
        SendStream { client: self.clone(), payload: payload.into(), input }
    }
}

impl<H: Execute> SendStream<H> {
    /// Sets a function that is called for each piece of the payload that is read.
    pub fn progress(mut self, listener: impl FnMut(Progress) + Send + 'static) -> Self {
        self.payload = self.payload.progress(listener);
        self
    }

    /// Sets the delivery delay: 0 to 900 seconds.
    pub fn delay_seconds(mut self, seconds: i32) -> Self {
        self.input.delay_seconds = Some(seconds);
        self
    }

    /// Adds a message attribute. At most nine are allowed.
    pub fn message_attributes(mut self, name: impl Into<String>, value: MessageAttributeValue) -> Self {
        self.input.message_attributes.get_or_insert_default().insert(name.into(), value);
        self
    }

    /// Adds a system attribute of the message.
    pub fn message_system_attributes(
        mut self,
        name: MessageSystemAttributeNameForSends,
        value: MessageSystemAttributeValue,
    ) -> Self {
        self.input.message_system_attributes.get_or_insert_default().insert(name, value);
        self
    }

    /// Sets the message group of a FIFO message.
    pub fn message_group_id(mut self, id: impl Into<String>) -> Self {
        self.input.message_group_id = Some(id.into());
        self
    }

    /// Sets the deduplication id of a FIFO message. On a queue with content-based deduplication, it is the SHA-256 of the payload by
    /// default, unless the payload is [without a hash](Payload::without_hash).
    pub fn message_deduplication_id(mut self, id: impl Into<String>) -> Self {
        self.input.message_deduplication_id = Some(id.into());
        self
    }

    /// Stores the payload and sends the message.
    ///
    /// # Errors
    /// If the payload or the store failed, the message was not sent. If the client below failed, the object is deleted,
    /// unless it is unknown whether the message was sent. A request that SQS may have executed is repeated only if the
    /// message has a deduplication id.
    ///
    /// # Cancel safety
    /// If the future is dropped, the upload is aborted or the object is deleted in the background. When the request to SQS has
    /// started, the object stays ([`Event::OutcomeUnknown`](crate::observe::Event::OutcomeUnknown)).
    pub async fn send(self) -> Result<StreamSent, Error> {
        let Self { client, payload, mut input } = self;
        client.shared.envelope.check(0, input.message_attributes.as_ref())?;
        let queue_url = input.queue_url().unwrap_or_default();
        let sets_id = client.sets_ids(queue_url, Retries::AsConfigured).await;
        let generates_id =
            queue_url.ends_with(".fifo") && client.inner.generates_deduplication_ids(Retries::AsConfigured);
        let object = client.write_stream(payload).await?;
        if let Some(message) = SendMessage::parts(&mut input, 0) {
            client.point(&object, message, sets_id);
        }
        let NewObject { guard, pointer, length, .. } = object;
        // Two messages must not share an object, and a stream cannot be stored twice. With a deduplication id, the
        // queue drops the second message.
        let is_deduplicated = generates_id || input.message_deduplication_id.is_some();
        let retries = if is_deduplicated { Retries::AsConfigured } else { Retries::UnlessInDoubt };
        let stored = Stored { place: 0, object: guard.sent(), original: None, text: None };
        let options = CallOptions::with_retries(retries);
        let output = client.send::<SendMessage>(input, vec![stored], Vec::new(), options).await?;
        Ok(StreamSent { output, pointer, length })
    }
}

impl<H> fmt::Debug for SendStream<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendStream").field("payload", &self.payload).finish_non_exhaustive()
    }
}
