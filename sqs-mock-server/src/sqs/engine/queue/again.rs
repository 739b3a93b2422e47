//! Messages that are to be delivered a second time, whatever their receiver does.

use super::Queue;
use crate::sqs::engine::slab::Slot;

/// From how many on those are looked for that are gone.
const MANY: usize = 1024;

/// Messages that were delivered once and have to be delivered once more.
#[derive(Debug, Default)]
pub(super) struct Again(Vec<(Slot, u64)>);

impl Queue {
    /// Has a message delivered once more, unless that would make a dead letter of it.
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

    /// Whether a message is still to be delivered once more; after its delivery it is not.
    pub(super) fn is_due_again(&self, slot: Slot) -> bool {
        let ticket = self.store.get(slot).map(|message| message.ticket);
        self.again.0.iter().any(|(other, number)| *other == slot && Some(*number) == ticket)
    }

    /// Notes that a message is delivered once more.
    pub(super) fn was_delivered_again(&mut self, slot: Slot) {
        self.again.0.retain(|(other, _)| *other != slot);
    }
}
