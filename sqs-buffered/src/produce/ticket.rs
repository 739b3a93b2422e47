//! A promise that an admitted entry will end.

use std::pin::Pin;
use std::task::{Context, Poll};

use sqs_client::operation::Action;
use tokio::sync::oneshot;

use crate::produce::admission::Permit;
use crate::produce::error::{SendError, SendErrorKind};

/// Resolves when the entry that it was given for has ended: accepted, or failed for good. It always resolves.
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
///     ticket.await?; // accepted, or why not
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A [`SendError`]: how the entry ended without success.
///
/// # Cancel safety
/// Dropping the ticket does not take the entry back. If the entry fails and nobody awaits its ticket, the client logs a warning,
/// unless an [event hook](crate::Builder::on_event) is set. To send without a ticket, use
/// [`send_detached`](crate::BufferedClient::send_detached). You can stop awaiting a ticket by reference and continue later.
#[derive(Debug)]
#[must_use = "a ticket tells whether the entry was accepted"]
pub struct Ticket<R> {
    end: oneshot::Receiver<Result<R, SendError>>,
    /// Whether an event hook hears of failures.
    is_watched: bool,
}

impl<R> Future for Ticket<R> {
    type Output = Result<R, SendError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let end = Pin::new(&mut self.end).poll(cx);
        end.map(|end| end.unwrap_or_else(|_| Err(SendError::new(SendErrorKind::Aborted).maybe_sent(true))))
    }
}

/// Warns of a failure that nobody has read.
impl<R> Drop for Ticket<R> {
    fn drop(&mut self) {
        if !self.is_watched
            && let Ok(Err(error)) = self.end.try_recv()
        {
            warn_of_unheard(&error, None);
        }
    }
}

/// Logs the failure of an entry whose ticket nobody awaited.
pub(crate) fn warn_of_unheard(error: &SendError, lane: Option<(&str, Action)>) {
    // A visibility change of a message that was deleted meanwhile is no loss.
    if error.kind() != SendErrorKind::Superseded {
        let (queue_url, operation) = lane.map(|(url, action)| (url, action.as_str())).unzip();
        tracing::warn!(%error, queue_url, operation, "an entry failed, and nobody awaited its ticket");
    }
}

/// Those who wait for one entry: one, or several where entries became one. Each has its own room.
#[derive(Debug)]
pub(crate) struct Waiters<R> {
    first: Waiter<R>,
    more: Vec<Waiter<R>>,
}

#[derive(Debug)]
struct Waiter<R> {
    told: oneshot::Sender<Result<R, SendError>>,
    permit: Permit,
}

impl<R: Clone> Waiters<R> {
    /// One who waits.
    pub(crate) fn one(permit: Permit, is_watched: bool) -> (Self, Ticket<R>) {
        let (told, end) = oneshot::channel();
        (Self { first: Waiter { told, permit }, more: Vec::new() }, Ticket { end, is_watched })
    }

    /// Those of another entry wait for this one too.
    pub(crate) fn join(&mut self, other: Self) {
        self.more.push(other.first);
        self.more.extend(other.more);
    }

    /// How many wait.
    pub(crate) fn count(&self) -> usize {
        1 + self.more.len()
    }

    /// Gives the room of all back and tells them. Returns whether anybody still has a ticket.
    pub(crate) fn tell(self, result: Result<R, SendError>) -> bool {
        let mut is_heard = false;
        for waiter in self.more {
            is_heard |= waiter.tell(result.clone());
        }
        is_heard | self.first.tell(result)
    }
}

impl<R> Waiter<R> {
    fn tell(self, result: Result<R, SendError>) -> bool {
        drop(self.permit);
        self.told.send(result).is_ok()
    }
}
