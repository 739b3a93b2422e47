//! Which message is next, for both kinds of queues.

use std::sync::Arc;

use super::fifo::Fifo;
use super::message::{State, Stored};
use super::slab::{Slab, Slot};
use super::standard::Standard;
use crate::clock::Timestamp;

/// The order of a queue's messages. What it is told about, it answers with how many messages (FIFO: groups) have
/// become receivable by that.
#[derive(Debug)]
pub(super) enum Order {
    Standard(Standard),
    Fifo(Fifo),
}

impl Order {
    pub(super) fn new(fifo: bool) -> Self {
        if fifo { Self::Fifo(Fifo::default()) } else { Self::Standard(Standard::default()) }
    }

    /// The order of a queue of the same kind without messages.
    pub(super) fn emptied(&self) -> Self {
        Self::new(matches!(self, Self::Fifo(_)))
    }

    /// Counts one more message of a group.
    pub(super) fn join(&mut self, group: Option<&str>, now: Timestamp) -> Slot {
        match self {
            Self::Standard(standard) => standard.join(group, now),
            Self::Fifo(fifo) => fifo.join(group),
        }
    }

    pub(super) fn group_id(&self, group: Slot) -> Option<Arc<str>> {
        match self {
            Self::Standard(standard) => standard.id(group),
            Self::Fifo(fifo) => fifo.id(group),
        }
    }

    /// A message is new; it has joined its group.
    pub(super) fn entered(&mut self, messages: &mut Slab<Stored>, slot: Slot, state: State) -> usize {
        match self {
            Self::Standard(standard) if state == State::Available => {
                standard.show(messages, slot);
                1
            }
            Self::Standard(_) => 0,
            Self::Fifo(fifo) => usize::from(fifo.push(messages, slot)),
        }
    }

    /// The state of a message has changed.
    pub(super) fn changed(&mut self, messages: &mut Slab<Stored>, slot: Slot, old: State) -> usize {
        let Some((group, new)) = messages.get(slot).map(|message| (message.group, message.state)) else {
            return 0;
        };
        match self {
            Self::Standard(standard) => {
                withdraw(standard, messages, slot, old);
                match new {
                    State::Available => standard.show(messages, slot),
                    State::InFlight { .. } => standard.take_off(group),
                    State::Delayed { .. } => {}
                }
                usize::from(new == State::Available)
            }
            Self::Fifo(fifo) => usize::from(fifo.refresh(messages, group)),
        }
    }

    /// A message goes; it is still there.
    pub(super) fn leaves(&mut self, messages: &Slab<Stored>, slot: Slot) -> usize {
        let Some((group, state)) = messages.get(slot).map(|message| (message.group, message.state)) else {
            return 0;
        };
        match self {
            Self::Standard(standard) => {
                withdraw(standard, messages, slot, state);
                standard.leave(group);
                0
            }
            Self::Fifo(fifo) => usize::from(fifo.remove(messages, group, slot)),
        }
    }

    /// The message to deliver next, with `in_flight` of them in flight.
    pub(super) fn next(&mut self, messages: &Slab<Stored>, now: Timestamp, in_flight: usize) -> Option<Slot> {
        match self {
            Self::Standard(standard) => standard.next(messages, now, in_flight),
            Self::Fifo(fifo) => fifo.next(),
        }
    }

    /// The message to deliver together with one: that behind it in its group.
    pub(super) fn follower(&self, messages: &Slab<Stored>, slot: Slot) -> Option<Slot> {
        let Self::Fifo(fifo) = self else { return None };
        let is_available =
            |slot: &Slot| messages.get(*slot).is_some_and(|message| message.state == State::Available);
        fifo.after(slot).filter(is_available)
    }
}

/// Undoes what a message was in its old state.
fn withdraw(standard: &mut Standard, messages: &Slab<Stored>, slot: Slot, old: State) {
    match (old, messages.get(slot)) {
        (State::Available, _) => standard.hide(messages, slot),
        (State::InFlight { .. }, Some(message)) => standard.land(message.group),
        _ => {}
    }
}
