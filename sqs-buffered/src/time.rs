//! Arithmetic of moments that cannot overflow, whatever durations a user sets.

use std::time::Duration;

use tokio::time::Instant;

/// As good as never: about 30 years.
const NEVER: Duration = Duration::from_hours(24 * 365 * 30);

/// The moment `wait` after `now`, or one that nobody will see.
pub(crate) fn after(now: Instant, wait: Duration) -> Instant {
    now.checked_add(wait).unwrap_or_else(|| now + NEVER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn no_wait_is_too_long() {
        let now = Instant::now();
        assert_eq!(after(now, Duration::from_secs(1)), now + Duration::from_secs(1));
        assert_eq!(after(now, Duration::MAX), now + NEVER);
    }
}
