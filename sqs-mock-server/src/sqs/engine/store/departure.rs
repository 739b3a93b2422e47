//! Removal of messages, one by one or all at once.

use std::time::Duration;

use super::Store;
use crate::service::clock::Timestamp;
use crate::sqs::engine::counts::Counts;
use crate::sqs::engine::message::{Place, Removed};
use crate::sqs::engine::sequence::Sequence;
use crate::sqs::engine::slab::{Slab, Slot};
use crate::sqs::engine::timers::Timers;

/// From this number on, removing all messages at once is worthwhile.
const MANY: usize = 1024;

impl Store {
    /// Removes a message.
    pub(in crate::sqs::engine) fn remove(&mut self, now: Timestamp, slot: Slot) -> Option<Removed> {
        let message = self.messages.get(slot)?;
        let (group, state) = (message.group, message.state);
        let place = Place { ticket: message.ticket, turn: message.turn };
        let id = self.group_id(group);
        *self.counts.of(state) -= 1;
        let next_inside = self.remove_by_age(slot);
        if let Some(until) = state.hidden_until() {
            self.timers.clear(until, place.ticket, slot);
        }
        self.became_receivable += self.order.leaves(&self.messages, now, slot);
        let core = self.messages.remove(slot)?.core;
        if let Some(next) = next_inside {
            self.became_receivable += self.order.window_changed(&self.messages, next);
        }
        self.bytes -= core.bytes(id.as_deref());
        self.shrink();
        Some(Removed { core, group: id, place })
    }

    /// Frees the memory of an empty store: slabs and sequences keep the capacity of the largest backlog.
    fn shrink(&mut self) {
        if self.len() == 0 && self.messages.is_large() {
            self.messages = Slab::default();
            self.by_age = Sequence::default();
            self.order = self.order.emptied();
        }
    }

    /// Removes all messages at once. Their memory is released for the limit at once: no send is rejected while they are
    /// dropped.
    pub(in crate::sqs::engine) fn take_all(&mut self) -> Self {
        let empty = Self {
            messages: Slab::default(),
            order: self.order.emptied(),
            by_age: Sequence::default(),
            window: self.window,
            timers: Timers::default(),
            counts: Counts::default(),
            became_receivable: self.became_receivable,
            bytes: 0,
        };
        std::mem::replace(self, empty)
    }

    /// Whether there are many messages and the retention period of all has ended.
    pub(in crate::sqs::engine) fn is_expired(&self, now: Timestamp, retention: Duration) -> bool {
        let youngest = self.by_age.last().and_then(|slot| self.get(slot));
        self.len() >= MANY && youngest.is_some_and(|youngest| youngest.core.born + retention <= now)
    }
}
