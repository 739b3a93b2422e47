//! Receives: each message is opened by itself.
//!
//! ```text
//! Message -> pointer? --no--> as it is
//!              | (pure)
//!              +-- invalid, or a foreign bucket --> an error, without a request
//!              +-- memory -> GET object -> length, hash, UTF-8 -> the message with the body that was sent
//! ```
//! A consumer opens each delivery under its lease, by `Execute::open`. A plain receive opens all its messages at once
//! until `open_timeout`. Messages that do not open stand beside the others, with their errors.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use sqs_client::client::{CallOptions, Execute, Unopened};
use sqs_client::operation::change_message_visibility_batch::{
    ChangeMessageVisibilityBatch, ChangeMessageVisibilityBatchInput,
};
use sqs_client::operation::delete_message::{DeleteMessage, DeleteMessageInput};
use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::types::{
    ChangeMessageVisibilityBatchRequestEntry, HasMetadata as _, Message, MessageSystemAttributeName,
    QueueAttributeName, UnopenedMessage,
};
use sqs_client::wire::checksum::Md5Hex;
use sqs_client::wire::limits::MAX_BATCH_ENTRIES;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::client::{ExtendedClient, REQUEST_TIMEOUT, Rewritten, Shared};
use crate::error::{Error, ErrorKind};
use crate::format::message::{Found, Notification, PayloadRef, request_attributes, restore};
use crate::format::pointer::{ExtendedHandle, extend_handle, original_handle};
use crate::observe::Event;
use crate::payload::body::{Body, Download, Options};
use crate::payload::checks::{Progress, md5_of};

/// The visibility timeout that is assumed if it is unknown: the default of SQS.
const DEFAULT_VISIBILITY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the delete of a message whose object is missing may take at least, also when the other messages must be returned.
const MIN_DELETE_TIME: Duration = Duration::from_secs(5);

impl Rewritten for ReceiveMessage {
    fn needs_rewrite<H: Execute>(_: &ExtendedClient<H>, _: &ReceiveMessageInput) -> bool {
        true
    }

    async fn run<H: Execute>(
        client: &ExtendedClient<H>,
        mut input: ReceiveMessageInput,
        options: CallOptions,
    ) -> Result<ReceiveMessageOutput, Error> {
        request_attributes(&mut input);
        match client.below::<Self>(&input, options).await {
            Ok(output) => client.open_output(output, &input).await,
            Err(error) => Err(match error.client_error().zip(error.output::<ReceiveMessageOutput>()) {
                Some((below, output)) => {
                    let output = client.open_output(output.clone(), &input).await?;
                    Error::from(below.with_output(output))
                }
                None => error,
            }),
        }
    }
}

impl<H: Execute> ExtendedClient<H> {
    /// The payload of a message, read from the message alone. Loads nothing.
    ///
    /// A payload in the store is [`Lazy`](MessagePayload::Lazy) here, or [`Failed`](MessagePayload::Failed) if its
    /// pointer is invalid.
    pub fn payload(&self, message: &Message) -> MessagePayload {
        match self.shared.settings.pointers.find(message) {
            Found::Pointer(payload) => MessagePayload::Lazy(payload),
            Found::Unusable(error) => MessagePayload::Failed(error),
            Found::Inline => match message.receipt_handle().and_then(ExtendedHandle::parse) {
                Some(handle) => {
                    let length = message.body().unwrap_or_default().len() as u64;
                    MessagePayload::Loaded(PayloadRef::new(handle.pointer().clone(), length, None))
                }
                None => MessagePayload::Inline,
            },
        }
    }

    /// Loads the payload of a message that came from elsewhere, or retries a failed load. Messages without a pointer
    /// are returned unchanged.
    ///
    /// A [`Message`] can be created from a record of a Lambda event ([`SqsRecord`](sqs_client::lambda::SqsRecord)), or
    /// from body, attributes and receipt handle ([`Message::builder`]). The call waits until the memory budget has room,
    /// however long that takes: set a timeout.
    ///
    /// If the payload is [`Failed`](MessagePayload::Failed), the message has the receipt handle of SQS: deleting it
    /// keeps the object. The lease is not renewed meanwhile, and
    /// [`missing_object`](crate::settings::ExtendedClientBuilder::missing_object) does not apply.
    ///
    /// # Cancel safety
    /// If the future is dropped, the message is dropped. Nothing else changes.
    pub async fn resolve(&self, message: impl Into<Message> + Send) -> ExtendedMessage {
        self.resolve_until(message.into(), &CancellationToken::new()).await
    }

