//! From the JSON of a policy to its alternatives, within the limits of AWS.
//!
//! Source of the limits: <https://docs.aws.amazon.com/sns/latest/dg/subscription-filter-policy-constraints.html>
//!
//! ```text
//! {"a": {"b": [1]}, "$or": [{"c": [2]}, {"d": [3]}]}
//!     = a.b is 1 and c is 2
//!    or a.b is 1 and d is 3
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::pattern::TOO_COMPLEX;
use super::rule::{OPERATORS, Rule};

const MAX_BYTES: usize = 262_144;
const MAX_KEYS: usize = 5;
const MAX_COMBINATIONS: usize = 150;
const MAX_WILDCARD_POINTS: usize = 100;

/// Conditions that must all hold.
pub(super) type Alternative = Vec<Arc<Condition>>;

/// Rules for the values at one path; one of the rules must match.
#[derive(Debug, PartialEq)]
pub(super) struct Condition {
    /// Keys, joined by dots: a dot within a key means the same as nesting.
    pub(super) path: String,
    pub(super) rules: Vec<Rule>,
    /// Whether the condition also holds without a value.
    pub(super) or_absent: bool,
}

impl Condition {
    fn parse(path: String, list: &[Value]) -> Result<Self, String> {
        if list.is_empty() {
            return Err("Empty arrays are not allowed".into());
        }
        let rules = list.iter().map(Rule::parse).collect::<Result<Vec<_>, _>>()?;
        let or_absent = rules.contains(&Rule::Absent);
        Ok(Self { path, rules, or_absent })
    }

    /// The points of all wildcard patterns, multiplied by their number.
    fn wildcard_points(&self) -> usize {
        let points: Vec<_> = self.rules.iter().flat_map(Rule::wildcard_points).collect();
        points.iter().sum::<usize>().saturating_mul(points.len())
    }
}

/// Parses a policy.
///
/// # Errors
/// The policy does not follow the grammar, or exceeds a limit.
pub(super) fn parse(text: &str) -> Result<(Map<String, Value>, Vec<Alternative>), String> {
    let bytes = text.len();
    if bytes > MAX_BYTES {
        return Err(format!("Filter policy has {bytes} bytes; the maximum is {MAX_BYTES}"));
    }
    let policy = serde_json::from_str(text).map_err(|error| malformed(text, &error))?;
    let Value::Object(policy) = policy else { return Err("Filter is not an object".into()) };
    // These limits bound the time and the memory that a policy takes.
    if keys(&policy) > MAX_KEYS {
        return Err(format!("Filter policy can not have more than {MAX_KEYS} keys"));
    }
    if combinations(&policy, 1) > MAX_COMBINATIONS {
        return Err("Filter policy is too complex".into());
    }
    let alternatives = alternatives(&policy, None)?;
    // A condition outside of `$or` is part of every alternative, but counts once.
    let conditions = alternatives.iter().flatten().map(|condition| (Arc::as_ptr(condition), condition));
    let conditions: BTreeMap<_, _> = conditions.collect();
    let points: usize = conditions.values().map(|condition| condition.wildcard_points()).sum();
    if points > MAX_WILDCARD_POINTS { Err(TOO_COMPLEX.into()) } else { Ok((policy, alternatives)) }
}

/// The reason why a text is not JSON, in the words of the parser that AWS uses.
fn malformed(text: &str, error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let reason = unexpected(text, error);
    format!(
        "failed to parse JSON. {reason}\n at [Source: REDACTED \
         (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: {line}, column: {column}]"
    )
}

/// The cause, in the words of AWS where they are known.
fn unexpected(text: &str, error: &serde_json::Error) -> String {
    let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let parts = line.split_at_checked(error.column().saturating_sub(1));
    let character = parts.and_then(|(_, after)| after.chars().next());
    let (Some((before, _)), Some(character), false) = (parts, character, error.is_eof()) else {
        return "Unexpected end-of-input".to_owned();
    };
    let start = before.trim_end_matches(char::is_alphanumeric).len();
    let token = line.get(start..).unwrap_or_default();
    let token = token.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
    let reason = error.to_string();
    let reason = match reason.split_once(" at line") {
        Some(("key must be a string", _)) => "was expecting double-quote to start field name",
        _ if token.starts_with(char::is_alphabetic) => {
            return format!(
                "Unrecognized token '{token}': was expecting (JSON String, Number, Array, Object or token \
                 'null', 'true' or 'false')"
            );
        }
        Some((reason, _)) => reason,
        None => &reason,
    };
    format!("Unexpected character ('{character}' (code {})): {reason}", u32::from(character))
}

