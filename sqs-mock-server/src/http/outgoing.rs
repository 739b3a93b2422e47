//! The body of an answer on its way into a socket.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};

/// A fault demands that the connection breaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Break {
    /// At once, as when the machine on the other side goes down.
    Reset,
    /// After what was written has arrived.
    Cut,
}

impl Break {
    /// The demand that ended a connection, when it was one.
    pub(crate) fn behind(error: &hyper::Error) -> Option<Self> {
        std::error::Error::source(error)?.downcast_ref().copied()
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection breaks, as a fault demands")
    }
}

impl std::error::Error for Break {}

/// A whole body, or a part after which the connection breaks.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Whole(Full<Bytes>),
    Part(Part),
}

/// How far a part has come.
#[derive(Debug)]
pub(crate) enum Part {
    /// It is to be sent.
    Due(Bytes),
    /// It was handed over, and may still lie in a buffer.
    HandedOver,
    /// It is on its way: the connection can break.
    Sent,
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Break;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Break>>> {
        let part = match &mut *self {
            Self::Whole(body) => {
                let frame = Pin::new(body).poll_frame(cx);
                return frame
                    .map(|frame| frame.map(|frame| frame.map_err(|error: Infallible| match error {})));
            }
            Self::Part(part) => part,
        };
        match std::mem::replace(part, Part::Sent) {
            Part::Due(bytes) => {
                *part = Part::HandedOver;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            // While this is pending, the connection flushes.
            Part::HandedOver => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Part::Sent => Poll::Ready(Some(Err(Break::Cut))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            Self::Part(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            Self::Part(_) => SizeHint::default(),
        }
    }
}
