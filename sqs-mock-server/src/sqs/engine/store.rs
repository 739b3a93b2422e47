//! The messages of one queue, indexed by age, by the end of their invisibility, and by order.
//!
//! [`queue`](super::queue) decides what happens to messages; this module maintains the indexes.

#[cfg(any(test, feature = "durable"))]
mod restore;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::aws_like::{SERVERS, ServerSample};
use super::message::{Birth, Core, Counts, State, Stored, StoredMessage};
use super::order::Order;
use super::sequence::Sequence;
use super::slab::{Slab, Slot};
use super::{DeliveryMode, Settings};
use crate::service::clock::Timestamp;

/// From this number on, removing all messages at once is worthwhile.
const MANY: usize = 1024;

#[derive(Debug)]
pub(super) struct Store {
    messages: Slab<Stored>,
    order: Order,
    /// Oldest first.
    by_age: Sequence,
    /// Number of messages of a FIFO queue that a receive looks at.
    window: Option<usize>,
    /// The times at which hidden messages become visible, with ticket and slot. At the same time, the message with the
    /// lower ticket is first.
    timers: BTreeSet<(Timestamp, u64, Slot)>,
    counts: Counts,
    became_receivable: usize,
    bytes: usize,
}

impl Store {
    pub(super) fn new(fifo: bool, settings: Settings) -> Self {
        let servers = if settings.delivery == DeliveryMode::AwsLike { SERVERS } else { 1 };
        Self::empty(Order::new(fifo, servers), fifo.then(|| settings.receive_window.max(1)))
    }

    fn empty(order: Order, window: Option<usize>) -> Self {
        Self {
            messages: Slab::default(),
            order,
            by_age: Sequence::default(),
            window,
            timers: BTreeSet::new(),
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

    /// Estimated memory of the messages.
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

    /// The next time at which a hidden message becomes visible.
    pub(super) fn next_return(&self) -> Option<Timestamp> {
        self.timers.first().map(|(at, ..)| *at)
    }

    /// Start of the retention of the oldest message.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        self.get(self.by_age.first()?).map(|oldest| oldest.core.born)
    }

    /// Number of messages (FIFO: groups) that became receivable since the last call.
    pub(super) fn take_receivable(&mut self) -> usize {
        std::mem::take(&mut self.became_receivable)
    }

    /// Adds a message that was not received from this queue yet.
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
        let slot =
            self.messages.insert(Stored { core, state, group, again: false, ticket, turn: 0, received: now });
        self.add_to_indexes(slot, true);
        slot
    }

    /// Returns a removed message to its old position. It is available.
    pub(super) fn put_back(&mut self, now: Timestamp, message: StoredMessage) -> Slot {
        let message = StoredMessage { state: State::Available, received: now, ..message };
        let message = self.joined(now, message);
        let slot = self.messages.insert(message);
        self.add_to_indexes(slot, false);
        slot
    }

    /// Counts the memory of a message that was in the queue before, and joins its group.
    fn joined(&mut self, now: Timestamp, message: StoredMessage) -> Stored {
        let group = message.group.as_deref();
        self.bytes += message.core.bytes(group);
        let group = self.order.join(group, now);
        Stored::new(message, group)
    }

    /// Adds a stored message to counts, timers, ages and order.
    fn add_to_indexes(&mut self, slot: Slot, is_new: bool) {
        let Some((state, ticket)) = self.get(slot).map(|message| (message.state, message.ticket)) else {
            return;
        };
        *self.counts.of(state) += 1;
        if let Some(until) = state.hidden_until() {
            self.timers.insert((until, ticket, slot));
        }
        let outside = self.insert_by_age(slot);
        let became_receivable = self.order.added(&mut self.messages, slot, is_new);
        self.became_receivable += usize::from(became_receivable);
        // After the new message is in its group, so that the group can keep its turn.
        if let Some(outside) = outside {
            self.order.window_changed(&self.messages, outside);
        }
    }

    /// Adds a message by age. Returns the message of a FIFO queue that leaves the receive window because of it.
    fn insert_by_age(&mut self, slot: Slot) -> Option<Slot> {
        let messages = &self.messages;
        let at = self.by_age.insert(slot, |slot| messages.get(slot).map(Stored::birth));
        let window = self.window.filter(|window| at <= *window)?;
        self.update_frontier();
        self.by_age.get(window)
    }

