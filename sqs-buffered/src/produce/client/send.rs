//! Sends.

use std::sync::Arc;

use sqs_client::client::Execute;
use sqs_client::wire::validate::{Draft, QueueRules};

use super::enter::Entrant;
use super::{BufferedClient, EnqueueError};
use crate::produce::entry::{Entry, is_fifo};
use crate::produce::error::{SendError, SendErrorKind};
use crate::produce::kind::{DeduplicationId, Outgoing, Send, SendReceipt};
use crate::produce::ticket::Ticket;
use crate::trace_context;

impl<H: Execute> BufferedClient<H> {
    /// Sends a message in a batch with others, and waits until the service has accepted it.
    ///
    /// # Errors
    /// The message was not taken or not accepted; [`SendError::kind`] says which and why.
    ///
    /// # Cancel safety
    /// Dropped before its end, the message may have been sent or not.
    pub async fn send(
        &self,
        queue_url: impl Into<String>,
        body: impl Into<String>,
    ) -> Result<SendReceipt, SendError> {
        self.send_entry(Entry::new(queue_url, body)).await
    }

    /// As [`send`](Self::send), for messages with more than a body.
    ///
    /// # Errors
    /// As of `send`.
    ///
    /// # Cancel safety
    /// As of `send`.
    pub async fn send_entry(&self, entry: impl Into<Entry>) -> Result<SendReceipt, SendError> {
        self.enqueue(entry).await?.await
    }

    /// Takes a message, waiting for room where there is none. Admission is first come, first served. The ticket tells what
    /// becomes of the message. To send without a ticket, use [`send_detached`](Self::send_detached).
    ///
    /// # Errors
    /// It was not taken, and comes back: no room in time (`Full`), `TooLarge`, `Invalid`, `Closed`, `NoRuntime`.
    ///
    /// # Cancel safety
    /// Dropped before its end, the message is never sent, and takes no room.
    pub async fn enqueue(&self, entry: impl Into<Entry>) -> Result<Ticket<SendReceipt>, EnqueueError> {
        let (queue_url, entrant) = self.entrant(entry.into())?;
        let admitted = self.enter(&self.shared.lanes.sends, &queue_url, entrant).await;
        admitted.map_err(|refused| give_back(queue_url, refused))
    }

    /// Admits a message whose result nobody awaits. If it fails, the [event hook](super::Builder::on_event) is told; without a
    /// hook, the client logs a warning. [`flush`](Self::flush) and [`close`](Self::close) count it.
    ///
    /// # Errors
    /// The same as [`enqueue`](Self::enqueue).
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, the message is never sent.
    pub async fn send_detached(&self, entry: impl Into<Entry>) -> Result<(), EnqueueError> {
        self.enqueue(entry).await.map(drop)
    }

    /// Takes a message if there is room now.
    ///
    /// # Errors
    /// As of [`enqueue`](Self::enqueue).
    pub fn try_enqueue(&self, entry: impl Into<Entry>) -> Result<Ticket<SendReceipt>, EnqueueError> {
        let (queue_url, entrant) = self.entrant(entry.into())?;
        let admitted = self.try_enter(&self.shared.lanes.sends, &queue_url, entrant);
        admitted.map_err(|refused| give_back(queue_url, refused))
    }

    /// Refuses what the service would refuse, and what would take the other entries of a batch down with it.
    fn entrant(&self, mut entry: Entry) -> Result<(String, Entrant<Send>), EnqueueError> {
        let settings = &self.shared.settings;
        let most = settings.max_message_bytes;
        trace_context::inject(&mut entry.message, most);
        let bytes = entry.size();
        if bytes > most {
            let error = SendError::new(SendErrorKind::TooLarge);
            return Err(EnqueueError::new(entry, error.explained(format!("{bytes} bytes, at most {most}"))));
        }
        if let Err(refusal) = check(&entry, most) {
            let error = SendError::new(SendErrorKind::Invalid).refused(refusal.code, refusal.message);
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
    // Whether the queue makes ids of the content is not known; what it says otherwise concerns this batch alone.
    draft.validate_for(&QueueRules {
        fifo: is_fifo(&entry.queue_url),
        content_based_deduplication: true,
        maximum_message_size: max_bytes,
    })
}
