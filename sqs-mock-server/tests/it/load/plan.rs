//! The settings of a run.

use std::time::Duration;

use tokio::time::Instant;

/// The settings of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// Of each queue.
    pub(crate) producers: usize,
    /// Of each queue.
    pub(crate) consumers: usize,
    /// Lanes of each producer. Messages are numbered within a lane, which is a message group on the FIFO queue.
    pub(crate) lanes: usize,
    /// When producers stop.
    pub(crate) end: End,
    /// The visibility timeout in whole seconds. Messages of a lost receive return after it.
    pub(crate) visibility: Duration,
    /// Whether consumers start together with producers. If not, the queue is checked in between.
    pub(crate) overlap: bool,
    /// Probability of each fault, 0 to 1.
    pub(crate) fault_rate: f64,
}

/// When producers stop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// After this many messages per lane.
    Messages(u64),
    After(Duration),
}

impl End {
    pub(super) fn allows(self, started: Instant, number: u64) -> bool {
        match self {
            Self::Messages(most) => number < most,
            Self::After(duration) => started.elapsed() < duration,
        }
    }
}
