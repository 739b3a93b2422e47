//! From the JSON of a policy to its alternatives.
//!
//! ```text
//! {"a": {"b": [1]}, "$or": [{"c": [2]}, {"d": [3]}]}
//!     = a.b is 1 and c is 2
//!    or a.b is 1 and d is 3
//! ```

use std::sync::Arc;

use serde_json::{Map, Value};

use super::fault::Fault;
use super::operator::OPERATORS;
use super::rule::Rule;

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
    fn parse(path: String, list: &[Value]) -> Result<Self, Fault> {
        if list.is_empty() {
            return Err(Fault::policy("Empty arrays are not allowed"));
        }
        let rules = list.iter().map(Rule::parse).collect::<Result<Vec<_>, _>>()?;
        let or_absent = rules.contains(&Rule::Absent);
        Ok(Self { path, rules, or_absent })
    }

    /// The points of all wildcard patterns, multiplied by their number.
    pub(super) fn wildcard_points(&self) -> usize {
        let points = || self.rules.iter().flat_map(Rule::wildcard_points);
        points().sum::<usize>().saturating_mul(points().count())
    }
}

/// All alternatives of a policy, or of the part of it at `path`. Their number is at most the number of combinations,
/// which [`limits`](super::limits) bounds.
///
/// # Errors
/// The policy does not follow the grammar.
pub(super) fn alternatives(
    policy: &Map<String, Value>,
    path: Option<&str>,
) -> Result<Vec<Alternative>, Fault> {
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

fn of_key(key: &str, value: &Value, path: Option<&str>) -> Result<Vec<Alternative>, Fault> {
    let path = path.map_or_else(|| key.to_owned(), |path| format!("{path}.{key}"));
    match value {
        Value::Array(list) => Ok(vec![vec![Arc::new(Condition::parse(path, list)?)]]),
        Value::Object(inner) => non_empty(inner, Some(&path)),
        _ => Err(Fault::policy(format_args!("\"{key}\" must be an object or an array"))),
    }
}

fn non_empty(policy: &Map<String, Value>, path: Option<&str>) -> Result<Vec<Alternative>, Fault> {
    if policy.is_empty() {
        return Err(Fault::policy("Empty objects are not allowed"));
    }
    alternatives(policy, path)
}

/// Every alternative of one list with every alternative of the other.
fn both(left: &[Alternative], right: &[Alternative]) -> Vec<Alternative> {
    let pairs = left.iter().flat_map(|left| right.iter().map(move |right| [left.as_slice(), right].concat()));
    pairs.collect()
}

/// The policies of `$or`. With fewer than two objects, or with an operator as a key, `$or` is an ordinary key.
pub(super) fn branches<'a>(key: &str, value: &'a Value) -> Option<Vec<&'a Map<String, Value>>> {
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
