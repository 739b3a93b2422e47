//! Bytes that go by at a given pace.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::Sleep;

/// Makes whoever passes bytes on wait as long as they take.
#[derive(Debug, Default)]
pub(super) struct Pace {
    busy: Option<Pin<Box<Sleep>>>,
}

impl Pace {
    /// Waits until what was passed on before is through.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(busy) = &mut self.busy {
            ready!(busy.as_mut().poll(cx));
            self.busy = None;
        }
        Poll::Ready(())
    }

    /// Notes that so many bytes are passed on, at so many a second.
    pub(super) fn pass(&mut self, bytes: usize, per_second: u64) {
        #[expect(clippy::cast_precision_loss, reason = "nobody notices the difference")]
        let seconds = bytes as f64 / per_second.max(1) as f64;
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.busy = Some(Box::pin(tokio::time::sleep(time)));
    }
}
