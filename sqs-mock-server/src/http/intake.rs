//! What request bodies may take of memory and time.
//!
//! ```text
//! head -> read the beginning -> it is all: wait for a share of the small room ---------------------> endpoint -> give the share back
//!                               there is more: wait for a share of the large room, read the rest --->
//! ```
//! A share is taken once, for a body that is there or for all that is still to come: nobody who holds a share waits for
//! more, and shares always come back. The beginning takes no share, so that a connection that announces a long body and
//! sends nothing keeps no room from others; it is bounded by the number of connections, as their buffers are. Short bodies
//! have a room of their own, so that they go past long ones that wait.

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, error::Elapsed, timeout};

use super::Limits;
use super::body::{self, Begun, BodyError};

/// Which part of all the room is for short bodies.
const SMALL_PART: usize = 4;

/// The place where the bodies of all connections come in.
#[derive(Debug)]
pub(crate) struct Intake {
    limits: Limits,
    /// For bodies that are not longer than the [beginning](body::BEGINNING).
    small: Room,
    large: Room,
}

/// One permit for each byte. Requests wait for them, first come, first served; answered requests give theirs back.
#[derive(Debug)]
struct Room {
    permits: Semaphore,
    size: usize,
}

/// A body, and its share of the room for as long as it is in memory.
#[derive(Debug)]
pub(crate) struct Admitted<'i> {
    pub(crate) body: Bytes,
    pub(crate) share: Option<SemaphorePermit<'i>>,
}

impl Intake {
    pub(crate) fn new(limits: Limits) -> Self {
        let small = limits.max_bodies / SMALL_PART;
        Self { limits, small: Room::new(small), large: Room::new(limits.max_bodies - small) }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reads a body. One that waits for `100 Continue` is not asked for when it is announced as too long.
    ///
    /// # Cancel safety
    /// What was read is lost, its share is not; the connection cannot be used any more.
    pub(crate) async fn read(
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
        let (limit, start) = (self.limits.max_body, Instant::now());
        match timeout(patience, body::begin(body, limit)).await.map_err(too_slow)?? {
            Begun::Whole(body) => {
                let share = timeout(patience, self.small.share(body.len())).await;
                Ok(Admitted { body, share: share.map_err(|_| BodyError::NoRoom)? })
            }
            Begun::Part(part) => {
                let patience_left = patience.saturating_sub(start.elapsed());
                let share = timeout(patience, self.large.share(need)).await;
                let mut share = share.map_err(|_| BodyError::NoRoom)?;
                // The wait for room was not the caller's fault, and does not count.
                let body = timeout(patience_left, part.finish(limit)).await.map_err(too_slow)??;
                if let Some(share) = &mut share {
                    // One that announced nothing took room for the longest; a long poll would keep that for all its wait.
                    drop(share.split(share.num_permits().saturating_sub(body.len())));
                }
                Ok(Admitted { body, share })
            }
        }
    }
}

impl Room {
    fn new(size: usize) -> Self {
        let size = size.clamp(1, Semaphore::MAX_PERMITS);
        Self { permits: Semaphore::new(size), size }
    }

    /// A body that is larger than all the room gets all of it.
    async fn share(&self, need: usize) -> Option<SemaphorePermit<'_>> {
        let permits = u32::try_from(need.min(self.size)).unwrap_or(u32::MAX);
        // The room is never closed, so that there is no error.
        self.permits.acquire_many(permits).await.ok()
    }
}
