//! Decides whether a failure is transient.

use std::error::Error as _;

use sqs_client::ErrorKind;
use sqs_client::client::OperationError;
use sqs_client::wire::service_error::{ErrorCode, RetryClass};

/// Whether a later request may succeed. This includes more failures than `is_retryable`, which is about an immediate retry: the
/// client corrects expired tokens and clock skew, and credentials providers recover. Missing credentials stay missing.
pub(crate) fn is_transient<E: OperationError>(error: &E) -> bool {
    let Some(client_error) = error.client_error() else { return error.is_retryable() };
    error.is_retryable()
        || client_error.error_code().is_some_and(is_transient_code)
        || (client_error.kind() == ErrorKind::Credentials && client_error.source().is_some())
}

/// The same for the error code of a request or of a batch entry.
pub(crate) fn is_transient_code(code: &ErrorCode) -> bool {
    *code == ErrorCode::OverLimit || code.retry_class().is_some_and(|class| class != RetryClass::Never)
}
