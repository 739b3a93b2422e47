//! Which characters may stand where.

/// What the service says about characters outside [`is_text`].
pub(super) const NOT_TEXT: &str = "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | \
     #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF";

/// Whether all characters are those of XML 1.0, as bodies and `String` attributes must have them.
pub(super) fn is_text(text: &str) -> bool {
    // Bodies are long and nearly always good. Of UTF-8, only control characters and what starts with EF (U+FFFE
    // and U+FFFF are there) need a closer look; the rest is passed over many bytes at a time.
    let suspicious = |byte: u8| (byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0xEF;
    let suspect = |block: &[u8]| block.iter().fold(false, |found, byte| found | suspicious(*byte));
    !text.as_bytes().chunks(256).any(suspect) || text.chars().all(is_text_char)
}

fn is_text_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Whether a text is made of 1 to `longest` of `A-Za-z0-9_-`: queue names, batch entry ids, labels.
pub(super) fn is_name(text: &str, longest: usize) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=longest).contains(&text.len()) && text.bytes().all(legal)
}

/// Whether a text is made of 1 to `longest` printable ASCII characters without the space: group ids,
/// deduplication ids, receive attempt ids.
pub(super) fn is_token(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_xml_allows() {
        for good in
            ["a", "\t\n\r", " ", "\u{7F}", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{10000}", "\u{1FFFE}", "ﬁ"]
        {
            assert!(is_text(good), "{good:?}");
        }
        for bad in ["\0", "\u{8}", "\u{B}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"] {
            assert!(!is_text(bad), "{bad:?}");
            let late = format!("{}{bad}", "x".repeat(1_000));
            assert!(!is_text(&late), "late {bad:?}");
        }
    }

    #[test]
    fn tokens_have_no_space_and_nothing_foreign() {
        assert!(is_token("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~aZ09", 128));
        assert!(is_token(&"x".repeat(128), 128));
        for bad in ["", " ", "a b", "ü", "\t", &"x".repeat(129)] {
            assert!(!is_token(bad, 128), "{bad:?}");
        }
    }
}