    /// Opens a message, for a layer that keeps its lease.
    pub(crate) async fn opened(&self, message: Message) -> Result<Message, Error> {
        let opened = self.resolve(message).await;
        match opened.payload {
            MessagePayload::Failed(error) => {
                let unopened = self.unopened(&error);
                Err(error.leaves_unopened(unopened))
            }
            _ => Ok(opened.message),
        }
    }

    /// What to do with a message that could not be opened.
    fn unopened(&self, error: &Error) -> Unopened {
        match error.kind() {
            ErrorKind::NotFound => self.shared.settings.missing_object,
            // The operator may mend the policy, the bucket or the key soon. Until then, no message must be used up.
            ErrorKind::Forbidden | ErrorKind::Rejected => Unopened::Retry,
            _ if error.is_retryable() => Unopened::Retry,
            _ => Unopened::Release,
        }
    }

    /// The message with its payload. Fails to load it when `expired` is cancelled.
    async fn resolve_until(&self, mut message: Message, expired: &CancellationToken) -> ExtendedMessage {
        let payload = match self.payload(&message) {
            MessagePayload::Lazy(payload) => match self.load(&message, &payload, expired).await {
                Ok(text) => {
                    extend(&mut message, &payload);
                    restore(&mut message, text.body, text.md5);
                    MessagePayload::Loaded(payload)
                }
                Err(error) => {
                    // The pointer may move to another queue. Whoever deletes this message has not seen its payload.
                    message.receipt_handle = original_handle(&message);
                    MessagePayload::Failed(error)
                }
            },
            payload => payload,
        };
        if let MessagePayload::Failed(error) = &payload {
            self.report_failed(&message, error);
        }
        ExtendedMessage { message, payload, shared: Arc::clone(&self.shared) }
    }

    async fn load(
        &self,
        message: &Message,
        payload: &PayloadRef,
        expired: &CancellationToken,
    ) -> Result<Text, Error> {
        expired.run_until_cancelled(self.shared.load(message, payload)).await.unwrap_or_else(|| {
            let at = payload.pointer();
            let text = format!("reading {at}: the payload did not load in time (see open_timeout)");
            Err(Error::new(ErrorKind::Unavailable, text).at(at))
        })
    }

    fn report_failed(&self, message: &Message, error: &Error) {
        self.shared.tally.payloads_failed.add(1);
        let message_id = message.message_id().unwrap_or_default();
        self.shared.events.send(&Event::PayloadFailed { message_id, error });
    }

    /// Opens the messages of a plain receive. Those that do not open move to
    /// [`unopened_messages`](ReceiveMessageOutput::unopened_messages).
    async fn open_output(
        &self,
        mut output: ReceiveMessageOutput,
        input: &ReceiveMessageInput,
    ) -> Result<ReceiveMessageOutput, Error> {
        let pointers = &self.shared.settings.pointers;
        let has_pointers =
            |messages: &mut Vec<Message>| messages.iter().any(|message| pointers.has_pointer(message));
        let Some(messages) = output.messages.take_if(has_pointers) else { return Ok(output) };
        // Boxed: the future is large, and most receives return no pointers.
        let order = self.order(&messages, input);
        let opened = Box::pin(self.open_all(messages, input, order)).await;
        let (mut messages, mut unopened) = (Vec::new(), Vec::new());
        for ExtendedMessage { message, payload, .. } in opened {
            match payload {
                MessagePayload::Failed(error) if self.shared.settings.fails_receives => return Err(error),
                MessagePayload::Failed(error) => unopened.push(UnopenedMessage::new(message, error)),
                _ => messages.push(message),
            }
        }
        output.messages = Some(messages);
        output.metadata_mut().unopened.extend(unopened);
        Ok(output)
    }

