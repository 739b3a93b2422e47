//! What a change of a lane asks for: requests, tasks and alarms.

use std::sync::Arc;

use futures_util::future::AbortRegistration;
use tokio::runtime::Id;
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::Span;

use crate::produce::kind::Kind;
use crate::produce::lane::Dispatch;

/// What a lane has to send for an entry.
#[derive(Debug)]
pub(crate) struct Load<K: Kind> {
    pub(crate) entry: K::Entry,
    /// The span of the caller.
    pub(crate) span: Span,
}

/// What a change of a lane asks for.
#[must_use]
#[derive(Debug)]
pub(crate) struct Todo<K: Kind> {
    /// Whether to start a task that takes the due batches. Other entries may join a batch until the task takes it.
    pub(crate) starts: bool,
    /// Batches that are to be sent. Each has a slot of the lane.
    pub(crate) due: Vec<Due<K>>,
    /// An alarm that is to be started: when it goes off, unless it is rung before.
    pub(crate) alarm: Option<(Instant, Arc<Notify>)>,
}

/// The work of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// To ask what is due, on that runtime.
    Start(Id),
    /// The batch of that number, which has a slot.
    Batch(u64),
    /// The slot of a batch that is complete.
    Answered,
    /// The alarm of a runtime.
    Alarm(Id),
}

/// A batch that is to be sent.
#[derive(Debug)]
pub(crate) struct Due<K: Kind> {
    pub(crate) batch: Dispatch<Load<K>>,
    /// Aborts the request.
    pub(crate) given_up: AbortRegistration,
}
