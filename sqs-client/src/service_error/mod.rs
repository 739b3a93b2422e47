//! What a service answers when it refuses: the table of error codes and the error itself.
//!
//! [`Error::error_code`](crate::Error::error_code) gives an [`ErrorCode`]; servers and fault injection take one.
//!
//! ```
//! use sqs_client::service_error::{ErrorCode, RetryClass};
//!
//! let code = ErrorCode::from_name("AWS.SimpleQueueService.NonExistentQueue"); // or "QueueDoesNotExist"
//! assert_eq!(code, ErrorCode::QueueDoesNotExist);
//! assert_eq!(ErrorCode::RequestThrottled.retry_class(), Some(RetryClass::Throttle));
//! ```
//!
//! A code has two names. The *shape* is what AWS JSON puts into `__type`; the *query code* is what the
//! Query protocol puts into `<Code>`, and AWS JSON into the header `x-amzn-query-error`. Sources: the
//! `awsQueryError` traits of the public service model, and
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html>.

mod code;

use std::fmt;

pub use code::ErrorCode;

/// Who caused an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The request is wrong; repeating it unchanged gives the same answer.
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

/// What a client should do about an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RetryClass {
    /// Repeating cannot help.
    Never,
    /// Too many requests: repeat, later.
    Throttle,
    /// The service stumbled: repeat.
    Transient,
    /// The signature was refused, perhaps for the clock: repeat once with the server's time.
    ClockSkew,
}

/// A refusal: code and text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServiceError {
    /// The code.
    pub code: ErrorCode,
    /// The text, when there is one. AWS may change texts at any time.
    pub message: Option<String>,
}

impl ServiceError {
    /// A refusal with a text.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: Some(message.into()) }
    }

    /// A refusal without a text.
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
