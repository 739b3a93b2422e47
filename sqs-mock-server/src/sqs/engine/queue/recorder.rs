//! Records the changes of a queue for a reader.

use super::Queue;
use crate::sqs::engine::change::{Delivered, QueueChange};
use crate::sqs::engine::dedup::Known;
use crate::sqs::engine::message::State;
use crate::sqs::engine::slab::Slot;

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
}
