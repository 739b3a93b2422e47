//! Redeliveries: messages that are delivered a second time, even if their consumer deletes them.

use super::Queue;
use crate::sqs::engine::slab::Slot;

/// From this length on, each addition removes entries of messages that no longer exist.
const MANY: usize = 1024;

/// Messages that were delivered once and must be delivered once more.
#[derive(Debug, Default)]
pub(super) struct Again(Vec<(Slot, u64)>);

impl Queue {
    /// Schedules another delivery of a message, unless that would make it a dead letter.
    pub(super) fn deliver_again(&mut self, slot: Slot) -> bool {
        let Some(ticket) = self.store.get(slot).map(|message| message.ticket) else { return false };
        if self.fifo.is_some() || self.receives_exhausted(slot) {
            return false;
        }
        if self.again.0.len() >= MANY {
            let store = &self.store;
            self.again
                .0
                .retain(|(slot, ticket)| store.get(*slot).is_some_and(|message| message.ticket == *ticket));
        }
        self.again.0.push((slot, ticket));
        true
    }

    /// Whether another delivery of a message is scheduled.
    pub(super) fn is_due_again(&self, slot: Slot) -> bool {
        let ticket = self.store.get(slot).map(|message| message.ticket);
        self.again.0.iter().any(|(other, number)| *other == slot && Some(*number) == ticket)
    }

    /// Removes the scheduled delivery of a message.
    pub(super) fn was_delivered_again(&mut self, slot: Slot) {
        self.again.0.retain(|(other, _)| *other != slot);
    }
}
