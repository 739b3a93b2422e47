//! A promise that an admitted entry will end.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use crate::admission::Permit;
use crate::error::{SendError, SendErrorKind};

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
/// Dropping it does not take the entry back. Awaiting it by reference can be given up and taken up again.
#[derive(Debug)]
#[must_use = "a ticket tells whether the entry was accepted"]
pub struct Ticket<R> {
    end: oneshot::Receiver<Result<R, SendError>>,
}

impl<R> Future for Ticket<R> {
    type Output = Result<R, SendError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let end = Pin::new(&mut self.end).poll(cx);
        end.map(|end| end.unwrap_or_else(|_| Err(SendError::new(SendErrorKind::Aborted).maybe_sent(true))))
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
    pub(crate) fn one(permit: Permit) -> (Self, Ticket<R>) {
        let (told, end) = oneshot::channel();
        (Self { first: Waiter { told, permit }, more: Vec::new() }, Ticket { end })
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

    /// Gives the room of all back and tells them. Those who have gone do not mind.
    pub(crate) fn tell(self, result: Result<R, SendError>) {
        for waiter in self.more {
            waiter.tell(result.clone());
        }
        self.first.tell(result);
    }
}

impl<R> Waiter<R> {
    fn tell(self, result: Result<R, SendError>) {
        drop(self.permit);
        let _ = self.told.send(result);
    }
}
