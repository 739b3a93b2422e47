//! Gives messages their payloads.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use sqs_client::client::Execute;
use sqs_client::operation::receive_message::ReceiveMessageOutput;
use sqs_client::types::Message;
use tokio::time::Instant;

use super::find::{Found, find};
use super::hold::MAX_HOLD;
use super::message::{extend_handle, original_handle, restore_original};
use super::release::ReleaseOnDrop;
use super::{ExtendedMessage, MessagePayload, PayloadRef, Terms, carries_pointer};
use crate::client::ExtendedClient;
use crate::error::{Error, ErrorKind};
use crate::event::Event;
use crate::handle::ExtendedHandle;

/// Messages of a receive that are resolved at a time.
const MESSAGES: usize = 10;

/// What to do with the payload of a message in the store.
#[derive(Clone, Copy, Debug)]
enum Load {
    Never,
    Now,
    Until(Instant),
    /// The payloads of its receive exceed the memory budget.
    OverBudget,
}

impl<H: Execute> ExtendedClient<H> {
    /// The payload of a message, by the message alone: nothing is loaded.
    ///
    /// For messages of [`receive_message`](Self::receive_message) or of a consumer. A payload that could not be loaded is
    /// [`Lazy`](MessagePayload::Lazy) here, or [`Failed`](MessagePayload::Failed) if its pointer is invalid.
    pub fn payload(&self, message: &Message) -> MessagePayload {
        match find(message, &self.shared.settings.allowed_buckets) {
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

    /// Loads the payload of a message that came in another way, such as a Lambda event, or whose payload could not be loaded
    /// before. Other messages are returned as they are.
    ///
    /// If it is [`Failed`](MessagePayload::Failed), the receipt handle is that of SQS: deleting the message keeps its object. The lease
    /// is not renewed meanwhile, and [`MissingObject`](crate::MissingObject) does not apply.
    ///
    /// # Cancel safety
    /// If the future is dropped, the message is dropped; nothing else has changed.
    pub async fn resolve(&self, message: Message) -> ExtendedMessage {
        let bytes = self.stored_bytes(&message);
        if bytes > self.shared.settings.memory_budget {
            return self.open(message, Load::OverBudget).await;
        }
        let _budget = self.shared.budget(bytes).await;
        self.open(message, Load::Now).await
    }

    async fn open(&self, mut message: Message, load: Load) -> ExtendedMessage {
        let (shared, found) = (Arc::clone(&self.shared), self.payload(&message));
        if let MessagePayload::Failed(error) = &found {
            self.report_failed(&message, error);
        }
        let MessagePayload::Lazy(reference) = found else {
            return ExtendedMessage { message, payload: found, shared };
        };
        let loaded = match load {
            Load::Never => {
                extend_handle(&mut message, reference.pointer());
                return ExtendedMessage { message, payload: MessagePayload::Lazy(reference), shared };
            }
            Load::Now => shared.load(&reference).await,
            Load::Until(end) => shared.load_until(&reference, end).await,
            Load::OverBudget => Err(self.over_budget(&reference)),
        };
        let payload = match loaded {
            Ok(text) => {
                extend_handle(&mut message, reference.pointer());
                restore_original(&mut message, text.body, text.md5);
                MessagePayload::Loaded(reference)
            }
            Err(error) => {
                // The pointer may move on to another queue, and whoever deletes the message has not seen its payload.
                message.receipt_handle = original_handle(&message);
                self.report_failed(&message, &error);
                MessagePayload::Failed(error)
            }
        };
        ExtendedMessage { message, payload, shared }
    }

    /// The length of a payload that is in the store and not loaded; 0 otherwise.
    fn stored_bytes(&self, message: &Message) -> u64 {
        match self.payload(message) {
            MessagePayload::Lazy(payload) => payload.length(),
            _ => 0,
        }
    }

    fn over_budget(&self, payload: &PayloadRef) -> Error {
        let (at, budget) = (payload.pointer(), self.shared.settings.memory_budget);
        let text = format!(
            "reading {at}: the payloads of its receive exceed memory_budget, {budget} bytes; receive it again, or use body_stream"
        );
        Error::new(ErrorKind::Unavailable, text).at(at)
    }

    fn report_failed(&self, message: &Message, error: &Error) {
        self.shared.tally.payloads_failed.add(1);
        let message_id = message.message_id().unwrap_or_default();
        self.shared.events.send(&Event::PayloadFailed { message_id, error });
    }

    /// All messages of a receive in their order, except those that [`MissingObject`](crate::MissingObject) removes. If the future is
    /// dropped, the messages are made visible again.
    pub(super) async fn open_all(
        &self,
        messages: Vec<Message>,
        is_lazy: bool,
        terms: &Terms,
    ) -> Vec<ExtendedMessage> {
        let is_loading = !is_lazy && messages.iter().any(carries_pointer);
        let handles: Vec<_> = messages.iter().filter(|_| is_loading).filter_map(original_handle).collect();
        let release = ReleaseOnDrop::new(self, &terms.queue_url, handles);
        let opened = if is_loading {
            self.holding(terms, release.handles(), self.load_all(messages)).await
        } else {
            stream::iter(messages).then(|message| self.open(message, Load::Never)).collect().await
        };
        let sorted =
            stream::iter(opened).then(|message| self.apply_missing_policy(message, &terms.queue_url));
        let sorted = sorted.filter_map(std::future::ready).collect().await;
        release.delivered();
        sorted
    }

    /// Loads the payloads of a receive, as many as the memory budget allows. The budget is taken at once, so that two receives cannot
    /// wait for each other.
    async fn load_all(&self, messages: Vec<Message>) -> Vec<ExtendedMessage> {
        let (end, mut left) = (Instant::now() + MAX_HOLD, self.shared.settings.memory_budget);
        let mut taken = 0;
        let loads = messages.into_iter().map(|message| {
            let length = self.stored_bytes(&message);
            if length > self.shared.settings.max_payload_bytes {
                // It fails without a request, so it needs no memory.
                return (message, Load::Until(end));
            }
            match left.checked_sub(length) {
                Some(rest) => {
                    (left, taken) = (rest, taken + length);
                    (message, Load::Until(end))
                }
                None => (message, Load::OverBudget),
            }
        });
        let loads: Vec<_> = loads.collect();
        let _budget = self.shared.budget(taken).await;
        stream::iter(loads).map(|(message, load)| self.open(message, load)).buffered(MESSAGES).collect().await
    }

    /// The result of a plain receive. If one message is damaged, the others get their payloads, too.
    pub(crate) async fn after_receive(
        &self,
        terms: &Terms,
        result: &mut Result<ReceiveMessageOutput, Error>,
    ) {
        match result {
            Ok(output) => self.open_output(output, terms).await,
            Err(error) => {
                let Some(client) = error.client_error() else { return };
                let Some(mut output) = client.output::<ReceiveMessageOutput>().cloned() else { return };
                self.open_output(&mut output, terms).await;
                *error = Error::from(client.with_output(output));
            }
        }
    }

    async fn open_output(&self, output: &mut ReceiveMessageOutput, terms: &Terms) {
        let Some(messages) = output.messages.take() else { return };
        let opened = self.open_all(messages, false, terms).await;
        output.messages = Some(opened.into_iter().map(|opened| opened.message).collect());
    }

    /// The messages of a response; damaged ones come last, as they are.
    pub(super) async fn open_answer(
        &self,
        mut output: ReceiveMessageOutput,
        is_lazy: bool,
        terms: &Terms,
    ) -> Vec<ExtendedMessage> {
        let mut messages = self.open_all(output.messages.take().unwrap_or_default(), is_lazy, terms).await;
        for damaged in output.damaged_messages() {
            let (message, error) = (damaged.message.clone(), Error::from(sqs_client::Error::from(damaged)));
            self.report_failed(&message, &error);
            let (payload, shared) = (MessagePayload::Failed(error), Arc::clone(&self.shared));
            messages.push(ExtendedMessage { message, payload, shared });
        }
        messages
    }
}
