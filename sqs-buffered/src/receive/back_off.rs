//! How long a message waits after a failure.

use std::time::Duration;

/// SQS hides no message for longer.
const MAX_DELAY: Duration = Duration::from_hours(12);

/// How long a message waits after its handler failed or panicked, by the number of its attempts: its receives, and on FIFO queues its
/// runs [in place](crate::consume::settle::Poison::InPlace). Fractions of a second are rounded up.
///
/// ```
/// use std::time::Duration;
///
/// use sqs_buffered::BackOff;
///
/// // Up to 5 s after the first receive, up to 10 s after the second, and so on up to 10 minutes.
/// let back_off = BackOff::Exponential { first: Duration::from_secs(5), max: Duration::from_secs(600) };
/// # let _ = back_off;
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BackOff {
    /// Random between zero and `first`, doubled with each further receive up to `max` ("full jitter"):
    /// <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>.
    Exponential {
        /// The longest delay after the first receive.
        first: Duration,
        /// The longest delay, at most 12 hours.
        max: Duration,
    },
    /// Always this delay, at most 12 hours.
    Fixed(Duration),
    /// No delay: the message is visible again at once.
    None,
}

impl Default for BackOff {
    /// Exponential, from 2 seconds to 15 minutes.
    fn default() -> Self {
        Self::Exponential { first: Duration::from_secs(2), max: Duration::from_secs(900) }
    }
}

impl BackOff {
    /// The delay. `receives` is the message's `ApproximateReceiveCount`, `chance` is from 0 to 1.
    pub(crate) fn delay(&self, receives: u32, chance: f64) -> Duration {
        match *self {
            Self::Exponential { first, max } => {
                let doublings = receives.saturating_sub(1).min(31);
                let longest = first.saturating_mul(1 << doublings).min(max).min(MAX_DELAY);
                longest.mul_f64(chance.clamp(0.0, 1.0))
            }
            Self::Fixed(delay) => delay.min(MAX_DELAY),
            Self::None => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn delays_double_with_each_receive() {
        let back_off = BackOff::default();
        let longest: Vec<_> = (0..=12).map(|receives| back_off.delay(receives, 1.0).as_secs()).collect();
        assert_eq!(longest, [2, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
        assert_eq!(back_off.delay(3, 0.5), Duration::from_secs(4));
        assert_eq!(back_off.delay(u32::MAX, 1.0), Duration::from_secs(900));
    }

    #[test]
    fn other_policies_do_not_look_at_the_count() {
        assert_eq!(BackOff::Fixed(Duration::from_secs(7)).delay(9, 0.1), Duration::from_secs(7));
        assert_eq!(BackOff::None.delay(9, 0.9), Duration::ZERO);
    }

    #[test]
    fn maximum_delays_are_capped() {
        let endless = BackOff::Exponential { first: Duration::MAX, max: Duration::MAX };
        assert_eq!(endless.delay(u32::MAX, 1.0), MAX_DELAY);
    }

    proptest! {
        #[test]
        fn delays_stay_within_their_bounds(
            receives: u32,
            chance in 0.0_f64..=1.0,
            first in 0_u64..100_000,
            max in 0_u64..100_000,
        ) {
            let (first, max) = (Duration::from_millis(first), Duration::from_millis(max));
            let back_off = BackOff::Exponential { first, max };
            let delay = back_off.delay(receives, chance);
            prop_assert!(delay <= max);
            prop_assert!(delay <= back_off.delay(receives, 1.0));
            prop_assert!(back_off.delay(receives, 1.0) <= back_off.delay(receives.saturating_add(1), 1.0));
        }
    }
}
