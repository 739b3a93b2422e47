//! Requests whose body could not be read, and requests to services that the server does not have.

use bytes::Bytes;
use http::header::HeaderValue;
use http::request::Parts;
use http::{Response, StatusCode};
use sqs_client::wire::protocol::{Detected, Protocol};
use sqs_client::wire::service_error::ErrorCode;

use super::endpoint::Endpoint;
use super::respond::{self, Style};
use crate::http::{BodyError, Limits};

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
        let request_id = self.service().request_id();
        let mut observer = self.observe(&request_id, head, style.protocol, b"");
        observer.refused(&ErrorCode::from_name(code), Some(&message));
        let response = respond::refuse_with_status(style, status, code, message, &request_id);
        observer.end(Some(status), || None);
        response
    }
}
