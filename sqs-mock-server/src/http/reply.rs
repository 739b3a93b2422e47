//! What goes back to a caller: an answer, part of one, or nothing.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderValue};
use http::{Response, StatusCode};

use crate::service::faults::Ending;

/// What comes of a request.
#[derive(Debug)]
pub(crate) enum Reply {
    /// An answer.
    Whole(Response<Bytes>),
    /// An answer whose head announces more than its body has; then the connection breaks.
    Truncated(Response<Bytes>),
    /// The connection breaks at once.
    Lost,
}

impl From<Response<Bytes>> for Reply {
    fn from(response: Response<Bytes>) -> Self {
        Self::Whole(response)
    }
}

impl Reply {
    /// The status that goes back; nothing does when the connection breaks.
    pub(crate) fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Whole(response) => Some(response.status()),
            Self::Truncated(_) | Self::Lost => None,
        }
    }

    /// The headers that go back.
    pub(crate) fn headers_mut(&mut self) -> Option<&mut HeaderMap> {
        match self {
            Self::Whole(response) | Self::Truncated(response) => Some(response.headers_mut()),
            Self::Lost => None,
        }
    }

    /// An answer after a fault has had its way with it.
    pub(crate) fn spoilt(mut response: Response<Bytes>, ending: Ending) -> Self {
        match ending {
            Ending::Whole => Self::Whole(response),
            Ending::Lost => Self::Lost,
            Ending::Corrupt => {
                let garbled = garbled(response.body());
                *response.body_mut() = garbled;
                Self::Whole(response)
            }
            Ending::Truncated => {
                let length = response.body().len();
                response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length.max(1)));
                response.body_mut().truncate(length / 2);
                Self::Truncated(response)
            }
        }
    }

    /// An answer that is none of SQS.
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

/// The first half, and then nothing that a decoder takes.
fn garbled(body: &Bytes) -> Bytes {
    let (kept, lost) = body.split_at(body.len() / 2);
    [kept, &vec![b'#'; lost.len()]].concat().into()
}
