//! JSON responses and errors of the admin API.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, Response, StatusCode};
use serde::Serialize;
use sqs_client::wire::service_error::ServiceError;

use crate::service::metrics::{self, Exposition};

/// The result of an admin request.
pub(super) type Answered = Result<Response<Bytes>, Refusal>;

/// An error response.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    error: String,
    header: Option<(HeaderName, HeaderValue)>,
}

/// A response with status 200.
pub(super) fn json(content: &impl Serialize) -> Answered {
    let body = serde_json::to_vec(content).map_err(|error| {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot serialize the response: {error}"))
    })?;
    Ok(response(StatusCode::OK, body))
}

/// The response to `GET /metrics`.
pub(super) fn metrics(text: Exposition) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(text.into_text()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE));
    response
}

impl Refusal {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, error: error.into(), header: None }
    }

    /// The request is invalid. The text says why, and what is allowed.
    pub(super) fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// The requested object does not exist.
    pub(super) fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// The admin token is missing or wrong.
    pub(super) fn no_token() -> Self {
        let error = "the header `Authorization: Bearer` with the admin token is required";
        let header = Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
        Self { header, ..Self::new(StatusCode::UNAUTHORIZED, error) }
    }

    /// The server is shutting down, so a wait ends.
    pub(super) fn stopping() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down")
    }

    /// The change may not be stored.
    pub(super) fn not_stored(error: ServiceError) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error.message.unwrap_or_default())
    }

    pub(super) fn method(method: &Method, allowed: &[&str]) -> Self {
        let allowed = allowed.join(", ");
        let header = HeaderValue::from_str(&allowed).ok().map(|allowed| (ALLOW, allowed));
        let error = format!("{method} is not allowed here; allowed: {allowed}");
        Self { header, ..Self::new(StatusCode::METHOD_NOT_ALLOWED, error) }
    }

    pub(super) fn into_response(self) -> Response<Bytes> {
        let body = serde_json::json!({ "error": self.error }).to_string();
        let mut response = response(self.status, body.into_bytes());
        response.headers_mut().extend(self.header);
        response
    }
}

fn response(status: StatusCode, mut body: Vec<u8>) -> Response<Bytes> {
    // A line end for terminals.
    body.push(b'\n');
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
