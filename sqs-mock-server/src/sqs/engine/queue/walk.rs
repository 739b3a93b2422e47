//! Peeking at the messages of a queue, in pages.

use std::collections::HashMap;
use std::sync::Arc;

use super::{PeekedMessage, Queue, Visibility};
use crate::service::clock::Timestamp;
use crate::sqs::engine::message::{Birth, State, Stored};
use crate::sqs::engine::slab::Slot;

/// The maximum number of messages in a page. Other requests wait for the lock of the queue while it is read.
pub(crate) const PAGE: usize = 1_000;

/// The first hidden message of each group of a FIFO queue, by its slot and ticket.
type Locks = HashMap<Slot, (Slot, u64)>;

/// A walk over the messages of a queue, oldest first.
///
/// The queue may change between two pages. A message that is added, changed or removed meanwhile may be found as it was
/// before or after the change, or not at all; no message is found twice.
#[derive(Debug)]
pub(crate) struct Walk<F> {
    skip: usize,
    at_most: usize,
    is_shown: F,
    /// The last message so far.
    after: Option<Birth>,
    locks: Locks,
    found: Vec<PeekedMessage>,
}

impl<F: Fn(Visibility) -> bool> Walk<F> {
    /// A walk to the messages whose visibility satisfies `is_shown`: `at_most` after the first `skip`.
    pub(crate) fn new(skip: usize, at_most: usize, is_shown: F) -> Self {
        Self { skip, at_most, is_shown, after: None, locks: Locks::new(), found: Vec::new() }
    }

    /// The messages found so far.
    pub(crate) fn into_messages(self) -> Vec<PeekedMessage> {
        self.found
    }

    fn is_complete(&self) -> bool {
        self.found.len() >= self.at_most
    }
}

impl Queue {
    /// Reads the next page. Returns whether there may be more.
    pub(crate) fn walk(&mut self, now: Timestamp, walk: &mut Walk<impl Fn(Visibility) -> bool>) -> bool {
        self.settle(now);
        let mut read = 0;
        for (slot, message) in self.store.after(walk.after).take(PAGE) {
            if walk.is_complete() {
                return false;
            }
            read += 1;
            walk.after = Some(message.birth());
            let visibility = self.visibility(slot, message, &mut walk.locks);
            if !(walk.is_shown)(visibility) {
                continue;
            }
            if walk.skip > 0 {
                walk.skip -= 1;
            } else {
                walk.found.push(self.show_message(message, visibility));
            }
        }
        read == PAGE && !walk.is_complete()
    }

    /// All messages with their visibility, oldest first.
    pub(super) fn seen(&self) -> impl Iterator<Item = (&Stored, Visibility)> {
        let mut locks = Locks::new();
        self.store
            .after(None)
            .map(move |(slot, message)| (message, self.visibility(slot, message, &mut locks)))
    }

    /// `locks` covers all older messages.
    fn visibility(&self, slot: Slot, message: &Stored, locks: &mut Locks) -> Visibility {
        let lock = self.lock_of(message.group, locks);
        if self.fifo.is_some() && lock.is_none() && message.state.hidden_until().is_some() {
            locks.insert(message.group, (slot, message.ticket));
        }
        match (message.state, lock) {
            (State::Delayed { until }, _) => Visibility::DelayedUntil(until),
            (State::InFlight { until }, _) => Visibility::InFlightUntil(until),
            (State::Available, Some(locked)) => locked,
            (State::Available, None) if self.store.is_in_window(message) => Visibility::Visible,
            (State::Available, None) => Visibility::BeyondWindow,
        }
    }

    /// The visibility of messages behind the lock of a group, unless it was released since an earlier page.
    fn lock_of(&self, group: Slot, locks: &Locks) -> Option<Visibility> {
        let (slot, ticket) = locks.get(&group)?;
        let lock = self.store.get(*slot).filter(|message| message.ticket == *ticket)?;
        Some(Visibility::GroupLockedBy { id: lock.core.id, until: lock.state.hidden_until()? })
    }

    pub(super) fn show_message(&self, message: &Stored, visibility: Visibility) -> PeekedMessage {
        let core = &message.core;
        PeekedMessage {
            id: core.id,
            payload: Arc::clone(&core.payload),
            visibility,
            sent: core.sent,
            first_received: (core.receives > 0).then_some(core.first_received),
            receive_count: core.receives,
            group: self.store.group_id(message.group),
            deduplication_id: core.deduplication_id.clone(),
            sequence_number: self.sequence_number(message.ticket),
            dead_letter_source: core.source.clone(),
        }
    }
}
