//! Whether and when to try again. Pure: no clock, no randomness of its own.

use std::time::Duration;

use aws_smithy_types::retry::RetryConfig;

/// Tokens that the bucket starts with.
const CAPACITY: u32 = 500;
const RETRY_COST: u32 = 5;
const TIMEOUT_COST: u32 = 10;
const SUCCESS_REFUND: u32 = 1;
/// How much shorter the first pause is when the service was not overloaded: 50 ms of the default second.
const TRANSIENT_DIVISOR: u32 = 20;

/// A failed attempt, as the decision sees it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Failure {
    /// The service asked for fewer requests.
    Throttle,
    /// The service or the network stumbled.
    Transient,
    /// No answer in time.
    Timeout,
    /// The signature was refused, perhaps for the clock.
    ClockSkew,
    /// The session token has expired.
    ExpiredToken,
    /// Repeating cannot help.
    Fatal,
}

/// How often and how patiently to try.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Policy {
    max_attempts: u32,
    throttle_base: Duration,
    transient_base: Duration,
    max_backoff: Duration,
}

/// What to do after a failed attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Decision {
    RetryAfter(Duration),
    GiveUp,
}

impl From<&RetryConfig> for Policy {
    fn from(config: &RetryConfig) -> Self {
        Self {
            max_attempts: config.max_attempts().max(1),
            throttle_base: config.initial_backoff(),
            transient_base: config.initial_backoff() / TRANSIENT_DIVISOR,
            max_backoff: config.max_backoff(),
        }
    }
}

impl Policy {
    /// Decides after attempt number `attempt` (from 1).
    ///
    /// `jitter` is a random number from 0 to 1 and `time_left` what remains of the operation's own timeout.
    /// A refused clock or token is repeated at once, and only when `corrected` says that something was changed that
    /// makes the next attempt different.
    pub(crate) fn decide(
        &self,
        attempt: u32,
        failure: Failure,
        corrected: bool,
        bucket: &mut TokenBucket,
        jitter: f64,
        time_left: Option<Duration>,
    ) -> Decision {
        if attempt >= self.max_attempts {
            return Decision::GiveUp;
        }
        let (base, cost) = match failure {
            Failure::Fatal => return Decision::GiveUp,
            Failure::ClockSkew | Failure::ExpiredToken if !corrected => return Decision::GiveUp,
            Failure::ClockSkew | Failure::ExpiredToken => (Duration::ZERO, 0),
            Failure::Throttle => (self.throttle_base, RETRY_COST),
            Failure::Transient => (self.transient_base, RETRY_COST),
            Failure::Timeout => (self.transient_base, TIMEOUT_COST),
        };
        let backoff = self.backoff(base, attempt).mul_f64(jitter.clamp(0.0, 1.0));
        if time_left.is_some_and(|left| left <= backoff) || !bucket.take(cost) {
            return Decision::GiveUp;
        }
        Decision::RetryAfter(backoff)
    }

    /// The longest pause after attempt number `attempt`: doubled each time.
    fn backoff(&self, base: Duration, attempt: u32) -> Duration {
        let factor = 1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        base.saturating_mul(factor).min(self.max_backoff)
    }
}

/// Bounds the retries of a whole client: when most requests fail, they are not also multiplied.
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

    /// An operation succeeded: one token comes back, and as many as a retry costs if it took one.
    pub(crate) fn succeed(&mut self, attempts: u32) {
        let refund = if attempts > 1 { RETRY_COST } else { SUCCESS_REFUND };
        self.tokens = (self.tokens + refund).min(CAPACITY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        Policy::from(&RetryConfig::standard())
    }

    fn after(attempt: u32, failure: Failure, jitter: f64) -> Decision {
        policy().decide(attempt, failure, false, &mut TokenBucket::default(), jitter, None)
    }

    #[test]
    fn three_attempts_and_no_more() {
        assert_ne!(after(1, Failure::Transient, 1.0), Decision::GiveUp);
        assert_ne!(after(2, Failure::Transient, 1.0), Decision::GiveUp);
        assert_eq!(after(3, Failure::Transient, 1.0), Decision::GiveUp);
        assert_eq!(after(1, Failure::Fatal, 1.0), Decision::GiveUp);
    }

    #[test]
    fn pauses_double_and_jitter_is_full() {
        let millis = |ms| Decision::RetryAfter(Duration::from_millis(ms));
        assert_eq!(after(1, Failure::Transient, 1.0), millis(50));
        assert_eq!(after(2, Failure::Transient, 1.0), millis(100));
        assert_eq!(after(1, Failure::Throttle, 1.0), millis(1_000));
        assert_eq!(after(2, Failure::Throttle, 0.5), millis(1_000));
        assert_eq!(after(2, Failure::Throttle, 0.0), millis(0));
    }

    #[test]
    fn pauses_stop_growing() {
        let patient = Policy { max_attempts: 100, ..policy() };
        let decision = patient.decide(60, Failure::Throttle, false, &mut TokenBucket::default(), 1.0, None);
        assert_eq!(decision, Decision::RetryAfter(Duration::from_secs(20)));
    }

    #[test]
    fn a_wrong_clock_is_tried_again_at_once_and_only_when_corrected() {
        let mut bucket = TokenBucket::default();
        let decide =
            |corrected, bucket: &mut _| policy().decide(1, Failure::ClockSkew, corrected, bucket, 1.0, None);
        assert_eq!(decide(false, &mut bucket), Decision::GiveUp);
        assert_eq!(decide(true, &mut bucket), Decision::RetryAfter(Duration::ZERO));
    }

    #[test]
    fn no_pause_outlasts_the_operation() {
        let left = Some(Duration::from_millis(50));
        let decision = policy().decide(1, Failure::Transient, false, &mut TokenBucket::default(), 1.0, left);
        assert_eq!(decision, Decision::GiveUp);
    }

    #[test]
    fn the_bucket_ends_a_storm_of_retries_and_successes_fill_it_again() {
        let mut bucket = TokenBucket::default();
        let mut retries = 0;
        while policy().decide(1, Failure::Timeout, false, &mut bucket, 0.0, None) != Decision::GiveUp {
            retries += 1;
        }
        assert_eq!(retries, 50);
        for _ in 0..10 {
            bucket.succeed(1);
        }
        assert_ne!(policy().decide(1, Failure::Timeout, false, &mut bucket, 0.0, None), Decision::GiveUp);
        assert_eq!(policy().decide(1, Failure::Transient, false, &mut bucket, 0.0, None), Decision::GiveUp);
    }
}
