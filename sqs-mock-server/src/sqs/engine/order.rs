//! Which message is next, for both kinds of queues.

use std::sync::Arc;

use super::aws_like::Asked;
use super::fifo::Fifo;
use super::message::{State, Stored};
use super::slab::{Slab, Slot};
use super::standard::Standard;
use crate::service::clock::Timestamp;

/// The order of a queue's messages. What it is told about, it answers with how many messages (FIFO: groups) have
/// become receivable by that.
#[derive(Debug)]
pub(super) enum Order {
    Standard(Standard),
    Fifo(Fifo),
}

impl Order {
    /// `servers` is for standard queues.
    pub(super) fn new(fifo: bool, servers: usize) -> Self {
        if fifo { Self::Fifo(Fifo::default()) } else { Self::Standard(Standard::new(servers)) }
    }

    /// The same order without messages. Turns go on: a message that comes back to its own is alone in it.
    pub(super) fn emptied(&self) -> Self {
        match self {
            Self::Standard(standard) => Self::Standard(standard.emptied()),
            Self::Fifo(_) => Self::Fifo(Fifo::default()),
        }
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

    /// A message that was there before is available in its old place; it has joined its group.
    pub(super) fn returned(&mut self, messages: &Slab<Stored>, slot: Slot) -> usize {
        match self {
            Self::Standard(standard) => {
                standard.show_in_turn(messages, slot);
                1
            }
            Self::Fifo(fifo) => usize::from(fifo.push(messages, slot)),
        }
    }

    /// A message of an earlier process is in its place; it has joined its group.
    #[cfg(test)]
    pub(super) fn restored(&mut self, messages: &Slab<Stored>, slot: Slot) -> usize {
        let Some((group, state)) = messages.get(slot).map(|message| (message.group, message.state)) else {
            return 0;
        };
        match self {
            Self::Standard(standard) => {
                standard.keep_turn(messages, slot);
                match state {
                    State::Available => standard.show_in_turn(messages, slot),
                    State::InFlight { .. } => standard.enter_flight(group),
                    State::Delayed { .. } => {}
                }
                usize::from(state == State::Available)
            }
            Self::Fifo(fifo) => usize::from(fifo.push(messages, slot)),
        }
    }

    /// Receives look at messages of a FIFO queue up to this ticket from now on.
    pub(super) fn look_up_to(&mut self, frontier: u64) {
        if let Self::Fifo(fifo) = self {
            fifo.look_up_to(frontier);
        }
    }

    /// Whether receives look at messages of this ticket.
    pub(super) fn looks_at(&self, ticket: u64) -> bool {
        match self {
            Self::Standard(_) => true,
            Self::Fifo(fifo) => fifo.looks_at(ticket),
        }
    }

    /// A message of a FIFO queue is inside the window of receives now, or outside.
    pub(super) fn window_changed(&mut self, messages: &Slab<Stored>, slot: Slot) -> usize {
        match (self, messages.get(slot)) {
            (Self::Fifo(fifo), Some(message)) => usize::from(fifo.refresh(messages, message.group)),
            _ => 0,
        }
    }

    /// The state of a message has changed.
    pub(super) fn changed(
        &mut self,
        messages: &mut Slab<Stored>,
        now: Timestamp,
        slot: Slot,
        old: State,
    ) -> usize {
        let Some((group, new)) = messages.get(slot).map(|message| (message.group, message.state)) else {
            return 0;
        };
        match self {
            // Hidden for another time, it is in flight all the while.
            Self::Standard(_) if in_flight(old) && in_flight(new) => 0,
            Self::Standard(standard) => {
                withdraw(standard, messages, now, slot, old);
                match new {
                    State::Available => standard.show_again(messages, slot, old),
                    State::InFlight { .. } => standard.enter_flight(group),
                    State::Delayed { .. } => {}
                }
                usize::from(new == State::Available)
            }
            Self::Fifo(fifo) => usize::from(fifo.refresh(messages, group)),
        }
    }

    /// A message goes; it is still there.
    pub(super) fn leaves(&mut self, messages: &Slab<Stored>, now: Timestamp, slot: Slot) -> usize {
        let Some((group, state)) = messages.get(slot).map(|message| (message.group, message.state)) else {
            return 0;
        };
        match self {
            Self::Standard(standard) => {
                withdraw(standard, messages, now, slot, state);
                standard.leave(group);
                0
            }
            Self::Fifo(fifo) => usize::from(fifo.remove(messages, slot)),
        }
    }

    /// The message to deliver next, with `in_flight` of them in flight.
    pub(super) fn next(&mut self, now: Timestamp, in_flight: usize, asked: Asked) -> Option<Slot> {
        match self {
            Self::Standard(standard) => standard.next(now, in_flight, asked),
            Self::Fifo(fifo) => fifo.next(),
        }
    }

    /// The message to deliver together with one: that behind it in its group.
    pub(super) fn follower(&self, messages: &Slab<Stored>, slot: Slot) -> Option<Slot> {
        let Self::Fifo(fifo) = self else { return None };
        fifo.after(messages, slot)
    }
}

const fn in_flight(state: State) -> bool {
    matches!(state, State::InFlight { .. })
}

/// Undoes what a message was in its old state.
fn withdraw(standard: &mut Standard, messages: &Slab<Stored>, now: Timestamp, slot: Slot, old: State) {
    match (old, messages.get(slot)) {
        (State::Available, _) => standard.hide(messages, slot),
        (State::InFlight { until }, Some(message)) => {
            let spent = until.min(now).saturating_since(message.received);
            standard.leave_flight(now, message.group, spent);
        }
        _ => {}
    }
}
