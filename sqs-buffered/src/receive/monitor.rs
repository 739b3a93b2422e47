//! Who counts, logs, and tells the user's hook.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::event::Event;
use super::stats::Tally;
use crate::error::SendError;

/// What the user wants to be called with.
pub(crate) type Hook = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

/// Counts, logs, and tells the hook.
#[derive(Default)]
pub(crate) struct Monitor {
    pub(crate) tally: Tally,
    hook: Option<Hook>,
}

/// How a message ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Settled {
    Acked,
    Nacked,
    Released,
    DeadLettered,
    Returned,
}

impl Monitor {
    pub(crate) fn new(hook: Option<Hook>) -> Self {
        Self { tally: Tally::default(), hook }
    }

    /// Counts and tells.
    pub(crate) fn tell(&self, event: &Event<'_>) {
        let tally = &self.tally;
        match event {
            Event::ReceiveFailed { error, failures, retry_in } => {
                tally.receive_errors.one();
                tracing::warn!(%error, failures, ?retry_in, "a receive failed");
            }
            Event::Damaged { message_id } => {
                tally.damaged.one();
                tracing::warn!(message_id, "a message came with a wrong checksum");
            }
            Event::RenewalFailed { message_id, error } => {
                tally.renewal_failures.one();
                tracing::debug!(message_id, %error, "a lease was not renewed");
            }
            Event::LeaseLost { message_id } => {
                tally.leases_lost.one();
                tracing::warn!(message_id, "a lease is lost");
            }
            Event::SettleFailed { message_id, error } => {
                tally.settle_errors.one();
                tracing::warn!(message_id, %error, "a message could not be settled");
            }
            Event::HandlerFailed { message_id, error } => {
                tally.failed.one();
                tracing::warn!(message_id, %error, "a handler failed");
            }
            Event::HandlerPanicked { message_id, text } => {
                tally.panicked.one();
                tracing::error!(message_id, text, "a handler panicked");
            }
            Event::DeadLetterFailed { message_id, reason } => {
                tracing::warn!(message_id, reason, "a message could not be brought to the dead-letter queue");
            }
        }
        let Some(hook) = &self.hook else { return };
        // A hook that panics must not take those with it who tell it.
        if catch_unwind(AssertUnwindSafe(|| hook(event))).is_err() {
            tracing::error!(?event, "the hook for events panicked");
        }
    }

    /// Counts how a message ended, or tells why it did not.
    pub(crate) fn settled(&self, message_id: &str, how: Settled, result: &Result<(), SendError>) {
        let counter = match how {
            Settled::Acked => &self.tally.acked,
            Settled::Nacked => &self.tally.nacked,
            Settled::Released => &self.tally.released,
            Settled::DeadLettered => &self.tally.dead_lettered,
            Settled::Returned => &self.tally.returned,
        };
        match result {
            Ok(()) => counter.one(),
            Err(error) if error.is_lease_lost() => self.tell(&Event::LeaseLost { message_id }),
            Err(error) => {
                self.tally.unsettled.one();
                self.tell(&Event::SettleFailed { message_id, error });
            }
        }
    }

    /// As [`settled`](Self::settled), of a message that was given back. When that is refused since there is no such
    /// message, and a delete of it may have been done although it failed, it was: the message ended as that says.
    pub(crate) fn given_back(
        &self,
        message_id: &str,
        (how, maybe_gone): (Settled, Option<Settled>),
        result: Result<(), SendError>,
    ) -> Result<(), SendError> {
        let (how, result) = match (maybe_gone, result) {
            (Some(gone), Err(error)) if error.is_lease_lost() => (gone, Ok(())),
            (_, result) => (how, result),
        };
        self.settled(message_id, how, &result);
        result
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("tally", &self.tally).finish_non_exhaustive()
    }
}
