//! Reads request bodies, within limits of size, memory and time.
//!
//! ```text
//! head -> read the beginning -> complete: reserve memory for short bodies ----------------> endpoint -> release
//!                               more: reserve memory for long bodies, read the rest ------>
//! ```
//! A body reserves memory once: for what was read, or for the maximum that may follow. No holder of a reservation waits
//! for another one, so there is no deadlock. The beginning needs no reservation, so a connection that announces a long
//! body and sends nothing blocks no other request; the number of connections bounds these bytes, as it bounds their
//! buffers. A longer body that stalls loses its reservation soon. Short bodies have their own budget, so that they do not
//! wait behind long ones.

use std::borrow::Cow;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::request::Parts;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use serde::Deserialize;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout};

use crate::config::units::{bytes, duration};

/// The fraction of the memory that is reserved for short bodies.
const SMALL_PART: usize = 4;

/// Bytes of an oversized body that are read and discarded. Many clients read the response only after they have sent the
/// whole body.
const DISCARDED: usize = 64 << 20;

/// Bytes of a body that are read before it reserves memory.
const BEGINNING: usize = 64 << 10;

/// The reason why a body was not read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BodyError {
    /// It is longer than the limit.
    TooLong,
    /// It did not arrive in time.
    TooSlow,
    /// The connection broke, or the body does not match its headers.
    Broken,
    /// Other bodies used all the memory for too long.
    OutOfMemory,
}

