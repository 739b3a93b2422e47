//! What can go wrong without anybody asking, for those who want to know.

use std::time::Duration;

use crate::error::SendError;

/// Something that happened in the background. Everything here is counted as well; this says what it was.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A receive failed, and is tried again.
    ReceiveFailed {
        /// Why.
        error: &'a dyn std::error::Error,
        /// How often in a row this receive has failed.
        failures: u32,
        /// When it is tried again.
        retry_in: Duration,
    },
    /// A message came with a wrong checksum. It was not delivered, and is given back.
    Damaged {
        /// The message.
        message_id: &'a str,
    },
    /// A lease was not renewed, and that is tried again as long as there is time.
    RenewalFailed {
        /// The message.
        message_id: &'a str,
        /// Why.
        error: &'a SendError,
    },
    /// A lease is lost: somebody else may have the message.
    LeaseLost {
        /// The message.
        message_id: &'a str,
    },
    /// A delete or a change of visibility failed for good. The message comes back by itself.
    SettleFailed {
        /// The message.
        message_id: &'a str,
        /// Why.
        error: &'a SendError,
    },
    /// A handler returned an error.
    HandlerFailed {
        /// The message.
        message_id: &'a str,
        /// The error.
        error: &'a (dyn std::error::Error + Send + Sync),
    },
    /// A handler panicked.
    HandlerPanicked {
        /// The message.
        message_id: &'a str,
        /// What it said.
        text: &'a str,
    },
    /// A message could not be brought to the dead-letter queue. It is treated as one whose handler failed.
    DeadLetterFailed {
        /// The message.
        message_id: &'a str,
        /// Why.
        reason: &'a str,
    },
}
