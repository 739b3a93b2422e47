//! Fills the open batch, and decides when it is sent.

use tokio::time::Instant;

use super::pending::Key;
use super::rules::{FifoOrdering, Linger};
use super::{Cause, Lane, Receipt};
use crate::time::after;

impl<L, T, R: Receipt> Lane<L, T, R> {
    /// When the linger of the open batch ends: at half of the delivery timeout at the latest, so that there is time for retries.
    pub(super) fn linger_ends(&self, now: Instant, since: Instant) -> Instant {
        let linger_ends = match self.rules.linger {
            Linger::Adaptive { .. } if self.slots == 0 => return now,
            Linger::Adaptive { max } => after(since, max),
            Linger::Fixed(linger) => after(since, linger),
        };
        self.open.half_time().map_or(linger_ends, |half| half.min(linger_ends))
    }

    /// Whether the bound on batches in flight is reached.
    pub(super) fn has_all_in_flight(&self) -> bool {
        let most = if self.health.is_poor() { 1 } else { self.limit.bound() };
        self.slots >= most
    }

    /// Whether entries go without waiting for a fuller batch.
    pub(super) fn is_due(&self, cause: Cause) -> bool {
        self.is_closing
            || self.is_flushing()
            || match cause {
                Cause::Starving => true,
                Cause::Answer => self.may_go_partly_filled(),
                Cause::Other => false,
            }
    }

    /// Whether the open batch has an entry that a flush waits for, even if that flush was dropped.
    fn is_flushing(&self) -> bool {
        self.ledger.is_flushing() && self.open.any(|entry| self.ledger.is_flushed(entry.epoch))
    }

    /// Whether a response releases a batch that is not full. Such batches may use only half of the bound. Otherwise
    /// each would contain only the few entries of senders whose tickets have just resolved.
    fn may_go_partly_filled(&self) -> bool {
        let is_adaptive = matches!(self.rules.linger, Linger::Adaptive { .. });
        is_adaptive && self.slots < self.limit.bound().div_ceil(2)
    }

    /// Moves entries into the open batch as long as they fit, in order.
    pub(super) fn fill(&mut self) {
        if self.rules.ordering == FifoOrdering::Grouped {
            for key in self.open.keys() {
                self.fill_with_run(&key);
            }
        }
        while let Some(room) = self.open.room(self.limits) {
            if self.backlog.next_bytes().is_none_or(|bytes| bytes > room) {
                return;
            }
            let Some(entry) = self.backlog.next() else { return };
            let run = entry.key.clone().filter(|_| self.rules.ordering == FifoOrdering::Grouped);
            self.open.push(entry);
            if let Some(key) = run {
                self.fill_with_run(&key);
            }
        }
    }

    /// Adds further entries of a run that the open batch already contains.
    fn fill_with_run(&mut self, key: &Key) {
        while let Some(room) = self.open.room(self.limits) {
            let Some(follower) = self.backlog.follower(key, room) else { return };
            self.open.push(follower);
        }
    }

    /// Whether the batch is full, or the next entry does not fit. No entry fits into a batch that has all its bytes: every send has
    /// at least one byte.
    pub(super) fn is_full(&mut self) -> bool {
        let Some(room) = self.open.room(self.limits) else { return true };
        room == 0 || self.backlog.next_bytes().is_some_and(|bytes| bytes > room)
    }
}
