//! What a handler says about its message.

use std::error::Error;
use std::time::Duration;

/// Why a handler failed: any error, by `?`.
pub type HandlerError = Box<dyn Error + Send + Sync>;

/// What is to become of a message: what a handler answers. An error or a panic instead is a `Nack` by
/// [`BackOff`](crate::BackOff).
///
/// ```
/// use std::time::Duration;
///
/// use sqs_buffered::{HandlerError, Outcome};
///
/// fn handle(body: &str) -> Result<Outcome, HandlerError> {
///     Ok(match body {
///         "" => Outcome::DeadLetter("nothing ordered".into()), // will never be better
///         "soup" => Outcome::Nack(Duration::from_secs(60)),    // not ready yet
///         order => {
///             let number: u32 = order.parse()?; // an error: again, after a back-off
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
    /// It is done: delete it.
    Ack,
    /// Not now: make it visible after this long. Parts of a second are rounded up, and no message stays hidden for more
    /// than 12 hours after its receive.
    Nack(Duration),
    /// Not here: make it visible at once.
    Release,
    /// Leave it as it is: it is not renewed any more and comes back when its visibility timeout is over, unless somebody
    /// deletes it by its receipt handle until then. On FIFO queues its group stands still until then.
    Keep,
    /// Not now, since something that the handler needs is overloaded: it throttles, or is too slow. The message stays here
    /// with its lease renewed, and its handler runs again after a pause of 100 ms to 30 seconds, which grows with each
    /// time in a row. So it does not count as another receive, and no redrive policy moves it to a dead-letter queue. With
    /// [`Concurrency::Adaptive`](crate::Concurrency::Adaptive), fewer handlers run.
    Overloaded,
    /// It can never be done: send it to the dead-letter queue of the queue, with this reason as the attribute
    /// `DeadLetterReason`, and delete it here. Without a dead-letter queue it is treated as one whose handler failed.
    DeadLetter(String),
}