/// All alternatives of a policy, or of the part of it at `path`. Their number is at most that of combinations.
fn alternatives(policy: &Map<String, Value>, path: Option<&str>) -> Result<Vec<Alternative>, String> {
    let mut all = vec![Alternative::new()];
    for (key, value) in policy {
        let of_key = match branches(key, value) {
            Some(branches) => {
                let each = branches.into_iter().map(|branch| non_empty(branch, path));
                each.collect::<Result<Vec<_>, _>>()?.concat()
            }
            None => of_key(key, value, path)?,
        };
        all = both(&all, &of_key);
    }
    Ok(all)
}

fn of_key(key: &str, value: &Value, path: Option<&str>) -> Result<Vec<Alternative>, String> {
    let path = path.map_or_else(|| key.to_owned(), |path| format!("{path}.{key}"));
    match value {
        Value::Array(list) => Ok(vec![vec![Arc::new(Condition::parse(path, list)?)]]),
        Value::Object(inner) => non_empty(inner, Some(&path)),
        _ => Err(format!("\"{key}\" must be an object or an array")),
    }
}

fn non_empty(policy: &Map<String, Value>, path: Option<&str>) -> Result<Vec<Alternative>, String> {
    if policy.is_empty() {
        return Err("Empty objects are not allowed".into());
    }
    alternatives(policy, path)
}

/// Every alternative of one list with every alternative of the other.
fn both(left: &[Alternative], right: &[Alternative]) -> Vec<Alternative> {
    let pairs = left.iter().flat_map(|left| right.iter().map(move |right| [left.as_slice(), right].concat()));
    pairs.collect()
}

/// The policies of `$or`. With fewer than two objects, or with an operator as a key, `$or` is an ordinary key.
fn branches<'a>(key: &str, value: &'a Value) -> Option<Vec<&'a Map<String, Value>>> {
    let list = value.as_array().filter(|list| key == "$or" && list.len() >= 2)?;
    let objects = list.iter().map(Value::as_object).collect::<Option<Vec<_>>>()?;
    let is_policy = |object: &&Map<_, _>| object.keys().all(|key| !OPERATORS.contains(&key.as_str()));
    objects.iter().all(is_policy).then_some(objects)
}

/// Whether a key of the policy contains a policy.
pub(super) fn is_nested(policy: &Map<String, Value>) -> bool {
    policy.iter().any(|(key, value)| match branches(key, value) {
        Some(branches) => branches.into_iter().any(is_nested),
        None => value.is_object(),
    })
}

/// Top-level keys. Of the branches of `$or`, the one with most keys counts.
fn keys(policy: &Map<String, Value>) -> usize {
    let each = policy.iter().map(|(key, value)| match branches(key, value) {
        Some(branches) => branches.into_iter().map(keys).max().unwrap_or_default(),
        None => 1,
    });
    each.sum()
}

/// The product of rules times depth over all lists; the branches of `$or` are added.
fn combinations(policy: &Map<String, Value>, depth: usize) -> usize {
    let each = policy.iter().map(|(key, value)| match (branches(key, value), value) {
        (Some(branches), _) => {
            let each = branches.into_iter().map(|branch| combinations(branch, depth));
            each.fold(0, usize::saturating_add)
        }
        (None, Value::Array(rules)) => rules.len().saturating_mul(depth),
        (None, Value::Object(inner)) => combinations(inner, depth + 1),
        (None, _) => 1,
    });
    // An empty list is a fault, but not one of complexity.
    each.map(|factor| factor.max(1)).fold(1, usize::saturating_mul)
}
