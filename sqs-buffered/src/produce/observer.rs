//! Counts entries and batches, and calls the event hook.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use sqs_client::operation::Action;

use super::admission::Amount;
use super::error::{SendError, SendErrorKind};
use super::event::SendEvent;
use super::lane::{BatchSize, Retried};
use super::lane_metrics::{InFlightMetric, LaneMetrics};
use super::stats::{BatchInFlight, Counters, Stats};
use super::summary::Summary;

/// The event hook.
pub(crate) type Hook = Arc<dyn Fn(&SendEvent<'_>) + Send + Sync>;

/// The observer of one client. All of its lanes share it.
#[derive(Default)]
pub(crate) struct Observer {
    counters: Counters,
    hook: Option<Hook>,
}

/// The lane of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    pub(crate) queue_url: &'a str,
    pub(crate) operation: Action,
    pub(crate) metrics: &'a LaneMetrics,
}

impl Observer {
    pub(crate) fn new(hook: Option<Hook>) -> Self {
        Self { counters: Counters::default(), hook }
    }

    /// Whether an event hook is set.
    pub(crate) fn is_heard(&self) -> bool {
        self.hook.is_some()
    }

    /// An entry was admitted. `bytes` is its capacity.
    pub(crate) fn admitted(&self, site: Site<'_>, bytes: usize) {
        self.counters.admitted();
        site.metrics.admitted(bytes);
    }

    /// A batch is in flight, until the guards are dropped.
    pub(crate) fn sending<'a>(&'a self, site: Site<'a>) -> (BatchInFlight<'a>, InFlightMetric<'a>) {
        (BatchInFlight::new(&self.counters), site.metrics.sending())
    }

    /// A request has completed or failed.
    pub(crate) fn sent(
        &self,
        site: Site<'_>,
        size: BatchSize,
        duration: Duration,
        error: Option<&SendError>,
    ) {
        self.counters.sent(&size);
        site.metrics.sent(&size, duration, error.map(SendError::kind));
        let BatchSize { entries, bytes, retried, waited } = size;
        let Site { queue_url, operation, .. } = site;
        self.tell(&SendEvent::Batch {
            queue_url,
            operation,
            entries,
            bytes,
            retried,
            waited,
            duration,
            error,
        });
    }

    pub(crate) fn retried(&self, Site { queue_url, operation, .. }: Site<'_>, retried: &Retried) {
        let Retried { error, attempts, pause } = retried;
        let (attempts, retry_in) = (*attempts, *pause);
        self.tell(&SendEvent::Retried { queue_url, operation, error, attempts, retry_in });
    }

    /// An entry, or several that were merged, has ended.
    pub(crate) fn ended(
        &self,
        Site { queue_url, operation, metrics }: Site<'_>,
        entries: usize,
        error: Option<&SendError>,
    ) {
        let failure = error.map(SendError::kind);
        self.counters.settled(entries, failure);
        if failure == Some(SendErrorKind::Superseded) {
            return;
        }
        metrics.ended(entries, failure);
        if let Some(error) = error {
            self.tell(&SendEvent::Failed { queue_url, operation, error });
        }
    }

    /// The ticket of a failed entry was dropped. Without a hook, a warning is logged.
    pub(crate) fn unheard(&self, Site { queue_url, operation, .. }: Site<'_>, error: &SendError) {
        if !self.is_heard() {
            warn_of_unheard(error, Some(queue_url), Some(operation));
        }
    }

    /// The results of all entries that have ended.
    pub(crate) fn summary(&self) -> Summary {
        self.counters.summary()
    }

    pub(crate) fn stats(&self, taken: Amount) -> Stats {
        self.counters.snapshot(taken)
    }

    /// Calls the hook. A panic in it must not end the lane.
    fn tell(&self, event: &SendEvent<'_>) {
        let Some(hook) = &self.hook else { return };
        if catch_unwind(AssertUnwindSafe(|| hook(event))).is_err() {
            tracing::error!("the event hook panicked");
        }
    }
}

/// Logs the failure of an entry whose ticket nobody awaited.
pub(crate) fn warn_of_unheard(error: &SendError, queue_url: Option<&str>, operation: Option<Action>) {
    // A superseded visibility change needs no warning, because its message was deleted.
    if error.kind() != SendErrorKind::Superseded {
        let operation = operation.map(Action::as_str);
        tracing::warn!(%error, queue_url, operation, "an entry failed, but nobody awaited its ticket");
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("is_heard", &self.is_heard()).finish_non_exhaustive()
    }
}
