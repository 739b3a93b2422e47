//! Restores the messages of an earlier process.

use std::collections::HashMap;

use super::Store;
use crate::service::clock::Timestamp;
use crate::sqs::engine::message::{Stored, StoredMessage};
use crate::sqs::engine::slab::{Slab, Slot};

/// Gives each message a slot of its own. A message that was on its way to another queue has the same slot as a later one,
/// which keeps it: the receipt handles of the earlier one have exhausted their receives.
fn separate(messages: &mut [(Slot, Stored)]) {
    let mut latest: HashMap<Slot, u64> = HashMap::new();
    for (slot, message) in messages.iter() {
        let ticket = latest.entry(*slot).or_default();
        *ticket = message.ticket.max(*ticket);
    }
    let mut free = messages.iter().map(|(slot, _)| slot.0 + 1).max().unwrap_or(0);
    for (slot, message) in messages {
        if latest.get(slot).is_some_and(|ticket| *ticket != message.ticket) {
            *slot = Slot(free);
            free += 1;
        }
    }
}

impl Store {
    /// Fills an empty store. The messages are sorted by the start of their retention.
    pub(in crate::sqs::engine) fn restore(&mut self, now: Timestamp, messages: Vec<StoredMessage>) {
        let places = messages.into_iter().map(|message| (message.slot, self.joined(now, message)));
        let mut places: Vec<_> = places.collect();
        separate(&mut places);
        let slots: Vec<_> = places.iter().map(|(slot, _)| *slot).collect();
        self.messages = Slab::filled(places);
        for slot in slots {
            self.add_to_indexes(slot, false);
        }
    }

    /// The slots of all messages, oldest first.
    #[cfg(test)]
    pub(in crate::sqs::engine) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.by_age.iter()
    }
}
