//! What a run is to do.

use std::time::Duration;

use tokio::time::Instant;

/// What to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// Of each queue.
    pub(crate) producers: usize,
    /// Of each queue.
    pub(crate) consumers: usize,
    /// Lanes of each producer, within which messages are numbered: on the FIFO queue, each is a message group.
    pub(crate) lanes: usize,
    /// When producers stop.
    pub(crate) end: End,
    /// How long received messages stay hidden, in whole seconds. What a lost receive took with it comes back then.
    pub(crate) visibility: Duration,
    /// Whether consumers begin together with producers; if not, stock is taken in between.
    pub(crate) overlap: bool,
    /// Probability of each fault, 0 to 1.
    pub(crate) misfortune: f64,
}

/// When producers stop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// After this many messages of each lane.
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