    /// Receives messages, with their payloads unless it is lazy. Damaged messages come last, unchanged.
    async fn receive_opened(
        &self,
        input: &ReceiveMessageInput,
        is_lazy: bool,
    ) -> Result<Vec<ExtendedMessage>, Error> {
        let result = self.below::<ReceiveMessage>(input, CallOptions::default()).await;
        let mut output = match result {
            Ok(output) => output,
            Err(error) => error.output().cloned().ok_or(error)?,
        };
        let messages = output.messages.take().unwrap_or_default();
        let damaged = output.damaged_messages().iter();
        let damaged = damaged.map(|one| (&one.message, Error::from(sqs_client::Error::from(one))));
        // A layer below could not open them.
        let unopened = output.unopened_messages().iter().map(|one| {
            let error = one.error.downcast_ref::<Error>().cloned();
            (&one.message, error.unwrap_or_else(|| Error::new(ErrorKind::Client, one.error.to_string())))
        });
        let failed: Vec<_> = damaged.chain(unopened).collect();
        let order = self.order(&messages, input).behind(failed.iter().map(|(message, _)| *message));
        let mut opened = if is_lazy {
            order.keep(messages.into_iter().map(|message| self.not_loaded(message)).enumerate())
        } else {
            self.open_all(messages, input, order).await
        };
        for (message, error) in failed {
            self.report_failed(message, &error);
            let (payload, shared) = (MessagePayload::Failed(error), Arc::clone(&self.shared));
            opened.push(ExtendedMessage { message: message.clone(), payload, shared });
        }
        Ok(opened)
    }

    /// The message without its payload.
    fn not_loaded(&self, mut message: Message) -> ExtendedMessage {
        let payload = self.payload(&message);
        match &payload {
            MessagePayload::Lazy(payload) => extend(&mut message, payload),
            MessagePayload::Failed(error) => self.report_failed(&message, error),
            MessagePayload::Inline | MessagePayload::Loaded(_) => {}
        }
        ExtendedMessage { message, payload, shared: Arc::clone(&self.shared) }
    }

    /// Opens the messages of a receive, in order. Those that a policy deletes are left out. If the future is dropped, all are
    /// made visible again.
    async fn open_all(
        &self,
        messages: Vec<Message>,
        input: &ReceiveMessageInput,
        order: GroupOrder,
    ) -> Vec<ExtendedMessage> {
        let queue_url = input.queue_url().unwrap_or_default();
        let handles = messages.iter().filter_map(original_handle).collect();
        let release = ReleaseOnDrop { client: self.clone(), queue_url: queue_url.to_owned(), handles };
        let expired = CancellationToken::new();
        let opening = async {
            let expired = &expired;
            let opening = stream::iter(messages.into_iter().enumerate())
                .map(|(place, message)| async move { (place, self.resolve_until(message, expired).await) });
            // All at once: behind some that hang, others would never be tried, and SQS counts each receive. The memory budget
            // bounds what they take.
            let mut opened: Vec<_> = opening.buffer_unordered(MAX_BATCH_ENTRIES).collect().await;
            opened.sort_unstable_by_key(|(place, _)| *place);
            let kept = stream::iter(opened).map(|(place, message)| async move {
                Some((place, self.unless_deleted(message, queue_url, expired).await?))
            });
            kept.buffered(MAX_BATCH_ENTRIES).filter_map(std::future::ready).collect::<Vec<_>>().await
        };
        let mut opening = std::pin::pin!(opening);
        let kept = tokio::select! {
            biased;
            kept = opening.as_mut() => kept,
            () = self.open_timeout(input) => {
                expired.cancel();
                opening.await
            }
        };
        release.delivered();
        order.keep(kept)
    }

