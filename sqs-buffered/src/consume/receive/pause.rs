//! How long to wait before the next receive: after a failure, and after an empty response to a short poll.

use std::time::Duration;

use tokio::time::Instant;

const MIN_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The pause after this many failures in a row: at least 100 ms, and at most a bound that doubles from 200 ms to 30 s.
/// `chance` is from 0 to 1.
pub(crate) fn pause(failures: u32, chance: f64) -> Duration {
    let bound = MIN_PAUSE.saturating_mul(1 << failures.clamp(1, 20)).min(MAX_PAUSE);
    MIN_PAUSE + bound.saturating_sub(MIN_PAUSE).mul_f64(chance.clamp(0.0, 1.0))
}

const MIN_POLL_PAUSE: Duration = Duration::from_millis(50);
const MAX_POLL_PAUSE: Duration = Duration::from_secs(2);
/// An empty response that takes this long belongs to a long poll, which needs no further pause.
const LONG_POLL: Duration = Duration::from_secs(1);

/// The pace of short polls. While their responses are empty, one runs at a time, and the pauses between them grow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct PollPace {
    /// Pauses since the last message.
    pauses: u32,
    /// The end of the latest pause.
    until: Option<Instant>,
}

impl PollPace {
    /// Notes a response that arrived now, after `elapsed`. `chance` is from 0 to 1.
    pub(super) fn answered(&mut self, messages: usize, elapsed: Duration, now: Instant, chance: f64) {
        if messages > 0 || elapsed >= LONG_POLL {
            *self = Self::default();
        } else if self.until.is_none_or(|until| until <= now) {
            // Responses during a pause belong to polls that began before it.
            let bound = MIN_POLL_PAUSE.saturating_mul(1 << self.pauses.min(20)).min(MAX_POLL_PAUSE);
            self.pauses += 1;
            self.until = Some(now + bound.mul_f64(1.0 - chance.clamp(0.0, 1.0) / 2.0));
        }
    }

    /// The end of the pause; `None` if a receive may begin now.
    pub(super) fn pause(&self, now: Instant) -> Option<Instant> {
        self.until.filter(|until| *until > now)
    }

    /// Whether only one receive may run at a time.
    pub(super) fn is_slow(&self) -> bool {
        self.pauses > 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pauses_after_empty_short_polls_double_up_to_two_seconds_and_end_with_a_message() {
        let (mut pace, mut now, quick) = (PollPace::default(), Instant::now(), Duration::from_millis(5));
        let mut pauses = Vec::new();
        for _ in 0..8 {
            pace.answered(0, quick, now, 0.0);
            pace.answered(0, quick, now + quick, 0.0);
            let until = pace.pause(now).expect("there is a pause");
            pauses.push((until - now).as_millis());
            now = until;
        }
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
        assert!(pace.is_slow() && pace.pause(now).is_none());
        pace.answered(1, quick, now, 0.0);
        assert_eq!(pace, PollPace::default());
        pace.answered(0, Duration::from_secs(20), now, 0.0);
        assert_eq!(pace, PollPace::default(), "a long poll has waited already");
    }

    proptest! {
        #[test]
        fn pause_after_an_empty_short_poll_has_jitter_of_a_half(chance in 0.0_f64..=1.0) {
            let (mut pace, now) = (PollPace::default(), Instant::now());
            pace.answered(0, Duration::ZERO, now, chance);
            let pause = pace.pause(now).map(|until| until - now);
            prop_assert!(pause.is_some_and(|pause| (MIN_POLL_PAUSE / 2..=MIN_POLL_PAUSE).contains(&pause)));
        }
    }

    #[test]
    fn pauses_double_up_to_half_a_minute() {
        let longest: Vec<_> = (1..=10).map(|failures| pause(failures, 1.0).as_millis()).collect();
        assert_eq!(longest, [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
    }

    proptest! {
        #[test]
        fn pauses_are_between_a_tenth_of_a_second_and_half_a_minute(failures: u32, chance in 0.0_f64..=1.0) {
            prop_assert!((MIN_PAUSE..=MAX_PAUSE).contains(&pause(failures, chance)));
        }
    }
}
