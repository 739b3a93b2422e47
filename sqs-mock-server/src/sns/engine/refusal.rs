//! The errors of SNS.

use std::fmt::Display;

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

/// Checks the length of the value of an attribute.
pub(super) fn check_length(name: &str, value: &str, most: usize) -> Result<(), QueryError> {
    let length = value.len();
    let too_long =
        || invalid(format_args!("{name} Reason: the value has {length} bytes; at most {most} are allowed"));
    if length > most { Err(too_long()) } else { Ok(()) }
}

/// `ParameterValueInvalid`, the code for message attributes.
pub(crate) fn invalid_value(text: impl Into<String>) -> QueryError {
    QueryError::new(400, "ParameterValueInvalid", text)
}

/// The error for a topic that does not exist.
pub(crate) fn no_topic() -> QueryError {
    QueryError::new(404, "NotFound", "Topic does not exist")
}

/// The error for a subscription that does not exist.
pub(crate) fn no_subscription() -> QueryError {
    QueryError::new(404, "NotFound", "Subscription does not exist")
}

/// The error of the tag actions for a topic that does not exist.
pub(crate) fn no_resource() -> QueryError {
    QueryError::new(404, "ResourceNotFound", "Resource does not exist")
}
