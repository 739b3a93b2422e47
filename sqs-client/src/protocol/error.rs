//! Why something could not be encoded or decoded.

use std::fmt;
use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderMap};

use crate::service_error::{ErrorCode, ServiceError};

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
    pub(crate) fn new(cause: impl ToString) -> Self {
        Self(cause.to_string().chars().take(MAX_TEXT).collect::<String>().into())
    }

    /// A refusal that does not say why; its body is quoted.
    pub(crate) fn no_code(media: Option<&str>, body: &[u8]) -> Self {
        let media = media.unwrap_or("unknown type");
        let start = String::from_utf8_lossy(body.get(..MAX_TEXT).unwrap_or(body));
        Self::new(format!("a refusal without a code, {media}: {}", start.trim()))
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecodeError {}

/// Characters of a code, and of a text, that an error keeps of a refusal. The longest that SQS is known to send is a refused
/// signature with its canonical request, about 1,500.
const MAX_CODE: usize = 128;
const MAX_MESSAGE: usize = 2_000;

/// A refusal as errors may show it: of bounded length, and without the session token, which SQS quotes from the
/// canonical request when it refuses a signature.
pub(crate) fn presentable(error: ServiceError) -> ServiceError {
    let code = match error.code {
        ErrorCode::Other(code) => ErrorCode::Other(bounded(code, MAX_CODE)),
        known => known,
    };
    ServiceError { code, message: error.message.map(|text| bounded(redacted(&text), MAX_MESSAGE)) }
}

fn bounded(mut text: String, max: usize) -> String {
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
            return Self::Service { error: presentable(error), request_id };
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

    fn shown(code: &str, text: &str) -> ServiceError {
        presentable(ServiceError::new(ErrorCode::from_name(code), text))
    }

    #[test]
    fn codes_and_texts_of_refusals_are_cut() {
        let error = shown(&"C".repeat(1_000_000), &"ü".repeat(1_000_000));
        assert_eq!(error.code, ErrorCode::Other("C".repeat(MAX_CODE) + "…"));
        assert_eq!(error.message, Some("ü".repeat(MAX_MESSAGE) + "…"));
    }

    #[test]
    fn session_tokens_in_texts_are_redacted() {
        let nested = shown("SignatureDoesNotMatch", &"x-amz-security-token:".repeat(3));
        assert_eq!(nested.message.as_deref(), Some("x-amz-security-token:[redacted]"));
        let text = "host:h\nX-Amz-Security-Token:SECRET/+=\nx-amz-date:1 x-amz-security-token:SECRET\\nrest";
        let message = shown("SignatureDoesNotMatch", text).message.expect("kept");
        assert_eq!(
            message,
            "host:h\nX-Amz-Security-Token:[redacted]\nx-amz-date:1 x-amz-security-token:[redacted]\\nrest"
        );
    }
}
