//! Patterns with `*` and `?`.

/// Whether a text matches a pattern: `*` stands for any characters, `?` for one. The time is at most the product of both
/// lengths.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // The pattern after the last `*`, and the text that was left there.
    let mut last_star = None;
    loop {
        match (pattern.next(), text.clone().next()) {
            (None, None) => return true,
            (Some('*'), _) => last_star = Some((pattern.clone(), text.clone())),
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                text.next();
            }
            _ => {
                // The last `*` takes one more character. Earlier ones need not: they took as few as possible.
                let Some((after, left)) = &mut last_star else { return false };
                if left.next().is_none() {
                    return false;
                }
                (pattern, text) = (after.clone(), left.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_matches_any_characters_and_question_mark_one() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "abc", true),
            ("**", "abc", true),
            ("?", "", false),
            ("?", "ü", true),
            ("?", "ab", false),
            ("a*c", "abcbc", true),
            ("a*c", "abcb", false),
            ("a?c*", "abc", true),
            ("*ab*ab", "abxab", true),
            ("*ab*ab", "abab-", false),
            ("sqs:Send*", "sqs:SendMessage", true),
            ("sqs:send*", "sqs:SendMessage", false),
            ("arn:aws:sqs:*:*:q", "arn:aws:sqs:us-east-1:000000000000:q", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn hostile_pattern_takes_no_exponential_time() {
        assert!(!matches(&"*a".repeat(500), &"a".repeat(499)));
    }
}
