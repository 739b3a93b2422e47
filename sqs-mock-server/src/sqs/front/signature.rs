//! Errors of requests with a wrong signature.

use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::sign::VerifyError;

/// Maps an error to that of AWS.
pub(super) fn refusal(error: &VerifyError, region: &str) -> ServiceError {
    let code = match error {
        VerifyError::Unsigned => {
            let message = format!("Access to the resource https://sqs.{region}.amazonaws.com/ is denied.");
            return ServiceError::new(ErrorCode::AccessDenied, message);
        }
        VerifyError::UnknownKey => ErrorCode::InvalidClientTokenId,
        VerifyError::Incomplete(_) => ErrorCode::IncompleteSignature,
        _ => ErrorCode::SignatureDoesNotMatch,
    };
    ServiceError::new(code, error.to_string())
}
