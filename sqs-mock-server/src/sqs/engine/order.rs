//! The next message to deliver, for both kinds of queues.

use std::sync::Arc;

use super::aws_like::ServerSample;
use super::fifo::Fifo;
use super::message::{State, Stored};
use super::slab::{Slab, Slot};
use super::standard::Standard;
use crate::service::clock::Timestamp;

/// The order of a queue's messages. Methods that return a number return how many messages (FIFO: groups) became
/// receivable.
#[derive(Debug)]
pub(super) enum Order {
    Standard(Standard),
    Fifo(Fifo),
}

impl Order {
    /// `servers` applies to standard queues.
    pub(super) fn new(fifo: bool, servers: usize) -> Self {
        if fifo { Self::Fifo(Fifo::default()) } else { Self::Standard(Standard::new(servers)) }
    }

    /// The same order without messages. Turns continue, so a message that returns to its old turn does not share it.
    pub(super) fn emptied(&self) -> Self {
        match self {
            Self::Standard(standard) => Self::Standard(standard.emptied()),
            Self::Fifo(_) => Self::Fifo(Fifo::default()),
        }
    }

    /// Adds a message to the count of a group.
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

    /// Adds a new message, which is already in its group's count.
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

    /// Returns an available message to its old position; it is already in its group's count.
    pub(super) fn returned(&mut self, messages: &Slab<Stored>, slot: Slot) -> usize {
        match self {
            Self::Standard(standard) => {
                standard.show_in_turn(messages, slot);
                1
            }
            Self::Fifo(fifo) => usize::from(fifo.push(messages, slot)),
        }
    }

    /// Adds a message of an earlier process in its position; it is already in its group's count.
    #[cfg(any(test, feature = "durable"))]
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

    /// Sets the highest ticket that receives look at, on a FIFO queue.
    pub(super) fn set_frontier(&mut self, frontier: u64) {
        if let Self::Fifo(fifo) = self {
            fifo.set_frontier(frontier);
        }
    }

    /// Whether receives look at this ticket.
    pub(super) fn is_in_window(&self, ticket: u64) -> bool {
        match self {
            Self::Standard(_) => true,
            Self::Fifo(fifo) => fifo.is_in_window(ticket),
        }
    }

    /// Updates a message of a FIFO queue that moved into or out of the receive window.
    pub(super) fn window_changed(&mut self, messages: &Slab<Stored>, slot: Slot) -> usize {
        match (self, messages.get(slot)) {
            (Self::Fifo(fifo), Some(message)) => usize::from(fifo.refresh(messages, message.group)),
            _ => 0,
        }
    }

    /// Updates a message whose state changed.
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
            // A message that is hidden until another time stays in flight.
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

    /// Prepares the removal of a message, which is still in `messages`.
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

    /// The message to deliver next. `in_flight` is the number of messages in flight.
    pub(super) fn next(&mut self, now: Timestamp, in_flight: usize, sample: ServerSample) -> Option<Slot> {
        match self {
            Self::Standard(standard) => standard.next(now, in_flight, sample),
            Self::Fifo(fifo) => fifo.next(),
        }
    }

    /// The message to deliver in the same receive: the next of its group.
    pub(super) fn follower(&self, messages: &Slab<Stored>, slot: Slot) -> Option<Slot> {
        let Self::Fifo(fifo) = self else { return None };
        fifo.after(messages, slot)
    }
}

const fn in_flight(state: State) -> bool {
    matches!(state, State::InFlight { .. })
}

/// Reverts the effects of a message's old state.
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
