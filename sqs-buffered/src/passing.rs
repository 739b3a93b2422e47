//! What may come right by itself.

use std::error::Error as _;

use sqs_client::ErrorKind;
use sqs_client::client::OperationError;
use sqs_client::wire::service_error::{ErrorCode, RetryClass};

/// Whether what failed can come right by itself, so that it is worth to go on from the start: more than what is worth to
/// be tried again at once. Credentials that could not be got may be there soon, unlike credentials of which nobody said
/// where they are.
pub(crate) fn is_passing<E: OperationError>(error: &E) -> bool {
    let Some(client_error) = error.client_error() else { return error.is_retryable() };
    let is_passing_code = |code: &ErrorCode| {
        matches!(code, ErrorCode::OverLimit | ErrorCode::ExpiredToken)
            || code.retry_class() == Some(RetryClass::ClockSkew)
    };
    error.is_retryable()
        || client_error.error_code().is_some_and(is_passing_code)
        || (client_error.kind() == ErrorKind::Credentials && client_error.source().is_some())
}
