//! The state of one lease. Pure.

use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

use super::schedule::{LeaseTerm, Schedule};

/// The lease was lost, or the message was settled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseOver;

impl fmt::Display for LeaseOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lease has ended: it was lost, or the message was settled")
    }
}

impl std::error::Error for LeaseOver {}

/// A due action for a lease.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Due<T> {
    /// Hide the message for this many seconds, and report the result to the table.
    Renew(u32, T),
    /// The extension that the holder requested is already granted.
    Served(T),
    /// The lease is lost, and the table has removed it.
    Lost(T),
}

/// The result of a renewal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Renewed {
    /// SQS has renewed the lease.
    Done,
    /// SQS refused it permanently: the receipt handle has expired.
    Refused,
    /// A transient failure, or an unknown outcome.
    Failed,
}

/// The state of one lease.
#[derive(Debug)]
pub(super) struct LeaseState<T> {
    pub(super) holder: T,
    pub(super) term: LeaseTerm,
    pub(super) timer: Instant,
    pub(super) phase: Phase,
    /// The time of the next renewal or retry without a request of the holder.
    pub(super) usual: Instant,
    /// The earliest time at which it may be renewed together with others.
    pub(super) earliest: Instant,
    /// The extension that the holder requested.
    pub(super) request: Option<ExtendRequest>,
    /// Requests up to this number are served.
    pub(super) served: u64,
}

/// A request of the holder to have the message until then.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct ExtendRequest {
    pub(super) number: u64,
    pub(super) until: Instant,
}

impl ExtendRequest {
    /// A request that serves both.
    pub(super) fn and(self, other: Option<Self>) -> Self {
        let Some(other) = other else { return self };
        Self { number: self.number.max(other.number), until: self.until.max(other.until) }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    Held,
    /// A renewal is running, for this request if there is one.
    Renewing(Option<ExtendRequest>),
    /// The last renewal failed, and there is a pause before the next.
    Pausing,
}

impl<T: Clone> LeaseState<T> {
    /// The action that is due now, if any. Sets the timer to the next look.
    pub(super) fn due(&mut self, schedule: &Schedule, now: Instant) -> Option<Due<T>> {
        self.timer = self.term.deadline;
        if matches!(self.phase, Phase::Renewing(_)) {
            return None;
        }
        let request = self.request.take();
        let requested = request.and_then(|request| schedule.extension(&self.term, now, Some(request.until)));
        let usual = || schedule.extension(&self.term, now, None).filter(|_| self.usual <= now);
        if let Some(seconds) = requested.or_else(usual) {
            self.phase = Phase::Renewing(request);
            return Some(Due::Renew(seconds, self.holder.clone()));
        }
        if self.usual > now {
            self.timer = self.usual.min(self.term.deadline);
        }
        self.served = request?.number;
        Some(Due::Served(self.holder.clone()))
    }
}

/// The time of the next renewal, and the earliest time at which it may join others.
pub(super) fn moments(
    schedule: &Schedule,
    since: Instant,
    granted: Duration,
    chance: f64,
) -> (Instant, Instant) {
    (schedule.renew_at(since, granted, chance), schedule.renew_at(since, granted, 0.0))
}
