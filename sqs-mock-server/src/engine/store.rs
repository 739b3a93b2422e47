//! The messages of one queue, each where it belongs: by age, by the moment it comes back, by its turn.
//!
//! What happens to a message is decided by [`queue`](super::queue); here it is only put in its places.

use std::sync::Arc;
use std::time::Duration;

use super::ages::Ages;
use super::memory::Share;
use super::message::{Core, State, Stored};
use super::order::Order;
use super::slab::{Slab, Slot};
use super::timers::Timers;
use crate::clock::Timestamp;

/// How many messages a queue has, exactly.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Visible ones, also those that a locked group keeps back.
    pub available: usize,
    /// Received and neither deleted nor visible again.
    pub in_flight: usize,
    /// Not visible for the first time yet.
    pub delayed: usize,
}

impl Counts {
    fn of(&mut self, state: State) -> &mut usize {
        match state {
            State::Available => &mut self.available,
            State::Delayed { .. } => &mut self.delayed,
            State::InFlight { .. } => &mut self.in_flight,
        }
    }
}

#[derive(Debug)]
pub(super) struct Store {
    messages: Slab<Stored>,
    order: Order,
    ages: Ages,
    timers: Timers,
    counts: Counts,
    became_receivable: usize,
    share: Share,
}

impl Store {
    pub(super) fn new(fifo: bool, share: Share) -> Self {
        Self {
            messages: Slab::default(),
            order: Order::new(fifo),
            ages: Ages::default(),
            timers: Timers::default(),
            counts: Counts::default(),
            became_receivable: 0,
            share,
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

    /// What the messages take of memory.
    pub(super) fn share(&self) -> &Share {
        &self.share
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// The next moment at which a message comes back.
    pub(super) fn next_return(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// From when the retention of the oldest message counts.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        self.oldest_message().map(|(born, _)| born)
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
    ) {
        let state = if delay.is_zero() { State::Available } else { State::Delayed { until: now + delay } };
        self.share.take(core.bytes(group));
        let group = self.order.join(group, now);
        let born = core.born;
        let slot = self.messages.insert(Stored { core, state, group, ticket, turn: 0, received: now });
        self.ages.insert(born, slot);
        *self.counts.of(state) += 1;
        if let Some(until) = state.hidden_until() {
            self.timers.set(until, ticket, slot);
        }
        self.became_receivable += self.order.entered(&mut self.messages, slot, state);
    }

    /// Takes a message out, with the id of its group.
    pub(super) fn remove(&mut self, slot: Slot) -> Option<(Core, Option<Arc<str>>)> {
        let message = self.messages.get(slot)?;
        let (group, state, born) = (message.group, message.state, message.core.born);
        let ticket = message.ticket;
        let id = self.group_id(group);
        *self.counts.of(state) -= 1;
        self.ages.remove(born, slot);
        if let Some(until) = state.hidden_until() {
            self.timers.clear(until, ticket, slot);
        }
        self.became_receivable += self.order.leaves(&self.messages, slot);
        let core = self.messages.remove(slot)?.core;
        self.share.give_back(core.bytes(id.as_deref()));
        self.shrink();
        Some((core, id))
    }

    /// Once all messages are gone, so are the places for them: they are as many as there ever were at a time.
    fn shrink(&mut self) {
        if self.counts == Counts::default() && self.messages.is_large() {
            self.messages = Slab::default();
            self.ages = Ages::default();
            self.order = self.order.emptied();
        }
    }

    pub(super) fn set_state(&mut self, slot: Slot, state: State) {
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
        self.became_receivable += self.order.changed(&mut self.messages, slot, old);
    }

    /// Lets the past happen: messages that are too old go, messages whose moment has come are visible.
    pub(super) fn settle(&mut self, now: Timestamp, retention: Duration) {
        while let Some((_, slot)) = self.oldest_message().filter(|(born, _)| *born + retention <= now) {
            self.remove(slot);
        }
        while let Some(slot) = self.timers.pop_due(now) {
            self.set_state(slot, State::Available);
        }
    }

    /// The message to deliver next.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<Slot> {
        self.order.next(&self.messages, now, self.counts.in_flight)
    }

    /// The message to deliver together with one: that behind it in its group.
    pub(super) fn follower(&self, slot: Slot) -> Option<Slot> {
        self.order.follower(&self.messages, slot)
    }

    /// Every message, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Stored> {
        self.ages.iter().filter_map(|slot| self.get(slot))
    }

    /// Messages from the youngest back to those born before `moment`.
    pub(super) fn younger_than(&self, moment: Timestamp) -> Vec<Slot> {
        let young = |slot: &Slot| self.get(*slot).is_some_and(|message| message.core.born > moment);
        self.ages.iter_back().take_while(young).collect()
    }

    fn oldest_message(&self) -> Option<(Timestamp, Slot)> {
        self.ages.oldest(|slot| self.get(slot).map(|message| message.core.born))
    }
}
