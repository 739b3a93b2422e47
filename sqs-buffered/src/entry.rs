//! An entry: a message to send. Its ticket tells how it ended.

use std::pin::Pin;
use std::task::{Context, Poll};

use serde::Serialize;
use sqs_client::operation::send_message::SendMessageInput;
use sqs_client::types::{
    MessageAttributeValue, MessageSystemAttributeNameForSends, MessageSystemAttributeValue,
    SendMessageBatchRequestEntry,
};
use sqs_client::wire::checksum::message_size;
use tokio::runtime::{Handle, Id};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::error::{SendError, SendErrorKind};
use crate::lane::capacity::Permit;
use crate::observe::sends::warn_of_unheard;

/// Whether a queue is a FIFO queue: its name, the last part of the path of its URL, ends in `.fifo`.
pub(crate) fn is_fifo(queue_url: &str) -> bool {
    let path = queue_url.split(['?', '#']).next().unwrap_or_default();
    path.trim_end_matches('/').ends_with(".fifo")
}

/// A message to send, with the URL of its queue.
///
/// ```
/// use sqs_buffered::Entry;
///
/// let entry = Entry::new("https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo", "one coffee")
///     .message_group_id("table 7")
///     .message_deduplication_id("order 42");
/// assert_eq!(entry.size(), 10);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Entry {
    pub(crate) queue_url: String,
    pub(crate) message: SendMessageBatchRequestEntry,
}

impl Entry {
    /// A message with this body for the queue with this URL.
    pub fn new(queue_url: impl Into<String>, body: impl Into<String>) -> Self {
        let mut message = SendMessageBatchRequestEntry::default();
        message.message_body = body.into();
        Self { queue_url: queue_url.into(), message }
    }

    /// A message with this value as JSON.
    ///
    /// # Errors
    /// The value has no form in JSON, such as a map whose keys are no texts.
    pub fn json(
        queue_url: impl Into<String>,
        value: &(impl Serialize + ?Sized),
    ) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|body| Self::new(queue_url, body))
    }

    /// Sets the message group id: required on FIFO queues; on standard queues, it identifies the tenant for fair queues.
    pub fn message_group_id(mut self, id: impl Into<String>) -> Self {
        self.message.message_group_id = Some(id.into());
        self
    }

    /// Sets the deduplication id. FIFO queues only. For messages without an id, see [`DedupId`](crate::settings::DedupId).
    pub fn message_deduplication_id(mut self, id: impl Into<String>) -> Self {
        self.message.message_deduplication_id = Some(id.into());
        self
    }

    /// Sets the delay before the message becomes visible: 0 to 900 seconds. Standard queues only.
    pub fn delay_seconds(mut self, seconds: i32) -> Self {
        self.message.delay_seconds = Some(seconds);
        self
    }

    /// Adds a message attribute.
    pub fn message_attributes(mut self, name: impl Into<String>, value: MessageAttributeValue) -> Self {
        self.message.message_attributes.get_or_insert_default().insert(name.into(), value);
        self
    }

    /// Adds a message system attribute.
    pub fn message_system_attributes(
        mut self,
        name: MessageSystemAttributeNameForSends,
        value: MessageSystemAttributeValue,
    ) -> Self {
        self.message.message_system_attributes.get_or_insert_default().insert(name, value);
        self
    }

    /// The URL of the queue.
    pub fn queue_url(&self) -> &str {
        &self.queue_url
    }

    /// The message as a batch entry. Its `id` has no meaning.
    pub fn message(&self) -> &SendMessageBatchRequestEntry {
        &self.message
    }

    /// The size in bytes as SQS counts it: the body, and the names, types and values of the message attributes.
    pub fn size(&self) -> usize {
        message_size(&self.message.message_body, self.message.message_attributes.as_ref())
    }
}

/// From the input of a single send. Without a queue URL, `enqueue` returns an error.
impl From<SendMessageInput> for Entry {
    fn from(mut input: SendMessageInput) -> Self {
        Self { queue_url: input.queue_url.take().unwrap_or_default(), message: input.into() }
    }
}

