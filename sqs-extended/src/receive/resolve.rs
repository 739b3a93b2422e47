//! Gives messages their payloads.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use sqs_client::client::{Execute, Unopened};
use sqs_client::types::Message;
use tokio::time::{Instant, timeout_at};

use super::hold::{LeaseTerms, MAX_HOLD};
use super::load::Text;
use super::release::ReleaseOnDrop;
use super::{ExtendedMessage, MessagePayload};
use crate::client::ExtendedClient;
use crate::config::MissingObject;
use crate::error::{Error, ErrorKind};
use crate::event::Event;
use crate::format::{
    ExtendedHandle, Found, Notification, PayloadRef, extend_handle, original_handle, restore,
};

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

impl<H: Execute> ExtendedClient<H> {
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
    /// keeps the object. The lease is not renewed meanwhile, and [`MissingObject`](crate::MissingObject) does not
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

    pub(super) fn report_failed(&self, message: &Message, error: &Error) {
        self.shared.tally.payloads_failed.add(1);
        let message_id = message.message_id().unwrap_or_default();
        self.shared.events.send(&Event::PayloadFailed { message_id, error });
    }

    /// Returns all messages of a receive in order, except those that [`MissingObject`](crate::MissingObject) removes.
    /// If the future is dropped, the messages are made visible again.
    pub(super) async fn open_all(
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
