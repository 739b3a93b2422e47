//! Noisy tenants of fair queues.
//!
//! Tenants are the message groups of a standard queue. A tenant becomes noisy when it has a large share of the messages
//! in flight or of the recent processing time. It becomes quiet when its backlog is drained or it has sent nothing for
//! five minutes:
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html>

use std::time::Duration;

use super::sequence::Sequence;
use crate::service::clock::Timestamp;

/// A tenant is not noisy with fewer messages in flight than this.
const NOISY_IN_FLIGHT: usize = 30;
/// A tenant is not noisy with less recent processing time than this, in milliseconds. AWS documents no such bound.
/// Without one, the first deleted message would make its tenant noisy, because it has all of the processing time.
const NOISY_MILLIS: u64 = 30_000;
/// A noisy tenant has more than one part in this many.
const NOISY_SHARE: u8 = 10;
/// A tenant becomes quiet after sending nothing for this long.
const QUIET_AFTER: Duration = Duration::from_mins(5);
/// Length of an interval. Recent is the current interval and the one before it: 2.5 to 5 minutes.
const PART_MILLIS: u64 = 150_000;

/// Recent processing time, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent {
    part: u64,
    current: u64,
    before: u64,
}

impl Recent {
    pub(super) fn add(&mut self, now: Timestamp, spent: Duration) {
        let spent = u64::try_from(spent.as_millis()).unwrap_or(u64::MAX);
        *self = self.at(now);
        self.current = self.current.saturating_add(spent);
    }

    fn sum(self, now: Timestamp) -> u64 {
        let Self { current, before, .. } = self.at(now);
        current.saturating_add(before)
    }

    fn at(self, now: Timestamp) -> Self {
        let part = now.as_millis() / PART_MILLIS;
        match part.saturating_sub(self.part) {
            0 => self,
            1 => Self { part, current: 0, before: self.current },
            _ => Self { part, ..Self::default() },
        }
    }
}

/// A tenant with its available messages and its activity.
#[derive(Debug, Default)]
pub(super) struct Tenant {
    /// The available messages, sorted by turn.
    pub(super) messages: Sequence,
    /// The turn of the first of them.
    pub(super) turn: Option<u64>,
    pub(super) in_flight: usize,
    pub(super) noisy: bool,
    pub(super) last_send: Timestamp,
    processing: Recent,
}

impl Tenant {
    /// Counts a message that left flight after `spent`.
    pub(super) fn leaves_flight(&mut self, now: Timestamp, spent: Duration) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.processing.add(now, spent);
    }

    /// When the tenant becomes quiet, unless it sends again.
    pub(super) fn quiet_from(&self) -> Timestamp {
        self.last_send + QUIET_AFTER
    }

    /// Whether the tenant has too large a share of the messages in flight or of the processing time of all tenants.
    pub(super) fn is_too_noisy(&self, now: Timestamp, in_flight: usize, processing: Recent) -> bool {
        let share = usize::from(NOISY_SHARE);
        let by_flight = self.in_flight >= NOISY_IN_FLIGHT && self.in_flight * share > in_flight;
        now < self.quiet_from() && (by_flight || self.takes_too_long(now, processing))
    }

    fn takes_too_long(&self, now: Timestamp, total: Recent) -> bool {
        let millis = self.processing.sum(now);
        millis >= NOISY_MILLIS && millis.saturating_mul(u64::from(NOISY_SHARE)) > total.sum(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processing_time_is_forgotten_after_five_minutes_at_the_latest() {
        let at = |seconds: u64| Timestamp::from_millis(seconds * 1000);
        let mut recent = Recent::default();
        recent.add(at(10), Duration::from_secs(1));
        recent.add(at(160), Duration::from_secs(2));
        assert_eq!(recent.sum(at(299)), 3000);
        assert_eq!(recent.sum(at(300)), 2000);
        assert_eq!(recent.sum(at(450)), 0);
        recent.add(at(900), Duration::from_secs(4));
        assert_eq!(recent.sum(at(900)), 4000);
    }
}
