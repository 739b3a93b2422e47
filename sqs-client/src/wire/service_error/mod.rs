//! Errors that the service returns: the table of error codes and the error itself.
//!
//! [`Error::error_code`](crate::Error::error_code) returns an [`ErrorCode`]. Servers and fault injection create errors from one.
//!
//! ```
//! use sqs_client::wire::service_error::{ErrorCode, RetryClass};
//!
//! let code = ErrorCode::from_name("AWS.SimpleQueueService.NonExistentQueue"); // or "QueueDoesNotExist"
//! assert_eq!(code, ErrorCode::QueueDoesNotExist);
//! assert_eq!(ErrorCode::RequestThrottled.retry_class(), Some(RetryClass::Throttle));
//! ```
//!
//! A code has two names. The *shape* is the `__type` of AWS JSON. The *query code* is the `<Code>` of the Query protocol;
//! AWS JSON sends it in the header `x-amzn-query-error`. Sources: the `awsQueryError` traits of the public service model and
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html>.

mod code;
mod sanitize;

use std::fmt;

pub use code::ErrorCode;
pub(crate) use sanitize::without_session_tokens;

/// Whether the sender or the service caused an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The request is invalid. The same request fails again.
    Sender,
    /// The service failed.
    Receiver,
}

impl Fault {
    /// The name on the wire: `Sender` or `Receiver`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sender => "Sender",
            Self::Receiver => "Receiver",
        }
    }
}

/// How a client handles an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RetryClass {
    /// Do not retry: the same request fails again.
    Never,
    /// Too many requests: retry after a longer pause.
    Throttle,
    /// A transient failure of the service: retry.
    Transient,
    /// The service rejected the signature, possibly because the clock is wrong: correct the clock by the `Date` of the
    /// response and retry once.
    ClockSkew,
}

/// An error that the service returns: code and message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServiceError {
    /// The code.
    pub code: ErrorCode,
    /// The message, if there is one. AWS may change messages at any time, so match on the code.
    pub message: Option<String>,
}

impl ServiceError {
    /// Creates an error with a message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: Some(message.into()) }
    }

    /// Creates an error without a message.
    pub const fn bare(code: ErrorCode) -> Self {
        Self { code, message: None }
    }
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => write!(f, "{}: {message}", self.code),
            None => write!(f, "{}", self.code),
        }
    }
}

impl std::error::Error for ServiceError {}
