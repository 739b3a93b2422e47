//! The times of a shutdown.
//!
//! ```text
//! begin --------------------------------- stop ------------- give_back ---------- last_try ---------- end
//!   handlers and receives finish            stopped handlers   their messages      what failed is
//!   what has not started is given back      end                are given back      given back again
//!                                           |<---------------- at most 3 s of the grace ------------->|
//! ```

use std::time::Duration;

use tokio::time::Instant;

use crate::time::after;

/// How long a shutdown takes at most by default. Kubernetes and ECS kill a process 30 s after SIGTERM.
pub(crate) const GRACE: Duration = Duration::from_secs(25);

/// The shortest grace. With less, no message could be given back.
const MIN_GRACE: Duration = Duration::from_secs(1);
/// The longest part of the grace that is reserved for giving messages back.
const MAX_RESERVE: Duration = Duration::from_secs(3);

/// The times of a shutdown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Grace {
    /// Handlers and receives that still run are stopped.
    pub(crate) stop: Instant,
    /// The shutdown stops waiting for stopped handlers and gives their messages back.
    pub(crate) give_back: Instant,
    /// Requests that still run are dropped, and their messages are given back once more, unless they are being deleted.
    pub(crate) last_try: Instant,
    /// The shutdown returns.
    pub(crate) end: Instant,
}

impl Grace {
    /// A shutdown that begins now and takes this long: at least a second, of which an eighth, 1 to 3 seconds, is
    /// reserved for giving messages back.
    pub(crate) fn new(now: Instant, total: Duration) -> Self {
        let total = total.max(MIN_GRACE);
        let reserve = (total / 8).clamp(MIN_GRACE, MAX_RESERVE);
        let stop = after(now, total.saturating_sub(reserve));
        let part = reserve / 3;
        Self { stop, give_back: stop + part, last_try: stop + part * 2, end: stop + reserve }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn giving_back_is_part_of_the_grace() {
        let now = Instant::now();
        let moments = |seconds| {
            let grace = Grace::new(now, Duration::from_secs(seconds));
            [grace.stop, grace.give_back, grace.last_try, grace.end].map(|at| (at - now).as_millis())
        };
        assert_eq!(moments(25), [22_000, 23_000, 24_000, 25_000]);
        assert_eq!(moments(2), [1_000, 1_333, 1_666, 2_000]);
        assert_eq!(moments(0), [0, 333, 666, 1_000], "even then there is a second to give back");
        assert_eq!(moments(3_600), [3_597_000, 3_598_000, 3_599_000, 3_600_000]);
        assert!(Grace::new(now, Duration::MAX).end > now);
    }
}
