//! The result of an admitted entry, as a future.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::{Handle, Id};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep_until};

use super::admission::Permit;
use super::error::{SendError, SendErrorKind};
use super::observer::warn_of_unheard;

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
/// unless an [event hook](crate::Builder::on_event) is set. To send without a ticket, use
/// [`send_detached`](crate::BufferedClient::send_detached). You can stop awaiting a ticket by reference and continue later, also
/// on another runtime. The runtime needs timers.
#[derive(Debug)]
#[must_use = "a ticket tells whether the entry was accepted"]
pub struct Ticket<R> {
    end: oneshot::Receiver<Result<R, SendError>>,
    /// Whether an event hook is set, which gets failures.
    is_watched: bool,
    /// The latest time at which the entry ends.
    ends: Instant,
    /// Sleeps until `ends` on the runtime that polls. The entry may depend on a runtime that no longer runs.
    patience: Option<(Id, Pin<Box<Sleep>>)>,
}

impl<R> Future for Ticket<R> {
    type Output = Result<R, SendError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(end) = Pin::new(&mut self.end).poll(cx) {
            let aborted = |_| Err(SendError::new(SendErrorKind::Aborted).maybe_sent(true));
            return Poll::Ready(end.unwrap_or_else(aborted));
        }
        if let Ok(current) = Handle::try_current().map(|current| current.id())
            && self.patience.as_ref().is_none_or(|(runtime, _)| *runtime != current)
        {
            self.patience = Some((current, Box::pin(sleep_until(self.ends))));
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
}

impl<R: Clone> Waiters<R> {
    /// A waiter, with its ticket.
    pub(crate) fn one(permit: Permit, terms: Terms) -> (Self, Ticket<R>) {
        let (told, end) = oneshot::channel();
        let Terms { is_watched, ends } = terms;
        let waiters = Self { first: Waiter { told, permit: Some(permit) }, more: Vec::new() };
        (waiters, Ticket { end, is_watched, ends, patience: None })
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
