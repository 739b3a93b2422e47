//! An error of a service with the Query protocol.

use std::borrow::Cow;
use std::fmt;

/// The error response to a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct QueryError {
    pub(crate) status: u16,
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: String,
}

impl QueryError {
    /// Creates an error.
    pub(crate) fn new(status: u16, code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { status, code: code.into(), message: message.into() }
    }

    /// Whether the sender caused it, not the service.
    pub(crate) fn is_of_sender(&self) -> bool {
        self.status < 500
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}
