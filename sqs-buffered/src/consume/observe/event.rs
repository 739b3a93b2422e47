//! Events of receivers and consumers.

use std::time::Duration;

use crate::consume::outcome::Outcome;
use crate::produce::SendError;

/// An event of a receiver or consumer, for the hook of [`on_event`](crate::ConsumerBuilder::on_event).
/// [`ReceiveStats`](crate::ReceiveStats) has the totals.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A receive has completed.
    #[non_exhaustive]
    Received {
        /// The number of messages.
        messages: usize,
        /// Its duration, including failed attempts and the wait for messages.
        elapsed: Duration,
    },
    /// A handler has ended. After an error or a panic, `HandlerFailed` or `HandlerPanicked` comes first.
    #[non_exhaustive]
    Handled {
        /// The message id.
        message_id: &'a str,
        /// Its outcome; `None` after an error or a panic.
        outcome: Option<&'a Outcome>,
        /// Its duration.
        elapsed: Duration,
    },
    /// A message was settled, which ends its delivery.
    #[non_exhaustive]
    Settled {
        /// The message id.
        message_id: &'a str,
        /// How the delivery ended.
        how: Settled,
        /// The time since its receive.
        age: Duration,
    },
    /// A receive failed and will be retried.
    #[non_exhaustive]
    ReceiveFailed {
        /// The error.
        error: &'a dyn std::error::Error,
        /// The number of failures of this receive in a row.
        failures: u32,
        /// The time until the retry.
        retry_in: Duration,
    },
    /// A message had a wrong checksum. It is not handled, and becomes visible again.
    #[non_exhaustive]
    Damaged {
        /// The message id.
        message_id: &'a str,
    },
    /// A message could not be opened: the client below could not load its payload. It is not handled. The client says what becomes
    /// of it; usually it becomes visible again after the back-off.
    #[non_exhaustive]
    Unopened {
        /// The message id.
        message_id: &'a str,
        /// The error.
        error: &'a dyn std::error::Error,
    },
    /// The renewal of a lease failed. It is retried while there is time.
    #[non_exhaustive]
    RenewalFailed {
        /// The message id.
        message_id: &'a str,
        /// The error.
        error: &'a SendError,
    },
    /// A lease is lost: another consumer may have the message.
    #[non_exhaustive]
    LeaseLost {
        /// The message id.
        message_id: &'a str,
        /// The time since its receive.
        age: Duration,
    },
    /// A delete or visibility change failed for good. After a failed delete, the message is made visible again; if that fails,
    /// too, it becomes visible when its visibility timeout is over.
    #[non_exhaustive]
    SettleFailed {
        /// The message id.
        message_id: &'a str,
        /// The error.
        error: &'a SendError,
    },
    /// A handler returned an error.
    #[non_exhaustive]
    HandlerFailed {
        /// The message id.
        message_id: &'a str,
        /// The error.
        error: &'a (dyn std::error::Error + Send + Sync),
    },
    /// A handler panicked.
    #[non_exhaustive]
    HandlerPanicked {
        /// The message id.
        message_id: &'a str,
        /// The text of the panic.
        text: &'a str,
    },
    /// A message could not be sent to the dead-letter queue. It is retried after the back-off.
    #[non_exhaustive]
    DeadLetterFailed {
        /// The message id.
        message_id: &'a str,
        /// The error.
        reason: &'a str,
    },
}

/// How the delivery of a message ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Settled {
    /// Deleted after success.
    Acked,
    /// Made visible after a delay: by its outcome, or because its handler failed.
    Nacked,
    /// Made visible at once, by its outcome.
    Released,
    /// Left hidden, by its outcome.
    Kept,
    /// Sent to the dead-letter queue and deleted.
    DeadLettered,
    /// Deleted without an outcome: its payload is missing, and the client below deletes such messages.
    Discarded,
    /// Made visible again without an outcome: not started, not opened, stopped, dropped, or its delete failed.
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
            Self::Discarded => "discarded",
            Self::Returned => "returned",
        }
    }
}
