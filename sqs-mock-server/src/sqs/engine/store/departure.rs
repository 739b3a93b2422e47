//! Messages go: one by one, or all at once.

use std::time::Duration;

use super::Store;
use crate::service::clock::Timestamp;
use crate::sqs::engine::ages::{Ages, Birth};
use crate::sqs::engine::message::{Place, Removed};
use crate::sqs::engine::slab::{Slab, Slot};
use crate::sqs::engine::store::Counts;
use crate::sqs::engine::timers::Timers;
use crate::sqs::engine::window::Window;

/// From so many messages on, it pays to let all go at once.
const GREAT_MANY: usize = 1024;

impl Store {
    /// Takes a message out.
    pub(in crate::sqs::engine) fn remove(&mut self, now: Timestamp, slot: Slot) -> Option<Removed> {
        let message = self.messages.get(slot)?;
        let (group, state, born) = (message.group, message.state, message.core.born);
        let place = Place { ticket: message.ticket, turn: message.turn };
        let id = self.group_id(group);
        *self.counts.of(state) -= 1;
        let birth = (born, place.ticket);
        let next_within = self.leave_window(slot, birth);
        self.ages.remove(birth, slot);
        if let Some(until) = state.hidden_until() {
            self.timers.clear(until, place.ticket, slot);
        }
        self.became_receivable += self.order.leaves(&self.messages, now, slot);
        let core = self.messages.remove(slot)?.core;
        if let Some(next) = next_within {
            self.became_receivable += self.order.reached(&self.messages, next);
        }
        self.bytes -= core.bytes(id.as_deref());
        self.shrink();
        Some(Removed { core, group: id, place })
    }

    /// Once all messages are gone, so are the places for them: they are as many as there ever were at a time.
    fn shrink(&mut self) {
        if self.len() == 0 && self.messages.is_large() {
            self.messages = Slab::default();
            self.ages = Ages::default();
            self.order = self.order.emptied();
        }
    }

    /// Takes out all messages at once. Their memory does not count from here on: senders are not refused while messages
    /// are being dropped.
    pub(in crate::sqs::engine) fn take_all(&mut self) -> Self {
        let empty = Self {
            messages: Slab::default(),
            order: self.order.emptied(),
            ages: Ages::default(),
            window: self.window.as_ref().map(Window::emptied),
            timers: Timers::default(),
            counts: Counts::default(),
            became_receivable: self.became_receivable,
            bytes: 0,
        };
        std::mem::replace(self, empty)
    }

    /// The message that receives look at instead of one that goes.
    fn leave_window(&mut self, slot: Slot, birth: Birth) -> Option<Slot> {
        let window = self.window.as_mut()?;
        if self.ages.is_late(birth) || !self.order.looks_at(birth.1) {
            return None;
        }
        let next = window.leave(&self.ages, slot);
        // Known before the group of the one that goes is looked at, which may go on with the next and keep its turn.
        let frontier = next.and_then(|next| self.get(next)).map_or(u64::MAX, |next| next.ticket);
        self.order.look_up_to(frontier);
        next
    }

    /// Whether this is a great many messages, and all are too old.
    pub(in crate::sqs::engine) fn is_past(&self, now: Timestamp, retention: Duration) -> bool {
        self.len() >= GREAT_MANY && self.ages.youngest().is_some_and(|youngest| youngest + retention <= now)
    }
}
