//! Sends a message with a streamed payload.

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

/// A message with a streamed payload to be sent. Its payload is stored, however small it is.
#[must_use]
pub struct SendStream<H> {
    client: ExtendedClient<H>,
    payload: Payload,
    input: SendMessageInput,
}

/// A message with a streamed payload that was sent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StreamSent {
    /// The output of SQS. The MD5 of the body is that of the pointer.
    pub output: SendMessageOutput,
    /// The object with the payload.
    pub pointer: Pointer,
    /// Its length in bytes.
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

    /// Sets how long the message is hidden at first: 0 to 900 seconds.
    pub fn delay_seconds(mut self, seconds: i32) -> Self {
        self.input.delay_seconds = Some(seconds);
        self
    }

    /// Adds an attribute of the message, at most nine.
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

    /// Sets the deduplication id of a FIFO message. Set one: content-based deduplication would use the pointer, which is different
    /// each time.
    pub fn message_deduplication_id(mut self, id: impl Into<String>) -> Self {
        self.input.message_deduplication_id = Some(id.into());
        self
    }

    /// Stores the payload and sends the message.
    ///
    /// # Errors
    /// Those of the payload and of the store; then the message was not sent. Those of the client below: the object is deleted, unless it
    /// is unknown whether the message was sent. A request that SQS may have executed is not repeated, unless the message has
    /// a deduplication id.
    ///
    /// # Cancel safety
    /// If the future is dropped, the upload is aborted or the object is deleted in the background. When the request to SQS has
    /// started, the object stays.
    pub async fn send(self) -> Result<StreamSent, Error> {
        let Self { client, payload, mut input } = self;
        let envelope = &client.shared.envelope;
        envelope.check(0, input.message_attributes.as_ref())?;
        let pointer = envelope.address(&crate::random::uuid());
        let (guard, uploaded) = client.upload_stream(&pointer, payload).await?;
        let Uploaded { length, sha256 } = uploaded;
        let body = envelope.seal(&pointer, length, sha256.as_deref(), &mut input.message_attributes);
        input.message_body = Some(body);
        // From here on, the message may exist.
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
    /// Two messages must not share an object, since deleting one would delete the payload of the other, and a stream cannot be stored
    /// twice. With a deduplication id, the queue drops the second message.
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
