//! Retries: whether and when to send a request again.
//!
//! The decision is a pure function of the failed attempt, the remaining time and a random number. The mode is
//! `standard` of the AWS SDKs (<https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html>), with a token bucket.

use std::time::Duration;

use aws_smithy_types::retry::RetryConfig;

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
    /// The tokens that a retry takes. A corrected signature does not add to the load of a failing service.
    const fn retry_cost(self) -> u32 {
        match self {
            Self::Throttle | Self::Transient => RETRY_COST,
            Self::Timeout => TIMEOUT_COST,
            Self::ClockSkew | Self::ExpiredToken | Self::Fatal => 0,
        }
    }
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
}
