//! Bounds what errors keep of a response, and removes secrets from it.

use super::{ErrorCode, ServiceError};

/// Maximum characters of the error code that an error keeps.
const MAX_CODE: usize = 128;
/// Maximum characters of the message that an error keeps. The longest known message of SQS, about 1,500 characters, quotes
/// the canonical request.
const MAX_MESSAGE: usize = 2_000;

impl ServiceError {
    /// Truncates code and message and removes the session token, which SQS quotes when it rejects a signature.
    pub(crate) fn sanitized(self) -> Self {
        let code = match self.code {
            ErrorCode::Other(code) => ErrorCode::Other(truncated(code, MAX_CODE)),
            known => known,
        };
        let text = |text: String| truncated(without_session_tokens(&text), MAX_MESSAGE);
        Self { code, message: self.message.map(text) }
    }
}

fn truncated(mut text: String, max: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(max) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The text without the session tokens of canonical requests, which services quote when they reject a signature.
pub(crate) fn without_session_tokens(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sanitized_error(code: &str, text: &str) -> ServiceError {
        ServiceError::new(ErrorCode::from_name(code), text).sanitized()
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
