//! Messages go: one by one, or all at once.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Store;
use crate::service::clock::Timestamp;
use crate::sqs::engine::counts::Counts;
use crate::sqs::engine::message::{Birth, Place, Removed};
use crate::sqs::engine::slab::{Slab, Slot};
use crate::sqs::engine::timers::Timers;
use crate::sqs::engine::window::Window;

/// From so many messages on, it pays to let all go at once.
const MANY: usize = 1024;

impl Store {
    /// Takes a message out.
    pub(in crate::sqs::engine) fn remove(&mut self, now: Timestamp, slot: Slot) -> Option<Removed> {
        let message = self.messages.get(slot)?;
        let (group, state, born) = (message.group, message.state, message.core.born);
        let place = Place { ticket: message.ticket, turn: message.turn };
        let id = self.group_id(group);
        *self.counts.of(state) -= 1;
        let birth = (born, place.ticket);
        self.by_age.remove(&birth);
        let next_inside = self.leave_window(birth);
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

    /// Once all messages are gone, so are the places for them: they are as many as there ever were at a time.
    fn shrink(&mut self) {
        if self.len() == 0 && self.messages.is_large() {
            self.messages = Slab::default();
            self.order = self.order.emptied();
        }
    }

    /// Takes out all messages at once. Their memory does not count from here on: senders are not refused while messages
    /// are being dropped.
    pub(in crate::sqs::engine) fn take_all(&mut self) -> Self {
        let empty = Self {
            messages: Slab::default(),
            order: self.order.emptied(),
            by_age: BTreeMap::new(),
            window: self.window.as_ref().map(Window::emptied),
            timers: Timers::default(),
            counts: Counts::default(),
            became_receivable: self.became_receivable,
            bytes: 0,
        };
        std::mem::replace(self, empty)
    }

    /// The message that receives look at instead of one that has left. The order knows the new frontier before the group of
    /// the one that leaves is looked at: that group may go on with the next message and keep its turn.
    fn leave_window(&mut self, birth: Birth) -> Option<Slot> {
        let window = self.window.as_mut()?;
        let next = window.leave(&self.by_age, birth);
        self.order.look_up_to(window.frontier());
        next
    }

    /// Whether this is a great many messages, and all are too old.
    pub(in crate::sqs::engine) fn is_past(&self, now: Timestamp, retention: Duration) -> bool {
        let youngest = self.by_age.last_key_value();
        self.len() >= MANY && youngest.is_some_and(|((born, _), _)| *born + retention <= now)
    }
}
