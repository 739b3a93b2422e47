//! Why something could not be encoded or decoded.

use std::fmt;
use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderMap};

use crate::service_error::ServiceError;

/// A shape could not be encoded.
#[derive(Clone, Debug)]
pub struct EncodeError(Arc<str>);

impl EncodeError {
    #[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands over is a value")]
    pub(super) fn new(cause: impl ToString) -> Self {
        Self(cause.to_string().into())
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot encode: {}", self.0)
    }
}

impl std::error::Error for EncodeError {}

/// Characters of a text that came over the wire and is quoted in an error.
const MAX_TEXT: usize = 300;

/// Bytes could not be decoded.
#[derive(Clone, Debug)]
pub struct DecodeError(Arc<str>);

impl DecodeError {
    #[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands over is a value")]
    pub(super) fn new(cause: impl ToString) -> Self {
        Self(cause.to_string().chars().take(MAX_TEXT).collect::<String>().into())
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecodeError {}

/// Why an answer has no output.
#[derive(Clone, Debug)]
pub enum ResponseError {
    /// The service refused.
    Service {
        /// Code and text.
        error: ServiceError,
        /// The id of the request.
        request_id: Option<String>,
    },
    /// The answer is not one of the service.
    Unreadable {
        /// What is wrong with it.
        error: DecodeError,
        /// The id of the request, when there is one.
        request_id: Option<String>,
    },
}

impl ResponseError {
    /// A refusal; or an answer that says neither yes nor no, which is quoted.
    pub(super) fn refusal(
        error: Option<ServiceError>,
        request_id: Option<String>,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Self {
        if let Some(error) = error {
            return Self::Service { error, request_id };
        }
        let media = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or("unknown type");
        let start = body.get(..MAX_TEXT).unwrap_or(body);
        let text = format!("a refusal without a code, {media}: {}", String::from_utf8_lossy(start).trim());
        Self::unreadable(DecodeError::new(text), request_id)
    }

    pub(super) fn unreadable(error: DecodeError, request_id: Option<String>) -> Self {
        Self::Unreadable { error, request_id }
    }
}
