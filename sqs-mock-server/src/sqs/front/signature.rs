//! Verifies signatures of requests.

use std::time::SystemTime;

use http::request::Parts;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::sign::{Claim, VerifyError, verify};

use crate::service::keys::{Keys, verifiable};

/// The verified caller. Fails if the signature has an unknown key, a wrong value or a wrong time.
pub(super) fn check(
    keys: &Keys,
    head: &Parts,
    body: &[u8],
    now: SystemTime,
    region: &str,
) -> Result<Claim, ServiceError> {
    verify(verifiable(head, body), keys, now).map_err(|refusal| answer(&refusal, region))
}

/// Maps an error to that of AWS.
fn answer(refusal: &VerifyError, region: &str) -> ServiceError {
    let code = match refusal {
        VerifyError::Unsigned => {
            let message = format!("Access to the resource https://sqs.{region}.amazonaws.com/ is denied.");
            return ServiceError::new(ErrorCode::AccessDenied, message);
        }
        VerifyError::UnknownKey => ErrorCode::InvalidClientTokenId,
        VerifyError::Incomplete(_) => ErrorCode::IncompleteSignature,
        _ => ErrorCode::SignatureDoesNotMatch,
    };
    ServiceError::new(code, refusal.to_string())
}
