//! What happens in the background, for those who measure it or want to know what goes wrong.

use std::time::Duration;

use crate::consume::outcome::Outcome;
use crate::produce::SendError;

/// Something that happened in the background. [`ReceiveStats`](crate::ReceiveStats) counts it; this says what it was, when,
/// and how long it took.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A receive was answered.
    #[non_exhaustive]
    Received {
        /// How many messages it brought.
        messages: usize,
        /// How long it took, failed attempts and the wait for messages included.
        elapsed: Duration,
    },
    /// A handler ended. Errors and panics are told before.
    #[non_exhaustive]
    Handled {
        /// The message.
        message_id: &'a str,
        /// What it said; `None` when it failed or panicked.
        outcome: Option<&'a Outcome>,
        /// How long it took.
        elapsed: Duration,
    },
    /// A message was settled: this is the end of its delivery.
    #[non_exhaustive]
    Settled {
        /// The message.
        message_id: &'a str,
        /// How.
        how: Settled,
        /// How long it was here.
        age: Duration,
    },
    /// A receive failed, and is tried again.
    #[non_exhaustive]
    ReceiveFailed {
        /// Why.
        error: &'a dyn std::error::Error,
        /// How often in a row this receive has failed.
        failures: u32,
        /// When it is tried again.
        retry_in: Duration,
    },
    /// A message came with a wrong checksum. It was not delivered, and is given back.
    #[non_exhaustive]
    Damaged {
        /// The message.
        message_id: &'a str,
    },
    /// A lease was not renewed, and that is tried again as long as there is time.
    #[non_exhaustive]
    RenewalFailed {
        /// The message.
        message_id: &'a str,
        /// Why.
        error: &'a SendError,
    },
    /// A lease is lost: somebody else may have the message.
    #[non_exhaustive]
    LeaseLost {
        /// The message.
        message_id: &'a str,
        /// How long it was here.
        age: Duration,
    },
    /// A delete or a change of visibility failed for good. After a delete, the message is given back; when that fails
    /// too, it comes back when its visibility timeout is over.
    #[non_exhaustive]
    SettleFailed {
        /// The message.
        message_id: &'a str,
        /// Why.
        error: &'a SendError,
    },
    /// A handler returned an error.
    #[non_exhaustive]
    HandlerFailed {
        /// The message.
        message_id: &'a str,
        /// The error.
        error: &'a (dyn std::error::Error + Send + Sync),
    },
    /// A handler panicked.
    #[non_exhaustive]
    HandlerPanicked {
        /// The message.
        message_id: &'a str,
        /// What it said.
        text: &'a str,
    },
    /// A message could not be brought to the dead-letter queue. It is treated as one whose handler failed.
    #[non_exhaustive]
    DeadLetterFailed {
        /// The message.
        message_id: &'a str,
        /// Why.
        reason: &'a str,
    },
}

/// How the delivery of a message ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Settled {
    /// The message was deleted after success.
    Acked,
    /// It was given back to be visible after a while, by its handler or because that failed.
    Nacked,
    /// It was made visible at once by its handler.
    Released,
    /// It was left as it is by its handler.
    Kept,
    /// It was brought to the dead-letter queue and deleted.
    DeadLettered,
    /// It was made visible again without an outcome: not started, stopped, dropped, or because its delete failed.
    Returned,
}

impl Settled {
    /// A short name for metrics, such as `acked`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Acked => "acked",
            Self::Nacked => "nacked",
            Self::Released => "released",
            Self::Kept => "kept",
            Self::DeadLettered => "dead_lettered",
            Self::Returned => "returned",
        }
    }
}
