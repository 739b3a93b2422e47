//! Patterns with `*` for any run of characters.

use super::fault::Fault;

/// More `*` than this in one pattern are rejected.
const MAX_STARS: usize = 3;

/// A pattern; `\*` and `\\` in its text are literal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Wildcard {
    first: String,
    /// The texts that follow each `*`.
    rest: Vec<String>,
}

impl Wildcard {
    /// # Errors
    /// Consecutive or too many `*`, or another escape.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let mut pattern = Self { first: String::new(), rest: Vec::new() };
        let mut characters = text.chars().enumerate();
        let mut after_star = false;
        while let Some((position, character)) = characters.next() {
            let literal = match character {
                '*' if after_star => return Err(fault("Consecutive wildcard characters", position)),
                '*' => None,
                '\\' => match characters.next() {
                    Some((_, escaped @ ('*' | '\\'))) => Some(escaped),
                    _ => return Err(fault("Invalid escape character", position)),
                },
                other => Some(other),
            };
            after_star = literal.is_none();
            match literal {
                Some(literal) => pattern.rest.last_mut().unwrap_or(&mut pattern.first).push(literal),
                None => pattern.rest.push(String::new()),
            }
        }
        if pattern.rest.len() > MAX_STARS { Err(Self::too_complex()) } else { Ok(pattern) }
    }

    /// The fault of patterns that together have too many `*`.
    pub(super) fn too_complex() -> Fault {
        Fault::policy(
            "Rule is too complex - try using fewer wildcard characters or fewer repeating character sequences \
             after a wildcard character",
        )
    }

    /// What the pattern counts in the limit of a policy.
    pub(super) fn points(&self) -> usize {
        match self.rest.len() {
            0 => 0,
            1 => 1,
            _ => 3,
        }
    }

    /// Whether the pattern matches the whole text. Takes the earliest occurrence of each part: no backtracking.
    pub(super) fn matches(&self, text: &str) -> bool {
        let Some((last, middle)) = self.rest.split_last() else { return text == self.first };
        let Some(text) = text.strip_prefix(self.first.as_str()) else { return false };
        let Some(text) = text.strip_suffix(last.as_str()) else { return false };
        let mut left = text;
        for part in middle {
            let Some((_, after)) = left.split_once(part.as_str()) else { return false };
            left = after;
        }
        true
    }
}

fn fault(what: &str, position: usize) -> Fault {
    Fault::policy(format_args!("{what} at pos {position}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_matches_the_whole_text() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*ab*ab", "ab", false),
            ("*ab*ab", "abab", true),
            ("a*b*c", "a-b-b-c-c", true),
            ("a*b*c", "a-c-b", false),
            (r"\*a\\*", r"*a\b", true),
            (r"\*a", "ba", false),
            ("*é*", "caféine", true),
        ] {
            assert_eq!(Wildcard::parse(pattern).unwrap().matches(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn escapes_other_than_star_and_backslash_are_rejected() {
        for (pattern, position) in [(r"ab\c", 2), (r"a\", 1)] {
            let expected = Fault::policy(format_args!("Invalid escape character at pos {position}"));
            assert_eq!(Wildcard::parse(pattern), Err(expected), "{pattern}");
        }
    }
}
