//! What the service said, for those who ask an error of this crate as they ask one of the plain client.

use sqs_client::wire::service_error::ErrorCode;

use super::{Error, Source};

/// Of errors that the service or the client below made; nothing of those of the store and of this crate.
impl Error {
    /// The code of the service, as the service model names it; `None` when the service did not answer.
    pub fn error_code(&self) -> Option<&ErrorCode> {
        self.client_error()?.error_code()
    }

    /// The code of the service as a text, such as `QueueDoesNotExist`; `None` when the service did not answer.
    pub fn code(&self) -> Option<&str> {
        self.client_error()?.code()
    }

    /// What the service says, without code and request id; [`Display`](std::fmt::Display) says all that is known of any error.
    pub fn message(&self) -> Option<&str> {
        self.client_error()?.message()
    }

    /// The id of the request to the service, or of the latest one.
    pub fn request_id(&self) -> Option<&str> {
        self.client_error()?.request_id()
    }

    /// Whether the service asked for fewer requests.
    pub fn is_throttle(&self) -> bool {
        matches!(&self.0.source, Source::Client { hints, .. } if hints.is_throttle)
    }
}

sqs_client::shape_checks!(Error);
