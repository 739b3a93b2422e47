//! Who counts, logs, and tells the user's hook.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::event::Event;
use super::stats::Tally;
use crate::consume::lease::Lease;
use crate::produce::SendError;

/// What the user wants to be called with.
pub(crate) type Hook = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

/// Counts, logs, and tells the hook.
#[derive(Default)]
pub(crate) struct Monitor {
    pub(crate) tally: Tally,
    hook: Option<Hook>,
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

impl Monitor {
    pub(crate) fn new(hook: Option<Hook>) -> Self {
        Self { tally: Tally::default(), hook }
    }

    /// Counts, logs and tells.
    pub(crate) fn tell(&self, event: &Event<'_>) {
        self.tally.count(event);
        log(event);
        let Some(hook) = &self.hook else { return };
        // A hook that panics must not take those with it who tell it.
        if catch_unwind(AssertUnwindSafe(|| hook(event))).is_err() {
            tracing::error!(?event, "the hook for events panicked");
        }
    }

    /// Tells how a message ended, or why it did not.
    pub(crate) fn settled(&self, lease: &Lease, how: Settled, result: &Result<(), SendError>) {
        let (message_id, age) = (&**lease.message_id(), lease.age());
        match result {
            Ok(()) => self.tell(&Event::Settled { message_id, how, age }),
            Err(error) if error.is_lease_lost() => self.tell(&Event::LeaseLost { message_id, age }),
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
        lease: &Lease,
        (how, maybe_gone): (Settled, Option<Settled>),
        result: Result<(), SendError>,
    ) -> Result<(), SendError> {
        let (how, result) = match (maybe_gone, result) {
            (Some(gone), Err(error)) if error.is_lease_lost() => (gone, Ok(())),
            (_, result) => (how, result),
        };
        self.settled(lease, how, &result);
        result
    }
}

fn log(event: &Event<'_>) {
    match event {
        Event::Received { .. } | Event::Handled { .. } | Event::Settled { .. } => {}
        Event::ReceiveFailed { error, failures, retry_in } => {
            tracing::warn!(%error, failures, ?retry_in, "a receive failed");
        }
        Event::Damaged { message_id } => tracing::warn!(message_id, "a message came with a wrong checksum"),
        Event::RenewalFailed { message_id, error } => {
            tracing::debug!(message_id, %error, "a lease was not renewed");
        }
        Event::LeaseLost { message_id, age } => tracing::warn!(message_id, ?age, "a lease is lost"),
        Event::SettleFailed { message_id, error } => {
            tracing::warn!(message_id, %error, "a message could not be settled");
        }
        Event::HandlerFailed { message_id, error } => tracing::warn!(message_id, %error, "a handler failed"),
        Event::HandlerPanicked { message_id, text } => {
            tracing::error!(message_id, text, "a handler panicked");
        }
        Event::DeadLetterFailed { message_id, reason } => {
            tracing::warn!(message_id, reason, "a message could not be brought to the dead-letter queue");
        }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("tally", &self.tally).finish_non_exhaustive()
    }
}
