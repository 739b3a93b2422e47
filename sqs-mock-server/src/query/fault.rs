//! Injected errors.

use crate::service::faults::Failure;
use crate::service::query_error::QueryError;

/// The injected error of a request, or of an entry of a batch.
pub(crate) fn injected(failure: Failure) -> QueryError {
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
    QueryError::new(status, code, failure.message.unwrap_or_else(|| "This failure was injected.".to_owned()))
}
