//! Retries: what a failed attempt means, and whether and when to send the request again.
//!
//! The decision is a pure function of the failed attempt, the remaining time and a random number. The mode is
//! `standard` of the AWS SDKs (<https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html>), with a token bucket.

use std::time::Duration;

use aws_credential_types::provider::error::CredentialsError;
use aws_smithy_types::retry::RetryConfig;

use crate::error::Cause;
use crate::transport::TransportErrorKind;
use crate::wire::service_error::{ErrorCode, RetryClass};

/// Initial and maximum number of tokens.
const CAPACITY: u32 = 500;
const RETRY_COST: u32 = 5;
const TIMEOUT_COST: u32 = 10;
const SUCCESS_REFUND: u32 = 1;
/// Initial backoff after a failure other than throttling, unless `initial_backoff` is configured.
const TRANSIENT_BASE: Duration = Duration::from_millis(50);
/// How much longer than its own backoff a client waits at most if the service requests it.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(5);

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Failure {
    /// The service throttles the client.
    Throttle,
    /// A transient failure of the service or the network.
    Transient,
    /// No response in time.
    Timeout,
    /// The service rejected the signature, possibly because the client's clock is wrong.
    ClockSkew,
    /// The session token has expired.
    ExpiredToken,
    /// A retry cannot succeed.
    Fatal,
}

impl Failure {
    /// Classifies a failed attempt.
    ///
    /// The error code decides, not the status: `RequestThrottled` is a 403, `ThrottlingException` is a 400, and `OverLimit` is
    /// a 403 that a retry cannot fix. The status decides for unknown codes and unreadable responses; without a response, the kind of
    /// the transport's error.
    pub(crate) fn of(cause: &Cause, status: Option<u16>) -> Self {
        let by_status = |otherwise| status.and_then(Self::of_status).unwrap_or(otherwise);
        match cause {
            Cause::Service(error) => Self::of_code(&error.code).unwrap_or_else(|| by_status(Self::Fatal)),
            // A successful response with an unreadable body may be that of a proxy.
            Cause::Unreadable(_) => by_status(Self::Transient),
            Cause::AttemptTimeout(_) | Cause::OperationTimeout(_) => Self::Timeout,
            Cause::Credentials(error) if is_transient(error) => Self::Transient,
            Cause::Transport(error) => Self::of_transport(error.kind()),
            _ => Self::Fatal,
        }
    }

    /// `None` for codes that this version does not know.
    pub(crate) fn of_code(code: &ErrorCode) -> Option<Self> {
        Some(match code.retry_class()? {
            RetryClass::Throttle => Self::Throttle,
            RetryClass::Transient => Self::Transient,
            RetryClass::ClockSkew => Self::ClockSkew,
            RetryClass::ExpiredToken => Self::ExpiredToken,
            RetryClass::Never => Self::Fatal,
        })
    }

    /// `None` for statuses of a success.
    pub(crate) fn of_status(status: u16) -> Option<Self> {
        match status {
            429 => Some(Self::Throttle),
            408 | 500.. => Some(Self::Transient),
            300.. => Some(Self::Fatal),
            _ => None,
        }
    }

    pub(crate) fn of_transport(kind: TransportErrorKind) -> Self {
        match kind {
            TransportErrorKind::Connect | TransportErrorKind::Broken => Self::Transient,
            TransportErrorKind::Timeout => Self::Timeout,
            TransportErrorKind::Tls | TransportErrorKind::TooLarge | TransportErrorKind::Invalid => {
                Self::Fatal
            }
        }
    }

    /// Whether the same request may succeed later.
    pub(crate) const fn is_retryable(self) -> bool {
        matches!(self, Self::Throttle | Self::Transient | Self::Timeout)
    }

    /// The tokens that a retry takes. A corrected signature does not add to the load of a failing service.
    const fn retry_cost(self) -> u32 {
        match self {
            Self::Throttle | Self::Transient => RETRY_COST,
            Self::Timeout => TIMEOUT_COST,
            Self::ClockSkew | Self::ExpiredToken | Self::Fatal => 0,
        }
    }
}

/// Whether the credentials source may succeed later.
fn is_transient(error: &CredentialsError) -> bool {
    !matches!(error, CredentialsError::CredentialsNotLoaded(_) | CredentialsError::InvalidConfiguration(_))
}

/// Whether the service may have executed the request of an attempt that was sent and failed like this.
pub(crate) fn is_outcome_unknown(cause: &Cause, status: Option<u16>) -> bool {
    match cause {
        Cause::Transport(error) => {
            use TransportErrorKind::{Broken, Timeout, TooLarge};
            matches!(error.kind(), Broken | Timeout | TooLarge)
        }
        Cause::AttemptTimeout(_) | Cause::OperationTimeout(_) => true,
        Cause::Unreadable(_) | Cause::Service(_) => status.is_none_or(|status| !is_rejection(status)),
        _ => false,
    }
}

/// Whether a response with this status says that the service did not execute the request.
pub(crate) fn is_rejection(status: u16) -> bool {
    (300..500).contains(&status)
}

