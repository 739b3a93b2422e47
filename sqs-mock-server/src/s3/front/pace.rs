//! Limits the throughput of a body.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::Sleep;

/// Holds one piece of a body until its time has passed.
#[derive(Debug)]
pub(super) struct Pace<T> {
    held: Option<(T, Pin<Box<Sleep>>)>,
}

impl<T> Default for Pace<T> {
    fn default() -> Self {
        Self { held: None }
    }
}

impl<T> Pace<T> {
    /// Waits for the piece that is held and returns it; `None` if there is none.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if let Some((_, time)) = &mut self.held {
            ready!(time.as_mut().poll(cx));
        }
        Poll::Ready(self.held.take().map(|(held, _)| held))
    }

    /// Whether no piece is held.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_none()
    }

    /// Holds a piece for as long as its bytes take at this rate.
    pub(super) fn hold(&mut self, held: T, bytes: usize, per_second: u64) {
        #[expect(clippy::cast_precision_loss, reason = "the error is far below the resolution of the timer")]
        let seconds = bytes as f64 / per_second.max(1) as f64;
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.held = Some((held, Box::pin(tokio::time::sleep(time))));
    }
}
