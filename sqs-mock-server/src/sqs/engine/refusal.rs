//! Error texts that several operations share.

use std::time::Duration;

use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::handle::InvalidHandle;

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

/// Why a receipt handle is rejected. On AWS, the text and mostly the code differ between a single request and a batch
/// entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum HandleRefusal {
    /// The text is not a handle.
    NotAHandle,
    /// It is a handle of another queue.
    OtherQueue,
    /// The handle has expired.
    Expired,
    /// There is no message whose visibility could change.
    Gone,
    /// The message would stay hidden, for this long from now, until more than 12 hours after its receive.
    HiddenTooLong(Duration),
}

impl HandleRefusal {
    /// The error of a single request.
    pub(crate) fn of_request(self, handle: &str) -> ServiceError {
        let invalid = |text| ServiceError::new(ErrorCode::ReceiptHandleIsInvalid, text);
        match self {
            Self::NotAHandle => {
                invalid(format!("The input receipt handle \"{handle}\" is not a valid receipt handle."))
            }
            Self::OtherQueue => {
                invalid(format!("The receipt handle \"{handle}\" is not valid for this queue."))
            }
            Self::Expired => invalid_parameter(handle, "ReceiptHandle", "The receipt handle has expired."),
            Self::Gone => {
                let reason = "Message does not exist or is not available for visibility timeout change.";
                invalid_parameter(handle, "ReceiptHandle", reason)
            }
            Self::HiddenTooLong(timeout) => {
                let reason = "Total VisibilityTimeout for the message is beyond the limit [43200 seconds]";
                invalid_parameter(timeout.as_secs(), "VisibilityTimeout", reason)
            }
        }
    }

    /// The error of a batch entry.
    pub(crate) fn of_entry(self, handle: &str) -> ServiceError {
        let invalid = |text: &str| ServiceError::new(ErrorCode::ReceiptHandleIsInvalid, text);
        match self {
            Self::Expired => invalid("The receipt handle has expired"),
            Self::Gone => invalid("Message does not exist or is not available for visibility timeout change"),
            Self::NotAHandle | Self::OtherQueue | Self::HiddenTooLong(_) => self.of_request(handle),
        }
    }
}

impl From<InvalidHandle> for HandleRefusal {
    fn from(invalid: InvalidHandle) -> Self {
        match invalid {
            InvalidHandle::Malformed => Self::NotAHandle,
            InvalidHandle::OtherQueue => Self::OtherQueue,
        }
    }
}
