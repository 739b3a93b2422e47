//! Saving and restoring the state of a queue.

use super::Queue;
#[cfg(test)]
use super::fifo_memory::FifoMemory;
use crate::service::clock::Timestamp;
use crate::sqs::engine::change::{Creation, QueueId};
use crate::sqs::engine::{QueueState, Settings};

impl Queue {
    /// Restores a queue. Receipt handles and deduplication ids stay valid; sequence numbers continue.
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
