//! Rules for the characters of texts, names and tokens.

/// The message of SQS for text that violates [`is_text`].
pub(super) const NOT_TEXT: &str = "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | \
     #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF";

/// Whether XML 1.0 allows all characters. Applies to bodies and `String` attributes.
pub(super) fn is_text(text: &str) -> bool {
    // Bodies are long and nearly always valid. Only control characters and sequences that start with EF, such as U+FFFE and
    // U+FFFF, need a check by character. A scan without an early end finds them, which compiles to vector instructions.
    let suspicious = |byte: u8| (byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0xEF;
    !text.bytes().fold(false, |found, byte| found | suspicious(byte)) || text.chars().all(is_text_char)
}

fn is_text_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Whether a text has 1 to `max` characters of `A-Za-z0-9_-`. Applies to queue names, batch entry ids and labels.
pub(super) fn is_name(text: &str, max: usize) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=max).contains(&text.len()) && text.bytes().all(legal)
}

/// Whether a text has 1 to `max` printable ASCII characters except the space. Applies to group ids, deduplication ids and
/// receive request attempt ids.
pub(super) fn is_token(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_allows_the_characters_of_xml() {
        for good in
            ["a", "\t\n\r", " ", "\u{7F}", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{10000}", "\u{1FFFE}", "ﬁ"]
        {
            assert!(is_text(good), "{good:?}");
        }
        for bad in ["\0", "\u{8}", "\u{B}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"] {
            assert!(!is_text(bad), "{bad:?}");
            let long = format!("{}{bad}", "x".repeat(1_000));
            assert!(!is_text(&long), "{bad:?} after 1,000 bytes");
        }
    }

    #[test]
    fn tokens_allow_printable_ascii_without_space() {
        assert!(is_token("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~aZ09", 128));
        assert!(is_token(&"x".repeat(128), 128));
        for bad in ["", " ", "a b", "ü", "\t", &"x".repeat(129)] {
            assert!(!is_token(bad, 128), "{bad:?}");
        }
    }
}
