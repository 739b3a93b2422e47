//! Reads request bodies, up to a size limit.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use super::Limits;

/// Bytes of an oversized body that are read and discarded. Many clients read the response only after they have sent the
/// whole body.
const DISCARDED: u64 = 64 << 20;

/// Bytes of a body that are read before it reserves memory.
pub(super) const BEGINNING: usize = 64 << 10;

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

/// The maximum size of a body; `None` if its headers announce more than `limit`.
pub(super) fn need(body: &Incoming, limit: usize) -> Option<usize> {
    let hint = body.size_hint();
    let least = usize::try_from(hint.lower()).ok().filter(|least| *least <= limit);
    let most = hint.upper().map_or(limit, |most| usize::try_from(most).unwrap_or(limit));
    least.map(|_| most.min(limit))
}

/// The state of a body after its beginning was read.
#[derive(Debug)]
pub(super) enum BodyStart {
    /// The complete body. A body in one frame, the usual case, is not copied.
    Whole(Bytes),
    /// The first part of a longer body.
    Part(Part),
}

/// The first part of a body, with the unread rest.
#[derive(Debug)]
pub(super) struct Part {
    read: BytesMut,
    rest: Incoming,
}

/// Reads the beginning of a body, or a short body completely.
///
/// # Cancel safety
/// If the future is dropped, the bytes read so far are lost and the connection is unusable.
pub(super) async fn begin(mut body: Incoming, limits: &Limits) -> Result<BodyStart, BodyError> {
    let limit = limits.max_body;
    let Some(first) = next(&mut body).await? else { return Ok(BodyStart::Whole(Bytes::new())) };
    if first.len() <= limit && body.is_end_stream() {
        return Ok(BodyStart::Whole(first));
    }
    let mut part = Part { read: BytesMut::from(first), rest: body };
    while part.read.len() < BEGINNING.min(limit.saturating_add(1)) {
        match next(&mut part.rest).await? {
            Some(data) => part.read.extend_from_slice(&data),
            None => return Ok(BodyStart::Whole(part.read.freeze())),
        }
    }
    if part.read.len() > limit {
        return discard(part.rest, limits).await.map(BodyStart::Whole);
    }
    Ok(BodyStart::Part(part))
}

impl Part {
    /// Reads the rest. The caller holds memory for it, so a stalled body fails early.
    ///
    /// # Cancel safety
    /// As [`begin`].
    pub(super) async fn finish(self, limits: &Limits) -> Result<Bytes, BodyError> {
        let Self { mut read, mut rest } = self;
        read.reserve(usize::try_from(announced(&rest)).unwrap_or(0));
        while let Some(data) = next_within(limits.body_idle_timeout, &mut rest).await? {
            if read.len() + data.len() > limits.max_body {
                return discard(rest, limits).await;
            }
            read.extend_from_slice(&data);
        }
        Ok(read.freeze())
    }
}

/// Reads and discards a body that is too long.
pub(super) async fn discard(mut body: Incoming, limits: &Limits) -> Result<Bytes, BodyError> {
    let mut discarded = 0;
    while let Ok(Some(data)) = next_within(limits.body_idle_timeout, &mut body).await {
        discarded += as_u64(data.len());
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

/// The announced size of the rest; 0 for chunked bodies.
fn announced(body: &Incoming) -> u64 {
    body.size_hint().lower()
}

fn as_u64(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}