    /// The order of messages that are about to be opened.
    fn order(&self, messages: &[Message], input: &ReceiveMessageInput) -> GroupOrder {
        let is_fifo = input.queue_url().is_some_and(|url| url.ends_with(".fifo"));
        let pointers = &self.shared.settings.pointers;
        // Messages with pointers are short.
        let copy = |message: &Message| pointers.has_pointer(message).then(|| message.clone());
        GroupOrder { received: is_fifo.then(|| messages.iter().map(copy).collect()), failed: HashMap::new() }
    }

    /// Ends when the messages of a receive that has just ended must be returned.
    async fn open_timeout(&self, input: &ReceiveMessageInput) {
        let received = Instant::now();
        let asked = input.visibility_timeout().and_then(|seconds| u64::try_from(seconds).ok());
        let half = |timeout: Option<Duration>| {
            timeout.filter(|timeout| !timeout.is_zero()).unwrap_or(DEFAULT_VISIBILITY_TIMEOUT) / 2
        };
        let timeout = match (self.shared.settings.open_timeout, asked) {
            (Some(timeout), _) => timeout,
            (None, Some(seconds)) => half(Some(Duration::from_secs(seconds))),
            (None, None) => {
                let (client, queue_url) = (self.clone(), input.queue_url().unwrap_or_default().to_owned());
                let (answer, asked) = oneshot::channel();
                let shared = Arc::clone(&self.shared);
                // In a task: the answer is cached also if the payloads are here before.
                shared.cleaner.spawn(async move {
                    let asked = client.shared.queue_attributes.ask(&client.inner, &queue_url).await;
                    // Nobody waits for it any more.
                    let _ = answer.send(asked.visibility_timeout);
                });
                let answer = timeout(half(None), asked).await;
                half(answer.ok().and_then(Result::ok).flatten())
            }
        };
        match received.checked_add(timeout) {
            Some(end) => sleep_until(end).await,
            None => std::future::pending().await,
        }
    }

    /// Deletes the message if its object is missing and the policy says so. Otherwise returns it, also if the delete takes too long
    /// after `expired` is cancelled.
    async fn unless_deleted(
        &self,
        message: ExtendedMessage,
        queue_url: &str,
        expired: &CancellationToken,
    ) -> Option<ExtendedMessage> {
        let MessagePayload::Failed(error) = &message.payload else { return Some(message) };
        if self.unopened(error) != Unopened::Delete {
            return Some(message);
        }
        let mut input = DeleteMessageInput::default();
        input.queue_url = Some(queue_url.to_owned());
        input.receipt_handle = original_handle(&message.message);
        let deleting = timeout(REQUEST_TIMEOUT, self.below::<DeleteMessage>(&input, CallOptions::default()));
        let late = async { tokio::join!(expired.cancelled(), sleep(MIN_DELETE_TIME)) };
        let deleted = tokio::select! {
            biased;
            deleted = deleting => deleted.ok(),
            _ = late => None,
        };
        let error = deleted.unwrap_or_else(|| Err(no_response("deleting the message"))).err()?;
        let message_id = message.message.message_id().unwrap_or_default();
        self.shared.events.send(&Event::PolicyFailed { message_id, error: &error });
        Some(message)
    }

    /// Makes messages visible again.
    async fn release(&self, queue_url: String, handles: Vec<String>) -> Result<(), Error> {
        let entries = handles.into_iter().enumerate().map(|(place, handle)| {
            let mut entry = ChangeMessageVisibilityBatchRequestEntry::default();
            (entry.id, entry.receipt_handle) = (place.to_string(), handle);
            entry.visibility_timeout = Some(0);
            entry
        });
        let mut input = ChangeMessageVisibilityBatchInput::default();
        (input.queue_url, input.entries) = (Some(queue_url), Some(entries.collect()));
        let releasing = self.below::<ChangeMessageVisibilityBatch>(&input, CallOptions::default());
        let output = timeout(REQUEST_TIMEOUT, releasing).await;
        let output = output.unwrap_or_else(|_| Err(no_response("making messages visible again")))?;
        if output.failed.is_empty() {
            return Ok(());
        }
        let texts = output
            .failed
            .iter()
            .map(|entry| format!("{} ({})", entry.code(), entry.message().unwrap_or("no message")));
        let text = format!("messages are still hidden: {}", texts.collect::<Vec<_>>().join(", "));
        Err(Error::new(ErrorKind::Client, text))
    }

