//! Restores the messages of an earlier process.

use super::Store;
use crate::service::clock::Timestamp;
use crate::sqs::engine::change::StoredMessage;
use crate::sqs::engine::message::Stored;
use crate::sqs::engine::slab::{Slab, Slot};

impl Store {
    /// Fills an empty store. The messages are sorted by the start of their retention.
    pub(in crate::sqs::engine) fn restore(&mut self, now: Timestamp, messages: Vec<StoredMessage>) {
        let mut places = Vec::with_capacity(messages.len());
        for message in messages {
            let StoredMessage { ticket, slot, turn, state, received, group, core } = message;
            self.bytes += core.bytes(group.as_deref());
            let group = self.order.join(group.as_deref(), now);
            places.push((slot, Stored { core, state, group, ticket, turn, received }));
        }
        let slots: Vec<_> = places.iter().map(|(slot, _)| *slot).collect();
        self.messages = Slab::filled(places);
        for slot in slots {
            self.add_to_indexes(slot);
        }
    }

    fn add_to_indexes(&mut self, slot: Slot) {
        let Some(message) = self.messages.get(slot) else { return };
        let (state, ticket) = (message.state, message.ticket);
        *self.counts.of(state) += 1;
        if let Some(until) = state.hidden_until() {
            self.timers.set(until, ticket, slot);
        }
        let outside = self.insert_by_age(slot);
        self.became_receivable += self.order.restored(&self.messages, slot);
        self.refresh_outside(outside);
    }

    /// The slots of all messages, oldest first.
    pub(in crate::sqs::engine) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.by_age.iter()
    }
}
