//! One rule of a condition.

use serde_json::{Map, Value};

use super::pattern::{Pattern, lower_case};
use super::value::{Decimal, Leaf, Range};

/// The operators of a rule.
pub(super) const OPERATORS: [&str; 8] =
    ["anything-but", "cidr", "equals-ignore-case", "exists", "numeric", "prefix", "suffix", "wildcard"];

const NOT_EXCLUDABLE: &str = "Value of anything-but must be an array or single string/number value.";

/// A literal, or an operator with its argument.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Rule {
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
    pub(super) fn parse(value: &Value) -> Result<Self, String> {
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

    pub(super) fn matches(&self, leaf: Leaf<'_>) -> bool {
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

    /// Points of all wildcard patterns in this rule.
    pub(super) fn wildcard_points(&self) -> Vec<usize> {
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
    if list.is_empty() {
        return Err("Empty arrays are not allowed".into());
    }
    if !list.iter().all(|value| value.is_string() || value.is_number()) {
        return Err("Inside anything but list, start|null|boolean is not supported.".into());
    }
    if !list.iter().all(Value::is_string) && !list.iter().all(Value::is_number) {
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
        None => {
            let reason = "list, number|start|null|boolean is not supported.";
            Err(format!("Inside anything-but/{operator} {reason}"))
        }
        Some("") if is_affix => Err("Null prefix/suffix not allowed".into()),
        Some(text) => Pattern::parse(operator, text).map(Rule::Text),
    };
    list.iter().map(pattern).collect()
}
