//! Errors with the messages of SQS, for servers and for layers that validate input.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::wire::service_error::{ErrorCode, ServiceError};

const MISSING: &str = "The request must contain the parameter ";

/// The queue does not exist, or the request has no queue URL.
pub fn queue_does_not_exist() -> ServiceError {
    ServiceError::new(ErrorCode::QueueDoesNotExist, "The specified queue does not exist.")
}

/// Requires a queue URL. Does not check that the queue exists.
///
/// # Errors
/// `QueueDoesNotExist` if the URL is absent or empty.
pub fn require_queue_url(url: Option<&str>) -> Result<(), ServiceError> {
    match url {
        None | Some("") => Err(queue_does_not_exist()),
        Some(_) => Ok(()),
    }
}

/// A required parameter is missing.
pub fn missing_parameter(parameter: &str) -> ServiceError {
    let message = format!("{MISSING}{parameter}.");
    ServiceError::new(ErrorCode::MissingParameter, message)
}

/// The error of a batch entry. The name of a missing parameter gets the shape and the number of the entry, from 1:
/// `ChangeMessageVisibilityBatchRequestEntry.1.VisibilityTimeout`.
pub(super) fn missing_in_entry(error: ServiceError, shape: &str, number: usize) -> ServiceError {
    match error.message.as_deref().and_then(|message| message.strip_prefix(MISSING)) {
        Some(parameter) if error.code == ErrorCode::MissingParameter => {
            ServiceError::new(error.code.clone(), format!("{MISSING}{shape}.{number}.{parameter}"))
        }
        _ => error,
    }
}

/// The value of a parameter is invalid, with the standard message of SQS.
pub fn invalid_value(parameter: &str, value: impl Display, reason: impl Display) -> ServiceError {
    invalid_parameter(format!("Value {value} for parameter {parameter} is invalid. Reason: {reason}"))
}

/// A parameter is invalid, with a specific message.
pub fn invalid_parameter(message: impl Into<String>) -> ServiceError {
    ServiceError::new(ErrorCode::InvalidParameterValue, message)
}

/// The queue attribute is unknown.
pub fn unknown_attribute(name: &str) -> ServiceError {
    ServiceError::new(ErrorCode::InvalidAttributeName, format!("Unknown Attribute {name}."))
}

/// The receipt handle is invalid.
pub fn invalid_receipt_handle(handle: &str) -> ServiceError {
    let message = format!("The input receipt handle \"{handle}\" is not a valid receipt handle.");
    ServiceError::new(ErrorCode::ReceiptHandleIsInvalid, message)
}

/// Requires a parameter that is not empty.
pub(super) fn required<'a>(parameter: &str, value: Option<&'a str>) -> Result<&'a str, ServiceError> {
    value.filter(|value| !value.is_empty()).ok_or_else(|| missing_parameter(parameter))
}

/// Requires an optional number to be in a range.
pub(super) fn within(
    parameter: &str,
    value: Option<i32>,
    range: &RangeInclusive<i32>,
    reason: impl FnOnce(i32, i32) -> String,
) -> Result<(), ServiceError> {
    match value {
        Some(value) if !range.contains(&value) => {
            Err(invalid_value(parameter, value, reason(*range.start(), *range.end())))
        }
        _ => Ok(()),
    }
}
