//! One rule of a condition, and the values that it is compared with.

use serde_json::Value;

use super::anything_but::AnythingBut;
use super::cidr::Block;
use super::fault::Fault;
use super::operator;
use super::pattern::{Pattern, lower_case};
use super::range::Range;
use super::value::{Decimal, Leaf};
use super::wildcard::Wildcard;

/// A literal, or an operator with its argument.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Rule {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(Pattern),
    Range(Range),
    Block(Block),
    AnythingBut(AnythingBut),
    Exists,
    /// `exists: false`: matches no value, only that there is none.
    Absent,
}

impl Rule {
    /// # Errors
    /// Not a literal, an unknown operator, or an argument that its operator does not take.
    pub(super) fn parse(value: &Value) -> Result<Self, Fault> {
        match value {
            Value::Null => Ok(Self::Null),
            Value::Bool(literal) => Ok(Self::Bool(*literal)),
            Value::Number(literal) => {
                let number = Decimal::of(literal).map(Self::Number);
                number.ok_or_else(|| Fault::policy(format_args!("Number out of range: {literal}")))
            }
            Value::String(literal) => Ok(Self::Text(Pattern::Equal(literal.clone()))),
            Value::Object(expression) => {
                let (name, argument) = operator::only_entry(expression, "Match expression name not found")?;
                Self::of(name, argument)
            }
            Value::Array(_) => Err(Fault::policy("Match value must be String, number, true, false, or null")),
        }
    }

    fn of(operator: &str, argument: &Value) -> Result<Self, Fault> {
        let text = || operator::text(operator, argument);
        match operator {
            "prefix" => {
                affix(operator, argument, Pattern::Prefix, Pattern::PrefixIgnoringCase).map(Self::Text)
            }
            "suffix" => {
                affix(operator, argument, Pattern::Suffix, Pattern::SuffixIgnoringCase).map(Self::Text)
            }
            "equals-ignore-case" => Ok(Self::Text(Pattern::EqualIgnoringCase(lower_case(text()?)))),
            "wildcard" => Wildcard::parse(text()?).map(Pattern::Wildcard).map(Self::Text),
            // AWS names the wrong operator here.
            "cidr" => Block::parse(operator::text("prefix", argument)?).map(Self::Block),
            "anything-but" => AnythingBut::parse(argument).map(Self::AnythingBut),
            "numeric" => match argument {
                Value::Array(list) => Range::parse(list).map(Self::Range),
                _ => Err(Fault::policy("Value of numeric must be an array.")),
            },
            "exists" => match argument {
                Value::Bool(true) => Ok(Self::Exists),
                Value::Bool(false) => Ok(Self::Absent),
                _ => Err(Fault::policy("exists match pattern must be either true or false.")),
            },
            unknown => Err(Fault::policy(format_args!("Unrecognized match type {unknown}"))),
        }
    }

    pub(super) fn matches(&self, leaf: Leaf<'_>) -> bool {
        match (self, leaf) {
            (Self::Null, Leaf::Null) => true,
            (Self::Bool(literal), Leaf::Bool(value)) => *literal == value,
            (Self::Number(literal), Leaf::Number(value)) => *literal == value,
            (Self::Text(pattern), Leaf::Text(value)) => pattern.matches(value),
            (Self::Range(range), Leaf::Number(value)) => range.contains(value),
            (Self::Block(block), Leaf::Text(value)) => block.contains(value),
            (Self::AnythingBut(excluded), leaf) => excluded.allows(leaf),
            // AWS documents that a value that exists is not null.
            (Self::Exists, leaf) => !matches!(leaf, Leaf::Null),
            _ => false,
        }
    }

    /// Points of all wildcard patterns in this rule.
    pub(super) fn wildcard_points(&self) -> impl Iterator<Item = usize> {
        let patterns = match self {
            Self::Text(pattern) => std::slice::from_ref(pattern),
            Self::AnythingBut(excluded) => excluded.patterns(),
            _ => &[],
        };
        patterns.iter().filter_map(Pattern::wildcard_points)
    }
}

/// `prefix` or `suffix`: a string, or `{"equals-ignore-case": string}`.
fn affix(
    name: &str,
    argument: &Value,
    exact: fn(String) -> Pattern,
    ignoring_case: fn(String) -> Pattern,
) -> Result<Pattern, Fault> {
    let Value::Object(expression) = argument else {
        return operator::text(name, argument).map(|text| exact(text.to_owned()));
    };
    let (inner, argument) = operator::only_entry(expression, "Match expression name not found")?;
    if inner != "equals-ignore-case" {
        return Err(Fault::policy(format_args!("Unsupported {name} pattern: {inner}")));
    }
    operator::text(inner, argument).map(|text| ignoring_case(lower_case(text)))
}