/// The retry settings of a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Policy {
    max_attempts: u32,
    throttle_base: Duration,
    transient_base: Duration,
    max_backoff: Duration,
}

/// A failed attempt, as input of the decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// The first attempt is number 1.
    pub(crate) number: u32,
    pub(crate) failure: Failure,
    /// Whether the clock was corrected or the credentials were refreshed for the next attempt.
    pub(crate) corrected: bool,
    /// The pause that the service requested.
    pub(crate) retry_after: Option<Duration>,
    /// Whether programs call the operation in a loop without pauses.
    pub(crate) is_polling: bool,
    /// The rest of the operation timeout.
    pub(crate) time_left: Option<Duration>,
}

/// The decision after a failed attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Decision {
    RetryAfter(Duration),
    /// Fail after a pause, so that a receive loop does not spin.
    FailAfter(Duration),
    Fail,
}

impl From<&RetryConfig> for Policy {
    fn from(config: &RetryConfig) -> Self {
        Self {
            max_attempts: config.max_attempts().max(1),
            throttle_base: config.initial_backoff(),
            transient_base: if config.initial_backoff() == RetryConfig::standard().initial_backoff() {
                TRANSIENT_BASE
            } else {
                config.initial_backoff()
            },
            max_backoff: config.max_backoff(),
        }
    }
}

impl Policy {
    /// Whether another attempt may follow attempt number `number`.
    pub(crate) fn allows_another(&self, number: u32) -> bool {
        number < self.max_attempts
    }

    /// Decides after a failed attempt. `jitter` is a random number from 0 to 1.
    ///
    /// As in the AWS SDKs, a polling operation pauses before it fails for an empty token bucket.
    pub(crate) fn decide(&self, attempt: Attempt, bucket: &mut TokenBucket, jitter: f64) -> Decision {
        let base = match attempt.failure {
            Failure::Fatal => return Decision::Fail,
            Failure::ClockSkew | Failure::ExpiredToken if !attempt.corrected => return Decision::Fail,
            Failure::ClockSkew | Failure::ExpiredToken => Duration::ZERO,
            Failure::Throttle => self.throttle_base,
            Failure::Transient | Failure::Timeout => self.transient_base,
        };
        if !self.allows_another(attempt.number) {
            return Decision::Fail;
        }
        let backoff = self.backoff(base, attempt.number).mul_f64(jitter.clamp(0.0, 1.0));
        let pause = attempt
            .retry_after
            .map_or(backoff, |requested| requested.clamp(backoff, backoff + MAX_RETRY_AFTER));
        if attempt.time_left.is_some_and(|left| left <= pause) {
            return Decision::Fail;
        }
        match bucket.take(attempt.failure.retry_cost()) {
            true => Decision::RetryAfter(pause),
            false if attempt.is_polling => Decision::FailAfter(pause),
            false => Decision::Fail,
        }
    }

    /// Maximum backoff after attempt number `attempt`. It doubles with each attempt.
    fn backoff(&self, base: Duration, attempt: u32) -> Duration {
        let factor = 1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        base.saturating_mul(factor).min(self.max_backoff)
    }
}

/// Limits the retries of all calls of a client, so that retries do not overload a failing service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket {
    tokens: u32,
}

impl Default for TokenBucket {
    fn default() -> Self {
        Self { tokens: CAPACITY }
    }
}

impl TokenBucket {
    fn take(&mut self, cost: u32) -> bool {
        match self.tokens.checked_sub(cost) {
            Some(left) => {
                self.tokens = left;
                true
            }
            None => false,
        }
    }

