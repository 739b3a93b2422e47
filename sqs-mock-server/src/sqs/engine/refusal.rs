//! Error texts that several operations share.

use std::time::Duration;

use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::error::{invalid_receipt_handle, invalid_value};

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
        match self {
            Self::NotAHandle => invalid_receipt_handle(handle),
            Self::OtherQueue => {
                let text = format!("The receipt handle \"{handle}\" is not valid for this queue.");
                ServiceError::new(ErrorCode::ReceiptHandleIsInvalid, text)
            }
            Self::Expired => invalid_value("ReceiptHandle", handle, "The receipt handle has expired."),
            Self::Gone => {
                let reason = "Message does not exist or is not available for visibility timeout change.";
                invalid_value("ReceiptHandle", handle, reason)
            }
            Self::HiddenTooLong(timeout) => {
                let reason = "Total VisibilityTimeout for the message is beyond the limit [43200 seconds]";
                invalid_value("VisibilityTimeout", timeout.as_secs(), reason)
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
