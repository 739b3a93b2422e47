//! Sends: stores payloads, and sends their pointers.
//!
//! ```text
//! Input -> size decision -> PUT objects -> pointer Input -> client below -> accepted: the object stays
//!            (pure)            fails: not sent                           -> rejected: the object is deleted
//!                                                                        -> unknown:  the object stays; a repeated
//!                                                                                      request gets new objects
//! ```

use std::time::Duration;
use std::{fmt, iter};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqs_client::client::{CallOptions, Execute, Retries};
use sqs_client::operation::send_message::{SendMessage, SendMessageInput, SendMessageOutput};
use sqs_client::operation::send_message_batch::{
    SendMessageBatch, SendMessageBatchInput, SendMessageBatchOutput,
};
use sqs_client::operation::{Input as _, MaybeRepeated as _, Operation};
use sqs_client::random;
use sqs_client::types::{
    BatchResultErrorEntry, HasMetadata as _, MessageAttributeValue, MessageSystemAttributeNameForSends,
    MessageSystemAttributeValue, SendMessageBatchRequestEntry,
};
use sqs_client::wire::checksum::{Md5Hex, md5_of_attributes};
use sqs_client::wire::service_error::ErrorCode;
use tokio::time::sleep;

use crate::cleaner::{UncertainObject, UnneededObject};
use crate::client::{ExtendedClient, Rewritten, Shared};
use crate::error::{Error, ErrorKind};
use crate::format::message::{Attributes, Envelope};
use crate::format::pointer::Pointer;
use crate::format::sizes::{Selection, Sizes};
use crate::observe::Event;
use crate::payload::checks::{Digests, Progress};
use crate::payload::upload::{Payload, TEXT, Uploaded};
use crate::store::{Upload, UploadBody};

/// A message of a request whose payload is in the store.
pub(crate) struct Stored {
    place: usize,
    pub(crate) object: UncertainObject,
    /// `None` for a stream.
    original: Option<Original>,
    /// The payload to store again if the request is repeated; `None` if it is not repeated.
    text: Option<Bytes>,
}

impl<O: SendRequest> Rewritten for O {
    fn needs_rewrite<H: Execute>(client: &ExtendedClient<H>, input: &O::Input) -> bool {
        !client.selection::<O>(input, client.known_threshold(input.queue_url())).is_empty()
    }

    async fn run<H: Execute>(
        client: &ExtendedClient<H>,
        mut input: O::Input,
        options: CallOptions,
    ) -> Result<O::Output, Error> {
        let threshold = client.threshold(input.queue_url()).await;
        let selection = client.selection::<O>(&input, threshold);
        if selection.is_empty() {
            return client.below::<O>(&input, options).await;
        }
        let (stored, unsent) = client.store_payloads::<O>(&mut input, selection, options.retries).await;
        let unsent = O::remove(&mut input, unsent)?;
        if O::sizes(&input, &client.shared.envelope).next().is_none() {
            return O::finish(&input, Ok(O::Output::default()), &[], unsent);
        }
        client.send::<O>(input, stored, unsent, options).await
    }
}

impl<H: Execute> ExtendedClient<H> {
    /// Sends a request. If texts were kept, the request is repeated whenever the client below would retry it. Objects
    /// of earlier requests, which SQS may have executed, are kept; those of the last request depend on its result.
    pub(crate) async fn send<O: SendRequest>(
        &self,
        mut input: O::Input,
        mut stored: Vec<Stored>,
        unsent: Vec<BatchResultErrorEntry>,
        mut options: CallOptions,
    ) -> Result<O::Output, Error> {
        let repeats = stored.iter().any(|stored| stored.text.is_some());
        if repeats {
            options.retries = Retries::UnlessInDoubt;
        }
        let mut is_repeated = false;
        let result = loop {
            let result = self.below::<O>(&input, options.clone()).await;
            let failed = result.as_ref().err().filter(|_| repeats);
            let Some((failed, pause)) = failed.and_then(repetition) else { break result };
            sleep(pause).await;
            // An event reports the failed upload. The caller gets the error of the previous request.
            if self.store_again::<O>(&mut input, &mut stored).await.is_err() {
                break result;
            }
            options.earlier = Some(failed);
            is_repeated = true;
        };
        let originals: Vec<_> = stored.iter().filter_map(|stored| stored.original).collect();
        Self::settle::<O>(&input, stored, &result);
        let result = O::finish(&input, result, &originals, unsent);
        if is_repeated { account_for_repetition::<O>(result) } else { result }
    }

