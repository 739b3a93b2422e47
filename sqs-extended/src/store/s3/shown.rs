//! Keys as listings show them: pure.

use aws_sdk_s3::types::EncodingType;
use percent_encoding::percent_decode_str;

/// Keys may have characters that XML cannot hold, so listings are asked to encode them. Services that do not know how say
/// nothing of it, and show keys as they are.
pub(super) fn key(shown: String, encoding: Option<&EncodingType>) -> Option<String> {
    if encoding != Some(&EncodingType::Url) {
        return Some(shown);
    }
    // As in forms, a space is a plus; a plus is encoded. What is no UTF-8 is no key.
    let spaced = shown.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_decoded_where_the_answer_says_that_they_are_encoded() {
        for (shown, is) in
            [("a%20b%2B%C3%BC/%25", "a b+\u{fc}/%"), ("a+b", "a b"), ("%01", "\u{1}"), ("50%", "50%")]
        {
            assert_eq!(key(shown.to_owned(), Some(&EncodingType::Url)).as_deref(), Some(is));
            assert_eq!(key(shown.to_owned(), None).as_deref(), Some(shown));
        }
        assert_eq!(key("%FF".to_owned(), Some(&EncodingType::Url)), None);
    }
}
