//! The time limit of an upload.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, sleep_until};

use super::{ByteStream, UploadBody};
use crate::error::Error;

/// Bytes for which a store gets one timeout.
const PART: u64 = 8 << 20;
/// Parts that may be in flight when the next piece is taken.
const PARTS: u32 = 5;

/// The time limit after a piece of this length: one timeout for each 8 MiB of it, but at least five, for the parts
/// before it.
pub(super) fn patience(timeout: Duration, bytes: u64) -> Duration {
    let parts = u32::try_from(bytes.div_ceil(PART)).unwrap_or(u32::MAX);
    timeout.saturating_mul(parts.max(PARTS))
}

/// The time limit of an upload: the store must take the next piece, or finish, before it.
#[derive(Debug)]
pub(super) struct Pace {
    timeout: Duration,
    /// `None` while the store waits for the source. Locked for a few instructions.
    until: Mutex<Option<Until>>,
}

#[derive(Clone, Copy, Debug)]
struct Until {
    at: Instant,
    /// The whole time limit.
    patience: Duration,
}

impl Pace {
    /// Starts the time limit. The returned body restarts it with each piece.
    pub(super) fn of(timeout: Duration, body: UploadBody) -> (Arc<Self>, UploadBody) {
        let length = match &body {
            UploadBody::Bytes(bytes) => bytes.len(),
            UploadBody::Stream(_) => 0,
        };
        let pace = Arc::new(Self { timeout, until: Mutex::new(None) });
        pace.gave(length);
        let body = match body {
            UploadBody::Stream(body) => UploadBody::Stream(Paced { body, pace: Arc::clone(&pace) }.boxed()),
            whole @ UploadBody::Bytes(_) => whole,
        };
        (pace, body)
    }

    /// Resolves when the time limit is exceeded, with its duration.
    pub(super) async fn lost(&self) -> Duration {
        loop {
            let until = *self.until.lock();
            match until {
                Some(until) if until.at <= Instant::now() => return until.patience,
                Some(until) => sleep_until(until.at).await,
                // The next time limit is at least that long.
                None => sleep(self.timeout).await,
            }
        }
    }

    fn waits(&self) {
        *self.until.lock() = None;
    }

    fn gave(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let patience = patience(self.timeout, bytes);
        // Without a limit if the clock cannot represent it.
        *self.until.lock() = Instant::now().checked_add(patience).map(|at| Until { at, patience });
    }
}

struct Paced {
    body: ByteStream,
    pace: Arc<Pace>,
}

impl Stream for Paced {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let piece = self.body.poll_next_unpin(context);
        match &piece {
            Poll::Pending => self.pace.waits(),
            Poll::Ready(Some(Ok(piece))) => self.pace.gave(piece.len()),
            Poll::Ready(_) => self.pace.gave(0),
        }
        piece
    }
}

/// If the store drops the source, the time limit is that of a last piece.
impl Drop for Paced {
    fn drop(&mut self) {
        self.pace.gave(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_has_one_timeout_per_part_and_at_least_five() {
        let minute = Duration::from_secs(60);
        for (bytes, minutes) in [(0, 5), (1, 5), (40 << 20, 5), ((40 << 20) + 1, 6), (256 << 20, 32)] {
            assert_eq!(patience(minute, bytes), minute * minutes, "{bytes}");
        }
        assert_eq!(patience(Duration::MAX, u64::MAX), Duration::MAX);
    }
}
