//! How a lane behaves.

use std::time::Duration;

use sqs_client::wire::limits::{MAX_BATCH_BYTES, MAX_BATCH_ENTRIES};

/// How much one batch may hold. The service's limits are the default and the most; values outside are refused when the client
/// is [built](crate::Builder::build).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BatchLimits {
    entries: usize,
    bytes: usize,
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self { entries: MAX_BATCH_ENTRIES, bytes: MAX_BATCH_BYTES }
    }
}

impl BatchLimits {
    /// At most this many entries: 1 to 10.
    pub fn entries(mut self, entries: usize) -> Self {
        self.entries = entries;
        self
    }

    /// At most this many bytes in all: 1 to 1,048,576. A message that is larger than that goes alone.
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// How many entries a batch may have.
    pub fn max_entries(&self) -> usize {
        self.entries
    }

    /// How many bytes a batch may have.
    pub fn max_bytes(&self) -> usize {
        self.bytes
    }
}

/// How many batches of a lane (one queue, one operation) are in flight at a time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InFlight {
    /// As many as make the lane faster: the bound rises from 10 while full batches wait and more of them complete per second,
    /// and falls while the service throttles.
    Adaptive {
        /// The highest bound, at least 1.
        max: usize,
    },
    /// So many, at least 1.
    Fixed(usize),
}

impl Default for InFlight {
    /// Adaptive, at most 100.
    fn default() -> Self {
        Self::Adaptive { max: 100 }
    }
}

/// How long a batch that is not full waits for more entries. The time runs from the admission of its first entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Linger {
    /// Not at all while nothing is in flight on the lane; else until something comes back, and at most this long. So a
    /// lone sender is not delayed, and a busy lane fills its batches.
    Adaptive {
        /// The longest wait.
        max: Duration,
    },
    /// This long; zero for no wait.
    Fixed(Duration),
}

impl Default for Linger {
    /// Adaptive, at most 20 ms.
    fn default() -> Self {
        Self::Adaptive { max: Duration::from_millis(20) }
    }
}

/// How strictly the messages of a group are kept in order on FIFO queues.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum FifoOrdering {
    /// One message of a group in a request at a time. Accepted messages are in the order of their admission, whatever
    /// fails. Ten groups still fill a batch.
    #[default]
    Strict,
    /// Several messages of a group in one request, for up to ten times the rate of one group. Where the service refuses
    /// one and accepts a later one of the group, the earlier one ends as
    /// [`OrderGap`](crate::SendErrorKind::OrderGap). Where such an answer is lost on top, the message may be stored
    /// behind the later one, which is told as [`OutOfOrder`](crate::SendErrorKind::OutOfOrder).
    Grouped,
}

/// What becomes of the messages of a group that were admitted before one of them failed for good.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum AfterFailure {
    /// They end as [`PrecedingFailed`](crate::SendErrorKind::PrecedingFailed). Messages that are admitted later start
    /// afresh.
    #[default]
    FailGroup,
    /// They are sent, without the one that failed.
    Continue,
}

/// How much longer pauses are when the service asks for fewer requests: a second at first by default, as of the client.
/// Four attempts within a fraction of a second would all meet the same limit.
const THROTTLED: u32 = 20;

/// When a failed entry is tried again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RetryRules {
    /// Requests that an entry is in at most; 1 for no retry.
    pub(crate) attempts: u32,
    /// The longest first pause; doubled with each attempt.
    pub(crate) first_pause: Duration,
    pub(crate) max_pause: Duration,
    /// The longest pause of the lane as a whole between two batches while they fail.
    pub(crate) max_lane_pause: Duration,
}

impl RetryRules {
    /// The pause after that many attempts: somewhere between nothing and its longest ("full jitter",
    /// <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>). `chance` is from 0 to 1.
    pub(crate) fn pause(&self, attempts: u32, is_throttled: bool, chance: f64) -> Duration {
        let doublings = attempts.saturating_sub(1).min(20);
        let first = self.first_pause.saturating_mul(if is_throttled { THROTTLED } else { 1 });
        let longest = first.saturating_mul(1 << doublings).min(self.max_pause);
        let pause = longest.as_secs_f64() * chance.clamp(0.0, 1.0);
        Duration::try_from_secs_f64(pause).unwrap_or(longest)
    }
}

/// All of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rules {
    pub(crate) limits: BatchLimits,
    pub(crate) linger: Linger,
    pub(crate) in_flight: InFlight,
    pub(crate) ordering: FifoOrdering,
    pub(crate) after_failure: AfterFailure,
    pub(crate) retry: RetryRules,
    /// Whether somebody wants to hear of each entry that is tried again.
    pub(crate) tells_retries: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let rules = RetryRules {
            attempts: 4,
            first_pause: Duration::from_millis(50),
            max_pause: Duration::from_secs(5),
            max_lane_pause: Duration::from_secs(1),
        };
        let longest: Vec<_> = (1..=9).map(|attempts| rules.pause(attempts, false, 1.0).as_millis()).collect();
        let throttled: Vec<_> =
            (1..=4).map(|attempts| rules.pause(attempts, true, 1.0).as_millis()).collect();
        assert_eq!(throttled, [1000, 2000, 4000, 5000]);
        assert_eq!(longest, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(rules.pause(u32::MAX, false, 0.5), Duration::from_millis(2500));
        assert_eq!(rules.pause(3, false, 0.0), Duration::ZERO);
        let endless = RetryRules { first_pause: Duration::MAX, max_pause: Duration::MAX, ..rules };
        assert_eq!(endless.pause(1, true, 1.0), Duration::MAX);
    }
}
