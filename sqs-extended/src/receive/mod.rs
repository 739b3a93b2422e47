//! Receives: gives messages their payloads.
//!
//! ```text
//! Message -> pointer? --no--> as it is
//!              | (pure)
//!              +-- invalid, or a foreign bucket --> as it is, without a request
//!              +-- GET object, at most 4 at a time -> length, hash, UTF-8 -> Message with the body that was sent
//!                     fails --> as it is, with the error
//! ```

pub(crate) mod body_stream;
pub(crate) mod message;

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use sqs_client::client::{CallOptions, Execute, Unopened};
use sqs_client::operation::change_message_visibility::{
    ChangeMessageVisibility, ChangeMessageVisibilityInput,
};
use sqs_client::operation::change_message_visibility_batch::{
    ChangeMessageVisibilityBatch, ChangeMessageVisibilityBatchInput,
};
use sqs_client::operation::delete_message::{DeleteMessage, DeleteMessageInput};
use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::types::{ChangeMessageVisibilityBatchRequestEntry, Message};
use sqs_client::wire::checksum::Md5Hex;
use sqs_client::wire::limits::MAX_BATCH_ENTRIES;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout, timeout_at};

use crate::client::{ExtendedClient, Rewritten, Shared};
use crate::error::{Error, ErrorKind};
use crate::format::handle::{ExtendedHandle, extend_handle, original_handle};
use crate::format::message::{Found, PayloadRef, request_attributes, restore};
use crate::format::sns::Notification;
use crate::observe::Event;
use crate::payload::body::{Body, Download, Options};
use crate::payload::checks::md5_of;
use crate::receive::message::{ExtendedMessage, MessagePayload};
use crate::settings::MissingObject;

impl Rewritten for ReceiveMessage {
    fn needs_rewrite<H: Execute>(_: &ExtendedClient<H>, _: &ReceiveMessageInput) -> bool {
        true
    }

    /// A damaged message does not affect the payloads of the others.
    async fn run<H: Execute>(
        client: &ExtendedClient<H>,
        mut input: ReceiveMessageInput,
        options: CallOptions,
    ) -> Result<ReceiveMessageOutput, Error> {
        request_attributes(&mut input);
        match client.below::<Self>(&input, options).await {
            Ok(output) => Ok(client.open_output(output, &LeaseTerms::of(&input)).await),
            Err(error) => Err(match error.client_error().zip(output_of(&error)) {
                Some((below, output)) => {
                    let output = client.open_output(output.clone(), &LeaseTerms::of(&input)).await;
                    Error::from(below.with_output(output))
                }
                None => error,
            }),
        }
    }
}

/// The output in a checksum error.
fn output_of(error: &Error) -> Option<&ReceiveMessageOutput> {
    error.client_error()?.output()
}

impl<H: Execute> ExtendedClient<H> {
    async fn open_output(
        &self,
        mut output: ReceiveMessageOutput,
        terms: &LeaseTerms,
    ) -> ReceiveMessageOutput {
        let pointers = &self.shared.settings.pointers;
        if output.messages().iter().any(|message| pointers.has_pointer(message))
            && let Some(messages) = output.messages.take()
        {
            // Boxed: the future is large, and most receives return no pointers.
            let opened = Box::pin(self.open_all(messages, false, terms)).await;
            output.messages = Some(opened.into_iter().map(|opened| opened.message).collect());
        }
        output
    }

    /// Receives messages with their payloads. Damaged messages come last, unchanged.
    pub(crate) async fn receive_opened(
        &self,
        input: &ReceiveMessageInput,
        is_lazy: bool,
    ) -> Result<Vec<ExtendedMessage>, Error> {
        let result = self.below::<ReceiveMessage>(input, CallOptions::default()).await;
        let mut output = match result {
            Ok(output) => output,
            Err(error) => output_of(&error).cloned().ok_or(error)?,
        };
        let messages = output.messages.take().unwrap_or_default();
        let mut opened = self.open_all(messages, is_lazy, &LeaseTerms::of(input)).await;
        for damaged in output.damaged_messages() {
            let (message, error) = (damaged.message.clone(), Error::from(sqs_client::Error::from(damaged)));
            self.report_failed(&message, &error);
            let (payload, shared) = (MessagePayload::Failed(error), Arc::clone(&self.shared));
            opened.push(ExtendedMessage { message, payload, shared });
        }
        Ok(opened)
    }

