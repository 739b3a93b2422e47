//! Variables in policies of version 2012-10-17.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html>

use super::context::{Context, KeyValue};

/// A text with the values of its variables: `${key}`, or `${key, 'default'}`. `${*}`, `${?}` and `${$}` count as absent
/// keys: no value of a request contains these characters, so a text with one of them matches none.
pub(super) fn replace<'t>(text: &'t str, context: &Context<'_>) -> KeyValue<'t> {
    let (mut replaced, mut rest) = (String::new(), text);
    while let Some((before, variable, after)) = next_variable(rest) {
        let (key, default) = match variable.split_once(',') {
            Some((key, default)) => (key, Some(default)),
            None => (variable, None),
        };
        replaced.push_str(before);
        match (context.key(key.trim()), default) {
            (KeyValue::Known(value), _) => replaced.push_str(&value),
            (KeyValue::Absent, Some(default)) => replaced.push_str(default.trim().trim_matches('\'')),
            (KeyValue::Absent, None) => return KeyValue::Absent,
            (KeyValue::Unknown, _) => return KeyValue::Unknown,
        }
        rest = after;
    }
    KeyValue::Known(if replaced.is_empty() { rest.into() } else { (replaced + rest).into() })
}

/// The text before the next variable, its content, and the text after it.
fn next_variable(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (variable, after) = rest.split_once('}')?;
    Some((before, variable, after))
}
