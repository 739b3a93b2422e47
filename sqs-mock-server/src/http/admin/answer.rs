//! Answers in JSON, refusals too.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Response, StatusCode};
use serde::Serialize;

/// What comes of asking.
pub(super) type Answered = Result<Response<Bytes>, Refusal>;

/// Why something is not answered.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    error: String,
    allow: Option<HeaderValue>,
}

/// An answer that is not a refusal.
pub(super) fn json(content: &impl Serialize) -> Answered {
    let body = serde_json::to_vec(content).map_err(|error| Refusal {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        error: format!("the answer cannot be written: {error}"),
        allow: None,
    })?;
    Ok(response(StatusCode::OK, body))
}

impl Refusal {
    /// Something in the request is wrong; the text says what, and what is allowed.
    pub(super) fn bad(error: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, error: error.into(), allow: None }
    }

    /// What the request is about does not exist.
    pub(super) fn not_found(error: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, error: error.into(), allow: None }
    }

    /// What was waited for did not come.
    pub(super) fn not_so(error: impl Into<String>) -> Self {
        Self { status: StatusCode::CONFLICT, error: error.into(), allow: None }
    }

    /// The server stops, so that what was waited for does not come any more.
    pub(super) fn stopping() -> Self {
        let error = "the server stops; nothing is waited for any more".to_owned();
        Self { status: StatusCode::SERVICE_UNAVAILABLE, error, allow: None }
    }

    pub(super) fn unknown_path(path: &str) -> Self {
        Self::not_found(format!("there is nothing at {path}; GET /_mock lists what there is"))
    }

    pub(super) fn method(method: &Method, allowed: &[&str]) -> Self {
        let allowed = allowed.join(", ");
        Self {
            status: StatusCode::METHOD_NOT_ALLOWED,
            error: format!("{method} is not allowed here; allowed: {allowed}"),
            allow: HeaderValue::from_str(&allowed).ok(),
        }
    }

    pub(super) fn into_response(self) -> Response<Bytes> {
        let body = serde_json::json!({ "error": self.error }).to_string();
        let mut response = response(self.status, body.into_bytes());
        if let Some(allow) = self.allow {
            response.headers_mut().insert(ALLOW, allow);
        }
        response
    }
}

fn response(status: StatusCode, mut body: Vec<u8>) -> Response<Bytes> {
    // For those who read it in a terminal.
    body.push(b'\n');
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
