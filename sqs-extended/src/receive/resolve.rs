//! From the messages that came to the messages that were sent.

use futures_util::{StreamExt as _, stream};
use sqs_client::client::Execute;
use sqs_client::operation::receive_message::ReceiveMessageOutput;
use sqs_client::types::Message;
use tokio::time::Instant;

use super::find::{Found, find};
use super::hold::MAX_HOLD;
use super::message::{extend_handle, original_handle, unwrap};
use super::opener::Opener;
use super::undelivered::Undelivered;
use super::{ExtendedMessage, MessagePayload, PayloadRef, Terms, carries_pointer};
use crate::client::ExtendedClient;
use crate::error::Error;
use crate::event::Event;
use crate::handle::ExtendedHandle;
use crate::store::PayloadStore;

/// Messages of one receive that are looked at at a time.
const MESSAGES: usize = 10;

/// What becomes of the payload of a message.
#[derive(Clone, Copy, Debug)]
enum Loads {
    /// It stays where it is.
    Nothing,
    /// It is loaded, however long that takes.
    Now,
    /// It is loaded, or given up then.
    Until(Instant),
}

impl<S: PayloadStore, H: Execute> ExtendedClient<S, H> {
    /// What is known of the payload of a message, by the message alone: nothing is loaded.
    ///
    /// For messages that came through [`receive_message`](Self::receive_message) or a consumer: one whose payload could not
    /// be loaded is [`Lazy`](MessagePayload::Lazy) here, or [`Failed`](MessagePayload::Failed) when its pointer cannot be
    /// followed at all.
    pub fn payload(&self, message: &Message) -> MessagePayload {
        match find(message, &self.shared.settings.allowed_buckets) {
            Found::Pointer(payload) => MessagePayload::Lazy(payload),
            Found::Unusable(error) => MessagePayload::Failed(error),
            Found::Inline => match message.receipt_handle().and_then(ExtendedHandle::parse) {
                Some(handle) => {
                    let length = message.body().unwrap_or_default().len() as u64;
                    MessagePayload::Loaded(PayloadRef::new(handle.pointer().clone(), length))
                }
                None => MessagePayload::Inline,
            },
        }
    }

    /// Gives a message its payload: one that came by another way, such as the event of a Lambda function, or whose
    /// payload could not be loaded before. Others come back as they are.
    ///
    /// One that is [`Failed`](MessagePayload::Failed) has the receipt handle of the service: deleting it leaves its object.
    ///
    /// Its lease is not renewed meanwhile, and the policy about missing objects does not apply.
    ///
    /// # Cancel safety
    /// Dropped before its end, nothing has changed but that the message, which it was given, is gone with it.
    pub async fn resolve(&self, message: Message) -> ExtendedMessage {
        self.open(message, Loads::Now).await
    }

    async fn open(&self, mut message: Message, loads: Loads) -> ExtendedMessage {
        let (opener, found) = (Opener::new(&self.shared), self.payload(&message));
        if let MessagePayload::Failed(error) = &found {
            self.tell_failed(&message, error);
        }
        let MessagePayload::Lazy(reference) = found else {
            return ExtendedMessage { message, payload: found, opener };
        };
        let loaded = match loads {
            Loads::Nothing => {
                extend_handle(&mut message, reference.pointer());
                return ExtendedMessage { message, payload: MessagePayload::Lazy(reference), opener };
            }
            Loads::Now => self.load(&reference).await,
            Loads::Until(end) => self.load_until(&reference, end).await,
        };
        let payload = match loaded {
            Ok(text) => {
                extend_handle(&mut message, reference.pointer());
                unwrap(&mut message, text.body, text.md5);
                MessagePayload::Loaded(reference)
            }
            Err(error) => {
                // Its pointer may go on to another queue as a body, and whoever deletes it has not seen the payload.
                message.receipt_handle = original_handle(&message);
                self.tell_failed(&message, &error);
                MessagePayload::Failed(error)
            }
        };
        ExtendedMessage { message, payload, opener }
    }

    fn tell_failed(&self, message: &Message, error: &Error) {
        self.shared.tally.payloads_failed.add(1);
        let message_id = message.message_id().unwrap_or_default();
        self.shared.herald.tell(&Event::PayloadFailed { message_id, error });
    }

    /// All messages of a receive, in their order, but for those that the policy about missing objects takes out. Dropped
    /// before its end, the messages are made visible again.
    pub(super) async fn open_all(
        &self,
        messages: Vec<Message>,
        is_lazy: bool,
        terms: &Terms,
    ) -> Vec<ExtendedMessage> {
        let is_loading = !is_lazy && messages.iter().any(carries_pointer);
        let handles: Vec<_> = messages.iter().filter(|_| is_loading).filter_map(original_handle).collect();
        let loads = if is_lazy { Loads::Nothing } else { Loads::Until(Instant::now() + MAX_HOLD) };
        let opening = stream::iter(messages).map(|message| self.open(message, loads));
        let opening = opening.buffered(MESSAGES).collect::<Vec<_>>();
        let undelivered = Undelivered::new(self, &terms.queue_url, handles);
        let opened = if is_loading {
            self.holding(terms, undelivered.handles(), opening).await
        } else {
            opening.await
        };
        let sorted = stream::iter(opened).then(|message| self.sort_out(message, &terms.queue_url));
        let sorted = sorted.filter_map(std::future::ready).collect().await;
        undelivered.delivered();
        sorted
    }

    /// The answer to a plain receive. Of one with a damaged message, the others get their payloads too.
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

    /// The messages of an answer; the damaged ones come last, as they are.
    pub(super) async fn open_answer(
        &self,
        mut output: ReceiveMessageOutput,
        is_lazy: bool,
        terms: &Terms,
    ) -> Vec<ExtendedMessage> {
        let mut messages = self.open_all(output.messages.take().unwrap_or_default(), is_lazy, terms).await;
        for damaged in output.damaged_messages() {
            let (message, error) = (damaged.message.clone(), Error::from(sqs_client::Error::from(damaged)));
            self.tell_failed(&message, &error);
            let (payload, opener) = (MessagePayload::Failed(error), Opener::new(&self.shared));
            messages.push(ExtendedMessage { message, payload, opener });
        }
        messages
    }
}
