//! The body of a request.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Body as _, Incoming};
use s3s::{Body, StdError};
use tokio::time::{sleep, timeout};

use super::pace;
use crate::s3::RequestContext;
use crate::s3::ops::BODY_TIMEOUT;

/// The most bytes of an unread body that are drained.
const MAX_REST: usize = 64 << 20;

/// A body that is not read to its end. On drop, the request keeps it for [`drain`].
struct Unread {
    /// `None` at the end.
    incoming: Option<Incoming>,
    context: Arc<RequestContext>,
    /// Whether the client waits for `100 Continue`, which the first read sends.
    expects_continue: bool,
}

impl Drop for Unread {
    fn drop(&mut self) {
        if let Some(rest) = self.incoming.take().filter(|rest| !rest.is_end_stream())
            && !self.expects_continue
        {
            *self.context.rest.lock() = Some(rest);
        }
    }
}

/// A body with a time limit for each read and, if a fault limits it, a pace.
pub(super) fn limited(
    incoming: Incoming,
    context: Arc<RequestContext>,
    limit: Duration,
    expects_continue: bool,
) -> Body {
    if incoming.is_end_stream() {
        // s3s asks for the length of a signed body without `Content-Length`.
        return Body::empty();
    }
    let unread = Unread { incoming: Some(incoming), context, expects_continue };
    let frames = stream::try_unfold(unread, move |mut unread| async move {
        unread.expects_continue = false;
        let Some(incoming) = &mut unread.incoming else { return Ok(None) };
        let frame = match timeout(limit, incoming.frame()).await {
            Ok(frame) => frame.transpose().map_err(StdError::from),
            Err(_) => Err(BODY_TIMEOUT.into()),
        };
        if !matches!(frame, Ok(Some(_))) {
            unread.incoming = None;
        }
        let Some(frame) = frame? else { return Ok(None) };
        if let Some(per_second) = unread.context.plan.get().and_then(|plan| plan.pace) {
            sleep(pace(frame.data_ref().map_or(0, Bytes::len), per_second)).await;
        }
        Ok::<_, StdError>(Some((frame, unread)))
    });
    Body::http_body_unsync(StreamBody::new(frames))
}

/// Reads and discards the rest of the body, up to a size and a time limit.
pub(super) async fn drain(context: &RequestContext, limit: Duration) {
    let Some(mut rest) = context.rest.lock().take() else { return };
    let read = async {
        let mut bytes = 0;
        while let Some(Ok(frame)) = rest.frame().await {
            bytes += frame.data_ref().map_or(0, Bytes::len);
            if bytes > MAX_REST {
                break;
            }
        }
    };
    // On timeout the connection is closed.
    let _ = timeout(limit, read).await;
}
