//! What a failure means: for the next attempt, and for what the service may have done.

use aws_credential_types::provider::error::CredentialsError;

use super::Cause;
use crate::retry::Failure;
use crate::transport::TransportErrorKind;
use crate::wire::service_error::{ErrorCode, RetryClass, ServiceError};

/// What a failed attempt means for the next one.
///
/// Codes decide, not statuses: `RequestThrottled` is a 403, `ThrottlingException` a 400, `OverLimit` a 403 that
/// asks for deletes rather than for patience. The status decides only about codes that nobody knows.
pub(crate) fn classify(cause: &Cause, status: Option<u16>) -> Failure {
    match cause {
        Cause::Service(error) => classify_refusal(error, status),
        Cause::Unreadable(_) => by_status(status, Failure::Transient),
        Cause::AttemptTimeout(_) | Cause::OperationTimeout(_) => Failure::Timeout,
        Cause::Credentials(error) if is_hiccup(error) => Failure::Transient,
        Cause::Transport(error) => match error.kind() {
            TransportErrorKind::Connect | TransportErrorKind::Broken => Failure::Transient,
            TransportErrorKind::Tls | TransportErrorKind::TooLarge | TransportErrorKind::Invalid => {
                Failure::Fatal
            }
        },
        _ => Failure::Fatal,
    }
}

/// Whether a source of credentials may give some later.
fn is_hiccup(error: &CredentialsError) -> bool {
    !matches!(error, CredentialsError::CredentialsNotLoaded(_) | CredentialsError::InvalidConfiguration(_))
}

fn classify_refusal(error: &ServiceError, status: Option<u16>) -> Failure {
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

/// `otherwise` is for a success whose body cannot be read, and for unknown codes with an ordinary status.
fn by_status(status: Option<u16>, otherwise: Failure) -> Failure {
    match status {
        Some(429) => Failure::Throttle,
        Some(408 | 500..) => Failure::Transient,
        Some(300..) => Failure::Fatal,
        _ => otherwise,
    }
}

/// Whether the service may have acted on the request of an attempt that failed like this.
pub(crate) fn may_have_acted(cause: &Cause, status: Option<u16>) -> bool {
    let failed_inside = || status.is_none_or(|status| !(300..500).contains(&status));
    match cause {
        Cause::Transport(error) => {
            matches!(error.kind(), TransportErrorKind::Broken | TransportErrorKind::TooLarge)
        }
        Cause::AttemptTimeout(_) | Cause::OperationTimeout(_) => true,
        Cause::Unreadable(_) | Cause::Service(_) => failed_inside(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(code: &str) -> Cause {
        Cause::Service(ServiceError::bare(ErrorCode::from_name(code)))
    }

    fn of(code: &str, status: u16) -> Failure {
        classify(&refusal(code), Some(status))
    }

    #[test]
    fn codes_decide_and_not_statuses() {
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
    fn credentials_may_come_later_where_they_can_be_had() {
        let hiccup = Cause::Credentials(CredentialsError::provider_error("busy").into());
        assert_eq!(classify(&hiccup, None), Failure::Transient);
        let none = Cause::Credentials(CredentialsError::not_loaded("none").into());
        assert_eq!(classify(&none, None), Failure::Fatal);
        assert!(!may_have_acted(&hiccup, None));
    }

    #[test]
    fn a_clear_no_is_no_doubt() {
        assert!(!may_have_acted(&refusal("RequestThrottled"), Some(403)));
        assert!(may_have_acted(&refusal("InternalFailure"), Some(500)));
        assert!(may_have_acted(&Cause::AttemptTimeout(std::time::Duration::ZERO), None));
        assert!(!may_have_acted(&Cause::NoCredentials, None));
    }
}