    /// Replaces the objects of all messages before their request is repeated.
    async fn store_again<O: SendRequest>(
        &self,
        input: &mut O::Input,
        stored: &mut [Stored],
    ) -> Result<(), Error> {
        let texts = stored.iter().filter_map(|stored| stored.text.clone());
        let uploads = stream::iter(texts.collect::<Vec<_>>()).map(|text| self.write_text(text));
        let objects: Vec<NewObject> =
            uploads.buffered(self.shared.settings.concurrency).try_collect().await?;
        for (stored, object) in stored.iter_mut().zip(objects) {
            if let Some(message) = O::parts(input, stored.place) {
                *message.body = self.shared.envelope.body(&object.pointer);
            }
            // This keeps the previous object, because SQS may have its message.
            stored.object = object.guard.sent();
        }
        Ok(())
    }

    /// Deletes the objects of refused messages.
    fn settle<O: SendRequest>(input: &O::Input, stored: Vec<Stored>, result: &Result<O::Output, Error>) {
        for Stored { place, object, .. } in stored {
            match O::disposition(input, place, result) {
                Disposition::Accepted => object.needed(),
                Disposition::Refused => object.unneeded().delete(),
                Disposition::Unknown => drop(object),
            }
        }
    }

    /// Stores the payloads of the selected messages. A failure affects only its message.
    async fn store_payloads<O: SendRequest>(
        &self,
        input: &mut O::Input,
        selection: Selection,
        retries: Retries,
    ) -> (Vec<Stored>, Vec<Unsent>) {
        let queue_url = input.queue_url().unwrap_or_default().to_owned();
        // FIFO queues drop duplicates, so the client below retries a request to them unchanged.
        let repeats = !queue_url.ends_with(".fifo") && retries == Retries::AsConfigured;
        let sets_ids = self.sets_ids(&queue_url, retries).await;
        let outgoing: Vec<_> = selection
            .places()
            .filter_map(|place| Some((place, self.take(O::parts(input, place)?))))
            .collect();
        let writing = stream::iter(outgoing)
            .map(|(place, outgoing)| async move { (place, self.write_outgoing(outgoing).await) });
        let written: Vec<_> = writing.buffered(self.shared.settings.concurrency).collect().await;
        let (mut stored, mut unsent) = (Vec::new(), Vec::new());
        for (place, written) in written {
            match written {
                Ok((outgoing, object)) => {
                    if let Some(message) = O::parts(input, place) {
                        self.point(&object, message, sets_ids);
                    }
                    // Failed messages before this one will be removed.
                    let place = place - unsent.len();
                    stored.push(outgoing.stored(place, object, repeats));
                }
                Err(error) => unsent.push(Unsent { place, error }),
            }
        }
        (stored, unsent)
    }

    /// Takes the body of a message.
    fn take(&self, message: MessageParts<'_>) -> Result<Outgoing, Error> {
        let MessageParts { body, attributes, .. } = message;
        self.shared.envelope.check(body.len() as u64, attributes.as_ref())?;
        let md5_of_attributes = md5_of_attributes(attributes.iter().flatten());
        Ok(Outgoing { text: std::mem::take(body).into(), md5_of_attributes })
    }

    async fn write_outgoing(
        &self,
        outgoing: Result<Outgoing, Error>,
    ) -> Result<(Outgoing, NewObject), Error> {
        let outgoing = outgoing?;
        let object = self.write_text(outgoing.text.clone()).await?;
        Ok((outgoing, object))
    }

    /// Writes the body of a message to a new object. If that fails, the message must not be sent.
    async fn write_text(&self, text: Bytes) -> Result<NewObject, Error> {
        let Digests { sha256, md5 } = Digests::of(&text).await;
        let (pointer, guard) = self.new_object();
        let uploaded = Uploaded { length: text.len() as u64, sha256: Some(sha256) };
        let mut upload = Upload::new(UploadBody::Bytes(text));
        upload.content_type = Some(TEXT.to_owned());
        let result = self.shared.store.put(&pointer, upload).await.map(|()| uploaded);
        let object = self.written(pointer, guard, result)?;
        Ok(NewObject { md5: Some(md5), ..object })
    }

    /// Like [`write_text`](Self::write_text), for a stream.
    async fn write_stream(&self, payload: Payload) -> Result<NewObject, Error> {
        let (pointer, guard) = self.new_object();
        let result = payload.put(&self.shared.store, &pointer).await;
        self.written(pointer, guard, result)
    }

