//! What request bodies may take of memory and time.
//!
//! ```text
//! head -> wait for a share of the room -> read the body -> endpoint -> give the share back
//! ```
//! A request takes its whole share before it reads: what its head announces, or the largest legal body when it
//! announces nothing; then it gives back what it did not need. So nobody who holds a share waits for more, and shares
//! always come back.

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{error::Elapsed, timeout};

use super::Limits;
use super::body::{self, BodyError};

/// The place where the bodies of all connections come in.
#[derive(Debug)]
pub(super) struct Intake {
    limits: Limits,
    /// One permit for each byte. Requests wait for them, first come, first served; answered requests give theirs
    /// back.
    room: Semaphore,
    size: usize,
}

/// A body, and its share of the room for as long as it is in memory.
#[derive(Debug)]
pub(super) struct Admitted<'i> {
    pub(super) body: Bytes,
    pub(super) share: Option<SemaphorePermit<'i>>,
}

impl Intake {
    pub(super) fn new(limits: Limits) -> Self {
        let size = limits.max_bodies.clamp(1, Semaphore::MAX_PERMITS);
        Self { limits, room: Semaphore::new(size), size }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reads a body. One that waits for `100 Continue` is not asked for when it is announced as too long.
    ///
    /// # Cancel safety
    /// What was read is lost, its share is not; the connection cannot be used any more.
    pub(super) async fn read(
        &self,
        body: Incoming,
        expects_continue: bool,
    ) -> Result<Admitted<'_>, BodyError> {
        if body.is_end_stream() {
            return Ok(Admitted { body: Bytes::new(), share: None });
        }
        let patience = self.limits.body_timeout;
        let too_slow = |_: Elapsed| BodyError::TooSlow;
        let Some(need) = body::need(&body, self.limits.max_body) else {
            if expects_continue {
                return Err(BodyError::TooLong);
            }
            let body = timeout(patience, body::discard(body)).await.map_err(too_slow)??;
            return Ok(Admitted { body, share: None });
        };
        let mut share = timeout(patience, self.share(need)).await.map_err(|_| BodyError::NoRoom)?;
        // The wait for room was not the caller's fault: only now the time of a slow sender begins.
        let body = timeout(patience, body::collect(body, self.limits.max_body)).await.map_err(too_slow)??;
        if let Some(share) = &mut share {
            // One that announced nothing took room for the longest; a long poll would keep that for all its wait.
            drop(share.split(share.num_permits().saturating_sub(body.len())));
        }
        Ok(Admitted { body, share })
    }

    /// A body that is larger than all the room gets all of it.
    async fn share(&self, need: usize) -> Option<SemaphorePermit<'_>> {
        let permits = u32::try_from(need.min(self.size)).unwrap_or(u32::MAX);
        // The room is never closed, so that there is no error.
        self.room.acquire_many(permits).await.ok()
    }
}
