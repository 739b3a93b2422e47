//! Errors of encoding and decoding.

use std::fmt;
use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderMap};

use crate::wire::service_error::{ErrorCode, ServiceError};

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
        Self(cause.to_string().chars().take(MAX_QUOTE).collect::<String>().into())
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

/// Maximum characters of the error code that an error keeps.
const MAX_CODE: usize = 128;
/// Maximum characters of the message that an error keeps. The longest known message of SQS, about 1,500 characters, quotes
/// the canonical request.
const MAX_MESSAGE: usize = 2_000;

/// Truncates code and message and removes the session token, which SQS quotes when it rejects a signature.
pub(crate) fn sanitized(error: ServiceError) -> ServiceError {
    let code = match error.code {
        ErrorCode::Other(code) => ErrorCode::Other(truncated(code, MAX_CODE)),
        known => known,
    };
    ServiceError { code, message: error.message.map(|text| truncated(redacted(&text), MAX_MESSAGE)) }
}

fn truncated(mut text: String, max: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(max) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn redacted(text: &str) -> String {
    const HEADER: &str = "x-amz-security-token:";
    let ends = |c: char| c.is_whitespace() || matches!(c, '\\' | '\'' | '"' | '&');
    let lower = text.to_ascii_lowercase();
    let (mut shown, mut from) = (String::new(), 0);
    for (start, _) in lower.match_indices(HEADER) {
        if start < from {
            continue;
        }
        let token = start + HEADER.len();
        shown.push_str(&text[from..token]);
        shown.push_str("[redacted]");
        from = text[token..].find(ends).map_or(text.len(), |end| token + end);
    }
    shown.push_str(&text[from..]);
    shown
}

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
    /// A service error, or an unreadable error response, of which the message quotes the start.
    pub(super) fn from_service(
        error: Option<ServiceError>,
        request_id: Option<String>,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Self {
        if let Some(error) = error {
            return Self::Service { error: sanitized(error), request_id };
        }
        let media = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok());
        Self::unreadable(DecodeError::no_code(media, body), request_id)
    }

    pub(super) fn unreadable(error: DecodeError, request_id: Option<String>) -> Self {
        Self::Unreadable { error, request_id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sanitized_error(code: &str, text: &str) -> ServiceError {
        sanitized(ServiceError::new(ErrorCode::from_name(code), text))
    }

    #[test]
    fn long_codes_and_messages_are_truncated() {
        let error = sanitized_error(&"C".repeat(1_000_000), &"ü".repeat(1_000_000));
        assert_eq!(error.code, ErrorCode::Other("C".repeat(MAX_CODE) + "…"));
        assert_eq!(error.message, Some("ü".repeat(MAX_MESSAGE) + "…"));
    }

    #[test]
    fn session_tokens_in_messages_are_redacted() {
        let nested = sanitized_error("SignatureDoesNotMatch", &"x-amz-security-token:".repeat(3));
        assert_eq!(nested.message.as_deref(), Some("x-amz-security-token:[redacted]"));
        let text = "host:h\nX-Amz-Security-Token:SECRET/+=\nx-amz-date:1 x-amz-security-token:SECRET\\nrest";
        let message = sanitized_error("SignatureDoesNotMatch", text).message.expect("kept");
        assert_eq!(
            message,
            "host:h\nX-Amz-Security-Token:[redacted]\nx-amz-date:1 x-amz-security-token:[redacted]\\nrest"
        );
    }
}
