//! The messages of one queue, each where it belongs: by age, by the moment it comes back, by its turn.
//!
//! What happens to a message is decided by [`queue`](super::queue); here it is only put in its places.

mod departure;
#[cfg(test)]
mod restore;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::aws_like::{Asked, SERVERS};
use super::counts::Counts;
use super::message::{Birth, Core, Place, Removed, State, Stored};
use super::order::Order;
use super::slab::{Slab, Slot};
use super::timers::Timers;
use super::window::Window;
use super::{DeliveryMode, Settings};
use crate::service::clock::Timestamp;

#[derive(Debug)]
pub(super) struct Store {
    messages: Slab<Stored>,
    order: Order,
    /// The oldest first.
    by_age: BTreeMap<Birth, Slot>,
    /// Of FIFO queues.
    window: Option<Window>,
    timers: Timers,
    counts: Counts,
    became_receivable: usize,
    bytes: usize,
}

impl Store {
    pub(super) fn new(fifo: bool, settings: Settings) -> Self {
        let servers = if settings.delivery == DeliveryMode::AwsLike { SERVERS } else { 1 };
        Self {
            messages: Slab::default(),
            order: Order::new(fifo, servers),
            by_age: BTreeMap::new(),
            window: fifo.then(|| Window::new(settings.receive_window)),
            timers: Timers::default(),
            counts: Counts::default(),
            became_receivable: 0,
            bytes: 0,
        }
    }

    pub(super) fn get(&self, slot: Slot) -> Option<&Stored> {
        self.messages.get(slot)
    }

    pub(super) fn get_mut(&mut self, slot: Slot) -> Option<&mut Stored> {
        self.messages.get_mut(slot)
    }

    pub(super) fn group_id(&self, group: Slot) -> Option<Arc<str>> {
        self.order.group_id(group)
    }

    /// The memory that the messages take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    pub(super) fn len(&self) -> usize {
        let Counts { available, in_flight, delayed } = self.counts;
        available + in_flight + delayed
    }

    /// The next moment at which a message comes back.
    pub(super) fn next_return(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// From when the retention of the oldest message counts.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        self.by_age.first_key_value().map(|((born, _), _)| *born)
    }

    /// How many messages (FIFO: groups) have become receivable since this was last asked.
    pub(super) fn take_receivable(&mut self) -> usize {
        std::mem::take(&mut self.became_receivable)
    }

    /// Puts in a message that nobody has received here yet.
    pub(super) fn insert(
        &mut self,
        now: Timestamp,
        ticket: u64,
        (core, group): (Core, Option<&str>),
        delay: Duration,
    ) -> Slot {
        let state = if delay.is_zero() { State::Available } else { State::Delayed { until: now + delay } };
        self.bytes += core.bytes(group);
        let group = self.order.join(group, now);
        let birth = (core.born, ticket);
        let slot = self.messages.insert(Stored { core, state, group, ticket, turn: 0, received: now });
        self.by_age.insert(birth, slot);
        *self.counts.of(state) += 1;
        if let Some(until) = state.hidden_until() {
            self.timers.set(until, ticket, slot);
        }
        let outside = self.enter_window(birth);
        self.became_receivable += self.order.entered(&mut self.messages, slot, state);
        self.leave_outside(outside);
        slot
    }

    /// Puts a message back in its place, available as it was when it was taken out.
    pub(super) fn put_back(&mut self, now: Timestamp, message: Removed) -> Slot {
        let Removed { core, group, place: Place { ticket, turn } } = message;
        self.bytes += core.bytes(group.as_deref());
        let group = self.order.join(group.as_deref(), now);
        let birth = (core.born, ticket);
        let state = State::Available;
        let slot = self.messages.insert(Stored { core, state, group, ticket, turn, received: now });
        self.by_age.insert(birth, slot);
        *self.counts.of(state) += 1;
        let outside = self.enter_window(birth);
        self.became_receivable += self.order.returned(&self.messages, slot);
        self.leave_outside(outside);
        slot
    }

    /// Returns the message that is outside of the window because of a new one.
    fn enter_window(&mut self, birth: Birth) -> Option<Slot> {
        let window = self.window.as_mut()?;
        let outside = window.enter(&self.by_age, birth);
        self.order.look_up_to(window.frontier());
        outside
    }

    /// Comes after the new message has its place: its group may keep its turn.
    fn leave_outside(&mut self, message: Option<Slot>) {
        if let Some(slot) = message {
            self.order.window_changed(&self.messages, slot);
        }
    }

    pub(super) fn set_state(&mut self, now: Timestamp, slot: Slot, state: State) {
        let Some(message) = self.messages.get_mut(slot) else {
            return;
        };
        let old = std::mem::replace(&mut message.state, state);
        let ticket = message.ticket;
        if old == state {
            return;
        }
        *self.counts.of(old) -= 1;
        *self.counts.of(state) += 1;
        if let Some(until) = old.hidden_until() {
            self.timers.clear(until, ticket, slot);
        }
        if let Some(until) = state.hidden_until() {
            self.timers.set(until, ticket, slot);
        }
        self.became_receivable += self.order.changed(&mut self.messages, now, slot, old);
    }

    /// A message that has become visible by `now`. The caller sets its state.
    pub(super) fn next_due(&mut self, now: Timestamp) -> Option<Slot> {
        self.timers.pop_due(now)
    }

    /// A message that has exceeded its retention.
    pub(super) fn oldest_slot(&self, now: Timestamp, retention: Duration) -> Option<Slot> {
        let oldest = self.by_age.first_key_value();
        oldest.filter(|((born, _), _)| *born + retention <= now).map(|(_, slot)| *slot)
    }

    /// The message to deliver next, when these servers are asked.
    pub(super) fn next(&mut self, now: Timestamp, asked: Asked) -> Option<Slot> {
        self.order.next(now, self.counts.in_flight, asked)
    }

    /// Whether receives look that far.
    pub(super) fn looks_at(&self, message: &Stored) -> bool {
        self.order.looks_at(message.ticket)
    }

    /// The message to deliver together with one: that behind it in its group.
    pub(super) fn follower(&self, slot: Slot) -> Option<Slot> {
        self.order.follower(&self.messages, slot)
    }

    /// Every message, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Stored> {
        self.by_age.values().filter_map(|slot| self.get(*slot))
    }

    /// Messages born after `moment`, the last to have come in first.
    pub(super) fn younger_than(&self, moment: Timestamp) -> Vec<Slot> {
        let mut slots: Vec<_> = self.by_age.range((moment, u64::MAX)..).map(|(_, slot)| *slot).collect();
        slots.sort_unstable_by_key(|slot| Reverse(self.get(*slot).map(|message| message.ticket)));
        slots
    }
}
