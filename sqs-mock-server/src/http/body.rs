//! Request bodies: whole, or refused.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};

/// How much of a body that is too long is read and thrown away, so that its sender, which reads answers only
/// after sending, gets to see the refusal.
const DISCARDED: u64 = 64 << 20;

/// How much of a body is read before it takes a share of the room.
pub(super) const BEGINNING: usize = 64 << 10;

/// Why there is no body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BodyError {
    /// It is longer than the limit.
    TooLong,
    /// It did not arrive in time.
    TooSlow,
    /// It is not the body that its head announced.
    Broken,
    /// Other bodies took all the memory for too long.
    NoRoom,
}

/// The most that a body can turn out to need; `None` when its head says that it is longer than `limit`.
pub(super) fn need(body: &Incoming, limit: usize) -> Option<usize> {
    let hint = body.size_hint();
    let least = usize::try_from(hint.lower()).ok().filter(|least| *least <= limit);
    let most = hint.upper().map_or(limit, |most| usize::try_from(most).unwrap_or(limit));
    least.map(|_| most.min(limit))
}

/// What is there after the beginning was read.
#[derive(Debug)]
pub(super) enum Begun {
    /// All of it. One in one frame, which most are, is taken as it is.
    Whole(Bytes),
    /// The first part of a longer one.
    Part(Part),
}

/// The first part of a body, and the way to the rest.
#[derive(Debug)]
pub(super) struct Part {
    read: BytesMut,
    rest: Incoming,
}

/// Reads the beginning of a body of at most `limit` bytes, or all of a short one.
///
/// # Cancel safety
/// What was read is lost; the connection cannot be used any more.
pub(super) async fn begin(mut body: Incoming, limit: usize) -> Result<Begun, BodyError> {
    let Some(first) = next(&mut body).await? else { return Ok(Begun::Whole(Bytes::new())) };
    if first.len() <= limit && body.is_end_stream() {
        return Ok(Begun::Whole(first));
    }
    let mut part = Part { read: BytesMut::from(first), rest: body };
    while part.read.len() < BEGINNING.min(limit.saturating_add(1)) {
        match next(&mut part.rest).await? {
            Some(data) => part.read.extend_from_slice(&data),
            None => return Ok(Begun::Whole(part.read.freeze())),
        }
    }
    if part.read.len() > limit {
        return discard(part.rest).await.map(Begun::Whole);
    }
    Ok(Begun::Part(part))
}

impl Part {
    /// Reads the rest.
    ///
    /// # Cancel safety
    /// As [`begin`].
    pub(super) async fn finish(self, limit: usize) -> Result<Bytes, BodyError> {
        let Self { mut read, mut rest } = self;
        read.reserve(usize::try_from(announced(&rest)).unwrap_or(0));
        while let Some(data) = next(&mut rest).await? {
            if read.len() + data.len() > limit {
                return discard(rest).await;
            }
            read.extend_from_slice(&data);
        }
        Ok(read.freeze())
    }
}

/// Reads a body that is too long, and keeps nothing of it.
pub(super) async fn discard(mut body: Incoming) -> Result<Bytes, BodyError> {
    let mut discarded = 0;
    while let Ok(Some(data)) = next(&mut body).await {
        discarded += as_u64(data.len());
        if discarded > DISCARDED {
            break;
        }
    }
    Err(BodyError::TooLong)
}

async fn next(body: &mut Incoming) -> Result<Option<Bytes>, BodyError> {
    while let Some(frame) = body.frame().await {
        // Trailers are the other kind of frame; nothing is in them for us.
        if let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// What is still to come, as far as the head said; 0 for chunked bodies.
fn announced(body: &Incoming) -> u64 {
    body.size_hint().lower()
}

fn as_u64(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}
