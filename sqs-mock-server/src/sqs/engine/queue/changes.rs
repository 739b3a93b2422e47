//! Records the changes of a queue for a reader, and restores the queue from the state that they yield.

use super::Queue;
#[cfg(test)]
use super::fifo_memory::FifoMemory;
#[cfg(any(test, feature = "durable"))]
use crate::service::clock::Timestamp;
#[cfg(any(test, feature = "durable"))]
use crate::sqs::engine::change::{Creation, QueueId};
use crate::sqs::engine::change::{Delivered, QueueChange};
use crate::sqs::engine::dedup::Known;
use crate::sqs::engine::message::State;
use crate::sqs::engine::slab::Slot;
#[cfg(any(test, feature = "durable"))]
use crate::sqs::engine::{QueueState, Settings};

impl Queue {
    /// Changes since the last call; empty without a reader.
    pub(crate) fn take_changes(&mut self) -> Vec<QueueChange> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Records a change. `change` is called only if there is a reader.
    pub(super) fn record(&mut self, change: impl FnOnce(&Self) -> QueueChange) {
        if self.changes.is_some() {
            let change = change(self);
            self.changes.get_or_insert_default().push(change);
        }
    }

    pub(super) fn record_visibility(&mut self, slot: Slot) {
        if let (Some(changes), Some(message)) = (&mut self.changes, self.store.get(slot)) {
            let (ticket, state, turn) = (message.ticket, message.state, message.turn);
            changes.push(QueueChange::VisibilityChanged { ticket, state, turn });
        }
    }

    /// Records that messages were received.
    pub(super) fn record_delivery(&mut self, slots: &[Slot]) {
        if let (Some(changes), false) = (&mut self.changes, slots.is_empty()) {
            let messages = slots.iter().filter_map(|slot| {
                let message = self.store.get(*slot)?;
                let State::InFlight { until } = message.state else { return None };
                Some(Delivered { ticket: message.ticket, receives: message.core.receives, until })
            });
            changes.push(QueueChange::MessagesDelivered { at: self.now, messages: messages.collect() });
        }
    }

    pub(super) fn record_stored(&mut self, slot: Slot, deduplication: Option<Known>) {
        if self.changes.is_some()
            && let Some(message) = self.store.stored(slot)
        {
            let message = Box::new(message);
            self.record(|_| QueueChange::MessageStored { message, deduplication });
        }
    }

    /// Restores a queue. Receipt handles and deduplication ids stay valid; sequence numbers continue.
    #[cfg(any(test, feature = "durable"))]
    pub(crate) fn restore(now: Timestamp, id: QueueId, state: QueueState, settings: Settings) -> Self {
        let QueueState { seed, attributes, tags, .. } = state;
        let mut queue = Self::new(id, Creation { at: now, seed, attributes, tags }, settings, false);
        queue.created = state.created;
        queue.modified = state.modified;
        queue.purged = state.purged;
        queue.next_ticket = state.next_ticket;
        queue.changes = Some(Vec::new());
        if let Some(fifo) = &mut queue.fifo {
            fifo.deduplication.restore(now, state.deduplication_scope, state.deduplication);
        }
        let mut messages: Vec<_> = state.messages.into_values().collect();
        messages.sort_by_key(|message| (message.core.born, message.ticket));
        queue.store.restore(now, messages);
        queue
    }

    /// The state of the queue.
    #[cfg(test)]
    pub(crate) fn state(&mut self, now: Timestamp) -> QueueState {
        self.settle(now);
        let messages = self.store.slots().filter_map(|slot| self.store.stored(slot));
        let messages = messages.map(|message| (message.ticket, message)).collect();
        let deduplication = self.fifo.as_deref().map(FifoMemory::known).unwrap_or_default();
        QueueState {
            created: self.created,
            modified: self.modified,
            seed: self.seed,
            attributes: self.attributes.clone(),
            deduplication_scope: self
                .fifo
                .as_ref()
                .map(|fifo| fifo.deduplication.scope())
                .unwrap_or_default(),
            tags: self.tags.clone(),
            purged: self.purged,
            next_ticket: self.next_ticket,
            messages,
            deduplication,
        }
    }
}