    /// The payload of a message, read from the message alone. Loads nothing.
    ///
    /// Use it for messages of [`receive_message`](Self::receive_message) or of a consumer. A payload that could not be
    /// loaded is [`Lazy`](MessagePayload::Lazy) here, or [`Failed`](MessagePayload::Failed) if its pointer is invalid.
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
    /// from body, attributes and receipt handle ([`Message::builder`]). The call waits for the memory budget and for
    /// other downloads of the client, up to an hour in all: set a timeout.
    ///
    /// If the payload is [`Failed`](MessagePayload::Failed), the message has the receipt handle of SQS: deleting it
    /// keeps the object. The lease is not renewed meanwhile, and [`MissingObject`](crate::settings::MissingObject) does not
    /// apply.
    ///
    /// # Cancel safety
    /// If the future is dropped, the message is dropped. Nothing else changes.
    pub async fn resolve(&self, message: impl Into<Message> + Send) -> ExtendedMessage {
        let (message, end) = (message.into(), Instant::now() + MAX_HOLD);
        let found = self.payload(&message);
        // If the budget is not free in time, the load fails at once.
        let _budget = timeout_at(end, self.shared.memory.take(self.bytes_to_load(&found))).await;
        self.open_found(message, found, LoadPlan::Until(end)).await
    }

    /// The message with its payload.
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

    fn unopened(&self, error: &Error) -> Unopened {
        match self.shared.settings.missing_object {
            MissingObject::DeleteMessage if error.kind() == ErrorKind::NotFound => Unopened::Delete,
            _ if error.is_retryable() => Unopened::Retry,
            _ => Unopened::Release,
        }
    }

    async fn open_found(
        &self,
        mut message: Message,
        found: MessagePayload,
        load: LoadPlan,
    ) -> ExtendedMessage {
        let shared = Arc::clone(&self.shared);
        if let MessagePayload::Failed(error) = &found {
            self.report_failed(&message, error);
        }
        let MessagePayload::Lazy(reference) = found else {
            return ExtendedMessage { message, payload: found, shared };
        };
        let loaded = match load {
            LoadPlan::Never => {
                extend(&mut message, &reference);
                return ExtendedMessage { message, payload: MessagePayload::Lazy(reference), shared };
            }
            LoadPlan::Until(end) => shared.load_until(&reference, end).await,
            LoadPlan::OverBudget => Err(self.over_budget(&reference)),
        };
        let loaded = match loaded {
            Ok(text) if reference.is_in_notification() => notified(&message, text).await,
            loaded => loaded,
        };
        let payload = match loaded {
            Ok(text) => {
                extend(&mut message, &reference);
                restore(&mut message, text.body, text.md5);
                MessagePayload::Loaded(reference)
            }
            Err(error) => {
                // The pointer may move to another queue. Whoever deletes this message has not seen its payload.
                message.receipt_handle = original_handle(&message);
                self.report_failed(&message, &error);
                MessagePayload::Failed(error)
            }
        };
        ExtendedMessage { message, payload, shared }
    }

    /// The length of a payload that will be loaded. A payload over the limit fails without a request and needs no
    /// memory.
    fn bytes_to_load(&self, payload: &MessagePayload) -> u64 {
        match payload {
            MessagePayload::Lazy(payload) if payload.length() <= self.shared.settings.max_payload_bytes => {
                payload.length()
            }
            _ => 0,
        }
    }

    fn over_budget(&self, payload: &PayloadRef) -> Error {
        let (at, budget) = (payload.pointer(), self.shared.memory.bytes());
        let text = format!(
            "reading {at}: the payloads of the receive exceed memory_budget ({budget} bytes); receive the message again, or use body_stream"
        );
        Error::new(ErrorKind::Unavailable, text).at(at)
    }

    pub(crate) fn report_failed(&self, message: &Message, error: &Error) {
        self.shared.tally.payloads_failed.add(1);
        let message_id = message.message_id().unwrap_or_default();
        self.shared.events.send(&Event::PayloadFailed { message_id, error });
    }

    /// Returns all messages of a receive in order, except those that [`MissingObject`](crate::settings::MissingObject) removes.
    /// If the future is dropped, the messages are made visible again.
    pub(crate) async fn open_all(
        &self,
        messages: Vec<Message>,
        is_lazy: bool,
        terms: &LeaseTerms,
    ) -> Vec<ExtendedMessage> {
        let pointers = &self.shared.settings.pointers;
        let is_loading = !is_lazy && messages.iter().any(|message| pointers.has_pointer(message));
        let handles: Vec<_> = messages.iter().filter(|_| is_loading).filter_map(original_handle).collect();
        let release = ReleaseOnDrop::new(self, &terms.queue_url, handles);
        let opened = if is_loading {
            self.holding(terms, release.handles(), self.load_all(messages)).await
        } else {
            let opening = stream::iter(messages).then(|message| {
                let found = self.payload(&message);
                self.open_found(message, found, LoadPlan::Never)
            });
            opening.collect().await
        };
        let sorted =
            stream::iter(opened).then(|message| self.apply_missing_policy(message, &terms.queue_url));
        let sorted = sorted.filter_map(std::future::ready).collect().await;
        release.delivered();
        sorted
    }

