//! Patterns that a string is compared with.

use super::wildcard::Wildcard;

/// Patterns without regard to case hold lower-case text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Pattern {
    Equal(String),
    Prefix(String),
    Suffix(String),
    EqualIgnoringCase(String),
    PrefixIgnoringCase(String),
    SuffixIgnoringCase(String),
    Wildcard(Wildcard),
}

impl Pattern {
    pub(super) fn matches(&self, text: &str) -> bool {
        let lower = || text.chars().flat_map(char::to_lowercase);
        match self {
            Self::Equal(whole) => text == whole,
            Self::Prefix(prefix) => text.starts_with(prefix.as_str()),
            Self::Suffix(suffix) => text.ends_with(suffix.as_str()),
            Self::EqualIgnoringCase(whole) => lower().eq(whole.chars()),
            Self::PrefixIgnoringCase(prefix) => starts_with(lower(), prefix.chars()),
            Self::SuffixIgnoringCase(suffix) => starts_with(lower().rev(), suffix.chars().rev()),
            Self::Wildcard(wildcard) => wildcard.matches(text),
        }
    }

    /// What the pattern counts in the limit of wildcards; `None` if it is not a wildcard pattern.
    pub(super) fn wildcard_points(&self) -> Option<usize> {
        if let Self::Wildcard(wildcard) = self { Some(wildcard.points()) } else { None }
    }
}

/// Text in the form that patterns without regard to case compare.
pub(super) fn lower_case(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn starts_with(mut whole: impl Iterator<Item = char>, mut part: impl Iterator<Item = char>) -> bool {
    part.all(|character| whole.next() == Some(character))
}
