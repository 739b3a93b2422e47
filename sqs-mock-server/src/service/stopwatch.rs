//! How long the work of the server itself takes.

use std::time::Duration;

use tokio::time::Instant;

/// Measures how long things take. It does not follow the hand of the clock: what it measures is work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