    /// Loads the payloads of a receive, as many as the memory budget allows. It takes the budget in one step, so that
    /// two receives cannot wait for each other.
    async fn load_all(&self, messages: Vec<Message>) -> Vec<ExtendedMessage> {
        let (end, mut left) = (Instant::now() + MAX_HOLD, self.shared.memory.bytes());
        let planned: Vec<_> = messages
            .into_iter()
            .map(|message| {
                let found = self.payload(&message);
                let rest = left.checked_sub(self.bytes_to_load(&found));
                left = rest.unwrap_or(left);
                (message, found, if rest.is_some() { LoadPlan::Until(end) } else { LoadPlan::OverBudget })
            })
            .collect();
        // If the budget is not free in time, each load fails at once.
        let _budget = timeout_at(end, self.shared.memory.take(self.shared.memory.bytes() - left)).await;
        let opening =
            stream::iter(planned).map(|(message, found, load)| self.open_found(message, found, load));
        opening.buffered(MESSAGES).collect().await
    }

    /// Waits for `work`, and renews the leases of messages meanwhile: after half of the visibility timeout, and at the
    /// end. `handles` are receipt handles of SQS. `work` continues during a renewal and ends by itself at [`MAX_HOLD`].
    pub(crate) async fn holding<T>(
        &self,
        terms: &LeaseTerms,
        handles: &[String],
        work: impl Future<Output = T>,
    ) -> T {
        let received = Instant::now();
        let mut work = std::pin::pin!(work);
        let lease = match self.lease(terms).await {
            Some(lease) if !lease.is_zero() => lease,
            Some(_) => return work.await,
            None => return self.without_renewals(terms, received + SLACK, work).await,
        };
        // The start of the latest successful renewal, and the time of the next one.
        let (mut renewed, mut due) = (received, received + lease / 2);
        let done = loop {
            if let Ok(done) = timeout_at(due, work.as_mut()).await {
                break done;
            }
            let asked = Instant::now();
            tokio::select! {
                biased;
                done = work.as_mut() => break done,
                is_renewed = self.renew(terms, handles, left(received, lease), lease / 2) => {
                    renewed = if is_renewed { asked } else { renewed };
                }
            }
            due = asked + lease / 2;
        };
        if renewed.elapsed() >= SLACK {
            self.renew(terms, handles, left(received, lease), PATIENCE.min(lease / 4)).await;
        }
        done
    }

    /// The visibility timeout, which may be zero; `None` if it is unknown.
    async fn lease(&self, terms: &LeaseTerms) -> Option<Duration> {
        let asked = terms.visibility_timeout.and_then(|seconds| u64::try_from(seconds).ok());
        match asked {
            Some(seconds) => Some(Duration::from_secs(seconds)),
            None => self.shared.queue_attributes.ask(&self.inner, &terms.queue_url).await.visibility_timeout,
        }
    }

    /// Waits for `work` without renewals. An event reports that if it takes long.
    async fn without_renewals<T>(
        &self,
        terms: &LeaseTerms,
        until: Instant,
        mut work: impl Future<Output = T> + Unpin,
    ) -> T {
        if let Ok(done) = timeout_at(until, &mut work).await {
            return done;
        }
        self.shared.events.send(&Event::LeaseUnknown { queue_url: &terms.queue_url });
        work.await
    }

    /// Renews all leases and returns true, or reports an event and returns false. No response within `patience` is a
    /// failure, too.
    async fn renew(
        &self,
        terms: &LeaseTerms,
        handles: &[String],
        lease: Duration,
        patience: Duration,
    ) -> bool {
        let change = timeout(patience, self.hide(&terms.queue_url, handles, lease)).await;
        let late = |_| Err(Error::new(ErrorKind::Client, format!("no response within {patience:?}")));
        let Err(error) = change.unwrap_or_else(late) else { return true };
        self.shared.events.send(&Event::RenewalFailed { error: &error });
        false
    }

    /// Hides messages for this long from now.
    pub(crate) async fn hide(
        &self,
        queue_url: &str,
        handles: &[String],
        lease: Duration,
    ) -> Result<(), Error> {
        for handles in handles.chunks(MAX_BATCH_ENTRIES) {
            let input = renewal(queue_url, handles, lease);
            let output = self.below::<ChangeMessageVisibilityBatch>(&input, CallOptions::default()).await?;
            if !output.failed.is_empty() {
                return Err(Error::new(ErrorKind::Client, format!("{:?}", output.failed)));
            }
        }
        Ok(())
    }

