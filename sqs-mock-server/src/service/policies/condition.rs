//! Condition operators, and patterns with `*` and `?`.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html>

use std::cmp::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An operator, such as `StringEquals` or `ForAnyValue:ArnLikeIfExists`. All keys of this server have one value, so that
/// `ForAllValues` and `ForAnyValue` only matter for absent keys.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operator {
    /// Whether the key is absent.
    Null,
    /// A comparison with the value of the key.
    Compare {
        test: Test,
        /// Whether no value of the policy may match, instead of any.
        negated: bool,
        /// The result if the key is absent.
        without_key: bool,
    },
}

/// How a value of the policy is compared with the value of a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    Exact,
    IgnoreCase,
    Like,
    Arn,
    Number(fn(Ordering) -> bool),
    Date(fn(Ordering) -> bool),
    /// Never matches: no service sends a network address, and those of local callers say nothing about AWS.
    IpAddress,
}

/// The operators that compare values, each with its comparison, and whether it is negated.
const OPERATORS: [(&str, Test, bool); 26] = [
    ("StringEquals", Test::Exact, false),
    ("StringNotEquals", Test::Exact, true),
    ("StringEqualsIgnoreCase", Test::IgnoreCase, false),
    ("StringNotEqualsIgnoreCase", Test::IgnoreCase, true),
    ("StringLike", Test::Like, false),
    ("StringNotLike", Test::Like, true),
    ("ArnEquals", Test::Arn, false),
    ("ArnNotEquals", Test::Arn, true),
    ("ArnLike", Test::Arn, false),
    ("ArnNotLike", Test::Arn, true),
    ("Bool", Test::IgnoreCase, false),
    ("BinaryEquals", Test::Exact, false),
    ("NumericEquals", Test::Number(Ordering::is_eq), false),
    ("NumericNotEquals", Test::Number(Ordering::is_eq), true),
    ("NumericLessThan", Test::Number(Ordering::is_lt), false),
    ("NumericLessThanEquals", Test::Number(Ordering::is_le), false),
    ("NumericGreaterThan", Test::Number(Ordering::is_gt), false),
    ("NumericGreaterThanEquals", Test::Number(Ordering::is_ge), false),
    ("DateEquals", Test::Date(Ordering::is_eq), false),
    ("DateNotEquals", Test::Date(Ordering::is_eq), true),
    ("DateLessThan", Test::Date(Ordering::is_lt), false),
    ("DateLessThanEquals", Test::Date(Ordering::is_le), false),
    ("DateGreaterThan", Test::Date(Ordering::is_gt), false),
    ("DateGreaterThanEquals", Test::Date(Ordering::is_ge), false),
    ("IpAddress", Test::IpAddress, false),
    ("NotIpAddress", Test::IpAddress, true),
];

impl Operator {
    /// Parses the name of an operator. No document says whether case matters, so it does not.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        if name == "null" {
            return Some(Self::Null);
        }
        let (quantifier, name) = match name.split_once(':') {
            None => (None, name.as_str()),
            Some(("forallvalues", name)) => (Some(true), name),
            Some(("foranyvalue", name)) => (Some(false), name),
            Some(_) => return None,
        };
        let optional = name.strip_suffix("ifexists");
        let name = optional.unwrap_or(name);
        let (_, test, negated) = *OPERATORS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))?;
        let without_key = optional.is_some() || quantifier.unwrap_or(negated);
        Some(Self::Compare { test, negated, without_key })
    }
}

impl Test {
    /// Whether a value of the policy matches the value of a key. Values of other types match nothing.
    pub(super) fn matches(self, given: &str, found: &str) -> bool {
        match self {
            Self::Exact => given == found,
            Self::IgnoreCase => given.eq_ignore_ascii_case(found),
            Self::Like => is_like(given, found),
            Self::Arn => is_arn_like(given, found),
            Self::Number(is) => {
                let numbers = given.parse::<f64>().ok().zip(found.parse::<f64>().ok());
                numbers.and_then(|(given, found)| found.partial_cmp(&given)).is_some_and(is)
            }
            Self::Date(is) => {
                let dates = date(given).zip(date(found));
                dates.is_some_and(|(given, found)| is(found.cmp(&given)))
            }
            Self::IpAddress => false,
        }
    }
}

/// Compares the six parts of ARNs one by one: a `*` does not match a colon, except in the last part.
fn is_arn_like(pattern: &str, arn: &str) -> bool {
    let parts = |text: &str| text.splitn(6, ':').count();
    let mut pairs = pattern.splitn(6, ':').zip(arn.splitn(6, ':'));
    parts(pattern) == 6 && parts(arn) == 6 && pairs.all(|(pattern, part)| is_like(pattern, part))
}

/// `2026-11-23`, `2026-11-23T10:00:00Z`, or seconds since 1970.
fn date(text: &str) -> Option<SystemTime> {
    if let Ok(seconds) = text.parse() {
        return UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    }
    let midnight = || humantime::parse_rfc3339(&format!("{text}T00:00:00Z"));
    humantime::parse_rfc3339(text).or_else(|_| midnight()).ok()
}

/// Whether a text matches a pattern: `*` stands for any characters, `?` for one. The time is at most the product of both
/// lengths.
pub(super) fn is_like(pattern: &str, text: &str) -> bool {
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
            assert_eq!(is_like(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn hostile_pattern_takes_no_exponential_time() {
        assert!(!is_like(&"*a".repeat(500), &"a".repeat(499)));
    }
}
