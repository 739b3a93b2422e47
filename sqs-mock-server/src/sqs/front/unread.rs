//! Requests whose body could not be read, and requests to services that the server does not have.

use bytes::Bytes;
use http::header::HeaderValue;
use http::request::Parts;
use http::{Response, StatusCode};
use sqs_client::wire::protocol::{Detected, Protocol};
use sqs_client::wire::service_error::ErrorCode;

use super::endpoint::Endpoint;
use super::observer::Observers;
use super::respond::{self, Style};
use crate::http::{BodyError, Limits};
use crate::service::journal::{Input, PendingRecord};
use crate::service::operation::ServiceName;

impl Endpoint {
    /// The error for a request whose body could not be read.
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
                "The request body is incomplete or malformed.".to_owned(),
            ),
            BodyError::OutOfMemory => (
                StatusCode::SERVICE_UNAVAILABLE,
                "ServiceUnavailable",
                "Too many large requests are in progress.".to_owned(),
            ),
        };
        let style = Style::of(&Detected::from_headers(&head.headers), head);
        self.refuse_unread(head, style, status, (code, message))
    }

    /// The error for a request to a service that the server does not have.
    pub(crate) fn refuse_service(
        &self,
        head: &Parts,
        protocol: &Detected,
        message: String,
    ) -> Response<Bytes> {
        let style = Style::of(protocol, head);
        let error = ("InvalidAction", message);
        let mut response = self.refuse_unread(head, style, StatusCode::BAD_REQUEST, error);
        if style.protocol == Protocol::AwsJson {
            // Clients of REST services do not read the code in the body.
            let name = HeaderValue::from_static("UnknownOperationException");
            response.headers_mut().insert("x-amzn-errortype", name);
        }
        response
    }

    fn refuse_unread(
        &self,
        head: &Parts,
        style: Style,
        status: StatusCode,
        (code, message): (&str, String),
    ) -> Response<Bytes> {
        let Observers { metrics, journal, clock } = self.observers();
        metrics.count_unread(&ErrorCode::from_name(code));
        let request_id = self.service().request_id();
        let input = Input { protocol: style.protocol, path: head.uri.path(), content: b"" };
        let mut pending = PendingRecord::open(journal, clock, ServiceName::Sqs, &request_id, Some(input));
        pending.refused(&ErrorCode::from_name(code));
        pending.answered(Some(status));
        respond::refuse_with_status(style, status, code, message, &request_id)
    }
}
