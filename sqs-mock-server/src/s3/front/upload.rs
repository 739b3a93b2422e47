//! The body of a request on its way in.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use s3s::StdError;
use tokio::time::{Instant, Sleep};

use super::pace::Pace;
use super::slot::Slot;

/// Nothing came for too long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::s3) struct TooSlow;

impl fmt::Display for TooSlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request body does not arrive")
    }
}

impl std::error::Error for TooSlow {}

/// A body that may not stand still, and is slowed down where a fault says so. What is not read is left in the slot.
pub(super) struct Upload {
    incoming: Option<Incoming>,
    slot: Slot,
    pace: Pace<Frame<Bytes>>,
    patience: Duration,
    /// There once somebody waits for bytes.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Whether the caller sends nothing before somebody asks for it.
    waits: bool,
}

impl Upload {
    pub(super) fn new(incoming: Incoming, slot: Slot, patience: Duration, waits: bool) -> Self {
        Self { incoming: Some(incoming), slot, pace: Pace::default(), patience, deadline: None, waits }
    }
}

impl Body for Upload {
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
        this.waits = false;
        let Some(incoming) = &mut this.incoming else { return Poll::Ready(None) };
        let Poll::Ready(frame) = Pin::new(incoming).poll_frame(cx) else {
            let patience = this.patience;
            let deadline = this.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
            ready!(deadline.as_mut().poll(cx));
            this.incoming = None;
            return Poll::Ready(Some(Err(TooSlow.into())));
        };
        if let Some(deadline) = &mut this.deadline {
            deadline.as_mut().reset(Instant::now() + this.patience);
        }
        let frame = frame.transpose().inspect_err(|_| this.incoming = None)?;
        match (this.slot.pace(), frame) {
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
        // Before anything was read, which is when others ask.
        self.incoming.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(rest) = self.incoming.take().filter(|rest| !rest.is_end_stream())
            && !self.waits
        {
            self.slot.leave(rest);
        }
    }
}
