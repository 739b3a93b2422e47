//! The errors of SNS, and the rules that attributes of topics and subscriptions share.

use std::fmt::Display;

use serde_json::{Map, Value};

use crate::service::query_error::QueryError;

/// `InvalidParameter`, with a text after `Invalid parameter: `.
pub(crate) fn invalid(text: impl Display) -> QueryError {
    QueryError::new(400, "InvalidParameter", format!("Invalid parameter: {text}"))
}

/// An error about an attribute, with the name of the parameter of `CreateTopic` and `Subscribe` that has the attribute.
pub(super) fn in_attributes(error: QueryError) -> QueryError {
    match error.message.strip_prefix("Invalid parameter: ") {
        Some(reason) => invalid(format_args!("Attributes Reason: {reason}")),
        None => error,
    }
}

/// `ParameterValueInvalid`, the code for message attributes.
pub(crate) fn invalid_value(text: impl Into<String>) -> QueryError {
    QueryError::new(400, "ParameterValueInvalid", text)
}

/// The error for a subscription that does not exist.
pub(crate) fn no_subscription() -> QueryError {
    QueryError::new(404, "NotFound", "Subscription does not exist")
}

/// Checks the length of the value of an attribute.
pub(super) fn check_length(name: &str, value: &str, most: usize) -> Result<(), QueryError> {
    let length = value.len();
    let too_long =
        || invalid(format_args!("{name} Reason: the value has {length} bytes; at most {most} are allowed"));
    if length > most { Err(too_long()) } else { Ok(()) }
}

/// Parses an attribute that is a JSON object. The error text begins like that of AWS; what follows, the position, differs
/// between versions of its parser.
pub(super) fn json_object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("failed to parse JSON. The document must be an object".to_owned()),
        Err(error) => Err(format!("failed to parse JSON. {error}")),
    }
}

/// Whether two attribute values mean the same: equal texts, or equal JSON documents.
pub(super) fn are_equal(one: &str, other: &str) -> bool {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other || (one.starts_with('{') && parsed(one).is_some_and(|one| parsed(other) == Some(one)))
}
