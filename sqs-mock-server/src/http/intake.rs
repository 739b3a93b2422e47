//! Limits the memory and time of request bodies.
//!
//! ```text
//! head -> read the beginning -> complete: reserve memory for short bodies ----------------> endpoint -> release
//!                               more: reserve memory for long bodies, read the rest ------>
//! ```
//! A body reserves memory once: for what was read, or for the maximum that may follow. No holder of a reservation waits
//! for another one, so there is no deadlock. The beginning needs no reservation, so a connection that announces a long
//! body and sends nothing blocks no other request; the number of connections bounds these bytes, as it bounds their
//! buffers. A longer body that stalls loses its reservation soon. Short bodies have their own budget, so that they do not wait behind long ones.

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, error::Elapsed, timeout};

use super::Limits;
use super::body::{self, BodyError, BodyStart};

/// The fraction of the memory that is reserved for short bodies.
const SMALL_PART: usize = 4;

/// Admits the request bodies of all connections.
#[derive(Debug)]
pub(crate) struct Intake {
    limits: Limits,
    /// For bodies up to the size of the [beginning](body::BEGINNING).
    small: Budget,
    large: Budget,
}

/// A memory budget with one permit per byte. Requests wait in FIFO order; a response releases the permits of its
/// request.
#[derive(Debug)]
struct Budget {
    permits: Semaphore,
    size: usize,
}

/// A body with its reservation, which is held as long as the body is in memory.
#[derive(Debug)]
pub(crate) struct Admitted<'i> {
    pub(crate) body: Bytes,
    pub(crate) share: Option<SemaphorePermit<'i>>,
}

impl Intake {
    pub(crate) fn new(limits: Limits) -> Self {
        let small = limits.max_bodies / SMALL_PART;
        Self { limits, small: Budget::new(small), large: Budget::new(limits.max_bodies - small) }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reads a body. If its headers announce too many bytes, `100 Continue` is not sent.
    ///
    /// # Cancel safety
    /// If the future is dropped, its reservation is released, but the connection is unusable.
    pub(crate) async fn read(
        &self,
        body: Incoming,
        expects_continue: bool,
    ) -> Result<Admitted<'_>, BodyError> {
        if body.is_end_stream() {
            return Ok(Admitted { body: Bytes::new(), share: None });
        }
        let time_limit = self.limits.body_timeout;
        let too_slow = |_: Elapsed| BodyError::TooSlow;
        let Some(need) = body::need(&body, self.limits.max_body) else {
            if expects_continue {
                return Err(BodyError::TooLong);
            }
            let body = timeout(time_limit, body::discard(body, &self.limits)).await.map_err(too_slow)??;
            return Ok(Admitted { body, share: None });
        };
        let start = Instant::now();
        match timeout(time_limit, body::begin(body, &self.limits)).await.map_err(too_slow)?? {
            BodyStart::Whole(body) => {
                let share = timeout(time_limit, self.small.share(body.len())).await;
                Ok(Admitted { body, share: share.map_err(|_| BodyError::OutOfMemory)? })
            }
            BodyStart::Part(part) => {
                let time_left = time_limit.saturating_sub(start.elapsed());
                let share = timeout(time_limit, self.large.share(need)).await;
                let mut share = share.map_err(|_| BodyError::OutOfMemory)?;
                // The wait for memory does not count against the caller's time limit.
                let body = timeout(time_left, part.finish(&self.limits)).await.map_err(too_slow)??;
                if let Some(share) = &mut share {
                    // A body of unknown length reserved the maximum, which a long poll would hold until it ends.
                    drop(share.split(share.num_permits().saturating_sub(body.len())));
                }
                Ok(Admitted { body, share })
            }
        }
    }
}

impl Budget {
    fn new(size: usize) -> Self {
        let size = size.clamp(1, Semaphore::MAX_PERMITS);
        Self { permits: Semaphore::new(size), size }
    }

    /// Reserves `need` bytes, or the whole budget if `need` is larger.
    async fn share(&self, need: usize) -> Option<SemaphorePermit<'_>> {
        let permits = u32::try_from(need.min(self.size)).unwrap_or(u32::MAX);
        // Cannot fail: the semaphore is never closed.
        self.permits.acquire_many(permits).await.ok()
    }
}
