//! Patterns that a string is compared with: literals, affixes, wildcards and blocks of IP addresses.

use std::net::IpAddr;

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
    Block(Block),
}

impl Pattern {
    /// The pattern of an operator that takes a text.
    ///
    /// # Errors
    /// The operator does not take this text.
    pub(super) fn parse(operator: &str, text: &str) -> Result<Self, String> {
        match operator {
            "prefix" => Ok(Self::Prefix(text.to_owned())),
            "suffix" => Ok(Self::Suffix(text.to_owned())),
            "equals-ignore-case" => Ok(Self::EqualIgnoringCase(lower_case(text))),
            "wildcard" => Wildcard::parse(text).map(Self::Wildcard),
            "cidr" => Block::parse(text).map(Self::Block),
            unknown => Err(format!("Unrecognized match type {unknown}")),
        }
    }

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
            Self::Block(block) => block.contains(text),
        }
    }
}

/// Text in the form that patterns without regard to case compare.
pub(super) fn lower_case(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn starts_with(mut whole: impl Iterator<Item = char>, mut part: impl Iterator<Item = char>) -> bool {
    part.all(|character| whole.next() == Some(character))
}

/// More `*` than this in one pattern are rejected.
const MAX_STARS: usize = 3;

/// The fault of patterns that alone or together have too many `*`.
pub(super) const TOO_COMPLEX: &str = "Rule is too complex - try using fewer wildcard characters or fewer repeating character \
                                      sequences after a wildcard character";

/// A pattern with `*` for any run of characters; `\*` and `\\` in its text are literal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Wildcard {
    first: String,
    /// The texts that follow each `*`.
    rest: Vec<String>,
}

impl Wildcard {
    /// # Errors
    /// Consecutive or too many `*`, or another escape.
    fn parse(text: &str) -> Result<Self, String> {
        let mut pattern = Self { first: String::new(), rest: Vec::new() };
        let mut characters = text.chars().enumerate();
        let mut after_star = false;
        while let Some((position, character)) = characters.next() {
            let literal = match character {
                '*' if after_star => {
                    return Err(format!("Consecutive wildcard characters at pos {position}"));
                }
                '*' => None,
                '\\' => match characters.next() {
                    Some((_, escaped @ ('*' | '\\'))) => Some(escaped),
                    _ => return Err(format!("Invalid escape character at pos {position}")),
                },
                other => Some(other),
            };
            after_star = literal.is_none();
            match literal {
                Some(literal) => pattern.rest.last_mut().unwrap_or(&mut pattern.first).push(literal),
                None => pattern.rest.push(String::new()),
            }
        }
        if pattern.rest.len() > MAX_STARS { Err(TOO_COMPLEX.into()) } else { Ok(pattern) }
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
    fn matches(&self, text: &str) -> bool {
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

/// A block of addresses of one version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Block {
    base: IpAddr,
    mask_bits: u32,
}

impl Block {
    /// # Errors
    /// No block in CIDR notation.
    fn parse(text: &str) -> Result<Self, String> {
        let slash = || "Malformed CIDR, one '/' required".to_owned();
        let (address, mask_bits) = text.split_once('/').ok_or_else(slash)?;
        if mask_bits.is_empty() || mask_bits.contains('/') {
            return Err(slash());
        }
        let mask_bits: i32 = mask_bits.parse().map_err(|_| "Malformed CIDR, mask bits must be an integer")?;
        let base: IpAddr = address.parse().map_err(|_| format!("Nonstandard IP address: {address}"))?;
        let (_, width) = bits(base);
        let range = || format!("Malformed CIDR, mask bits must be from 0 to {width}");
        let mask_bits = u32::try_from(mask_bits).ok().filter(|bits| *bits <= width).ok_or_else(range)?;
        Ok(Self { base, mask_bits })
    }

    /// Whether the text is an address of the block.
    fn contains(self, text: &str) -> bool {
        let Ok(address) = text.parse::<IpAddr>() else { return false };
        let ((base, width), (address, other_width)) = (bits(self.base), bits(address));
        // A shift by the whole width leaves nothing to compare.
        let differing = (base ^ address).checked_shr(width - self.mask_bits).unwrap_or_default();
        width == other_width && differing == 0
    }
}

/// The address as a number, and its width.
fn bits(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
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
            let expected = format!("Invalid escape character at pos {position}");
            assert_eq!(Wildcard::parse(pattern), Err(expected), "{pattern}");
        }
    }
}
