//! An error of a service with the Query protocol.

use std::borrow::Cow;
use std::fmt;

use super::faults::Failure;

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

    /// The injected error of a request, or of an entry of a batch.
    pub(crate) fn injected(failure: Failure) -> Self {
        let code = failure.code.unwrap_or_else(|| "Throttled".to_owned());
        let status = match code.as_str() {
            "NotFound" | "ResourceNotFound" => 404,
            "AuthorizationError"
            | "FilterPolicyLimitExceeded"
            | "InvalidSecurity"
            | "KMSOptInRequired"
            | "SubscriptionLimitExceeded"
            | "TopicLimitExceeded" => 403,
            "Throttled" => 429,
            "InternalError" | "InternalFailure" => 500,
            "ServiceUnavailable" => 503,
            _ => 400,
        };
        Self::new(status, code, failure.message.unwrap_or_else(|| "This failure was injected.".to_owned()))
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