    /// Removes a message by age. Returns the message of a FIFO queue that enters the receive window because of it. The
    /// frontier is updated before the group of the removed message is refreshed: the group can continue with its next
    /// message and keep its turn.
    fn remove_by_age(&mut self, slot: Slot) -> Option<Slot> {
        let messages = &self.messages;
        let at = self.by_age.remove(slot, |slot| messages.get(slot).map(Stored::birth))?;
        let window = self.window.filter(|window| at < *window)?;
        self.update_frontier();
        self.by_age.get(window - 1)
    }

    fn update_frontier(&mut self) {
        let window = self.window.filter(|window| self.by_age.len() > *window);
        let last = window.and_then(|window| self.get(self.by_age.get(window - 1)?));
        self.order.set_frontier(last.map_or(u64::MAX, |last| last.ticket));
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
            self.timers.remove(&(until, ticket, slot));
        }
        if let Some(until) = state.hidden_until() {
            self.timers.insert((until, ticket, slot));
        }
        let became_receivable = self.order.changed(&mut self.messages, now, slot, old);
        self.became_receivable += usize::from(became_receivable);
    }

    /// A message that became visible by `now`. The caller sets its state.
    pub(super) fn next_due(&mut self, now: Timestamp) -> Option<Slot> {
        if self.next_return()? > now {
            return None;
        }
        self.timers.pop_first().map(|(.., slot)| slot)
    }

    /// Removes a message.
    pub(super) fn remove(&mut self, now: Timestamp, slot: Slot) -> Option<StoredMessage> {
        let Stored { group, state, ticket, .. } = *self.messages.get(slot)?;
        let group = self.group_id(group);
        *self.counts.of(state) -= 1;
        let next_inside = self.remove_by_age(slot);
        if let Some(until) = state.hidden_until() {
            self.timers.remove(&(until, ticket, slot));
        }
        self.became_receivable += usize::from(self.order.leaves(&self.messages, now, slot));
        let message = self.messages.remove(slot)?;
        if let Some(next) = next_inside {
            self.became_receivable += usize::from(self.order.window_changed(&self.messages, next));
        }
        self.bytes -= message.core.bytes(group.as_deref());
        self.shrink();
        Some(message.into_message(slot, group))
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
    pub(super) fn take_all(&mut self) -> Self {
        let mut empty = Self::empty(self.order.emptied(), self.window);
        empty.became_receivable = self.became_receivable;
        std::mem::replace(self, empty)
    }

    /// Whether there are many messages and the retention period of all has ended.
    pub(super) fn is_expired(&self, now: Timestamp, retention: Duration) -> bool {
        let youngest = self.by_age.last().and_then(|slot| self.get(slot));
        self.len() >= MANY && youngest.is_some_and(|youngest| youngest.core.born + retention <= now)
    }

    /// The oldest message, if its retention period has ended.
    pub(super) fn oldest_slot(&self, now: Timestamp, retention: Duration) -> Option<Slot> {
        let oldest = self.by_age.first()?;
        self.get(oldest).filter(|message| message.core.born + retention <= now).map(|_| oldest)
    }

    /// The message to deliver next from these servers.
    pub(super) fn next(&mut self, now: Timestamp, sample: ServerSample) -> Option<Slot> {
        self.order.next(&self.messages, now, self.counts.in_flight, sample)
    }

    /// Whether receives look at this message.
    pub(super) fn is_in_window(&self, message: &Stored) -> bool {
        self.order.is_in_window(message.ticket)
    }

    /// The message to deliver in the same receive: the next of its group.
    pub(super) fn follower(&self, slot: Slot) -> Option<Slot> {
        self.order.follower(&self.messages, slot)
    }

    /// A copy of a message, in the form that readers store.
    pub(super) fn stored(&self, slot: Slot) -> Option<StoredMessage> {
        let message = self.get(slot)?;
        Some(message.clone().into_message(slot, self.group_id(message.group)))
    }

    /// All messages younger than `birth`, oldest first.
    pub(super) fn after(&self, birth: Option<Birth>) -> impl Iterator<Item = (Slot, &Stored)> {
        let is_before = move |slot| self.get(slot).map(Stored::birth) <= birth;
        self.by_age.beyond(is_before).filter_map(|slot| Some((slot, self.get(slot)?)))
    }

    /// Messages whose retention started after `moment`, the latest ticket first.
    pub(super) fn younger_than(&self, moment: Timestamp) -> Vec<Slot> {
        let is_younger = |slot: &Slot| self.get(*slot).is_some_and(|message| message.core.born > moment);
        let mut slots: Vec<_> = self.by_age.iter().rev().take_while(is_younger).collect();
        slots.sort_unstable_by_key(|slot| Reverse(self.get(*slot).map(|message| message.ticket)));
        slots
    }
}
