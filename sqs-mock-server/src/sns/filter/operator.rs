//! The names of operators, and the shapes of expressions with them.

use serde_json::{Map, Value};

use super::fault::Fault;

/// An operator of a rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Operator {
    AnythingBut,
    Cidr,
    EqualsIgnoreCase,
    Exists,
    Numeric,
    Prefix,
    Suffix,
    Wildcard,
}

impl Operator {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "anything-but" => Self::AnythingBut,
            "cidr" => Self::Cidr,
            "equals-ignore-case" => Self::EqualsIgnoreCase,
            "exists" => Self::Exists,
            "numeric" => Self::Numeric,
            "prefix" => Self::Prefix,
            "suffix" => Self::Suffix,
            "wildcard" => Self::Wildcard,
            _ => return None,
        })
    }
}

/// The operator and the argument of an expression.
pub(super) fn only_entry<'a>(
    expression: &'a Map<String, Value>,
    if_empty: &str,
) -> Result<(&'a str, &'a Value), Fault> {
    let mut entries = expression.iter();
    match (entries.next(), entries.next()) {
        (Some((name, argument)), None) => Ok((name, argument)),
        (None, _) => Err(Fault::policy(if_empty)),
        (Some(_), Some(_)) => Err(Fault::policy("Only one key allowed in match expression")),
    }
}

/// The argument of an operator that takes a string.
pub(super) fn text<'a>(name: &str, argument: &'a Value) -> Result<&'a str, Fault> {
    argument.as_str().ok_or_else(|| Fault::policy(format_args!("{name} match pattern must be a string")))
}
