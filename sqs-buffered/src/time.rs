//! Time arithmetic that cannot overflow.

use std::time::Duration;

use tokio::time::Instant;

/// The delay that counts as never.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3_600);

/// `now + wait`, or about thirty years ahead if that overflows.
pub(crate) fn after(now: Instant, wait: Duration) -> Instant {
    now.checked_add(wait).unwrap_or_else(|| now + FAR)
}

/// Whole seconds, rounded up.
pub(crate) fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_of_a_second_are_rounded_up() {
        assert_eq!(whole_seconds(Duration::from_millis(2_000)), 2);
        assert_eq!(whole_seconds(Duration::from_millis(2_001)), 3);
        assert_eq!(whole_seconds(Duration::MAX), u64::MAX);
    }

    #[test]
    fn overflowing_sums_are_capped() {
        let now = Instant::now();
        assert_eq!(after(now, Duration::from_secs(5)) - now, Duration::from_secs(5));
        assert_eq!(after(now, Duration::MAX) - now, FAR);
    }
}