    /// Releases or deletes a message whose object is missing, according to the policy. Otherwise returns it.
    pub(crate) async fn apply_missing_policy(
        &self,
        message: ExtendedMessage,
        queue_url: &str,
    ) -> Option<ExtendedMessage> {
        let is_missing =
            matches!(&message.payload, MessagePayload::Failed(error) if error.kind() == ErrorKind::NotFound);
        if !is_missing {
            return Some(message);
        }
        let handle = original_handle(&message.message);
        let done = match self.shared.settings.missing_object {
            MissingObject::Surface => return Some(message),
            MissingObject::Release => self.release(queue_url, handle).await,
            MissingObject::DeleteMessage => self.forget(queue_url, handle).await,
        };
        let error = done.err()?;
        let message_id = message.message.message_id().unwrap_or_default();
        self.shared.events.send(&Event::PolicyFailed { message_id, error: &error });
        Some(message)
    }

    async fn release(&self, queue_url: &str, handle: Option<String>) -> Result<(), Error> {
        let mut input = ChangeMessageVisibilityInput::default();
        input.queue_url = Some(queue_url.to_owned());
        input.receipt_handle = handle;
        input.visibility_timeout = Some(0);
        self.below::<ChangeMessageVisibility>(&input, CallOptions::default()).await.map(drop)
    }

    async fn forget(&self, queue_url: &str, handle: Option<String>) -> Result<(), Error> {
        let mut input = DeleteMessageInput::default();
        input.queue_url = Some(queue_url.to_owned());
        input.receipt_handle = handle;
        self.below::<DeleteMessage>(&input, CallOptions::default()).await.map(drop)
    }
}

/// Messages of a receive that are resolved at a time.
const MESSAGES: usize = 10;

/// What to do with a payload in the store.
#[derive(Clone, Copy, Debug)]
enum LoadPlan {
    Never,
    Until(Instant),
    /// The payloads of the receive exceed the memory budget.
    OverBudget,
}

/// Adds the pointer to the receipt handle, so that deleting the message deletes its object. Not for notifications:
/// other queues may have the same pointer.
fn extend(message: &mut Message, payload: &PayloadRef) {
    if !payload.is_in_notification() {
        extend_handle(message, payload.pointer());
    }
}

/// The notification of a message, with its payload inserted.
async fn notified(message: &Message, text: Text) -> Result<Text, Error> {
    let Some(notification) = message.body().and_then(Notification::parse) else { return Ok(text) };
    // Writing JSON blocks for as long as hashing does.
    let body = tokio::task::spawn_blocking(move || notification.with_message(text.body)).await;
    let ended = |error| Error::new(ErrorKind::Unavailable, format!("a task of the receive ended: {error}"));
    Ok(Text::of(body.map_err(ended)?).await)
}

/// A loaded payload.
pub(crate) struct Text {
    pub(crate) body: String,
    pub(crate) md5: Md5Hex,
}

impl Text {
    pub(crate) async fn of(text: String) -> Self {
        let (body, md5) = md5_of(text).await;
        Self { body, md5 }
    }
}

impl Shared {
    /// Opens a payload for reading.
    pub(crate) async fn open(&self, payload: &PayloadRef, options: Options) -> Result<Body, Error> {
        let download = Download {
            store: self.store.clone(),
            at: payload.pointer().clone(),
            length: payload.length(),
            sha256: payload.sha256().map(str::to_owned),
        };
        download.open(options).await.map_err(|error| error.at(payload.pointer()))
    }

    /// Opens a payload as a stream.
    pub(crate) async fn stream(
        self: Arc<Self>,
        payload: PayloadRef,
        options: Options,
    ) -> Result<Body, Error> {
        let body = self.open(&payload, options).await?;
        self.tally.downloads.add(1);
        Ok(body)
    }

    /// Loads a payload. Fails at `end`.
    pub(crate) async fn load_until(&self, payload: &PayloadRef, end: Instant) -> Result<Text, Error> {
        timeout_at(end, self.load(payload)).await.unwrap_or_else(|_| {
            let (at, seconds) = (payload.pointer(), MAX_HOLD.as_secs());
            let text = format!("reading {at}: the payloads of a receive took more than {seconds} s");
            Err(Error::new(ErrorKind::Unavailable, text).at(at))
        })
    }