    /// Receives up to ten messages with all attributes, and waits up to 20 seconds for the first.
    pub fn receive(&self, queue_url: impl Into<String>) -> Receive<H> {
        let mut input = ReceiveMessageInput::default();
        input.queue_url = Some(queue_url.into());
        input.max_number_of_messages = Some(10);
        input.wait_time_seconds = Some(20);
        input.message_attribute_names = Some(vec!["All".to_owned()]);
        input.message_system_attribute_names = Some(vec![MessageSystemAttributeName::All]);
        // Older compatible services know only this name. Without it, FIFO messages have no group.
        input.attribute_names = Some(vec![QueueAttributeName::All]);
        Receive { client: self.clone(), input, is_lazy: false }
    }

    /// The payload of a message as a stream, in bounded memory.
    ///
    /// The message may come from a plain client or from a Lambda event. For messages of [`receive`](Self::receive), see
    /// [`ExtendedMessage::body_stream`].
    pub fn body_stream(&self, message: &Message) -> BodyStream {
        match self.shared.settings.pointers.find(message) {
            Found::Inline => BodyStream::in_message(message),
            Found::Pointer(payload) => BodyStream::in_store(payload, &self.shared),
            Found::Unusable(error) => BodyStream::failed(error),
        }
    }
}

/// The error of a request of the client itself that took too long.
fn no_response(what: &str) -> Error {
    Error::new(ErrorKind::Unavailable, format!("{what}: SQS did not respond in time")).outcome_unknown()
}

/// Makes messages visible again in the background on drop, because a receive may be dropped while it loads payloads.
/// Uses receipt handles of SQS.
struct ReleaseOnDrop<H: Execute> {
    client: ExtendedClient<H>,
    queue_url: String,
    handles: Vec<String>,
}

impl<H: Execute> ReleaseOnDrop<H> {
    /// The messages are returned, so they are not released.
    fn delivered(mut self) {
        self.handles.clear();
    }
}

impl<H: Execute> Drop for ReleaseOnDrop<H> {
    fn drop(&mut self) {
        let handles = std::mem::take(&mut self.handles);
        if handles.is_empty() {
            return;
        }
        let (client, queue_url) = (self.client.clone(), std::mem::take(&mut self.queue_url));
        // Without a runtime, the messages become visible when their visibility timeout is over.
        self.client.shared.cleaner.spawn(async move {
            if let Err(error) = client.release(queue_url, handles).await {
                client.shared.events.send(&Event::ReleaseFailed { error: &error });
            }
        });
    }
}

/// The order of the groups of a FIFO queue: later messages of a group must not overtake one that could not be opened.
struct GroupOrder {
    /// Messages with pointers as they were received, by place. `None` for a standard queue.
    received: Option<Vec<Option<Message>>>,
    /// Groups with a message that is not among the others, with its sequence number: the first one if there are several.
    failed: HashMap<Option<String>, Option<u128>>,
}

impl GroupOrder {
    /// Messages that failed before the others are opened go before those that were sent later in their groups.
    fn behind<'m>(mut self, failed: impl Iterator<Item = &'m Message>) -> Self {
        for message in failed {
            let number = Self::sequence_number(message);
            let first = self.failed.entry(Self::group(message)).or_insert(number);
            *first = (*first).min(number);
        }
        self
    }

    /// Fails the messages behind one of their group that failed. `opened` are in order, each with its place.
    fn keep(self, opened: impl IntoIterator<Item = (usize, ExtendedMessage)>) -> Vec<ExtendedMessage> {
        let (Self { received, failed }, mut interrupted) = (self, HashSet::new());
        let opened = opened.into_iter();
        let Some(mut received) = received else { return opened.map(|(_, message)| message).collect() };
        // Without the numbers, it is unknown which one was sent first.
        let is_before = |first: Option<u128>, number: Option<u128>| {
            first.zip(number).is_none_or(|(first, number)| first < number)
        };
        let number = Self::sequence_number;
        let in_order = |(place, mut opened): (usize, ExtendedMessage)| {
            let group = Self::group(&opened.message);
            if matches!(opened.payload, MessagePayload::Failed(_)) {
                interrupted.insert(group);
            } else if interrupted.contains(&group)
                || failed.get(&group).is_some_and(|first| is_before(*first, number(&opened.message)))
            {
                if let Some(message) = received.get_mut(place).and_then(Option::take) {
                    opened.message = message;
                }
                let text = "an earlier message of its group could not be opened";
                opened.payload = MessagePayload::Failed(Error::new(ErrorKind::Unavailable, text));
            }
            opened
        };
        opened.map(in_order).collect()
    }

    /// `None` if the caller did not ask for it: such messages count as one group.
    fn group(message: &Message) -> Option<String> {
        message.attributes()?.get(&MessageSystemAttributeName::MessageGroupId).cloned()
    }

    fn sequence_number(message: &Message) -> Option<u128> {
        message.attributes()?.get(&MessageSystemAttributeName::SequenceNumber)?.parse().ok()
    }
}

