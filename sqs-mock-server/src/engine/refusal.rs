//! Texts that several refusals share.

use sqs_client::wire::service_error::{ErrorCode, ServiceError};

/// "Value V for parameter P is invalid. Reason: R"
pub(super) fn invalid_parameter(
    value: impl std::fmt::Display,
    parameter: &str,
    reason: &str,
) -> ServiceError {
    let text = format!("Value {value} for parameter {parameter} is invalid. Reason: {reason}");
    ServiceError::new(ErrorCode::InvalidParameterValue, text)
}

/// "Unknown Attribute A."
pub(super) fn unknown_attribute(name: &str) -> ServiceError {
    ServiceError::new(ErrorCode::InvalidAttributeName, format!("Unknown Attribute {name}."))
}

/// "Invalid value for the parameter A."
pub(super) fn invalid_attribute(name: &str) -> ServiceError {
    ServiceError::new(ErrorCode::InvalidAttributeValue, format!("Invalid value for the parameter {name}."))
}

/// "Invalid value for the parameter A. Reason: R"
pub(super) fn invalid_attribute_because(name: &str, reason: &str) -> ServiceError {
    let text = format!("Invalid value for the parameter {name}. Reason: {reason}");
    ServiceError::new(ErrorCode::InvalidAttributeValue, text)
}
