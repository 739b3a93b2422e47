//! Response bodies, which a fault may truncate.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body, Frame, SizeHint};

/// The error that makes hyper break a connection, because of a fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Break {
    /// Immediately, with a TCP reset.
    Reset,
    /// After the written bytes are flushed.
    Cut,
}

impl Break {
    /// The fault that ended a connection, if one did.
    pub(crate) fn behind(error: &hyper::Error) -> Option<Self> {
        error.source()?.downcast_ref().copied()
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fault broke the connection")
    }
}

impl Error for Break {}

/// A complete body, or a part of it after which the connection breaks.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Whole(Full<Bytes>),
    Part(Part),
    /// A body that is made while it is sent.
    Live(Live),
}

/// A body that is made while it is sent.
pub(crate) type Live = UnsyncBoxBody<Bytes, BoxError>;

type BoxError = Box<dyn Error + Send + Sync>;

/// The progress of a truncated body.
#[derive(Debug)]
pub(crate) enum Part {
    /// Not sent yet.
    Due(Bytes),
    /// Passed to hyper, which may still buffer it.
    HandedOver,
    /// Flushed: the connection can break.
    Sent,
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let part = match &mut *self {
            Self::Whole(body) => {
                let frame = Pin::new(body).poll_frame(cx);
                return frame
                    .map(|frame| frame.map(|frame| frame.map_err(|error: Infallible| match error {})));
            }
            Self::Part(part) => part,
            Self::Live(body) => return Pin::new(body).poll_frame(cx),
        };
        match std::mem::replace(part, Part::Sent) {
            Part::Due(bytes) => {
                *part = Part::HandedOver;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            // hyper flushes the connection while this is pending.
            Part::HandedOver => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Part::Sent => Poll::Ready(Some(Err(Break::Cut.into()))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            Self::Part(_) => false,
            Self::Live(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            Self::Part(_) => SizeHint::default(),
            Self::Live(body) => body.size_hint(),
        }
    }
}
