//! Filter policies: which messages of a topic a subscription receives.
//!
//! ```text
//! text --grammar--> alternatives of conditions on paths --matching--> whether a message matches
//! ```
//!
//! | Module | Contents |
//! |---|---|
//! | `grammar` | parsing, and the limits of policies |
//! | `rule`, `pattern`, `value` | rules of a condition, texts and numbers |
//! | `matching` | matching in both scopes |
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/dg/sns-subscription-filter-policies.html>
//!
//! From the JSON of a policy to its alternatives, within the limits of AWS.
//!
//! Source of the limits: <https://docs.aws.amazon.com/sns/latest/dg/subscription-filter-policy-constraints.html>
//!
//! ```text
//! {"a": {"b": [1]}, "$or": [{"c": [2]}, {"d": [3]}]}
//!     = a.b is 1 and c is 2
//!    or a.b is 1 and d is 3
//! ```

pub(crate) mod matching;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value};
use sqs_client::types::MessageAttributeValue;
use strum::{EnumString, IntoStaticStr};

use crate::sns::filter::matching::{Attributes, Decimal, Leaf, Pattern, Range, TOO_COMPLEX, lower_case};

/// The part of a message that a policy is compared with.
#[derive(Clone, Copy, Debug, Default, EnumString, Eq, IntoStaticStr, PartialEq)]
#[strum(const_into_str)]
pub(crate) enum FilterScope {
    #[default]
    MessageAttributes,
    MessageBody,
}

impl FilterScope {
    /// # Errors
    /// Neither `MessageAttributes` nor `MessageBody`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| {
            format!(
                "FilterPolicyScope: Invalid value [{text}]. Please use either MessageBody or MessageAttributes"
            )
        })
    }
}

/// A filter policy, parsed once for many messages.
#[derive(Debug, PartialEq)]
pub(crate) struct FilterPolicy {
    scope: FilterScope,
    alternatives: Vec<Alternative>,
}

impl FilterPolicy {
    /// Parses the JSON of a policy.
    ///
    /// # Errors
    /// The policy is invalid in this scope, or exceeds a limit. The text follows the prefix of the action, such as
    /// `Invalid parameter: `.
    pub(crate) fn parse(text: &str, scope: FilterScope) -> Result<Self, String> {
        let parsed = parse(text).map_err(|reason| format!("FilterPolicy: {reason}"));
        let (policy, alternatives) = parsed?;
        if scope == FilterScope::MessageAttributes && is_nested(&policy) {
            return Err("Filter policy scope MessageAttributes does not support nested filter policy".into());
        }
        Ok(Self { scope, alternatives })
    }

    /// Whether a message matches.
    pub(crate) fn matches(&self, message: &FilterInput<'_>) -> bool {
        match self.scope {
            FilterScope::MessageAttributes => {
                let attributes =
                    message.parsed_attributes.get_or_init(|| Attributes::new(message.attributes));
                self.alternatives.iter().any(|alternative| attributes.satisfy(alternative))
            }
            FilterScope::MessageBody => {
                // `None` if the body is not a JSON object, or nested more than 127 levels.
                let body = message.parsed_body.get_or_init(|| serde_json::from_str(message.body).ok());
                body.as_ref().is_some_and(|body| {
                    self.alternatives.iter().any(|alternative| matching::body_satisfies(body, alternative))
                })
            }
        }
    }
}

/// A message to compare with policies. Each part is parsed once, when the first policy needs it.
#[derive(Debug)]
pub(crate) struct FilterInput<'a> {
    body: &'a str,
    attributes: &'a HashMap<String, MessageAttributeValue>,
    parsed_body: OnceCell<Option<Map<String, Value>>>,
    parsed_attributes: OnceCell<Attributes<'a>>,
}

impl<'a> FilterInput<'a> {
    /// The body and the attributes of a message.
    pub(crate) fn new(body: &'a str, attributes: &'a HashMap<String, MessageAttributeValue>) -> Self {
        Self { body, attributes, parsed_body: OnceCell::new(), parsed_attributes: OnceCell::new() }
    }
}

/// The operators of a rule.
pub(crate) const OPERATORS: [&str; 8] =
    ["anything-but", "cidr", "equals-ignore-case", "exists", "numeric", "prefix", "suffix", "wildcard"];

