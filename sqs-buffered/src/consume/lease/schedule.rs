//! When a lease ends, when it is renewed, and for how long. Pure: time and chance are parameters.
//!
//! ```text
//! response      renew (half-way, +-10 %)          deadline   visible again
//!   |---------------------|--------------------------|----------|
//!   0                    VT/2                  VT - margin      VT       margin = min(2 s, VT/4)
//! ```

use std::time::Duration;

use sqs_client::wire::limits::VISIBILITY_TIMEOUT_SECONDS;
use tokio::time::Instant;

use crate::time::{after, whole_seconds};

/// The longest safety margin at the end of a visibility timeout: responses take time, and clocks differ.
const MAX_MARGIN: Duration = Duration::from_secs(2);
/// The jitter of a renewal, as a fraction of half the visibility timeout.
const JITTER: f64 = 0.1;
/// The shortest pause after a failed renewal.
const MIN_RETRY: Duration = Duration::from_millis(50);

/// The shortest time limit of a renewal, if that much time is left.
const MIN_RENEWAL_TIME: Duration = Duration::from_secs(2);

/// The schedule of the leases of one receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Schedule {
    /// The visibility timeout of receives and renewals, in whole seconds.
    visibility: Duration,
    /// Renewals end this long after the receive.
    max_lease: Duration,
}

impl Schedule {
    /// A schedule. The service keeps no message hidden for more than 12 hours after its receive, so neither do leases.
    pub(crate) fn new(visibility_seconds: u32, max_lease: Duration) -> Self {
        let visibility = Duration::from_secs(visibility_seconds.into());
        Self { visibility, max_lease: max_lease.min(longest()) }
    }

    /// The latest end of a lease that is renewed as often as allowed.
    pub(crate) fn limit(&self, received: Instant) -> Instant {
        received + self.max_lease
    }

    /// The end of the usable time of a message that is hidden for `granted`, from `since` or earlier.
    pub(crate) fn deadline(since: Instant, granted: Duration) -> Instant {
        since + granted.saturating_sub(MAX_MARGIN.min(granted / 4))
    }

    /// The time that a receive hides a message.
    pub(crate) fn first_grant(&self) -> Duration {
        self.visibility
    }

    /// When to renew what was granted: half-way. After an extension, half a visibility timeout before its end, because an
    /// earlier renewal would not make the lease longer. A bit earlier or later by `chance` from 0 to 1, so that leases that
    /// began together do not end together.
    pub(crate) fn renew_at(&self, since: Instant, granted: Duration, chance: f64) -> Instant {
        let half = granted.min(self.visibility) / 2;
        let factor = 1.0 + JITTER - 2.0 * JITTER * chance.clamp(0.0, 1.0);
        since + granted.saturating_sub(half.mul_f64(factor))
    }

    /// The longest time between the renewals of leases that began together.
    pub(crate) fn jitter_window(&self) -> Duration {
        (self.visibility / 2).mul_f64(2.0 * JITTER)
    }

    /// When to retry a failed renewal: at random in the first half of the remaining time.
    pub(crate) fn retry_at(now: Instant, deadline: Instant, chance: f64) -> Instant {
        let left = deadline.saturating_duration_since(now);
        now + (left / 2).mul_f64(chance.clamp(0.0, 1.0)).max(MIN_RETRY)
    }

    /// When a renewal without a response counts as failed and another one starts: after half of the remaining time, or
    /// after all of it if that is short.
    pub(crate) fn give_up_at(asked: Instant, deadline: Instant) -> Instant {
        let left = deadline.saturating_duration_since(asked);
        asked + (left / 2).max(MIN_RENEWAL_TIME.min(left))
    }

    /// The visibility timeout of a renewal in seconds; `None` if the lease cannot become longer. `wanted` is the end
    /// that its holder requested, if any. Fractions of a second are rounded up, because time has passed since the
    /// request.
    pub(crate) fn extension(&self, term: &LeaseTerm, now: Instant, wanted: Option<Instant>) -> Option<u32> {
        let left = |until: Instant| until.saturating_duration_since(now);
        let most = left(term.received + longest()).as_secs();
        let seconds = match wanted {
            Some(until) => whole_seconds(left(until)),
            None => self.visibility.min(left(term.limit)).as_secs(),
        };
        let seconds = seconds.min(most);
        let is_longer = Self::deadline(now, Duration::from_secs(seconds)) > term.deadline;
        (seconds > 0 && is_longer).then(|| u32::try_from(seconds).unwrap_or(u32::MAX))
    }

    /// Whether enough time is left for a handler to start: half of the visibility timeout.
    pub(crate) fn is_fresh(&self, deadline: Instant, now: Instant) -> bool {
        deadline.saturating_duration_since(now) >= self.visibility / 2
    }
}

/// The current and the latest possible end of a lease.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct LeaseTerm {
    /// The time of the response with the message.
    pub(crate) received: Instant,
    /// The current end of the lease.
    pub(crate) deadline: Instant,
    /// The latest possible end of the lease.
    pub(crate) limit: Instant,
}

