//! The operator `anything-but`: all values except those listed.

use serde_json::Value;

use super::fault::Fault;
use super::operator;
use super::pattern::{Pattern, lower_case};
use super::value::{Decimal, Leaf};
use super::wildcard::Wildcard;

/// The excluded values. Values of another type are allowed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum AnythingBut {
    Numbers(Vec<Decimal>),
    Texts(Vec<Pattern>),
}

impl AnythingBut {
    /// # Errors
    /// Neither a string, a number, a list of one of them, nor an expression with an operator on strings.
    pub(super) fn parse(argument: &Value) -> Result<Self, Fault> {
        match argument {
            Value::Object(expression) => {
                let missing = "Anything-But expression name not found";
                let (name, argument) = operator::only_entry(expression, missing)?;
                excluded_by(name, argument).map(Self::Texts)
            }
            Value::Array(list) => literals(list),
            Value::String(_) | Value::Number(_) => literals(std::slice::from_ref(argument)),
            Value::Null | Value::Bool(_) => Err(not_a_value()),
        }
    }

    pub(super) fn allows(&self, leaf: Leaf<'_>) -> bool {
        match (self, leaf) {
            (Self::Numbers(excluded), Leaf::Number(value)) => !excluded.contains(&value),
            (Self::Texts(excluded), Leaf::Text(value)) => {
                !excluded.iter().any(|pattern| pattern.matches(value))
            }
            _ => true,
        }
    }

    pub(super) fn patterns(&self) -> &[Pattern] {
        match self {
            Self::Numbers(_) => &[],
            Self::Texts(patterns) => patterns,
        }
    }
}

/// Only strings, or only numbers.
fn literals(list: &[Value]) -> Result<AnythingBut, Fault> {
    if list.is_empty() {
        return Err(Fault::policy("Empty arrays are not allowed"));
    }
    if !list.iter().all(|value| value.is_string() || value.is_number()) {
        return Err(Fault::policy("Inside anything but list, start|null|boolean is not supported."));
    }
    let texts = list.iter().map(|value| Some(Pattern::Equal(value.as_str()?.to_owned())));
    let numbers = list.iter().map(|value| Decimal::of(value.as_number()?));
    let texts = texts.collect::<Option<_>>().map(AnythingBut::Texts);
    texts.or_else(|| numbers.collect::<Option<_>>().map(AnythingBut::Numbers)).ok_or_else(|| {
        Fault::policy(
            "Inside anything but list, either all values are number or string, mixed type is not supported",
        )
    })
}

/// The patterns of an operator on strings, which takes one string or a list.
fn excluded_by(name: &str, argument: &Value) -> Result<Vec<Pattern>, Fault> {
    let not_a_text = || {
        let reason = "list, number|start|null|boolean is not supported.";
        Fault::policy(format_args!("Inside anything-but/{name} {reason}"))
    };
    let not_an_affix = || Fault::policy("prefix/suffix match pattern must be a string");
    let affix = |text: &str, pattern: fn(String) -> Pattern| match text {
        "" => Err(Fault::policy("Null prefix/suffix not allowed")),
        text => Ok(pattern(text.to_owned())),
    };
    match name {
        "prefix" => each(argument, not_an_affix, |text| affix(text, Pattern::Prefix)),
        "suffix" => each(argument, not_an_affix, |text| affix(text, Pattern::Suffix)),
        "equals-ignore-case" => {
            each(argument, not_a_text, |text| Ok(Pattern::EqualIgnoringCase(lower_case(text))))
        }
        "wildcard" => each(argument, not_a_text, |text| Wildcard::parse(text).map(Pattern::Wildcard)),
        _ => Err(Fault::policy(format_args!("Unsupported anything-but pattern: {name}"))),
    }
}

fn each(
    argument: &Value,
    not_a_text: impl Fn() -> Fault,
    pattern: impl Fn(&str) -> Result<Pattern, Fault>,
) -> Result<Vec<Pattern>, Fault> {
    let list = match argument {
        Value::Object(_) => return Err(not_a_value()),
        Value::Array(list) if list.is_empty() => return Err(Fault::policy("Empty arrays are not allowed")),
        Value::Array(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    list.iter().map(|value| pattern(value.as_str().ok_or_else(&not_a_text)?)).collect()
}

fn not_a_value() -> Fault {
    Fault::policy("Value of anything-but must be an array or single string/number value.")
}
