//! Condition operators, and patterns with `*` and `?`.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html>
//!
//! Compares a statement with a request.
//!
//! A part of a statement can depend on something that this server cannot know, such as the role or the organization of a
//! caller. It then counts in favour of the request: a statement that allows matches, one that denies does not.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::control::policies::{Conditions, Context, KeyValue, List, Principal, Principals, Statement};

/// An operator, such as `StringEquals` or `ForAnyValue:ArnLikeIfExists`. All keys of this server have one value, so that
/// `ForAllValues` and `ForAnyValue` only matter for absent keys.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operator {
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
pub(crate) enum Test {
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
    pub(crate) fn parse(name: &str) -> Option<Self> {
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
    pub(crate) fn matches(self, given: &str, found: &str) -> bool {
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
pub(crate) fn is_like(pattern: &str, text: &str) -> bool {
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

/// The first part of a statement that does not match a request, in the order of comparison.
#[derive(Clone, Debug)]
pub(crate) enum Mismatch<'a> {
    Principal,
    Action,
    Resource,
    Condition {
        operator: &'a str,
        key: &'a str,
        /// The values in the policy.
        values: &'a Value,
        /// The value of the request.
        found: Option<Cow<'a, str>>,
    },
}

impl Mismatch<'_> {
    /// How many parts match.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::Principal => 0,
            Self::Action => 1,
            Self::Resource => 2,
            Self::Condition { .. } => 3,
        }
    }
}

impl fmt::Display for Mismatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Principal => f.write_str("is for another principal"),
            Self::Action => f.write_str("is for another action"),
            Self::Resource => f.write_str("is for another resource"),
            Self::Condition { operator, key, values, found } => {
                write!(f, "requires {operator} {key} {values}, but {key} is ")?;
                match found {
                    Some(found) => write!(f, "{found:?}"),
                    None => f.write_str("absent"),
                }
            }
        }
    }
}

/// Compares parts of a statement with a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison<'a> {
    pub(crate) context: &'a Context<'a>,
    /// Whether `${aws:SourceAccount}` is a variable, not text.
    pub(crate) has_variables: bool,
    /// Whether a part matches if it depends on something unknown.
    pub(crate) doubt: bool,
}

impl<'a> Comparison<'a> {
    /// The first part of a statement that does not match.
    pub(crate) fn mismatch(self, statement: &'a Statement) -> Option<Mismatch<'a>> {
        let Statement { principal, not_principal, action, not_action, resource, not_resource, .. } =
            statement;
        if !self.both(principal.as_ref(), not_principal.as_ref(), Self::is_principal) {
            return Some(Mismatch::Principal);
        }
        if !self.both(action.as_ref(), not_action.as_ref(), Self::is_action) {
            return Some(Mismatch::Action);
        }
        if !self.both(resource.as_ref(), not_resource.as_ref(), Self::is_resource) {
            return Some(Mismatch::Resource);
        }
        self.unmet(statement.condition.as_ref()?)
    }

    /// Whether an element matches, if it is present, and its inverse does not.
    fn both<T>(self, element: Option<&T>, inverse: Option<&T>, matches: fn(Self, &T) -> bool) -> bool {
        let opposite = Self { doubt: !self.doubt, ..self };
        element.is_none_or(|element| matches(self, element))
            && inverse.is_none_or(|element| !matches(opposite, element))
    }

    fn is_principal(self, principals: &Principals) -> bool {
        let Principals::Kinds(kinds) = principals else { return true };
        let is_any = |kind: &str, is: &dyn Fn(&str) -> bool| {
            kinds.get(kind).is_some_and(|List(names)| names.iter().any(|name| is(name)))
        };
        // Everybody includes services: statements for SNS and S3 often name `{"AWS":"*"}`.
        is_any("AWS", &|name| name == "*")
            || match self.context.principal {
                Principal::Service { name, .. } => is_any("Service", &|service| service == name),
                Principal::Account(account) => is_any("AWS", &|name| self.is_of_account(name, account)),
            }
    }

    /// Whether a principal is this account, or a user or role of it.
    fn is_of_account(self, name: &str, account: &str) -> bool {
        match name.splitn(6, ':').collect::<Vec<_>>().as_slice() {
            ["arn", _, _, _, of, "root"] => *of == account,
            ["arn", _, _, _, of, _] => *of == account && self.doubt,
            _ => name == account,
        }
    }

    fn is_action(self, List(names): &List) -> bool {
        let action = self.context.action.to_ascii_lowercase();
        names.iter().any(|name| is_like(&name.to_ascii_lowercase(), &action))
    }

    fn is_resource(self, List(names): &List) -> bool {
        names.iter().any(|name| self.matches(name, |name| is_like(name, self.context.resource)))
    }

    /// The first condition that does not hold.
    fn unmet(self, conditions: &'a Conditions) -> Option<Mismatch<'a>> {
        let keys = conditions.iter().flat_map(|(operator, keys)| keys.iter().map(move |key| (operator, key)));
        let mut unmet = keys.filter(|(operator, (key, values))| !self.holds(operator, key, values));
        unmet.next().map(|(operator, (key, values))| Mismatch::Condition {
            operator,
            key,
            values,
            found: match self.context.key(key) {
                KeyValue::Known(value) => Some(value),
                KeyValue::Absent | KeyValue::Unknown => None,
            },
        })
    }

    fn holds(self, operator: &str, key: &str, values: &Value) -> bool {
        let Some(operator) = Operator::parse(operator) else { return false };
        let found = self.context.key(key);
        let values = values.as_array().map_or(std::slice::from_ref(values), Vec::as_slice);
        let any = |matches: &dyn Fn(&str) -> bool| values.iter().any(|value| matches(&text(value)));
        match (operator, found) {
            (_, KeyValue::Unknown) => self.doubt,
            (Operator::Null, KeyValue::Known(_)) => any(&|value| value.eq_ignore_ascii_case("false")),
            (Operator::Null, KeyValue::Absent) => any(&|value| value.eq_ignore_ascii_case("true")),
            (Operator::Compare { without_key, .. }, KeyValue::Absent) => without_key,
            (Operator::Compare { test, negated, .. }, KeyValue::Known(found)) => {
                let comparison = Self { doubt: self.doubt != negated, ..self };
                any(&|value| comparison.matches(value, |value| test.matches(value, &found))) != negated
            }
        }
    }

    /// Whether a text of the policy matches, with its variables replaced.
    fn matches(self, text: &str, matches: impl Fn(&str) -> bool) -> bool {
        let text =
            if self.has_variables { self.context.with_variables(text) } else { KeyValue::Known(text.into()) };
        match text {
            KeyValue::Known(text) => matches(&text),
            KeyValue::Absent => false,
            KeyValue::Unknown => self.doubt,
        }
    }
}

/// A value of a condition; numbers and booleans are compared as text.
fn text(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| value.to_string().into(), Cow::Borrowed)
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