impl LeaseTerm {
    /// The end of an extension by `wanted`, limited to the time for which SQS can hide the message.
    pub(crate) fn extended(&self, now: Instant, wanted: Duration) -> Instant {
        after(now, wanted).min(self.received + longest())
    }

    /// How long the message can still be hidden, from now.
    pub(crate) fn hideable(&self, now: Instant) -> Duration {
        (self.received + longest()).saturating_duration_since(now)
    }
}

/// The longest time that a message can stay hidden after its receive. Two seconds are kept in reserve: SQS counts from
/// its own time of the receive, which is before ours.
fn longest() -> Duration {
    let seconds = u64::try_from(*VISIBILITY_TIMEOUT_SECONDS.end()).unwrap_or_default();
    Duration::from_secs(seconds).saturating_sub(MAX_MARGIN)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn term(schedule: Schedule, received: Instant) -> LeaseTerm {
        let deadline = Schedule::deadline(received, schedule.first_grant());
        LeaseTerm { received, deadline, limit: schedule.limit(received) }
    }

    #[test]
    fn deadline_is_two_seconds_or_a_quarter_early() {
        let now = Instant::now();
        let left = |granted: u64| Schedule::deadline(now, Duration::from_secs(granted)) - now;
        assert_eq!(left(30), Duration::from_secs(28));
        assert_eq!(left(8), Duration::from_secs(6));
        assert_eq!(left(1), Duration::from_millis(750));
        assert_eq!(left(0), Duration::ZERO);
    }

    #[test]
    fn renewal_is_abandoned_after_half_of_the_remaining_time_unless_it_is_short() {
        let now = Instant::now();
        let tried = |left: u64| Schedule::give_up_at(now, now + Duration::from_secs(left)) - now;
        assert_eq!([13, 3, 1].map(tried), [6_500, 2_000, 1_000].map(Duration::from_millis));
    }

    #[test]
    fn handler_starts_with_half_of_the_visibility_timeout_left() {
        let now = Instant::now();
        let schedule = Schedule::new(30, HOUR);
        let deadline = term(schedule, now).deadline;
        assert!(schedule.is_fresh(deadline, now + Duration::from_secs(13)));
        assert!(!schedule.is_fresh(deadline, now + Duration::from_millis(13_001)));
    }

    #[test]
    fn renewals_end_with_the_longest_lease() {
        let now = Instant::now();
        let schedule = Schedule::new(600, HOUR);
        let mut term = term(schedule, now);
        let mut seconds = 300;
        while let Some(granted) = schedule.extension(&term, now + Duration::from_secs(seconds), None) {
            let renewed = now + Duration::from_secs(seconds);
            term.deadline = Schedule::deadline(renewed, Duration::from_secs(granted.into()));
            assert!(seconds + u64::from(granted) <= 3_600);
            seconds += 300;
        }
        assert_eq!(term.deadline - now, Duration::from_secs(3_598));
    }

    #[test]
    fn extension_ends_twelve_hours_after_the_receive() {
        let now = Instant::now();
        let schedule = Schedule::new(30, HOUR * 24);
        let term = term(schedule, now);
        let at = |hours: u32| {
            let then = now + HOUR * hours;
            schedule.extension(&term, then, Some(then + HOUR * 12))
        };
        assert_eq!(at(0), Some(43_198));
        assert_eq!(at(11), Some(3_598));
        assert_eq!(at(12), None);
    }

    proptest! {
        /// A lease that is renewed on time never ends before its limit, whatever the visibility timeout and chance.
        #[test]
        fn renewals_on_time_never_lose_a_message(
            visibility in 1_u32..=43_200,
            chances in prop::collection::vec(0.0_f64..=1.0, 1..50),
        ) {
            let start = Instant::now();
            let schedule = Schedule::new(visibility, HOUR * 12);
            let mut term = term(schedule, start);
            let (mut since, mut granted) = (start, schedule.first_grant());
            for chance in chances {
                let at = schedule.renew_at(since, granted, chance);
                prop_assert!(at > since && at < term.deadline, "{at:?} {term:?}");
                let half = (granted / 2).as_secs_f64();
                let from_half = ((at - since).as_secs_f64() - half).abs();
                prop_assert!(from_half <= half * 0.1 + 1e-6);
                let Some(seconds) = schedule.extension(&term, at, None) else {
                    prop_assert!(term.limit - at <= schedule.visibility);
                    break;
                };
                (since, granted) = (at, Duration::from_secs(seconds.into()));
                let deadline = Schedule::deadline(since, granted);
                prop_assert!(deadline > term.deadline && since + granted <= start + HOUR * 12);
                term.deadline = deadline;
            }
        }

        #[test]
        fn failed_renewal_is_retried_soon_but_not_at_once(left in 0_u64..100_000, chance in 0.0_f64..=1.0) {
            let now = Instant::now();
            let left = Duration::from_millis(left);
            let pause = Schedule::retry_at(now, now + left, chance) - now;
            prop_assert!(pause >= MIN_RETRY && pause <= (left / 2).max(MIN_RETRY));
        }
    }
}