    /// Loads a payload. [`concurrency`](crate::settings::ExtendedClientBuilder::concurrency) limits the loads of all clones
    /// together.
    async fn load(&self, payload: &PayloadRef) -> Result<Text, Error> {
        let mut options =
            Options { is_binary: true, limit: self.settings.max_payload_bytes, ..Options::default() };
        // Ranges that are read ahead would need more memory.
        options.plan.at_once = 1;
        // The semaphore is never closed.
        let permit = self.downloads.acquire().await.ok();
        let body = self.open(payload, options).await?;
        let text = body.text(usize::MAX).await.map_err(|error| error.at(payload.pointer()))?;
        drop(permit);
        self.tally.downloads.add(1);
        self.tally.downloaded_bytes.add(text.len());
        Ok(Text::of(text).await)
    }
}

/// The part of a lease that may be over when the message is returned. Callers count the lease from the receive.
const SLACK: Duration = Duration::from_secs(1);

/// How long loaded payloads wait for the last renewal.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest that a message is hidden after its receive.
const MAX_HIDDEN: Duration = Duration::from_secs(43_200);

/// How long the payloads of a receive may be loaded.
pub(crate) const MAX_HOLD: Duration = Duration::from_secs(3_600);

/// The parameters of a receive that renewals need.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeaseTerms {
    pub(crate) queue_url: String,
    /// In seconds. `None`: that of the queue.
    visibility_timeout: Option<i32>,
}

impl LeaseTerms {
    pub(crate) fn of(input: &ReceiveMessageInput) -> Self {
        let queue_url = input.queue_url().unwrap_or_default().to_owned();
        Self { queue_url, visibility_timeout: input.visibility_timeout() }
    }
}

/// The next visibility timeout: SQS hides no message for longer than 12 hours after its receive.
fn left(received: Instant, lease: Duration) -> Duration {
    lease.min(MAX_HIDDEN.saturating_sub(received.elapsed() + SLACK))
}

fn renewal(queue_url: &str, handles: &[String], lease: Duration) -> ChangeMessageVisibilityBatchInput {
    let entries = handles.iter().enumerate().map(|(place, handle)| {
        let mut entry = ChangeMessageVisibilityBatchRequestEntry::default();
        entry.id = place.to_string();
        entry.receipt_handle.clone_from(handle);
        entry.visibility_timeout = i32::try_from(lease.as_secs()).ok();
        entry
    });
    let mut input = ChangeMessageVisibilityBatchInput::default();
    input.queue_url = Some(queue_url.to_owned());
    input.entries = Some(entries.collect());
    input
}

/// Makes messages visible again in the background on drop, because a receive may be dropped while it loads payloads.
/// Uses receipt handles of SQS.
/// payloads.
pub(crate) struct ReleaseOnDrop<H: Execute> {
    client: ExtendedClient<H>,
    queue_url: String,
    handles: Vec<String>,
}

impl<H: Execute> ReleaseOnDrop<H> {
    pub(crate) fn new(client: &ExtendedClient<H>, queue_url: &str, handles: Vec<String>) -> Self {
        Self { client: client.clone(), queue_url: queue_url.to_owned(), handles }
    }

    pub(crate) fn handles(&self) -> &[String] {
        &self.handles
    }

    /// The messages are returned, so they are not released.
    pub(crate) fn delivered(mut self) {
        self.handles.clear();
    }
}

impl<H: Execute> Drop for ReleaseOnDrop<H> {
    fn drop(&mut self) {
        let handles = std::mem::take(&mut self.handles);
        if handles.is_empty() {
            return;
        }
        // Without a runtime, the messages become visible when their visibility timeout is over.
        let Ok(runtime) = Handle::try_current() else { return };
        let (client, queue_url) = (self.client.clone(), std::mem::take(&mut self.queue_url));
        runtime.spawn(async move {
            if let Err(error) = client.hide(&queue_url, &handles, Duration::ZERO).await {
                client.shared.events.send(&Event::ReleaseFailed { error: &error });
            }
        });
    }
}

/// The unit of the budget in bytes.
const UNIT: u64 = 1 << 10;

/// Limits the bytes of payloads that are loaded at a time.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    bytes: u64,
    units: Semaphore,
}

impl MemoryBudget {
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes, units: Semaphore::new(units(bytes) as usize) }
    }

    /// The whole budget in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Waits until this number of bytes is left. They must not exceed the budget.
    pub(crate) async fn take(&self, bytes: u64) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.units.acquire_many(units(bytes)).await.ok()
    }
}

/// The units of a number of bytes, rounded up. They are KiB, because a semaphore has fewer permits on 32-bit systems.
fn units(bytes: u64) -> u32 {
    let most = u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX);
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(most).min(most)
}
