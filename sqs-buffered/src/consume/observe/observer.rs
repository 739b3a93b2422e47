//! Counts, logs, and calls the user's hook.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use sqs_client::error::DisplayErrorContext;
use tokio::time::Instant;

use super::event::{Event, Settled};
use super::metrics::ConsumerMetrics;
use super::stats::Tally;
use crate::produce::SendError;

/// The event hook.
pub(crate) type Hook = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

/// Counts, logs, and calls the hook.
pub(crate) struct Observer {
    pub(crate) tally: Tally,
    pub(crate) metrics: ConsumerMetrics,
    hook: Option<Hook>,
    /// Whether the latest receive failed.
    is_outage: AtomicBool,
}

impl Observer {
    pub(crate) fn new(queue_url: &str, hook: Option<Hook>) -> Self {
        Self {
            tally: Tally::default(),
            metrics: ConsumerMetrics::new(queue_url),
            hook,
            is_outage: AtomicBool::new(false),
        }
    }

    /// A message that is already held was delivered again.
    pub(crate) fn duplicate(&self) {
        self.tally.duplicates.one();
        self.metrics.duplicate();
    }

    /// Counts, logs, and calls the hook.
    pub(crate) fn report(&self, event: &Event<'_>) {
        self.tally.count(event);
        self.metrics.count(event);
        match event {
            Event::ReceiveFailed { error, retry_in, .. } => {
                // One line at the start of an outage, and one at its end.
                if !self.is_outage.swap(true, Relaxed) {
                    tracing::warn!(error = %DisplayErrorContext(*error), ?retry_in, "receives fail and are retried");
                }
            }
            Event::Received { .. } => {
                if self.is_outage.swap(false, Relaxed) {
                    tracing::info!("receives succeed again");
                }
            }
            _ => log(event),
        }
        let Some(hook) = &self.hook else { return };
        // A hook that panics must not end the task that reports.
        if catch_unwind(AssertUnwindSafe(|| hook(event))).is_err() {
            tracing::error!(?event, "the event hook panicked");
        }
    }

    /// Reports the end of a delivery, given by message id and time of receive, or why it failed.
    pub(crate) fn settled(
        &self,
        (message_id, received): (&str, Instant),
        how: Settled,
        result: &Result<(), SendError>,
    ) {
        let age = received.elapsed();
        match result {
            Ok(()) => self.report(&Event::Settled { message_id, how, age }),
            Err(error) if error.is_lease_lost() => self.report(&Event::LeaseLost { message_id, age }),
            Err(error) => {
                self.tally.unsettled.one();
                self.report(&Event::SettleFailed { message_id, error });
            }
        }
    }

    /// Like [`settled`](Self::settled), for a message that was given back. `maybe_gone` is its end if SQS has executed an earlier
    /// delete that failed: then the message no longer exists.
    pub(crate) fn given_back(
        &self,
        message: (&str, Instant),
        (how, maybe_gone): (Settled, Option<Settled>),
        result: Result<(), SendError>,
    ) -> Result<(), SendError> {
        let (how, result) = match (maybe_gone, result) {
            (Some(gone), Err(error)) if error.is_lease_lost() => (gone, Ok(())),
            (_, result) => (how, result),
        };
        self.settled(message, how, &result);
        result
    }
}

fn log(event: &Event<'_>) {
    match event {
        Event::Received { .. }
        | Event::ReceiveFailed { .. }
        | Event::Handled { .. }
        | Event::Settled { .. } => {}
        Event::Damaged { message_id } => {
            tracing::warn!(message_id, "a message has a wrong checksum; it becomes visible again");
        }
        Event::Unopened { message_id, error } => {
            tracing::warn!(message_id, %error, "a message could not be opened, and is not handled");
        }
        Event::RenewalFailed { message_id, error } => {
            tracing::debug!(message_id, %error, "the renewal of a lease failed");
        }
        Event::LeaseLost { message_id, age } => {
            tracing::warn!(message_id, ?age, "a lease is lost: another consumer may have the message");
        }
        Event::SettleFailed { message_id, error } => {
            tracing::warn!(message_id, %error, "a delete or visibility change failed");
        }
        Event::HandlerFailed { message_id, error } => tracing::warn!(message_id, %error, "a handler failed"),
        Event::HandlerPanicked { message_id, text } => {
            tracing::error!(message_id, text, "a handler panicked");
        }
        Event::DeadLetterFailed { message_id, reason } => {
            tracing::warn!(message_id, reason, "a message could not be sent to the dead-letter queue");
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("tally", &self.tally).finish_non_exhaustive()
    }
}
