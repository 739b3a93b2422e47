//! Timers of hidden messages.

use std::collections::BTreeSet;

use super::slab::Slot;
use crate::service::clock::Timestamp;

/// The times at which messages become visible, sorted; at the same time, the message with the lower ticket is first.
#[derive(Debug, Default)]
pub(super) struct Timers(BTreeSet<(Timestamp, u64, Slot)>);

impl Timers {
    pub(super) fn set(&mut self, at: Timestamp, ticket: u64, slot: Slot) {
        self.0.insert((at, ticket, slot));
    }

    pub(super) fn clear(&mut self, at: Timestamp, ticket: u64, slot: Slot) {
        self.0.remove(&(at, ticket, slot));
    }

    /// The next time at which a message becomes visible.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.0.first().map(|(at, ..)| *at)
    }

    /// Removes and returns the earliest message that is due.
    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<Slot> {
        if self.next()? > now {
            return None;
        }
        self.0.pop_first().map(|(.., slot)| slot)
    }
}
