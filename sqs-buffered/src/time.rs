//! Sums of time that cannot overflow, whatever users ask for.

use std::time::Duration;

use tokio::time::Instant;

/// What stands for never.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3_600);

/// `now + wait`, or some thirty years ahead where there is no such moment.
pub(crate) fn after(now: Instant, wait: Duration) -> Instant {
    now.checked_add(wait).unwrap_or_else(|| now + FAR)
}

/// Whole seconds, a part of one counted as one.
pub(crate) fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_second_count_as_one() {
        assert_eq!(whole_seconds(Duration::from_millis(2_000)), 2);
        assert_eq!(whole_seconds(Duration::from_millis(2_001)), 3);
        assert_eq!(whole_seconds(Duration::MAX), u64::MAX);
    }

    #[test]
    fn sums_that_are_too_large_end_far_ahead() {
        let now = Instant::now();
        assert_eq!(after(now, Duration::from_secs(5)) - now, Duration::from_secs(5));
        assert_eq!(after(now, Duration::MAX) - now, FAR);
    }
}
