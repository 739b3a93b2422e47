//! Replies to requests: a response, a truncated response, or none.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderValue};
use http::{Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::{Body, Frame};

use crate::control::faults::fault::Damage;

type BoxError = Box<dyn Error + Send + Sync>;

/// A body that is made while it is sent.
pub(crate) type Live = UnsyncBoxBody<Bytes, BoxError>;

/// A complete body, or one that is made while it is sent.
pub(crate) type Outgoing = Either<Full<Bytes>, Live>;

/// The reply to a request.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A response.
    Whole(Response<Bytes>),
    /// A response whose body is shorter than its headers announce; then the connection breaks.
    Truncated(Response<Bytes>),
    /// A response whose body is made while it is sent.
    Live(Response<Live>),
    /// The connection breaks immediately.
    Lost,
}

impl From<Response<Bytes>> for Reply {
    fn from(response: Response<Bytes>) -> Self {
        Self::Whole(response)
    }
}

impl Reply {
    /// The status; `None` if the connection breaks.
    pub(crate) fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Whole(response) => Some(response.status()),
            Self::Live(response) => Some(response.status()),
            Self::Truncated(_) | Self::Lost => None,
        }
    }

    /// The complete body; `None` without one.
    pub(crate) fn body(&self) -> Option<Bytes> {
        match self {
            Self::Whole(response) => Some(response.body().clone()),
            Self::Live(_) | Self::Truncated(_) | Self::Lost => None,
        }
    }

    /// The headers; `None` if there is no response.
    pub(crate) fn headers_mut(&mut self) -> Option<&mut HeaderMap> {
        match self {
            Self::Whole(response) | Self::Truncated(response) => Some(response.headers_mut()),
            Self::Live(response) => Some(response.headers_mut()),
            Self::Lost => None,
        }
    }

    /// A response that a fault may damage.
    pub(crate) fn damaged(mut response: Response<Bytes>, damage: Option<Damage>) -> Self {
        match damage {
            None => Self::Whole(response),
            Some(Damage::Lost) => Self::Lost,
            Some(Damage::Corrupted) => {
                let corrupted = corrupted(response.body());
                *response.body_mut() = corrupted;
                Self::Whole(response)
            }
            Some(Damage::Truncated) => {
                let length = response.body().len();
                response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length.max(1)));
                response.body_mut().truncate(length / 2);
                Self::Truncated(response)
            }
        }
    }

    /// The response that is sent.
    ///
    /// # Errors
    /// The connection breaks instead.
    pub(crate) fn into_response(self) -> Result<Response<Outgoing>, Break> {
        match self {
            Self::Whole(response) => Ok(response.map(|body| Either::Left(Full::new(body)))),
            Self::Truncated(response) => {
                Ok(response.map(|body| Either::Right(Part::Due(body).boxed_unsync())))
            }
            Self::Live(response) => Ok(response.map(Either::Right)),
            Self::Lost => Err(Break::Reset),
        }
    }
}

/// A response that does not come from the service, as if from a proxy.
pub(crate) fn foreign(status: u16, body: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    let status = StatusCode::from_u16(status).ok().filter(|status| may_have_a_body(*status));
    *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

pub(crate) fn may_have_a_body(status: StatusCode) -> bool {
    !status.is_informational() && !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// The first half, then bytes that no decoder accepts.
fn corrupted(body: &Bytes) -> Bytes {
    let (kept, lost) = body.split_at(body.len() / 2);
    [kept, &vec![b'#'; lost.len()]].concat().into()
}

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

/// A truncated body, after which the connection breaks.
#[derive(Debug)]
enum Part {
    /// Not sent yet.
    Due(Bytes),
    /// Passed to hyper, which may still buffer it.
    HandedOver,
    /// Flushed: the connection can break.
    Sent,
}

impl Body for Part {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match std::mem::replace(&mut *self, Self::Sent) {
            Self::Due(bytes) => {
                *self = Self::HandedOver;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            // hyper flushes the connection while this is pending.
            Self::HandedOver => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Self::Sent => Poll::Ready(Some(Err(Break::Cut.into()))),
        }
    }
}
