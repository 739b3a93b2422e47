//! The outcome of a handler.

use std::error::Error;
use std::time::Duration;

/// The error of a handler: any error converts into it with `?`.
pub type HandlerError = Box<dyn Error + Send + Sync>;

/// What happens to a message after its handler. After an error or a panic, the message becomes visible again after the
/// [back-off](crate::BackOff).
///
/// ```
/// use std::time::Duration;
///
/// use sqs_buffered::{HandlerError, Outcome};
///
/// fn handle(body: &str) -> Result<Outcome, HandlerError> {
///     Ok(match body {
///         "" => Outcome::DeadLetter("nothing ordered".into()), // retries cannot help
///         "soup" => Outcome::Nack(Duration::from_secs(60)),    // not ready yet
///         order => {
///             let number: u32 = order.parse()?; // an error: retried after the back-off
///             println!("order {number}");
///             Outcome::Ack
///         }
///     })
/// }
/// # assert_eq!(handle("7").unwrap(), Outcome::Ack);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// Done: deletes the message.
    Ack,
    /// Makes the message visible again after this delay. Fractions of a second are rounded up. No message stays hidden for
    /// more than 12 hours after its receive.
    Nack(Duration),
    /// Makes the message visible at once.
    Release,
    /// Leaves the message hidden, without further renewals. It becomes visible when its visibility timeout is over, unless it
    /// is deleted by its receipt handle. On FIFO queues, its group waits until then.
    Keep,
    /// Runs the handler again after this pause, at least 100 ms. The consumer keeps the message and renews its lease. Unlike
    /// [`Nack`](Self::Nack), this does not count as another receive, so no redrive policy moves the message to a dead-letter
    /// queue. When the longest lease is over, the lease is lost, and the message is received again. On FIFO queues, its group
    /// waits; if the handler ran for a batch, the messages behind it in the group run again. A shutdown makes the message visible at
    /// once.
    ///
    /// A waiting message occupies a place of the consumer. If half of the places are occupied like this, this is a
    /// `Nack`.
    Retry(Duration),
    /// Something that the handler needs is overloaded: it throttles, or is too slow. Like [`Retry`](Self::Retry), but messages may
    /// occupy all places, and the pause grows each time in a row, from 100 ms to 5 seconds. With
    /// [`Concurrency::Adaptive`](crate::Concurrency::Adaptive), fewer handlers run.
    Overloaded,
    /// Retries cannot help: sends the message to the dead-letter queue of the queue, with this reason as the message attribute
    /// `DeadLetterReason`, and deletes it. If there is no dead-letter queue, the message is retried after the
    /// [back-off](crate::BackOff).
    DeadLetter(String),
}
