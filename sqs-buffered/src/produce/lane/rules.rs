//! The rules of a lane: batch limits, linger, batches in flight, order and retries.

use std::time::Duration;

use sqs_client::wire::limits::{MAX_BATCH_BYTES, MAX_BATCH_ENTRIES};

/// The size limits of a batch. The limits of SQS are the default and the maximum;
/// [`build`](crate::Builder::build) refuses other values.
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
    /// Sets the maximum number of entries: 1 to 10.
    pub fn entries(mut self, entries: usize) -> Self {
        self.entries = entries;
        self
    }

    /// Sets the maximum size in bytes: 1 to 1,048,576. A larger message is sent alone.
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// The maximum number of entries.
    pub fn max_entries(&self) -> usize {
        self.entries
    }

    /// The maximum size in bytes.
    pub fn max_bytes(&self) -> usize {
        self.bytes
    }
}

/// The maximum number of batches in flight per lane (one queue, one operation).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InFlight {
    /// Adapts to the queue. The bound starts at 10. It rises while full batches wait and a higher bound completes more batches
    /// per second, and falls while SQS throttles.
    Adaptive {
        /// The highest bound, at least 1.
        max: usize,
    },
    /// A fixed number, at least 1.
    Fixed(usize),
}

impl Default for InFlight {
    /// Adaptive, at most 100.
    fn default() -> Self {
        Self::Adaptive { max: 100 }
    }
}

/// How long a batch that is not full waits for more entries, from the admission of its first entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Linger {
    /// No wait if nothing is in flight on the lane; otherwise until a response arrives, at most `max`. So a lone sender is
    /// not delayed, and a busy lane fills its batches.
    Adaptive {
        /// The longest wait.
        max: Duration,
    },
    /// Always this long; zero for no wait.
    Fixed(Duration),
}

impl Default for Linger {
    /// Adaptive, at most 20 ms.
    fn default() -> Self {
        Self::Adaptive { max: Duration::from_millis(20) }
    }
}

/// How strictly messages of a group stay in order on FIFO queues.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum FifoOrdering {
    /// One message per group and request. Accepted messages are always in admission order. Ten groups still fill a batch.
    #[default]
    Strict,
    /// Several messages per group and request, for up to ten times the rate of one group. If SQS refuses a message and accepts
    /// a later one of its group, the refused one ends as [`OrderGap`](crate::SendErrorKind::OrderGap). If the response of
    /// such a request is lost, the retry may store the message behind the later one; it then ends as
    /// [`OutOfOrder`](crate::SendErrorKind::OutOfOrder).
    Grouped,
}

/// What happens to the admitted messages of a group after one of them has failed for good.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum AfterFailure {
    /// They end as [`PrecedingFailed`](crate::SendErrorKind::PrecedingFailed). Messages that are admitted later are sent.
    #[default]
    FailGroup,
    /// They are sent, without the one that failed.
    Continue,
}

/// The factor of pauses after throttling: by default the first is up to a second, as in the client. Four attempts within a
/// fraction of a second would all hit the same limit.
const THROTTLED: u32 = 20;

/// When a failed entry is retried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RetryRules {
    /// The maximum number of requests per entry; 1 for no retry.
    pub(crate) attempts: u32,
    /// The longest first pause. It doubles with each attempt.
    pub(crate) first_pause: Duration,
    pub(crate) max_pause: Duration,
    /// The longest pause between batches while all batches of the lane fail.
    pub(crate) max_lane_pause: Duration,
}

impl RetryRules {
    /// The pause after this number of attempts: random between zero and a limit ("full jitter",
    /// <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>). `chance` is from 0 to 1.
    pub(crate) fn pause(&self, attempts: u32, is_throttled: bool, chance: f64) -> Duration {
        let doublings = attempts.saturating_sub(1).min(20);
        let first = self.first_pause.saturating_mul(if is_throttled { THROTTLED } else { 1 });
        let longest = first.saturating_mul(1 << doublings).min(self.max_pause);
        let pause = longest.as_secs_f64() * chance.clamp(0.0, 1.0);
        Duration::try_from_secs_f64(pause).unwrap_or(longest)
    }
}

/// All rules of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rules {
    pub(crate) limits: BatchLimits,
    pub(crate) linger: Linger,
    pub(crate) in_flight: InFlight,
    pub(crate) ordering: FifoOrdering,
    pub(crate) after_failure: AfterFailure,
    pub(crate) retry: RetryRules,
    /// Whether an event hook gets retries.
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
