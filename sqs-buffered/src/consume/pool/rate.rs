//! A bound on how many handlers start per second: a token bucket. Pure: time is a parameter.

use std::time::Duration;

use tokio::time::Instant;

use crate::produce::BuildError;
use crate::time::after;

const SLOWEST: f64 = 0.001;
const FASTEST: f64 = 1_000_000.0;
/// The burst after a pause, in seconds of the rate. It covers the delay of timers on a busy machine.
const BURST_SECONDS: f64 = 0.05;
/// Messages are received this many seconds before they can start.
const AHEAD_SECONDS: f64 = 1.0;

/// A bound on how many handlers start per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateLimit {
    per_second: f64,
    tokens: f64,
    /// When `tokens` was computed; `None` before the first start.
    at: Option<Instant>,
}

impl RateLimit {
    pub(crate) fn new(per_second: f64) -> Result<Self, BuildError> {
        if !(SLOWEST..=FASTEST).contains(&per_second) {
            let allowed = format_args!("{SLOWEST} to {FASTEST} messages per second");
            return Err(BuildError::new("rate_limit", per_second, allowed));
        }
        Ok(Self { per_second, tokens: 1.0, at: None })
    }

    /// When the next handler may start; `None` when it may start now.
    pub(crate) fn next_start(&mut self, now: Instant) -> Option<Instant> {
        let passed = self.at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        let burst = (self.per_second * BURST_SECONDS).max(1.0);
        self.tokens = (self.tokens + passed.as_secs_f64() * self.per_second).min(burst);
        self.at = Some(now);
        let missing = 1.0 - self.tokens;
        // A rounding error is not worth a timer.
        (missing > 1e-6).then(|| after(now, Duration::from_secs_f64(missing / self.per_second)))
    }

    /// Notes the start of a handler with this number of messages. The next waits until all of them are within the rate.
    pub(crate) fn started(&mut self, messages: usize) {
        self.tokens -= f64::from(u32::try_from(messages).unwrap_or(u32::MAX));
    }

    /// Messages that may wait to be started.
    pub(crate) fn ahead(&self) -> usize {
        // The bounds of the rate keep this small and positive.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 1,000,000")]
        let messages = (self.per_second * AHEAD_SECONDS).ceil() as usize;
        messages.max(1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn starts_are_evenly_spaced() {
        let start = Instant::now();
        let mut rate = RateLimit::new(4.0).expect("a valid rate");
        let mut now = start;
        let mut starts = Vec::new();
        for _ in 0..5 {
            if let Some(at) = rate.next_start(now) {
                now = at;
                assert_eq!(rate.next_start(now), None);
            }
            rate.started(1);
            starts.push((now - start).as_millis());
        }
        assert_eq!(starts, [0, 250, 500, 750, 1_000]);
    }

    #[test]
    fn invalid_rate_is_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1_000_001.0] {
            let error = RateLimit::new(rate).expect_err("invalid").to_string();
            assert!(error.ends_with("allowed is 0.001 to 1000000 messages per second"), "{error}");
        }
        assert_eq!(RateLimit::new(0.1).map(|rate| rate.ahead()), Ok(1));
        assert_eq!(RateLimit::new(2.5).map(|rate| rate.ahead()), Ok(3));
    }

    proptest! {
        /// Starts stay within the rate after any idle time, whenever they are requested.
        #[test]
        fn starts_never_exceed_the_rate_and_a_small_burst(
            per_second in 0.01_f64..2_000.0,
            pauses in prop::collection::vec(0_u64..200_000, 1..50),
        ) {
            let start = Instant::now();
            let mut rate = RateLimit::new(per_second).expect("a valid rate");
            let (mut now, mut starts) = (start, Vec::new());
            for pause in pauses {
                now += Duration::from_micros(pause);
                while rate.next_start(now).is_none() {
                    rate.started(1);
                    starts.push(now);
                }
                let at = rate.next_start(now).expect("nothing is left");
                prop_assert!(at > now && (at - now).as_secs_f64() <= 1.0 / per_second + 1e-6);
            }
            // The bucket of a reference, that is full at the start and never overflows.
            let burst = (per_second * BURST_SECONDS).max(1.0);
            let (mut left, mut before) = (burst, start);
            for at in starts {
                left = (left + (at - before).as_secs_f64() * per_second).min(burst) - 1.0;
                before = at;
                prop_assert!(left >= -0.001, "{left} left at {at:?}");
            }
        }
    }
}
