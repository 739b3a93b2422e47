//! Measures real durations, such as the time to handle a request.

use std::time::Duration;

use tokio::time::Instant;

/// Measures real time, not the virtual clock.
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