/// The result of an admitted entry, as a future. It always resolves: when the entry is accepted, or has failed for good.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// # let buffered = sqs_buffered::BufferedClient::new(client);
/// let mut tickets = Vec::new();
/// for number in 1..=100 {
///     let order = sqs_buffered::Entry::new(&url, format!("order {number}"));
///     tickets.push(buffered.enqueue(order).await?); // waits for room only
/// }
/// for ticket in tickets {
///     ticket.await?; // accepted, or the error
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The entry failed; see [`SendError::kind`].
///
/// # Cancel safety
/// Dropping the ticket does not take the entry back. If the entry fails and nobody awaits its ticket, the client logs a warning,
/// unless an [event hook](crate::settings::BufferedClientBuilder::on_event) is set. To send without a ticket, use
/// [`send_detached`](crate::client::BufferedClient::send_detached). You can stop awaiting a ticket by reference and continue later, also
/// on another runtime. The runtime needs timers.
#[derive(Debug)]
#[must_use = "a ticket tells whether the entry was accepted"]
pub struct Ticket<R> {
    end: oneshot::Receiver<Result<R, SendError>>,
    /// Whether an event hook is set, which gets failures.
    is_watched: bool,
    /// The latest time at which the entry ends.
    ends: Instant,
    /// The runtime of the task that ends it in time, while that runtime runs.
    home: Id,
    /// Sleeps until `ends` on another runtime that polls: the home may no longer run.
    patience: Option<(Id, Pin<Box<Sleep>>)>,
}

impl<R> Future for Ticket<R> {
    type Output = Result<R, SendError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(end) = Pin::new(&mut self.end).poll(cx) {
            let aborted = |_| Err(SendError::new(SendErrorKind::Aborted).maybe_sent(true));
            return Poll::Ready(end.unwrap_or_else(aborted));
        }
        match Handle::try_current().map(|current| current.id()) {
            // The timer of another runtime must not be polled after the end of that runtime.
            Ok(current) if current == self.home => self.patience = None,
            Ok(current) if self.patience.as_ref().is_none_or(|(runtime, _)| *runtime != current) => {
                self.patience = Some((current, Box::pin(sleep_until(self.ends))));
            }
            Ok(_) => {}
            // Without a runtime there is no timer.
            Err(_) => self.patience = None,
        }
        match &mut self.patience {
            Some((_, patience)) => patience
                .as_mut()
                .poll(cx)
                .map(|()| Err(SendError::new(SendErrorKind::Timeout).maybe_sent(true))),
            None => Poll::Pending,
        }
    }
}

impl<R> Drop for Ticket<R> {
    fn drop(&mut self) {
        if !self.is_watched
            && let Ok(Err(error)) = self.end.try_recv()
        {
            warn_of_unheard(&error, None, None);
        }
    }
}

/// The tickets of one entry: several if entries were merged. Each has its own capacity.
#[derive(Debug)]
pub(crate) struct Waiters<R> {
    first: Waiter<R>,
    more: Vec<Waiter<R>>,
}

#[derive(Debug)]
struct Waiter<R> {
    told: oneshot::Sender<Result<R, SendError>>,
    permit: Option<Permit>,
}

/// The data of a ticket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Whether an event hook is set, which gets failures.
    pub(crate) is_watched: bool,
    /// The latest time at which the entry ends.
    pub(crate) ends: Instant,
    /// The runtime that ends it in time.
    pub(crate) home: Id,
}

impl<R: Clone> Waiters<R> {
    /// A waiter, with its ticket.
    pub(crate) fn one(permit: Permit, terms: Terms) -> (Self, Ticket<R>) {
        let (told, end) = oneshot::channel();
        let Terms { is_watched, ends, home } = terms;
        let waiters = Self { first: Waiter { told, permit: Some(permit) }, more: Vec::new() };
        (waiters, Ticket { end, is_watched, ends, home, patience: None })
    }

    /// Adds the waiters of a merged entry.
    pub(crate) fn join(&mut self, other: Self) {
        self.more.push(other.first);
        self.more.extend(other.more);
    }

    /// The number of waiters.
    pub(crate) fn count(&self) -> usize {
        1 + self.more.len()
    }

    /// Moves the capacity of all waiters into `permits`.
    pub(crate) fn take_permits(&mut self, permits: &mut Vec<Permit>) {
        let all = std::iter::once(&mut self.first).chain(&mut self.more);
        permits.extend(all.filter_map(|waiter| waiter.permit.take()));
    }

    /// Resolves all tickets. Returns whether any of them still exists.
    pub(crate) fn tell(self, result: Result<R, SendError>) -> bool {
        let mut is_heard = false;
        for waiter in self.more {
            is_heard |= waiter.told.send(result.clone()).is_ok();
        }
        is_heard | self.first.told.send(result).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::is_fifo;

    #[test]
    fn fifo_queue_is_known_by_its_name_whatever_follows_it() {
        for url in [
            "http://q/1/a.fifo",
            "http://q/1/a.fifo/",
            "http://q/1/a.fifo?x=1",
            "http://q/a.fifo/#x",
            "a.fifo",
        ] {
            assert!(is_fifo(url), "{url}");
        }
        for url in ["http://q/1/a", "http://q.fifo/1/a", "http://q/1/a?x=.fifo", "http://q/1/a.fifo.x", ""] {
            assert!(!is_fifo(url), "{url}");
        }
    }
}