const NOT_EXCLUDABLE: &str = "Value of anything-but must be an array or single string/number value.";

/// A literal, or an operator with its argument.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Rule {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(Pattern),
    Range(Range),
    /// All values except those that match one of these, which are literals and patterns.
    AnythingBut(Vec<Rule>),
    Exists,
    /// `exists: false`: matches no value, only that there is none.
    Absent,
}

impl Rule {
    /// # Errors
    /// Not a literal, an unknown operator, or an argument that its operator does not take.
    pub(crate) fn parse(value: &Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(Self::Null),
            Value::Bool(literal) => Ok(Self::Bool(*literal)),
            Value::Number(literal) => {
                let number = Decimal::of(literal).map(Self::Number);
                number.ok_or_else(|| format!("Number out of range: {literal}"))
            }
            Value::String(literal) => Ok(Self::Text(Pattern::Equal(literal.clone()))),
            Value::Object(expression) => {
                let (name, argument) = only_entry(expression, "Match expression name not found")?;
                Self::of(name, argument)
            }
            Value::Array(_) => Err("Match value must be String, number, true, false, or null".into()),
        }
    }

    fn of(operator: &str, argument: &Value) -> Result<Self, String> {
        match (operator, argument) {
            ("prefix" | "suffix", Value::Object(expression)) => {
                affix_ignoring_case(operator, expression).map(Self::Text)
            }
            ("anything-but", argument) => excluded(argument).map(Self::AnythingBut),
            ("numeric", Value::Array(list)) => Range::parse(list).map(Self::Range),
            ("numeric", _) => Err("Value of numeric must be an array.".into()),
            ("exists", Value::Bool(true)) => Ok(Self::Exists),
            ("exists", Value::Bool(false)) => Ok(Self::Absent),
            ("exists", _) => Err("exists match pattern must be either true or false.".into()),
            // AWS names the wrong operator here.
            ("cidr", argument) => Pattern::parse(operator, text("prefix", argument)?).map(Self::Text),
            (operator, argument) if OPERATORS.contains(&operator) => {
                Pattern::parse(operator, text(operator, argument)?).map(Self::Text)
            }
            (unknown, _) => Err(format!("Unrecognized match type {unknown}")),
        }
    }

    pub(crate) fn matches(&self, leaf: Leaf<'_>) -> bool {
        match (self, leaf) {
            (Self::Null, Leaf::Null) => true,
            (Self::Bool(literal), Leaf::Bool(value)) => *literal == value,
            (Self::Number(literal), Leaf::Number(value)) => *literal == value,
            (Self::Text(pattern), Leaf::Text(value)) => pattern.matches(value),
            (Self::Range(range), Leaf::Number(value)) => range.contains(value),
            (Self::AnythingBut(excluded), leaf) => !excluded.iter().any(|rule| rule.matches(leaf)),
            // AWS documents that a value that exists is not null.
            (Self::Exists, leaf) => !matches!(leaf, Leaf::Null),
            _ => false,
        }
    }

    /// Whether the elements of an attribute of type `String.Array` match. AWS documents that one element suffices, also
    /// for `anything-but` with numbers, but that `anything-but` with texts must match all.
    pub(crate) fn matches_any(&self, leaves: &[Leaf<'_>]) -> bool {
        let mut leaves = leaves.iter();
        match self {
            Self::AnythingBut(excluded) if excluded.iter().all(|rule| matches!(rule, Self::Text(_))) => {
                leaves.len() > 0 && leaves.all(|leaf| self.matches(*leaf))
            }
            _ => leaves.any(|leaf| self.matches(*leaf)),
        }
    }

    /// Points of all wildcard patterns in this rule.
    pub(crate) fn wildcard_points(&self) -> Vec<usize> {
        match self {
            Self::Text(Pattern::Wildcard(wildcard)) => vec![wildcard.points()],
            Self::AnythingBut(excluded) => excluded.iter().flat_map(Self::wildcard_points).collect(),
            _ => Vec::new(),
        }
    }
}

