//! Bounds what errors keep of a response, and removes secrets from it.

use std::ops::Range;

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

/// The text without session tokens. Services quote the canonical request when they reject a signature, and proxies quote
/// headers and query strings.
pub(crate) fn without_session_tokens(text: &str) -> String {
    const NAME: &str = "x-amz-security-token";
    let lower = text.to_ascii_lowercase();
    let (mut shown, mut from) = (String::new(), 0);
    for (start, _) in lower.match_indices(NAME) {
        let after = start + NAME.len();
        if start < from {
            continue;
        }
        let Some(token) = token_in(&text[after..]) else { continue };
        shown.push_str(&text[from..after + token.start]);
        shown.push_str("[redacted]");
        from = after + token.end;
    }
    shown.push_str(&text[from..]);
    shown
}

/// Where the token is in the text after its name: after a separator, or else the next long word, whatever markup is between.
fn token_in(text: &str) -> Option<Range<usize>> {
    /// Real tokens have hundreds of characters.
    const LONG: usize = 16;
    /// `&quot;,&quot;value&quot;:&quot;`, and some more.
    const MARKUP: usize = 64;
    let is_between = |c: char| matches!(c, ':' | '=' | ',' | ' ' | '\t' | '"' | '\'' | '\\');
    let is_of_token =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '%' | '_' | '-' | '.');
    let ends = |c: char| c.is_whitespace() || matches!(c, '\\' | '\'' | '"' | '&' | '<' | ',' | ';');
    let end = |start: usize, ends: &dyn Fn(char) -> bool| {
        text[start..].find(ends).map_or(text.len(), |end| start + end)
    };
    // A name in a list of headers.
    if text.starts_with([';', '\n']) || text.starts_with("\\n") {
        return None;
    }
    let start = text.len() - text.trim_start_matches(is_between).len();
    let next = Some(start..end(start, &ends)).filter(|next| !next.is_empty());
    if text[..start].contains([':', '=']) {
        return next;
    }
    let starts = text.char_indices().take_while(|(at, _)| *at < MARKUP).map(|(at, _)| at);
    let mut words = starts.map(|start| start..end(start, &|c| !is_of_token(c)));
    words.find(|word| word.len() >= LONG).or(next.filter(|_| text[..start].contains(',')))
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
        for (text, expected) in [
            (r#"{"X-Amz-Security-Token": "SECRET"}"#, r#"{"X-Amz-Security-Token": "[redacted]"}"#),
            ("/?X-Amz-Security-Token=SECRET%2F&a=b", "/?X-Amz-Security-Token=[redacted]&a=b"),
            ("<p>x-amz-security-token: SECRET</p>", "<p>x-amz-security-token: [redacted]</p>"),
            (r#"\"X-Amz-Security-Token\": \"SECRET\""#, r#"\"X-Amz-Security-Token\": \"[redacted]\""#),
            ("x-amz-security-token:\tSECRET", "x-amz-security-token:\t[redacted]"),
            (r#"["x-amz-security-token","SECRET"]"#, r#"["x-amz-security-token","[redacted]"]"#),
            ("x-amz-security-token", "x-amz-security-token"),
            ("host;x-amz-security-token;x-amz-target\nhash", "host;x-amz-security-token;x-amz-target\nhash"),
        ] {
            assert_eq!(without_session_tokens(text), expected);
        }
        let token = "FwoGZXIvYXdzEBYaD0123456789";
        for text in [
            format!(r#"{{"name":"X-Amz-Security-Token","value":"{token}"}}"#),
            format!("X-Amz-Security-Token&quot;:&quot;{token}&quot;"),
            format!("x-amz-security-token%3D{token}"),
            format!("<th>x-amz-security-token</th><td>{token}</td>"),
        ] {
            assert!(!without_session_tokens(&text).contains(token), "{text}");
        }
    }
}
