//! The work that a change of a lane requires: requests, tasks and alarms.

use std::sync::Arc;

use futures_util::future::AbortRegistration;
use tokio::runtime::Id;
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::Span;

use crate::produce::kind::Kind;
use crate::produce::lane::Dispatch;

/// The data of an entry in a request.
#[derive(Debug)]
pub(crate) struct Load<K: Kind> {
    pub(crate) entry: K::Entry,
    /// The span of the caller.
    pub(crate) span: Span,
}

/// The work that a change of a lane requires.
#[must_use]
#[derive(Debug)]
pub(crate) struct Todo<K: Kind> {
    /// Whether to start a task that takes the due batches. Other entries may join a batch until the task takes it.
    pub(crate) starts: bool,
    /// Batches to send. Each has a slot of the lane.
    pub(crate) due: Vec<Due<K>>,
    /// An alarm to start: when it is due, unless it is woken before.
    pub(crate) alarm: Option<(Instant, Arc<Notify>)>,
}

/// The work of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Asks for due batches, on this runtime.
    Start(Id),
    /// Sends the batch with this number, which has a slot.
    Batch(u64),
    /// Releases the slot of a completed batch.
    Answered,
    /// Runs the alarm of a runtime.
    Alarm(Id),
}

/// A batch to send.
#[derive(Debug)]
pub(crate) struct Due<K: Kind> {
    pub(crate) batch: Dispatch<Load<K>>,
    /// Aborts the request.
    pub(crate) given_up: AbortRegistration,
}
