//! The errors that several rules end in, with the texts of the service: for servers, and for layers that refuse what SQS would
//! refuse.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::service_error::{ErrorCode, ServiceError};

/// The queue is unknown, or was not named.
pub fn no_such_queue() -> ServiceError {
    ServiceError::new(ErrorCode::QueueDoesNotExist, "The specified queue does not exist.")
}

/// Whether a request names a queue; the service says whether that exists.
///
/// # Errors
/// `QueueDoesNotExist`, also for an empty URL.
pub fn has_queue_url(url: Option<&str>) -> Result<(), ServiceError> {
    match url {
        None | Some("") => Err(no_such_queue()),
        Some(_) => Ok(()),
    }
}

/// A required parameter is absent.
pub fn missing(parameter: &str) -> ServiceError {
    let message = format!("The request must contain the parameter {parameter}.");
    ServiceError::new(ErrorCode::MissingParameter, message)
}

/// A parameter has a value that the service does not take.
pub fn invalid(parameter: &str, value: impl Display, reason: impl Display) -> ServiceError {
    refused(format!("Value {value} for parameter {parameter} is invalid. Reason: {reason}"))
}

/// Something in the parameters is wrong, in other words.
pub fn refused(message: impl Into<String>) -> ServiceError {
    ServiceError::new(ErrorCode::InvalidParameterValue, message)
}

/// A parameter that the type of the queue, standard or FIFO, does not know.
pub fn wrong_queue_type(parameter: &str, value: impl Display) -> ServiceError {
    let reason = "The request include parameter that is not valid for this queue type.";
    invalid(parameter, value, reason)
}

/// The attribute of a queue is unknown.
pub fn unknown_attribute(name: &str) -> ServiceError {
    ServiceError::new(ErrorCode::InvalidAttributeName, format!("Unknown Attribute {name}."))
}

/// The receipt handle was not given out by a receive.
pub fn bad_receipt_handle(handle: &str) -> ServiceError {
    let message = format!("The input receipt handle \"{handle}\" is not a valid receipt handle.");
    ServiceError::new(ErrorCode::ReceiptHandleIsInvalid, message)
}

/// A required text, which must not be empty either.
pub(super) fn required<'a>(parameter: &str, value: Option<&'a str>) -> Result<&'a str, ServiceError> {
    value.filter(|value| !value.is_empty()).ok_or_else(|| missing(parameter))
}

/// A number that must lie in a range when it is given.
pub(super) fn within(
    parameter: &str,
    value: Option<i32>,
    range: &RangeInclusive<i32>,
    reason: impl FnOnce(i32, i32) -> String,
) -> Result<(), ServiceError> {
    match value {
        Some(value) if !range.contains(&value) => {
            Err(invalid(parameter, value, reason(*range.start(), *range.end())))
        }
        _ => Ok(()),
    }
}