/// A loaded payload.
struct Text {
    body: String,
    md5: Md5Hex,
}

impl Text {
    async fn of(text: String) -> Self {
        let (body, md5) = md5_of(text).await;
        Self { body, md5 }
    }
}

impl Shared {
    /// Opens a payload for reading.
    async fn open(&self, payload: &PayloadRef, options: Options) -> Result<Body, Error> {
        let download = Download {
            store: self.store.clone(),
            at: payload.pointer().clone(),
            length: payload.length(),
            sha256: payload.sha256().map(str::to_owned),
        };
        download.open(options).await.map_err(|error| error.at(payload.pointer()))
    }

    /// Opens a payload as a stream.
    async fn stream(self: Arc<Self>, payload: PayloadRef, options: Options) -> Result<Body, Error> {
        let body = self.open(&payload, options).await?;
        self.tally.downloads.add(1);
        Ok(body)
    }

    /// Loads the payload of a message. Its body waits until the memory budget has room for it.
    async fn load(&self, message: &Message, payload: &PayloadRef) -> Result<Text, Error> {
        let limit = self.settings.max_payload_bytes;
        let mut options = Options { is_binary: true, limit, ..Options::default() };
        // Ranges that are read ahead would need more memory.
        options.plan.at_once = 1;
        let body = self.open(payload, options).await?;
        // After the store has answered: one that hangs must not keep the budget from others.
        // A notification is written anew around its payload, so there are two copies for a while.
        let copies = if payload.is_in_notification() { 2 } else { 1 };
        let _room = self.memory.take(payload.length().saturating_mul(copies)).await;
        let limit = load_timeout(self.store.timeout(), payload.length());
        let text = timeout(limit, body.text(usize::MAX)).await.unwrap_or_else(|_| {
            let at = payload.pointer();
            let text = format!("reading {at}: the payload did not load within {limit:?} (see store_timeout)");
            Err(Error::new(ErrorKind::Unavailable, text))
        });
        let text = text.map_err(|error| error.at(payload.pointer()))?;
        self.tally.downloads.add(1);
        self.tally.downloaded_bytes.add(text.len());
        if payload.is_in_notification() { notified(message, text).await } else { Ok(Text::of(text).await) }
    }
}

/// Bytes of a payload that must load in a second.
const LOAD_RATE: u64 = 1 << 20;

/// How long a payload may take to load. The time limit of each piece is not enough: a body that trickles would keep its memory
/// from all others.
fn load_timeout(store_timeout: Duration, length: u64) -> Duration {
    store_timeout.saturating_add(Duration::from_secs(length.div_ceil(LOAD_RATE)))
}

/// Adds the pointer to the receipt handle, so that deleting the message deletes its object. Not for notifications:
/// other queues may have the same pointer.
fn extend(message: &mut Message, payload: &PayloadRef) {
    if !payload.is_in_notification() {
        extend_handle(message, payload.pointer());
    }
}

