//! When hidden messages come back.

use std::collections::BTreeSet;

use super::slab::Slot;
use crate::service::clock::Timestamp;

/// The moments at which messages become visible, in order; of messages with the same moment, the one that came
/// into the queue earlier is first.
#[derive(Debug, Default)]
pub(super) struct Timers(BTreeSet<(Timestamp, u64, Slot)>);

impl Timers {
    pub(super) fn set(&mut self, at: Timestamp, ticket: u64, slot: Slot) {
        self.0.insert((at, ticket, slot));
    }

    pub(super) fn clear(&mut self, at: Timestamp, ticket: u64, slot: Slot) {
        self.0.remove(&(at, ticket, slot));
    }

    /// The next moment at which a message comes back.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.0.first().map(|(at, ..)| *at)
    }

    /// Takes the earliest message whose moment has come.
    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<Slot> {
        if self.next()? > now {
            return None;
        }
        self.0.pop_first().map(|(.., slot)| slot)
    }
}
