//! What a book knows of one lease, and what is to be done about it. Pure.

use std::time::Duration;

use tokio::time::Instant;

use super::{Schedule, Term};

/// What is to be done about a lease.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Due<T> {
    /// Hide the message for so many seconds, and tell the book what came of it.
    Renew(u32, T),
    /// What its holder wished for is so already.
    Served(T),
    /// It is lost; the book has forgotten it.
    Lost(T),
}

/// What came of a renewal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Renewed {
    /// The service did it.
    Done,
    /// The service says that the message is not ours.
    Refused,
    /// It is not known, or was not done, for reasons that may pass.
    Failed,
}

/// What a book knows of one lease.
#[derive(Debug)]
pub(super) struct Page<T> {
    pub(super) holder: T,
    pub(super) term: Term,
    pub(super) timer: Instant,
    pub(super) stage: Stage,
    /// When it is renewed, or tried again, without anybody asking.
    pub(super) usual: Instant,
    /// From when on it may be renewed together with others.
    pub(super) earliest: Instant,
    /// What its holder asked for instead of the usual.
    pub(super) wish: Option<Wish>,
    /// Wishes up to this number are served.
    pub(super) served: u64,
}

/// What a holder asked for: to have the message until then.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Wish {
    pub(super) number: u64,
    pub(super) until: Instant,
}

impl Wish {
    /// One that serves both.
    pub(super) fn and(self, other: Option<Self>) -> Self {
        let Some(other) = other else { return self };
        Self { number: self.number.max(other.number), until: self.until.max(other.until) }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    Held,
    /// A renewal is under way, for this wish if there was one.
    Renewing(Option<Wish>),
    /// The last renewal failed, and there is a pause before the next.
    Pausing,
}

impl<T: Clone> Page<T> {
    /// What is to be done for it at its time, and when to look again.
    pub(super) fn due(&mut self, schedule: &Schedule, now: Instant) -> Option<Due<T>> {
        self.timer = self.term.deadline;
        if matches!(self.stage, Stage::Renewing(_)) {
            return None;
        }
        let wish = self.wish.take();
        let wished = wish.and_then(|wish| schedule.extension(&self.term, now, Some(wish.until)));
        let usual = || schedule.extension(&self.term, now, None).filter(|_| self.usual <= now);
        if let Some(seconds) = wished.or_else(usual) {
            self.stage = Stage::Renewing(wish);
            return Some(Due::Renew(seconds, self.holder.clone()));
        }
        if self.usual > now {
            self.timer = self.usual.min(self.term.deadline);
        }
        self.served = wish?.number;
        Some(Due::Served(self.holder.clone()))
    }
}

/// When a lease is renewed usually, and from when on it may be.
pub(super) fn moments(since: Instant, granted: Duration, chance: f64) -> (Instant, Instant) {
    (Schedule::renew_at(since, granted, chance), Schedule::renew_at(since, granted, 0.0))
}