    fn new_object(&self) -> (Pointer, UnneededObject) {
        let pointer = self.shared.envelope.address(&random::uuid());
        (pointer.clone(), self.shared.cleaner.new_object(pointer))
    }

    fn written(
        &self,
        pointer: Pointer,
        guard: UnneededObject,
        result: Result<Uploaded, Error>,
    ) -> Result<NewObject, Error> {
        let Shared { tally, events, .. } = &*self.shared;
        match result {
            Ok(Uploaded { length, sha256 }) => {
                tally.uploads.add(1);
                tally.uploaded_bytes.add(usize::try_from(length).unwrap_or(usize::MAX));
                Ok(NewObject { guard: guard.written(), pointer, length, sha256, md5: None })
            }
            Err(error) => {
                tally.uploads_failed.add(1);
                undo(guard, &error);
                let error = error.not_sent(&pointer);
                events.send(&Event::UploadFailed { error: &error });
                Err(error)
            }
        }
    }

    /// Puts the pointer into a message.
    ///
    /// Content-based deduplication would hash the pointer, which is different each time. With `sets_id`, the message
    /// gets an id from its payload instead.
    fn point(&self, object: &NewObject, message: MessageParts<'_>, sets_id: bool) {
        let (MessageParts { body, attributes, deduplication_id }, sha256) =
            (message, object.sha256.as_deref());
        *body = self.shared.envelope.seal(&object.pointer, object.length, sha256, attributes);
        if sets_id && deduplication_id.is_none() {
            *deduplication_id = sha256.map(str::to_owned);
        }
    }

    /// Whether messages without a deduplication id need one from their content: unless the client below generates one, as for small
    /// messages. If the attributes of the queue are unknown, they do: a duplicate is worse than an unnecessary id.
    async fn sets_ids(&self, queue_url: &str, retries: Retries) -> bool {
        queue_url.ends_with(".fifo")
            && !self.inner.generates_deduplication_ids(retries)
            && self.shared.queue_attributes.ask(&self.inner, queue_url).await.content_based_deduplication
                != Some(false)
    }

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

/// The error of a request to repeat, and the pause before the repetition.
fn repetition(error: &Error) -> Option<(sqs_client::Error, Duration)> {
    let client = error.client_error()?;
    Some((client.clone(), client.repeat_after()?))
}

/// Adds to the result that an earlier request may have been executed.
fn account_for_repetition<O: SendRequest>(result: Result<O::Output, Error>) -> Result<O::Output, Error> {
    match result {
        Ok(mut output) => {
            output.metadata_mut().maybe_repeated = true;
            Ok(output)
        }
        Err(error) => Err(error.outcome_unknown()),
    }
}

/// A message whose payload will be stored.
struct Outgoing {
    text: Bytes,
    md5_of_attributes: Option<Md5Hex>,
}

impl Outgoing {
    fn stored(self, place: usize, object: NewObject, repeats: bool) -> Stored {
        let Self { text, md5_of_attributes } = self;
        let original = object.md5.map(|md5_of_body| Original { place, md5_of_body, md5_of_attributes });
        let text = repeats.then_some(text);
        // From here on, the message may exist.
        Stored { place, object: object.guard.sent(), original, text }
    }
}

/// An object whose message is not sent yet.
pub(crate) struct NewObject {
    guard: UnneededObject,
    pub(crate) pointer: Pointer,
    pub(crate) length: u64,
    /// In hex.
    sha256: Option<String>,
    /// `None` for a stream.
    pub(crate) md5: Option<Md5Hex>,
}

/// Objects of entries that a layer above sends, perhaps several times.
impl<H: Execute> ExtendedClient<H> {
    /// Stores the body of an entry if it is over the threshold. Returns the entry with its pointer, and the object, which is
    /// deleted unless the entry is used.
    pub(crate) async fn stored(
        &self,
        queue_url: &str,
        entry: &SendMessageBatchRequestEntry,
    ) -> Result<Option<(SendMessageBatchRequestEntry, UnneededObject)>, Error> {
        let threshold = self.threshold(Some(queue_url)).await;
        let envelope = &self.shared.envelope;
        if !envelope.sizes(entry.message_body(), entry.message_attributes()).exceed(threshold) {
            return Ok(None);
        }
        envelope.check(entry.message_body().len() as u64, entry.message_attributes())?;
        // The layer above sends the entry without retries of the client below.
        let sets_id = self.sets_ids(queue_url, Retries::Never).await;
        let mut stored = entry.clone();
        let object = self.write_text(Bytes::from(std::mem::take(&mut stored.message_body))).await?;
        let parts = MessageParts {
            body: &mut stored.message_body,
            attributes: &mut stored.message_attributes,
            deduplication_id: &mut stored.message_deduplication_id,
        };
        self.point(&object, parts, sets_id);
        Ok(Some((stored, object.guard)))
    }

