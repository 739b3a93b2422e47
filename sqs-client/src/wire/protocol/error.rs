//! Errors of encoding and decoding.

use std::fmt;
use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderMap};

use crate::wire::service_error::{ServiceError, without_session_tokens};

/// A value cannot be encoded.
#[derive(Clone, Debug)]
pub struct EncodeError(Arc<str>);

impl EncodeError {
    #[expect(clippy::needless_pass_by_value, reason = "`map_err` passes a value")]
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

/// Maximum characters of received text that an error quotes.
const MAX_QUOTE: usize = 300;

/// Received bytes cannot be decoded.
#[derive(Clone, Debug)]
pub struct DecodeError(Arc<str>);

impl DecodeError {
    #[expect(clippy::needless_pass_by_value, reason = "`map_err` passes a value")]
    pub(crate) fn new(cause: impl ToString) -> Self {
        // Parsers quote what they cannot read.
        let text = without_session_tokens(&cause.to_string());
        Self(text.chars().take(MAX_QUOTE).collect::<String>().into())
    }

    /// An error response without an error code; its body is quoted.
    pub(crate) fn no_code(media: Option<&str>, body: &[u8]) -> Self {
        let media = media.unwrap_or("unknown type");
        let start = String::from_utf8_lossy(body.get(..MAX_QUOTE).unwrap_or(body));
        Self::new(format!("an error response without an error code, {media}: {}", start.trim()))
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecodeError {}

/// Why a response has no output.
#[derive(Clone, Debug)]
pub enum ResponseError {
    /// The service returned an error.
    Service {
        /// Code and message.
        error: ServiceError,
        /// The request id, if there is one.
        request_id: Option<String>,
    },
    /// The response is not a valid response of SQS.
    Unreadable {
        /// The decoding error.
        error: DecodeError,
        /// The request id, if there is one.
        request_id: Option<String>,
    },
}

impl ResponseError {
    /// A service error. Without one, the response is unreadable, and the error quotes the start of its body.
    pub(super) fn from_service(
        error: Option<ServiceError>,
        request_id: Option<String>,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Self {
        if let Some(error) = error {
            return Self::Service { error: error.sanitized(), request_id };
        }
        let media = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok());
        Self::unreadable(DecodeError::no_code(media, body), request_id)
    }

    pub(super) fn unreadable(error: DecodeError, request_id: Option<String>) -> Self {
        Self::Unreadable { error, request_id }
    }
}
