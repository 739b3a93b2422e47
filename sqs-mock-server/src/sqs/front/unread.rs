//! Requests whose body could not be read.

use bytes::Bytes;
use http::request::Parts;
use http::{Response, StatusCode};
use sqs_client::wire::protocol::Detected;
use sqs_client::wire::service_error::ErrorCode;

use super::endpoint::Endpoint;
use super::respond::{self, Style};
use super::witness::Watchers;
use crate::http::{BodyError, Limits};
use crate::service::journal::Entry;

impl Endpoint {
    /// Answers a request whose body could not be read.
    pub(crate) fn refuse_body(&self, head: &Parts, error: BodyError, limits: &Limits) -> Response<Bytes> {
        let (status, code, message) = match error {
            BodyError::TooLong => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "RequestEntityTooLarge",
                format!("Request bodies must not be longer than {} bytes.", limits.max_body),
            ),
            BodyError::TooSlow => (
                StatusCode::REQUEST_TIMEOUT,
                "RequestTimeout",
                "The request body did not arrive in time.".to_owned(),
            ),
            BodyError::Broken => (
                StatusCode::BAD_REQUEST,
                "MalformedInput",
                "The request body is cut or malformed.".to_owned(),
            ),
            BodyError::NoRoom => (
                StatusCode::SERVICE_UNAVAILABLE,
                "ServiceUnavailable",
                "Too many large requests are under way.".to_owned(),
            ),
        };
        let Watchers { metrics, journal, clock } = self.watchers();
        metrics.count_unread(&ErrorCode::from_name(code));
        let style = Style::of(&Detected::from_headers(&head.headers), head);
        let request_id = self.service().request_id();
        let mut entry = Entry::open(journal, clock, &request_id, style.protocol, head.uri.path(), b"");
        entry.refused(&ErrorCode::from_name(code));
        entry.answered(Some(status));
        respond::refuse_with_status(style, status, code, message, &request_id)
    }
}
