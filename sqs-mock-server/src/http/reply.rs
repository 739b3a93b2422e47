//! Replies to requests: a response, a truncated response, or none.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderValue};
use http::{Response, StatusCode};

use super::outgoing::Live;
use crate::service::faults::Damage;

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

    /// A response that does not come from the service, as if from a proxy.
    pub(crate) fn foreign(status: u16, body: String) -> Self {
        let mut response = Response::new(Bytes::from(body));
        let status = StatusCode::from_u16(status).ok().filter(|status| may_have_a_body(*status));
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::Whole(response)
    }
}

fn may_have_a_body(status: StatusCode) -> bool {
    !status.is_informational() && !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// The first half, then bytes that no decoder accepts.
fn corrupted(body: &Bytes) -> Bytes {
    let (kept, lost) = body.split_at(body.len() / 2);
    [kept, &vec![b'#'; lost.len()]].concat().into()
}
