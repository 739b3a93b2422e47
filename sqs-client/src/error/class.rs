//! Classifies failures: whether to retry, and whether the service may have executed the request.

use aws_credential_types::provider::error::CredentialsError;

use super::Cause;
use crate::retry::Failure;
use crate::transport::TransportErrorKind;
use crate::wire::service_error::{ErrorCode, RetryClass, ServiceError};

/// Classifies a failed attempt.
///
/// The error code decides, not the status: `RequestThrottled` is a 403, `ThrottlingException` is a 400, and `OverLimit` is
/// a 403 that a retry cannot fix. The status decides only for unknown codes.
pub(crate) fn classify(cause: &Cause, status: Option<u16>) -> Failure {
    match cause {
        Cause::Service(error) => classify_service_error(error, status),
        Cause::Unreadable(_) => by_status(status, Failure::Transient),
        Cause::AttemptTimeout(_) | Cause::OperationTimeout(_) => Failure::Timeout,
        Cause::Credentials(error) if is_transient(error) => Failure::Transient,
        Cause::Transport(error) => match error.kind() {
            TransportErrorKind::Connect | TransportErrorKind::Broken => Failure::Transient,
            TransportErrorKind::Timeout => Failure::Timeout,
            TransportErrorKind::Tls | TransportErrorKind::TooLarge | TransportErrorKind::Invalid => {
                Failure::Fatal
            }
        },
        _ => Failure::Fatal,
    }
}

/// Whether the credentials source may succeed later.
fn is_transient(error: &CredentialsError) -> bool {
    !matches!(error, CredentialsError::CredentialsNotLoaded(_) | CredentialsError::InvalidConfiguration(_))
}

fn classify_service_error(error: &ServiceError, status: Option<u16>) -> Failure {
    if error.code == ErrorCode::ExpiredToken {
        return Failure::ExpiredToken;
    }
    match error.code.retry_class() {
        Some(RetryClass::Throttle) => Failure::Throttle,
        Some(RetryClass::Transient) => Failure::Transient,
        Some(RetryClass::ClockSkew) => Failure::ClockSkew,
        Some(RetryClass::Never) => Failure::Fatal,
        None => by_status(status, Failure::Fatal),
    }
}

/// `otherwise` applies to successful responses with an unreadable body, and to unknown codes with any other status.
fn by_status(status: Option<u16>, otherwise: Failure) -> Failure {
    match status {
        Some(429) => Failure::Throttle,
        Some(408 | 500..) => Failure::Transient,
        Some(300..) => Failure::Fatal,
        _ => otherwise,
    }
}

/// Whether the service may have executed the request of an attempt with this failure.
pub(crate) fn outcome_unknown(cause: &Cause, status: Option<u16>) -> bool {
    let not_rejected = || status.is_none_or(|status| !(300..500).contains(&status));
    match cause {
        Cause::Transport(error) => {
            use TransportErrorKind::{Broken, Timeout, TooLarge};
            matches!(error.kind(), Broken | Timeout | TooLarge)
        }
        Cause::AttemptTimeout(_) | Cause::OperationTimeout(_) => true,
        Cause::Unreadable(_) | Cause::Service(_) => not_rejected(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service_error(code: &str) -> Cause {
        Cause::Service(ServiceError::bare(ErrorCode::from_name(code)))
    }

    fn of(code: &str, status: u16) -> Failure {
        classify(&service_error(code), Some(status))
    }

    #[test]
    fn error_code_decides_over_the_status() {
        assert_eq!(of("RequestThrottled", 403), Failure::Throttle);
        assert_eq!(of("ThrottlingException", 400), Failure::Throttle);
        assert_eq!(of("KMS.ThrottlingException", 400), Failure::Throttle);
        assert_eq!(of("OverLimit", 403), Failure::Fatal);
        assert_eq!(of("InternalFailure", 500), Failure::Transient);
        assert_eq!(of("AWS.SimpleQueueService.NonExistentQueue", 400), Failure::Fatal);
        assert_eq!(of("SignatureDoesNotMatch", 403), Failure::ClockSkew);
        assert_eq!(of("ExpiredToken", 403), Failure::ExpiredToken);
    }

    #[test]
    fn unknown_codes_fall_back_to_the_status() {
        assert_eq!(of("BrandNew", 503), Failure::Transient);
        assert_eq!(of("BrandNew", 429), Failure::Throttle);
        assert_eq!(of("BrandNew", 400), Failure::Fatal);
    }

    #[test]
    fn provider_error_is_transient_and_missing_credentials_are_fatal() {
        let provider_error = Cause::Credentials(CredentialsError::provider_error("busy").into());
        assert_eq!(classify(&provider_error, None), Failure::Transient);
        let none = Cause::Credentials(CredentialsError::not_loaded("none").into());
        assert_eq!(classify(&none, None), Failure::Fatal);
        assert!(!outcome_unknown(&provider_error, None));
    }

    #[test]
    fn rejected_request_was_certainly_not_executed() {
        assert!(!outcome_unknown(&service_error("RequestThrottled"), Some(403)));
        assert!(outcome_unknown(&service_error("InternalFailure"), Some(500)));
        assert!(outcome_unknown(&Cause::AttemptTimeout(None), None));
        assert!(!outcome_unknown(&Cause::NoCredentials, None));
    }
}
