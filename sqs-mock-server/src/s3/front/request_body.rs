//! The body of a request.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use s3s::StdError;
use tokio::time::{Instant, Sleep};

use super::pace::Pace;
use super::state::RequestState;
use crate::s3::ops::BodyTimeout;

/// A request body with a timeout and, if a fault limits it, a pace. On drop, the state keeps the unread bytes.
pub(super) struct RequestBody {
    incoming: Option<Incoming>,
    state: RequestState,
    pace: Pace<Frame<Bytes>>,
    timeout: Duration,
    /// Starts with the first read that has to wait.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Whether the client waits for `100 Continue`, which the first read sends.
    expects_continue: bool,
}

impl RequestBody {
    pub(super) fn new(
        incoming: Incoming,
        state: RequestState,
        timeout: Duration,
        expects_continue: bool,
    ) -> Self {
        Self {
            incoming: Some(incoming),
            state,
            pace: Pace::default(),
            timeout,
            deadline: None,
            expects_continue,
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = StdError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StdError>>> {
        let this = &mut *self;
        if let Some(frame) = ready!(this.pace.poll(cx)) {
            return Poll::Ready(Some(Ok(frame)));
        }
        this.expects_continue = false;
        let Some(incoming) = &mut this.incoming else { return Poll::Ready(None) };
        let Poll::Ready(frame) = Pin::new(incoming).poll_frame(cx) else {
            let timeout = this.timeout;
            let deadline = this.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
            ready!(deadline.as_mut().poll(cx));
            this.incoming = None;
            return Poll::Ready(Some(Err(BodyTimeout.into())));
        };
        if let Some(deadline) = &mut this.deadline {
            deadline.as_mut().reset(Instant::now() + this.timeout);
        }
        let frame = frame.transpose().inspect_err(|_| this.incoming = None)?;
        match (this.state.pace(), frame) {
            (Some(pace), Some(frame)) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                this.pace.hold(frame, bytes, pace);
                this.pace.poll(cx).map(|frame| frame.map(Ok))
            }
            (None, Some(frame)) => Poll::Ready(Some(Ok(frame))),
            (_, None) => {
                this.incoming = None;
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.pace.is_empty() && self.incoming.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        // s3s calls this only before the first read.
        self.incoming.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if let Some(rest) = self.incoming.take().filter(|rest| !rest.is_end_stream())
            && !self.expects_continue
        {
            self.state.keep_unread(rest);
        }
    }
}