/// `prefix` or `suffix` with the argument `{"equals-ignore-case": string}`.
fn affix_ignoring_case(operator: &str, expression: &Map<String, Value>) -> Result<Pattern, String> {
    let (inner, argument) = only_entry(expression, "Match expression name not found")?;
    if inner != "equals-ignore-case" {
        return Err(format!("Unsupported {operator} pattern: {inner}"));
    }
    let affix = lower_case(text(inner, argument)?);
    let is_prefix = operator == "prefix";
    Ok(if is_prefix { Pattern::PrefixIgnoringCase(affix) } else { Pattern::SuffixIgnoringCase(affix) })
}

/// The operator and the argument of an expression.
fn only_entry<'a>(
    expression: &'a Map<String, Value>,
    if_empty: &str,
) -> Result<(&'a str, &'a Value), String> {
    let mut entries = expression.iter();
    match (entries.next(), entries.next()) {
        (Some((name, argument)), None) => Ok((name, argument)),
        (None, _) => Err(if_empty.into()),
        (Some(_), Some(_)) => Err("Only one key allowed in match expression".into()),
    }
}

/// The argument of an operator that takes a string.
fn text<'a>(operator: &str, argument: &'a Value) -> Result<&'a str, String> {
    argument.as_str().ok_or_else(|| format!("{operator} match pattern must be a string"))
}

/// The rules that `anything-but` excludes.
fn excluded(argument: &Value) -> Result<Vec<Rule>, String> {
    match argument {
        Value::Object(expression) => {
            let (operator, argument) = only_entry(expression, "Anything-But expression name not found")?;
            excluded_patterns(operator, argument)
        }
        Value::Array(list) => excluded_literals(list),
        Value::String(_) | Value::Number(_) => excluded_literals(std::slice::from_ref(argument)),
        Value::Null | Value::Bool(_) => Err(NOT_EXCLUDABLE.into()),
    }
}

/// Only strings, or only numbers.
fn excluded_literals(list: &[Value]) -> Result<Vec<Rule>, String> {
    if !list.iter().all(|value| value.is_string() || value.is_number()) {
        return Err("Inside anything but list, start|null|boolean is not supported.".into());
    }
    // AWS reports an empty list so, too.
    if list.is_empty() || !list.iter().all(Value::is_string) && !list.iter().all(Value::is_number) {
        let reason = "either all values are number or string, mixed type is not supported";
        return Err(format!("Inside anything but list, {reason}"));
    }
    list.iter().map(Rule::parse).collect()
}

/// The patterns of an operator on strings, which takes one string or a list.
fn excluded_patterns(operator: &str, argument: &Value) -> Result<Vec<Rule>, String> {
    let is_affix = matches!(operator, "prefix" | "suffix");
    if !is_affix && !matches!(operator, "equals-ignore-case" | "wildcard") {
        return Err(format!("Unsupported anything-but pattern: {operator}"));
    }
    let list = match argument {
        Value::Object(_) => return Err(NOT_EXCLUDABLE.into()),
        Value::Array(list) if list.is_empty() => return Err("Empty arrays are not allowed".into()),
        Value::Array(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    let pattern = |value: &Value| match value.as_str() {
        None if is_affix => Err("prefix/suffix match pattern must be a string".into()),
        None if operator == "wildcard" => Err("wildcard match pattern must be a string".into()),
        None => {
            let reason = "list, number|start|null|boolean is not supported.";
            Err(format!("Inside anything-but/{operator} {reason}"))
        }
        Some("") if is_affix => Err("Null prefix/suffix not allowed".into()),
        Some(text) => Pattern::parse(operator, text).map(Rule::Text),
    };
    list.iter().map(pattern).collect()
}

const MAX_BYTES: usize = 262_144;

const MAX_KEYS: usize = 5;

const MAX_COMBINATIONS: usize = 150;

const MAX_WILDCARD_POINTS: usize = 100;

/// Conditions that must all hold.
pub(crate) type Alternative = Vec<Arc<Condition>>;

/// Rules for the values at one path; one of the rules must match.
#[derive(Debug, PartialEq)]
pub(crate) struct Condition {
    /// Keys, joined by dots: a dot within a key means the same as nesting.
    pub(crate) path: String,
    pub(crate) rules: Vec<Rule>,
    /// Whether the condition also holds without a value.
    pub(crate) or_absent: bool,
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
pub(crate) fn parse(text: &str) -> Result<(Map<String, Value>, Vec<Alternative>), String> {
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
pub(crate) fn is_nested(policy: &Map<String, Value>) -> bool {
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

#[cfg(test)]
mod tests;