    /// Refunds tokens after a successful operation: what the retry after the last failure took, else one token.
    pub(crate) fn succeed(&mut self, last_failure: Option<Failure>) {
        let refund = last_failure.map_or(SUCCESS_REFUND, Failure::retry_cost).max(SUCCESS_REFUND);
        self.tokens = (self.tokens + refund).min(CAPACITY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::service_error::ServiceError;

    fn policy() -> Policy {
        Policy::from(&RetryConfig::standard())
    }

    fn attempt(number: u32, failure: Failure) -> Attempt {
        Attempt { number, failure, corrected: false, retry_after: None, is_polling: false, time_left: None }
    }

    fn after(number: u32, failure: Failure, jitter: f64) -> Decision {
        policy().decide(attempt(number, failure), &mut TokenBucket::default(), jitter)
    }

    fn millis(millis: u64) -> Decision {
        Decision::RetryAfter(Duration::from_millis(millis))
    }

    #[test]
    fn third_failed_attempt_is_not_retried() {
        assert_ne!(after(1, Failure::Transient, 1.0), Decision::Fail);
        assert_ne!(after(2, Failure::Transient, 1.0), Decision::Fail);
        assert_eq!(after(3, Failure::Transient, 1.0), Decision::Fail);
        assert_eq!(after(1, Failure::Fatal, 1.0), Decision::Fail);
    }

    #[test]
    fn backoff_doubles_and_has_full_jitter() {
        assert_eq!(after(1, Failure::Transient, 1.0), millis(50));
        assert_eq!(after(2, Failure::Transient, 1.0), millis(100));
        assert_eq!(after(1, Failure::Throttle, 1.0), millis(1_000));
        assert_eq!(after(2, Failure::Throttle, 0.5), millis(1_000));
        assert_eq!(after(2, Failure::Throttle, 0.0), millis(0));
    }

    #[test]
    fn backoff_does_not_exceed_the_maximum() {
        let many_attempts = Policy { max_attempts: 100, ..policy() };
        let decision = many_attempts.decide(attempt(60, Failure::Throttle), &mut TokenBucket::default(), 1.0);
        assert_eq!(decision, millis(20_000));
    }

    #[test]
    fn configured_initial_backoff_applies_to_every_kind_of_failure() {
        let config = RetryConfig::standard().with_initial_backoff(Duration::from_millis(200));
        for failure in [Failure::Transient, Failure::Timeout, Failure::Throttle] {
            let decision =
                Policy::from(&config).decide(attempt(1, failure), &mut TokenBucket::default(), 1.0);
            assert_eq!(decision, millis(200), "{failure:?}");
        }
    }

    #[test]
    fn requested_pause_extends_the_backoff_by_at_most_five_seconds() {
        for (requested, pause) in [(10, 50), (700, 700), (60_000, 5_050)] {
            let retry_after = Some(Duration::from_millis(requested));
            let attempt = Attempt { retry_after, ..attempt(1, Failure::Transient) };
            assert_eq!(policy().decide(attempt, &mut TokenBucket::default(), 1.0), millis(pause));
        }
    }

    #[test]
    fn clock_skew_is_retried_immediately_if_the_clock_was_corrected() {
        let mut bucket = TokenBucket::default();
        let failed = attempt(1, Failure::ClockSkew);
        assert_eq!(policy().decide(failed, &mut bucket, 1.0), Decision::Fail);
        let corrected = Attempt { corrected: true, ..failed };
        assert_eq!(policy().decide(corrected, &mut bucket, 1.0), millis(0));
    }

    #[test]
    fn attempt_fails_if_the_pause_would_exceed_the_operation_timeout() {
        let attempt =
            Attempt { time_left: Some(Duration::from_millis(50)), ..attempt(1, Failure::Transient) };
        assert_eq!(policy().decide(attempt, &mut TokenBucket::default(), 1.0), Decision::Fail);
    }

    #[test]
    fn empty_bucket_stops_retries_until_successes_refill_it() {
        let mut bucket = TokenBucket::default();
        let timeout = attempt(1, Failure::Timeout);
        let mut retries = 0;
        while policy().decide(timeout, &mut bucket, 0.0) != Decision::Fail {
            retries += 1;
        }
        assert_eq!(retries, 50);
        for _ in 0..10 {
            bucket.succeed(None);
        }
        assert_ne!(policy().decide(timeout, &mut bucket, 0.0), Decision::Fail);
        assert_eq!(policy().decide(attempt(1, Failure::Transient), &mut bucket, 0.0), Decision::Fail);
    }

    #[test]
    fn retries_that_succeed_do_not_drain_the_bucket() {
        for failure in [Failure::Throttle, Failure::Transient, Failure::Timeout] {
            let mut bucket = TokenBucket::default();
            for call in 0..1_000 {
                let decision = policy().decide(attempt(1, failure), &mut bucket, 0.0);
                assert_ne!(decision, Decision::Fail, "{failure:?} in call {call}");
                bucket.succeed(Some(failure));
            }
        }
    }

    #[test]
    fn polling_operation_pauses_before_it_fails_for_an_empty_bucket() {
        let mut empty = TokenBucket { tokens: 0 };
        let poll = Attempt { is_polling: true, ..attempt(1, Failure::Throttle) };
        assert_eq!(policy().decide(poll, &mut empty, 1.0), Decision::FailAfter(Duration::from_secs(1)));
    }

    fn service_error(code: &str) -> Cause {
        Cause::Service(ServiceError::bare(ErrorCode::from_name(code)))
    }

    fn of(code: &str, status: u16) -> Failure {
        Failure::of(&service_error(code), Some(status))
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
        assert_eq!(Failure::of(&provider_error, None), Failure::Transient);
        let none = Cause::Credentials(CredentialsError::not_loaded("none").into());
        assert_eq!(Failure::of(&none, None), Failure::Fatal);
        assert!(!is_outcome_unknown(&provider_error, None));
    }

    #[test]
    fn rejected_request_was_certainly_not_executed() {
        assert!(!is_outcome_unknown(&service_error("RequestThrottled"), Some(403)));
        assert!(is_outcome_unknown(&service_error("InternalFailure"), Some(500)));
        assert!(is_outcome_unknown(&Cause::AttemptTimeout(None), None));
        assert!(!is_outcome_unknown(&Cause::NoCredentials, None));
    }
}
