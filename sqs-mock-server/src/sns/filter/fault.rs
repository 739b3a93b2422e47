//! Why a filter policy or its scope is rejected, in the words of AWS.

use std::fmt;

/// The reason of a rejection. It follows the prefix of the action, such as `Invalid parameter: `.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Fault(String);

impl Fault {
    /// A policy that breaks a rule.
    pub(super) fn policy(reason: impl fmt::Display) -> Self {
        Self(format!("FilterPolicy: {reason}"))
    }

    /// A policy that is not JSON.
    pub(super) fn malformed(text: &str, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let reason = unexpected(text, error);
        Self::policy(format_args!(
            "failed to parse JSON. {reason}\n at [Source: REDACTED \
             (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: {line}, column: {column}]"
        ))
    }

    /// A nested policy in the scope of message attributes.
    pub(super) fn nested() -> Self {
        Self("Filter policy scope MessageAttributes does not support nested filter policy".to_owned())
    }

    /// A scope that does not exist.
    pub(super) fn scope(value: &str) -> Self {
        Self(format!(
            "FilterPolicyScope: Invalid value [{value}]. Please use either MessageBody or MessageAttributes"
        ))
    }
}

/// The cause in the words of the JSON parser that AWS uses, where they are known.
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

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