    /// The object of an entry from [`stored`](Self::stored). If SQS may have the message, it is kept and reported instead.
    pub(crate) fn unneeded(
        &self,
        entry: &SendMessageBatchRequestEntry,
        is_maybe_sent: bool,
    ) -> Option<UnneededObject> {
        let pointer = Pointer::from_body(entry.message_body()).ok()?;
        let prefix = &self.shared.settings.key_prefix;
        if pointer.bucket() != self.shared.store.bucket() || !pointer.key().starts_with(prefix.as_str()) {
            return None;
        }
        let object = self.shared.cleaner.object(pointer);
        // Dropping it reports it.
        (!is_maybe_sent).then(|| object.unneeded())
    }
}

/// Deletes the object of a failed upload if it may exist.
fn undo(guard: UnneededObject, error: &Error) {
    if error.is_outcome_unknown() {
        guard.delete();
    } else {
        guard.not_written();
    }
}

/// The parts of a message that change when its payload is stored.
pub(crate) struct MessageParts<'m> {
    pub(crate) body: &'m mut String,
    attributes: &'m mut Option<Attributes>,
    deduplication_id: &'m mut Option<String>,
}

/// The checksums of a message as the caller gave it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Original {
    /// The index of the message in the request.
    place: usize,
    md5_of_body: Md5Hex,
    md5_of_attributes: Option<Md5Hex>,
}

/// What SQS did with a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Disposition {
    Accepted,
    /// SQS certainly does not have the message.
    Refused,
    Unknown,
}

/// A message that was removed from the request because its payload could not be stored.
pub(crate) struct Unsent {
    /// The index of the message in the original request.
    place: usize,
    error: Error,
}

/// A request that sends messages. Messages are identified by their index in it.
pub(crate) trait SendRequest: Operation {
    fn sizes(input: &Self::Input, envelope: &Envelope) -> impl Iterator<Item = Sizes>;

    fn parts(input: &mut Self::Input, place: usize) -> Option<MessageParts<'_>>;

    /// Removes messages that are not sent, in the order of their indexes. Returns their entries for the output of a
    /// batch; a single message fails its call.
    fn remove(input: &mut Self::Input, unsent: Vec<Unsent>) -> Result<Vec<BatchResultErrorEntry>, Error>;

    fn disposition(input: &Self::Input, place: usize, result: &Result<Self::Output, Error>) -> Disposition;

    /// The result for the caller, with the checksums of the original messages and the entries that were not sent.
    fn finish(
        input: &Self::Input,
        result: Result<Self::Output, Error>,
        originals: &[Original],
        unsent: Vec<BatchResultErrorEntry>,
    ) -> Result<Self::Output, Error>;
}

/// The disposition of all messages of a failed request.
fn disposition_after(error: &Error) -> Disposition {
    if error.is_refusal() { Disposition::Refused } else { Disposition::Unknown }
}

impl SendRequest for SendMessage {
    fn sizes(input: &Self::Input, envelope: &Envelope) -> impl Iterator<Item = Sizes> {
        iter::once(envelope.sizes(input.message_body().unwrap_or_default(), input.message_attributes()))
    }

    fn parts(input: &mut Self::Input, _: usize) -> Option<MessageParts<'_>> {
        Some(MessageParts {
            body: input.message_body.get_or_insert_default(),
            attributes: &mut input.message_attributes,
            deduplication_id: &mut input.message_deduplication_id,
        })
    }

    fn remove(_: &mut Self::Input, unsent: Vec<Unsent>) -> Result<Vec<BatchResultErrorEntry>, Error> {
        unsent.into_iter().next().map_or(Ok(Vec::new()), |unsent| Err(unsent.error))
    }

    fn disposition(_: &Self::Input, _: usize, result: &Result<Self::Output, Error>) -> Disposition {
        result.as_ref().err().map_or(Disposition::Accepted, disposition_after)
    }

    fn finish(
        _: &Self::Input,
        result: Result<Self::Output, Error>,
        originals: &[Original],
        _: Vec<BatchResultErrorEntry>,
    ) -> Result<Self::Output, Error> {
        let mut output = result?;
        if let Some(original) = originals.first() {
            // Some services return no checksums.
            if output.md5_of_message_body.is_some() {
                output.md5_of_message_body = Some(original.md5_of_body.into());
            }
            if output.md5_of_message_attributes.is_some() {
                output.md5_of_message_attributes = original.md5_of_attributes.map(Into::into);
            }
        }
        Ok(output)
    }
}

