//! The errors of SNS.

use std::fmt::Display;

use crate::service::query_error::QueryError;

/// `InvalidParameter`, with a text after `Invalid parameter: `.
pub(crate) fn invalid(text: impl Display) -> QueryError {
    QueryError::new(400, "InvalidParameter", format!("Invalid parameter: {text}"))
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
