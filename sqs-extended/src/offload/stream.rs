//! A message whose payload is streamed into the store.

use std::fmt;

use sqs_client::client::{CallOptions, Execute, Retries};
use sqs_client::operation::send_message::{SendMessage, SendMessageInput, SendMessageOutput};
use sqs_client::types::{
    MessageAttributeValue, MessageSystemAttributeNameForSends, MessageSystemAttributeValue,
};

use super::stored::{is_refused, undo};
use crate::cleanup::DeleteOnDrop;
use crate::client::ExtendedClient;
use crate::error::Error;
use crate::event::Event;
use crate::payload::{Payload, Progress, Uploaded};
use crate::pointer::Pointer;

/// A message that is to be sent, whose payload goes through the store piece by piece, however small it is.
#[must_use]
pub struct SendStream<H> {
    client: ExtendedClient<H>,
    payload: Payload,
    input: SendMessageInput,
}

/// A message that was sent with a streamed payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StreamSent {
    /// What the service says. The MD5 of the body is the one of the pointer, which is what the service got.
    pub output: SendMessageOutput,
    /// Where the payload is.
    pub pointer: Pointer,
    /// How many bytes it has, before compression.
    pub length: u64,
}

impl<H: Execute> ExtendedClient<H> {
    /// Sends a message whose payload is streamed: a file, a reader, a stream or bytes, of which a few parts are in memory at a
    /// time.
    ///
    /// ```no_run
    /// # async fn send<S: sqs_extended::PayloadStore>(
    /// #     client: sqs_extended::ExtendedClient<S>, url: &str,
    /// # ) -> Result<(), sqs_extended::Error> {
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
    /// Is told of every piece of the payload that is read.
    pub fn progress(mut self, listener: impl FnMut(Progress) + Send + 'static) -> Self {
        self.payload = self.payload.progress(listener);
        self
    }

    /// How long the message is hidden at first, in seconds from 0 to 900.
    pub fn delay_seconds(mut self, seconds: i32) -> Self {
        self.input.delay_seconds = Some(seconds);
        self
    }

    /// An attribute of the message, of which it can have nine.
    pub fn message_attributes(mut self, name: impl Into<String>, value: MessageAttributeValue) -> Self {
        self.input.message_attributes.get_or_insert_default().insert(name.into(), value);
        self
    }

    /// A system attribute of the message.
    pub fn message_system_attributes(
        mut self,
        name: MessageSystemAttributeNameForSends,
        value: MessageSystemAttributeValue,
    ) -> Self {
        self.input.message_system_attributes.get_or_insert_default().insert(name, value);
        self
    }

    /// The group of the message, which FIFO queues keep in order.
    pub fn message_group_id(mut self, id: impl Into<String>) -> Self {
        self.input.message_group_id = Some(id.into());
        self
    }

    /// By what FIFO queues know a message again. Give one: what a queue makes of the content, it would make of the pointer,
    /// which is another one each time.
    pub fn message_deduplication_id(mut self, id: impl Into<String>) -> Self {
        self.input.message_deduplication_id = Some(id.into());
        self
    }

    /// Stores the payload, and sends the message.
    ///
    /// # Errors
    /// [`ErrorKind::Upload`](crate::ErrorKind::Upload) when the payload cannot be read or stored,
    /// [`TooLarge`](crate::ErrorKind::TooLarge) and [`NotText`](crate::ErrorKind::NotText) when it may not be sent, those of
    /// attributes as of other messages, and what the client below says. An object stays only where it is unknown whether
    /// the message was sent: a request that the service may have acted on is not repeated, unless the message has a
    /// deduplication id.
    ///
    /// # Cancel safety
    /// Dropped before its end, the upload is aborted or the object is deleted in the background; once the message is on its
    /// way, the object stays.
    pub async fn send(self) -> Result<StreamSent, Error> {
        let Self { client, payload, mut input } = self;
        let envelope = &client.shared.envelope;
        envelope.check(0, input.message_attributes.as_ref())?;
        let pointer = envelope.address(&crate::random::uuid());
        let (guard, uploaded) = client.upload_stream(&pointer, payload).await?;
        let Uploaded { length, sha256 } = uploaded;
        let body = envelope.seal(&pointer, length, sha256.as_deref(), &mut input.message_attributes);
        input.message_body = Some(body);
        // From here on somebody may need the object.
        guard.keep();
        match client.send_once(input).await {
            Ok(output) => Ok(StreamSent { output, pointer, length }),
            Err(error) => {
                if is_refused(&error) {
                    client.shared.cleaner.delete([pointer]).await;
                } else {
                    client.keep_in_doubt(&pointer);
                }
                Err(error)
            }
        }
    }
}

impl<H: Execute> ExtendedClient<H> {
    /// Of two messages with one object, the first that is deleted would take it from the other; and a stream cannot be
    /// stored twice. Queues drop the second one when they know it again.
    async fn send_once(&self, input: SendMessageInput) -> Result<SendMessageOutput, Error> {
        let is_deduplicated = input.message_deduplication_id.is_some();
        let retries = if is_deduplicated { Retries::AsConfigured } else { Retries::UnlessInDoubt };
        let options = CallOptions::with_retries(retries);
        self.inner.execute::<SendMessage>(&input, options).await.map_err(Error::below)
    }

    async fn upload_stream(
        &self,
        pointer: &Pointer,
        payload: Payload,
    ) -> Result<(DeleteOnDrop, Uploaded), Error> {
        let shared = &self.shared;
        let guard = DeleteOnDrop::new(&shared.cleaner, pointer.clone());
        match payload.put(&shared.store, pointer).await {
            Ok(uploaded) => {
                shared.tally.uploads.add(1);
                shared.tally.uploaded_bytes.add(usize::try_from(uploaded.length).unwrap_or(usize::MAX));
                Ok((guard, uploaded))
            }
            Err(error) => {
                shared.tally.uploads_failed.add(1);
                undo(guard, &error).await;
                let error = error.not_sent(pointer);
                shared.events.send(&Event::UploadFailed { error: &error });
                Err(error)
            }
        }
    }
}

impl<H> fmt::Debug for SendStream<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendStream").field("payload", &self.payload).finish_non_exhaustive()
    }
}