/// The error code of entries whose payload could not be stored.
const NOT_STORED: &str = "PayloadNotStored";

impl SendRequest for SendMessageBatch {
    fn sizes(input: &Self::Input, envelope: &Envelope) -> impl Iterator<Item = Sizes> {
        let entries = input.entries().iter();
        entries.map(|entry| envelope.sizes(entry.message_body(), entry.message_attributes()))
    }

    fn parts(input: &mut Self::Input, place: usize) -> Option<MessageParts<'_>> {
        let entry = input.entries.as_mut()?.get_mut(place)?;
        Some(MessageParts {
            body: &mut entry.message_body,
            attributes: &mut entry.message_attributes,
            deduplication_id: &mut entry.message_deduplication_id,
        })
    }

    fn remove(input: &mut Self::Input, unsent: Vec<Unsent>) -> Result<Vec<BatchResultErrorEntry>, Error> {
        let Some(entries) = &mut input.entries else { return Ok(Vec::new()) };
        // Backwards, because removing an entry shifts the later ones.
        let mut report: Vec<_> = unsent
            .iter()
            .rev()
            .map(|Unsent { place, error }| failed_entry(entries.remove(*place).id, error))
            .collect();
        report.reverse();
        Ok(report)
    }

    fn disposition(input: &Self::Input, place: usize, result: &Result<Self::Output, Error>) -> Disposition {
        match (id(input, place), result) {
            (Some(id), Ok(output)) => disposition_in(output, id),
            (Some(id), Err(error)) => {
                error.output().map_or_else(|| disposition_after(error), |output| disposition_in(output, id))
            }
            (None, _) => Disposition::Unknown,
        }
    }

    fn finish(
        input: &Self::Input,
        result: Result<Self::Output, Error>,
        originals: &[Original],
        unsent: Vec<BatchResultErrorEntry>,
    ) -> Result<Self::Output, Error> {
        match result {
            Ok(output) => Ok(finished(input, output, originals, unsent)),
            Err(error) => Err(match (error.client_error(), error.output::<SendMessageBatchOutput>()) {
                (Some(client), Some(output)) => {
                    Error::from(client.with_output(finished(input, output.clone(), originals, unsent)))
                }
                _ => error,
            }),
        }
    }
}

fn id(input: &SendMessageBatchInput, place: usize) -> Option<&str> {
    input.entries().get(place).map(SendMessageBatchRequestEntry::id)
}

fn disposition_in(output: &SendMessageBatchOutput, id: &str) -> Disposition {
    if output.successful.iter().any(|accepted| accepted.id == id) {
        return Disposition::Accepted;
    }
    let is_failed = output.failed.iter().any(|failed| failed.id == id);
    // If the request was repeated, an earlier attempt may have been executed.
    if is_failed && !output.is_maybe_repeated() { Disposition::Refused } else { Disposition::Unknown }
}

fn finished(
    input: &SendMessageBatchInput,
    mut output: SendMessageBatchOutput,
    originals: &[Original],
    unsent: Vec<BatchResultErrorEntry>,
) -> SendMessageBatchOutput {
    for original in originals {
        let Some(id) = id(input, original.place) else { continue };
        for accepted in output.successful.iter_mut().filter(|accepted| accepted.id == id) {
            // Some services return no checksums.
            if !accepted.md5_of_message_body.is_empty() {
                accepted.md5_of_message_body = original.md5_of_body.into();
            }
            if accepted.md5_of_message_attributes.is_some() {
                accepted.md5_of_message_attributes = original.md5_of_attributes.map(Into::into);
            }
        }
    }
    output.failed.extend(unsent);
    output
}

/// It is the sender's fault if the message cannot have a pointer, but not if the store fails.
fn failed_entry(id: String, error: &Error) -> BatchResultErrorEntry {
    let is_callers = matches!(
        error.kind(),
        ErrorKind::TooManyAttributes | ErrorKind::ReservedAttribute | ErrorKind::TooLarge
    );
    let mut entry = BatchResultErrorEntry::default();
    entry.id = id;
    entry.sender_fault = is_callers;
    let code = if is_callers { ErrorCode::InvalidParameterValue.query_code() } else { NOT_STORED };
    code.clone_into(&mut entry.code);
    entry.message = Some(format!("{error:?}"));
    entry
}

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
