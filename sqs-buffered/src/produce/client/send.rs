//! Sends.

use std::sync::Arc;

use sqs_client::client::Execute;
use sqs_client::wire::validate::{Draft, QueueRules};

use super::enter::Entrant;
use super::{BufferedClient, EnqueueError};
use crate::produce::entry::{Entry, is_fifo};
use crate::produce::error::{SendError, SendErrorKind};
use crate::produce::kind::{DeduplicationId, Outgoing, Send, SendReceipt};
use crate::produce::settings::MAX_OFFLOADED_BYTES;
use crate::produce::ticket::Ticket;
use crate::trace_context;

impl<H: Execute> BufferedClient<H> {
    /// Sends a message, in a batch with others, and waits until SQS has accepted it.
    ///
    /// # Errors
    /// The message was not admitted or not accepted; see [`SendError::kind`].
    ///
    /// # Cancel safety
    /// If the future is dropped, the message may be sent or not.
    pub async fn send(
        &self,
        queue_url: impl Into<String>,
        body: impl Into<String>,
    ) -> Result<SendReceipt, SendError> {
        self.send_entry(Entry::new(queue_url, body)).await
    }

    /// Like [`send`](Self::send), for messages with more than a body.
    ///
    /// # Errors
    /// The same as `send`.
    ///
    /// # Cancel safety
    /// The same as `send`.
    pub async fn send_entry(&self, entry: impl Into<Entry>) -> Result<SendReceipt, SendError> {
        self.enqueue(entry).await?.await
    }

    /// Admits a message; waits if there is no room. Admission is first come, first served within a queue. The ticket resolves
    /// with the result. To send without a ticket, use [`send_detached`](Self::send_detached).
    ///
    /// # Errors
    /// The message was not admitted: `Full` (no room in time), `TooLarge`, `Invalid`, `Closed` or `NoRuntime`. The error returns
    /// the entry.
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, the message is never sent, and takes no room.
    pub async fn enqueue(&self, entry: impl Into<Entry>) -> Result<Ticket<SendReceipt>, EnqueueError> {
        self.enqueue_of(entry.into(), self.shared.settings.max_message_bytes).await
    }

    /// Like [`send_entry`](Self::send_entry), for a received message: whatever its size, the client below can send it.
    pub(crate) async fn send_letter(&self, letter: Entry) -> Result<SendReceipt, SendError> {
        self.enqueue_of(letter, MAX_OFFLOADED_BYTES).await?.await
    }

    async fn enqueue_of(&self, entry: Entry, most: usize) -> Result<Ticket<SendReceipt>, EnqueueError> {
        let (queue_url, entrant) = self.entrant(entry, most)?;
        let admitted = self.enter(&self.shared.lanes.sends, &queue_url, entrant).await;
        admitted.map_err(|refused| give_back(queue_url, refused))
    }

    /// Admits a message without a ticket. If it fails, the [event hook](super::Builder::on_event) gets the failure; without
    /// a hook, the client logs a warning. [`flush`](Self::flush) and [`close`](Self::close) count it.
    ///
    /// # Errors
    /// The same as [`enqueue`](Self::enqueue).
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, the message is never sent.
    pub async fn send_detached(&self, entry: impl Into<Entry>) -> Result<(), EnqueueError> {
        self.enqueue(entry).await.map(drop)
    }

    /// Like [`enqueue`](Self::enqueue), but fails at once if there is no room.
    ///
    /// # Errors
    /// The same as [`enqueue`](Self::enqueue).
    pub fn try_enqueue(&self, entry: impl Into<Entry>) -> Result<Ticket<SendReceipt>, EnqueueError> {
        let (queue_url, entrant) = self.entrant(entry.into(), self.shared.settings.max_message_bytes)?;
        let admitted = self.try_enter(&self.shared.lanes.sends, &queue_url, entrant);
        admitted.map_err(|refused| give_back(queue_url, refused))
    }

    /// Rejects entries that SQS would refuse, or that would make SQS refuse their whole batch.
    fn entrant(&self, mut entry: Entry, most: usize) -> Result<(String, Entrant<Send>), EnqueueError> {
        let settings = &self.shared.settings;
        trace_context::inject(&mut entry.message, most);
        let bytes = entry.size();
        if bytes > most {
            let error = SendError::new(SendErrorKind::TooLarge);
            return Err(EnqueueError::new(
                entry,
                error.explained(format!("{bytes} bytes, allowed are at most {most}")),
            ));
        }
        if let Err(refusal) = check(&entry, most) {
            let error = SendError::invalid(refusal);
            return Err(EnqueueError::new(entry, error));
        }
        let Entry { queue_url, message } = entry;
        let is_fifo = is_fifo(&queue_url);
        let needs_id = is_fifo && message.message_deduplication_id.is_none();
        let key = message.message_group_id.as_deref().filter(|_| is_fifo).map(Arc::from);
        let timeout = settings.delivery_timeout(is_fifo);
        let id = if needs_id { DeduplicationId::Open(settings.dedup_id) } else { DeduplicationId::Settled };
        let entry = Outgoing { message, id };
        Ok((queue_url, Entrant { entry, key, bytes, timeout, deadline: None }))
    }
}

fn give_back(queue_url: String, (outgoing, kind): (Outgoing, SendErrorKind)) -> EnqueueError {
    EnqueueError::of_kind(Entry { queue_url, message: outgoing.message }, kind)
}

fn check(entry: &Entry, max_bytes: usize) -> Result<(), sqs_client::wire::service_error::ServiceError> {
    sqs_client::wire::validate::error::require_queue_url(Some(&entry.queue_url))?;
    let draft = Draft::from(&entry.message);
    if entry.message.message_body.is_empty() {
        sqs_client::wire::validate::message::body("")?;
    }
    // The client does not know here whether the queue has content-based deduplication, so a missing id is allowed.
    draft.validate_for(&QueueRules {
        fifo: is_fifo(&entry.queue_url),
        content_based_deduplication: true,
        maximum_message_size: max_bytes,
    })
}
