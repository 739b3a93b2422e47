//! Decides whether a failure may pass without a change of the program.

use std::error::Error as _;

use sqs_client::ErrorKind;
use sqs_client::client::OperationError;
use sqs_client::wire::service_error::{ErrorCode, RetryClass};

/// Whether a later request may succeed. That is true of more failures than `is_retryable`, which answers for a retry at
/// once: expired tokens and wrong clocks are corrected by the client, and credentials providers recover. Credentials that
/// are not configured do not.
pub(crate) fn is_passing<E: OperationError>(error: &E) -> bool {
    let Some(client_error) = error.client_error() else { return error.is_retryable() };
    error.is_retryable()
        || client_error.error_code().is_some_and(is_passing_code)
        || (client_error.kind() == ErrorKind::Credentials && client_error.source().is_some())
}

/// The same for the error code of a request or of a batch entry.
pub(crate) fn is_passing_code(code: &ErrorCode) -> bool {
    matches!(code, ErrorCode::OverLimit | ErrorCode::ExpiredToken)
        || matches!(
            code.retry_class(),
            Some(RetryClass::Throttle | RetryClass::Transient | RetryClass::ClockSkew)
        )
}