/// Admits the request bodies of all connections.
#[derive(Debug)]
pub(crate) struct Intake {
    pub(crate) limits: Limits,
    /// For bodies up to [`BEGINNING`].
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
        let Some(need) = need(&body, self.limits.max_body) else {
            if expects_continue {
                return Err(BodyError::TooLong);
            }
            let body = timeout(time_limit, discard(body, &self.limits)).await.map_err(too_slow)??;
            return Ok(Admitted { body, share: None });
        };
        let start = Instant::now();
        match timeout(time_limit, begin(body, &self.limits)).await.map_err(too_slow)?? {
            BodyStart::Whole(body) => {
                let share = timeout(time_limit, self.small.share(body.len())).await;
                Ok(Admitted { body, share: share.map_err(|_| BodyError::OutOfMemory)? })
            }
            BodyStart::Part(read, rest) => {
                let time_left = time_limit.saturating_sub(start.elapsed());
                let share = timeout(time_limit, self.large.share(need)).await;
                let mut share = share.map_err(|_| BodyError::OutOfMemory)?;
                // The wait for memory does not count against the caller's time limit.
                let body = timeout(time_left, finish(read, rest, &self.limits)).await.map_err(too_slow)??;
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

/// The maximum size of a body; `None` if its headers announce more than `limit`.
fn need(body: &Incoming, limit: usize) -> Option<usize> {
    let hint = body.size_hint();
    let least = usize::try_from(hint.lower()).ok().filter(|least| *least <= limit);
    let most = hint.upper().map_or(limit, |most| usize::try_from(most).unwrap_or(limit));
    least.map(|_| most.min(limit))
}

/// The state of a body after its beginning was read.
#[derive(Debug)]
enum BodyStart {
    /// The complete body. A body in one frame, the usual case, is not copied.
    Whole(Bytes),
    /// The first part of a longer body, with the unread rest.
    Part(BytesMut, Incoming),
}

/// Reads the beginning of a body, or a short body completely.
///
/// # Cancel safety
/// If the future is dropped, the bytes read so far are lost and the connection is unusable.
async fn begin(mut body: Incoming, limits: &Limits) -> Result<BodyStart, BodyError> {
    let limit = limits.max_body;
    let Some(first) = next(&mut body).await? else { return Ok(BodyStart::Whole(Bytes::new())) };
    if first.len() <= limit && body.is_end_stream() {
        return Ok(BodyStart::Whole(first));
    }
    let mut read = BytesMut::from(first);
    while read.len() < BEGINNING.min(limit.saturating_add(1)) {
        match next(&mut body).await? {
            Some(data) => read.extend_from_slice(&data),
            None => return Ok(BodyStart::Whole(read.freeze())),
        }
    }
    if read.len() > limit {
        return discard(body, limits).await.map(BodyStart::Whole);
    }
    Ok(BodyStart::Part(read, body))
}

/// Reads the rest of a body. The caller holds memory for it, so a stalled body fails early.
///
/// # Cancel safety
/// As [`begin`].
async fn finish(mut read: BytesMut, mut rest: Incoming, limits: &Limits) -> Result<Bytes, BodyError> {
    // 0 for chunked bodies.
    read.reserve(usize::try_from(rest.size_hint().lower()).unwrap_or(0));
    while let Some(data) = next_within(limits.body_idle_timeout, &mut rest).await? {
        if read.len() + data.len() > limits.max_body {
            return discard(rest, limits).await;
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}

/// Reads and discards a body that is too long.
async fn discard(mut body: Incoming, limits: &Limits) -> Result<Bytes, BodyError> {
    let mut discarded = 0;
    while let Ok(Some(data)) = next_within(limits.body_idle_timeout, &mut body).await {
        discarded += data.len();
        if discarded > DISCARDED {
            break;
        }
    }
    Err(BodyError::TooLong)
}

async fn next_within(idle: Duration, body: &mut Incoming) -> Result<Option<Bytes>, BodyError> {
    timeout(idle, next(body)).await.map_err(|_| BodyError::TooSlow)?
}

async fn next(body: &mut Incoming) -> Result<Option<Bytes>, BodyError> {
    while let Some(frame) = body.frame().await {
        // All other frames are trailers, which the server does not need.
        if let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// The form of a Query request: from the URL, from the body, or from both.
pub(crate) fn form_text<'a>(head: &'a Parts, body: &'a [u8]) -> Cow<'a, [u8]> {
    match (head.uri.query().unwrap_or_default().as_bytes(), body) {
        (b"", body) => Cow::Borrowed(body),
        (query, b"") => Cow::Borrowed(query),
        (query, body) => Cow::Owned([query, b"&", body].concat()),
    }
}

/// Limits on connections, sizes and times.
///
/// ```
/// use sqs_mock_server::{Limits, MockSqs};
///
/// let mut limits = Limits::default();
/// limits.max_memory = 64 << 20; // further messages are rejected with `OverLimit`
/// let server = MockSqs::builder().limits(limits).in_process()?;
/// # drop(server);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// Memory of all messages, topics and subscriptions, in bytes. A message counts with its body and about 300 bytes, or
    /// 600 in a message group. The deduplication ids of FIFO queues and the attributes of topics and subscriptions count
    /// too. Expired messages count until the next use of their queue. Sends over the limit fail with `OverLimit`, which
    /// SDKs do not retry. Default: 2 GiB.
    #[serde(deserialize_with = "bytes")]
    pub max_memory: usize,
    /// Queues in all accounts and regions. Creating more fails with `OverLimit`. Default: 100,000.
    pub max_queues: usize,
    /// Concurrent connections; further ones wait in the backlog of the socket. Default: 4,096.
    pub max_connections: usize,
    /// Maximum request body, in bytes; longer ones fail with status 413. Default: 8 MiB, since JSON escapes can take
    /// six bytes per character of a 1 MiB message. In S3, it limits the file of a form; longer ones fail with
    /// `EntityTooLarge`.
    #[serde(deserialize_with = "bytes")]
    pub max_body: usize,
    /// Memory of all request bodies in progress, in bytes, without the first 64 KiB of each body that is still
    /// arriving. A quarter is reserved for bodies up to 64 KiB. A request waits until its body fits, and fails with
    /// status 503 after
    /// [`body_timeout`](Self::body_timeout). Default: 256 MiB.
    #[serde(deserialize_with = "bytes")]
    pub max_bodies: usize,
    /// Maximum request head, in bytes; longer ones fail with status 431. Default: 32 KiB.
    #[serde(deserialize_with = "bytes")]
    pub max_head: usize,
    /// Time until a connection has sent the head of its next request, including idle time. Default: 60 s.
    #[serde(deserialize_with = "duration")]
    pub head_timeout: Duration,
    /// Time until a request body has arrived. Default: 60 s.
    #[serde(deserialize_with = "duration")]
    pub body_timeout: Duration,
    /// Maximum pause in a request body over 64 KiB, which holds memory while it arrives. After it, the request fails with
    /// status 408. Does not apply to S3. Default: 5 s.
    #[serde(deserialize_with = "duration")]
    pub body_idle_timeout: Duration,
    /// Time for which a caller may read nothing of a response before the connection is closed. Waiting for messages
    /// does not count. Default: 60 s.
    #[serde(deserialize_with = "duration")]
    pub write_timeout: Duration,
    /// Time that a graceful shutdown waits for requests in progress. Default: 5 s.
    #[serde(deserialize_with = "duration")]
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_memory: 2 << 30,
            max_queues: 100_000,
            max_connections: 4096,
            max_body: 8 << 20,
            max_bodies: 256 << 20,
            max_head: 32 << 10,
            head_timeout: Duration::from_mins(1),
            body_timeout: Duration::from_mins(1),
            body_idle_timeout: Duration::from_secs(5),
            write_timeout: Duration::from_mins(1),
            grace: Duration::from_secs(5),
        }
    }
}
