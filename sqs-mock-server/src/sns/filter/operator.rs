//! The names of operators, and the shapes of expressions with them.

use serde_json::{Map, Value};

use super::fault::Fault;

/// The operators of a rule.
pub(super) const OPERATORS: [&str; 8] =
    ["anything-but", "cidr", "equals-ignore-case", "exists", "numeric", "prefix", "suffix", "wildcard"];

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
