//! Request bodies: whole, in bounded memory and bounded time.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};

use super::Limits;

/// How much of a body that is too long is read and thrown away, so that its sender, which reads answers only
/// after sending, gets to see the refusal.
const DISCARDED: u64 = 64 << 20;

/// Why there is no body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum BodyError {
    /// It is longer than the limit.
    TooLong,
    /// It did not arrive in time.
    TooSlow,
    /// It is not the body that its head announced.
    Broken,
}

/// Reads a body. One that waits for `100 Continue` is not asked for when it is announced as too long.
///
/// # Cancel safety
/// What was read is lost; the connection cannot be used any more.
pub(super) async fn read(
    body: Incoming,
    limits: &Limits,
    expects_continue: bool,
) -> Result<Bytes, BodyError> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    if expects_continue && announced(&body) > as_u64(limits.max_body) {
        return Err(BodyError::TooLong);
    }
    let reading = collect(body, limits.max_body);
    tokio::time::timeout(limits.body_timeout, reading).await.unwrap_or(Err(BodyError::TooSlow))
}

/// A body in one frame, which most are, is taken as it is; others are put together in one buffer.
async fn collect(mut body: Incoming, limit: usize) -> Result<Bytes, BodyError> {
    if announced(&body) > as_u64(limit) {
        return discard(body).await;
    }
    let Some(first) = next(&mut body).await? else { return Ok(Bytes::new()) };
    if body.is_end_stream() && first.len() <= limit {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(first.len() + usize::try_from(announced(&body)).unwrap_or(0));
    whole.extend_from_slice(&first);
    while let Some(data) = next(&mut body).await? {
        if whole.len() + data.len() > limit {
            return discard(body).await;
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

async fn discard(mut body: Incoming) -> Result<Bytes, BodyError> {
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