/// The notification of a message, with its payload inserted.
async fn notified(message: &Message, text: String) -> Result<Text, Error> {
    let Some(notification) = message.body().and_then(Notification::parse) else {
        return Ok(Text::of(text).await);
    };
    // Writing JSON blocks for as long as hashing does.
    let body = tokio::task::spawn_blocking(move || notification.with_message(text)).await;
    let ended = |error| Error::new(ErrorKind::Unavailable, format!("a task of the receive ended: {error}"));
    Ok(Text::of(body.map_err(ended)?).await)
}

/// The unit of the memory budget in bytes: a semaphore has fewer permits on 32-bit systems.
const UNIT: u64 = 1 << 10;

/// Payloads of at most this many bytes may use the reserved share of the budget.
const SMALL: u64 = 1 << 20;

/// The budget is divided by this number; one share is reserved.
const SHARES: u32 = 8;

/// Limits the bytes of payloads that are loaded at a time.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    /// Those that all payloads share.
    units: u32,
    free: Semaphore,
    /// For small payloads: large ones whose bodies stall must not hold them up.
    reserved: Semaphore,
}

impl MemoryBudget {
    pub(crate) fn new(bytes: u64) -> Self {
        let most = u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX);
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(most).clamp(1, most);
        // Too small a share would have no room for any.
        let reserved =
            Some(units / SHARES).filter(|share| u64::from(*share) * UNIT >= SMALL).unwrap_or_default();
        let units = units - reserved;
        Self { units, free: Semaphore::new(units as usize), reserved: Semaphore::new(reserved as usize) }
    }

    /// Waits until this number of bytes is free, first come, first served. A payload over the whole budget loads alone, apart from small
    /// ones.
    async fn take(&self, bytes: u64) -> Option<SemaphorePermit<'_>> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).min(self.units);
        // The semaphores are never closed.
        tokio::select! {
            biased;
            room = self.reserved.acquire_many(units), if bytes <= SMALL => room.ok(),
            room = self.free.acquire_many(units) => room.ok(),
        }
    }
}

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

    /// The payload as a stream, in bounded memory. It is read from the message, or from the store if it was not loaded
    /// ([`lazy`](Receive::lazy)) or could not be loaded, for example because it is too large for memory.
    ///
    /// ```no_run
    /// # async fn read(client: sqs_extended::ExtendedClient, url: &str) -> Result<(), Box<dyn std::error::Error>> {
    /// for received in client.receive(url).lazy().send().await? {
    ///     let body = received.body_stream().binary().await?;
    ///     body.write_to_path("video.bin").await?;
    ///     client.queue(url).delete(&received.message).send().await?;
    /// }
    /// # Ok(()) }
    /// ```
    pub fn body_stream(&self) -> BodyStream {
        match &self.payload {
            MessagePayload::Inline | MessagePayload::Loaded(_) => BodyStream::in_message(&self.message),
            MessagePayload::Lazy(payload) => BodyStream::in_store(payload.clone(), &self.shared),
            MessagePayload::Failed(error) => match self.shared.settings.pointers.find(&self.message) {
                // A message with a wrong checksum is not trusted, so its pointer is not followed.
                Found::Pointer(payload) if error.kind() != ErrorKind::Client => {
                    BodyStream::in_store(payload, &self.shared)
                }
                _ => BodyStream::failed(error.clone()),
            },
        }
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

    /// Receives messages and loads their payloads. A payload that cannot be loaded does not affect other messages, but those behind
    /// it in its group of a FIFO queue: they are [`Failed`](MessagePayload::Failed) with [`ErrorKind::Unavailable`]. A message with a
    /// wrong checksum is [`Failed`](MessagePayload::Failed) with the error of the client below, and comes last. On FIFO queues, those
    /// behind it in its group are `Failed`, too.
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

/// The payload of a message as a stream. Await it to open the stream.
///
/// The client's limits on downloads and memory do not apply to streams, and leases are not renewed while a stream is
/// read. Use a long visibility timeout for messages with large payloads, or a consumer over the client below, which renews it: a
/// consumer over the extended client loads each payload.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let url = server.client().create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// # let client = sqs_extended::ExtendedClient::new(server.client(), sqs_extended::MemoryStore::new("payloads"));
/// use futures_util::StreamExt as _;
///
/// client.send_stream(&url, "tea ".repeat(100_000)).send().await?;
/// for received in client.receive(&url).lazy().send().await? {
///     let mut body = received.body_stream().await?;
///     let mut bytes = 0;
///     while let Some(piece) = body.next().await {
///         bytes += piece?.len(); // verified when the stream has ended without an error
///     }
///     assert_eq!(bytes, 400_000);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct BodyStream {
    from: Result<From, Error>,
    options: Options,
}

