//! Signatures of requests, where they are required.

use std::time::SystemTime;

use http::request::Parts;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::sign::{Claim, Verifiable, VerifyError, verify};

use crate::service::keys::Keys;

/// Who signed a request. One that is not signed with one of the keys, or for another time, is refused.
pub(super) fn check(
    keys: &Keys,
    head: &Parts,
    body: &[u8],
    now: SystemTime,
    region: &str,
) -> Result<Claim, ServiceError> {
    let request = Verifiable {
        method: head.method.as_str(),
        path: head.uri.path(),
        query: head.uri.query().unwrap_or_default(),
        headers: &head.headers,
        body,
    };
    verify(request, keys, now).map_err(|refusal| answer(&refusal, region))
}

/// As AWS answers.
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