enum From {
    Message(Bytes),
    Store(PayloadRef, Arc<Shared>),
}

impl BodyStream {
    fn in_message(message: &Message) -> Self {
        Self::from(Ok(From::Message(message.body().unwrap_or_default().to_owned().into())))
    }

    fn in_store(payload: PayloadRef, shared: &Arc<Shared>) -> Self {
        Self::from(Ok(From::Store(payload, Arc::clone(shared))))
    }

    fn failed(error: Error) -> Self {
        Self::from(Err(error))
    }

    fn from(from: Result<From, Error>) -> Self {
        Self { from, options: Options::default() }
    }

    /// Allows bytes that are not UTF-8.
    pub fn binary(mut self) -> Self {
        self.options.is_binary = true;
        self
    }

    /// Sets the maximum length in bytes: 2,147,483,647 by default. A longer payload fails with [`ErrorKind::TooLarge`].
    pub fn max_length(mut self, bytes: u64) -> Self {
        self.options.limit = bytes;
        self
    }

    /// Sets how many ranges of 8 MiB are read at a time: 4 by default; 1 reads the payload in a single request. They are held in memory
    /// until their turn, and so is the range that is returned.
    pub fn ranges_at_once(mut self, ranges: usize) -> Self {
        self.options.plan.at_once = ranges;
        self
    }

    /// Sets a function that is called for each piece from the store.
    pub fn progress(mut self, listener: impl FnMut(Progress) + Send + 'static) -> Self {
        self.options.listener = Some(Box::new(listener));
        self
    }

    /// Opens the stream.
    ///
    /// # Errors
    /// The pointer is invalid, or the store failed; [`ErrorKind::Damaged`] if the object has a different length than
    /// the message says; [`ErrorKind::TooLarge`]; the error of a message with a wrong checksum.
    ///
    /// # Cancel safety
    /// If the future is dropped, no stream is opened.
    pub async fn open(self) -> Result<Body, Error> {
        match self.from? {
            From::Message(body) => Ok(Body::whole(body)),
            From::Store(payload, shared) => shared.stream(payload, self.options).await,
        }
    }
}

impl IntoFuture for BodyStream {
    type Output = Result<Body, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.open())
    }
}

impl fmt::Debug for BodyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("BodyStream");
        match &self.from {
            Ok(From::Message(body)) => debug.field("length", &body.len()),
            Ok(From::Store(payload, _)) => debug.field("payload", payload),
            Err(error) => debug.field("error", error),
        };
        debug.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn has_room(budget: &MemoryBudget, bytes: u64) -> bool {
        timeout(Duration::from_secs(1), budget.take(bytes)).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn small_payloads_have_room_while_large_ones_hold_the_rest_of_the_budget() {
        let budget = MemoryBudget::new(16 << 20);
        let large = budget.take(u64::MAX).await;
        assert!(!has_room(&budget, SMALL + 1).await);
        let small = [budget.take(SMALL).await, budget.take(SMALL).await];
        assert!(!has_room(&budget, 1).await, "the reserved share is used up");
        drop(large);
        assert!(has_room(&budget, 14 << 20).await && has_room(&budget, 1).await);
        drop(small);
        assert!(has_room(&budget, SMALL).await);
    }

    #[tokio::test(start_paused = true)]
    async fn budget_without_room_for_a_reserved_share_has_none() {
        let budget = MemoryBudget::new((8 << 20) - UNIT);
        let _all = budget.take(8 << 20).await;
        assert!(!has_room(&budget, 1).await);
    }
}
