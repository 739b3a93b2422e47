//! The next message to deliver, for both kinds of queues.

use std::sync::Arc;

use super::aws_like::ServerSample;
use super::fifo::Fifo;
use super::message::{State, Stored};
use super::slab::{Slab, Slot};
use super::standard::Standard;
use crate::service::clock::Timestamp;

/// The order of a queue's messages. A change returns whether a message (FIFO: a group) became receivable.
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

    /// Adds a message, which is already in its group's count: a new one at the back, any other in its old position.
    pub(super) fn added(&mut self, messages: &mut Slab<Stored>, slot: Slot, is_new: bool) -> bool {
        match self {
            Self::Standard(standard) => standard.added(messages, slot, is_new),
            Self::Fifo(fifo) => fifo.push(messages, slot),
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
    pub(super) fn window_changed(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        match self {
            Self::Standard(_) => false,
            Self::Fifo(fifo) => fifo.changed(messages, slot),
        }
    }

    /// Updates a message whose state changed.
    pub(super) fn changed(
        &mut self,
        messages: &mut Slab<Stored>,
        now: Timestamp,
        slot: Slot,
        old: State,
    ) -> bool {
        match self {
            Self::Standard(standard) => standard.changed(messages, now, slot, old),
            Self::Fifo(fifo) => fifo.changed(messages, slot),
        }
    }

    /// Prepares the removal of a message, which is still in `messages`.
    pub(super) fn leaves(&mut self, messages: &Slab<Stored>, now: Timestamp, slot: Slot) -> bool {
        match self {
            Self::Standard(standard) => {
                standard.leaves(messages, now, slot);
                false
            }
            Self::Fifo(fifo) => fifo.remove(messages, slot),
        }
    }

    /// The message to deliver next. `in_flight` is the number of messages in flight.
    pub(super) fn next(
        &mut self,
        messages: &Slab<Stored>,
        now: Timestamp,
        in_flight: usize,
        sample: ServerSample,
    ) -> Option<Slot> {
        match self {
            Self::Standard(standard) => standard.next(messages, now, in_flight, sample),
            Self::Fifo(fifo) => fifo.next(),
        }
    }

    /// The message to deliver in the same receive: the next of its group.
    pub(super) fn follower(&self, messages: &Slab<Stored>, slot: Slot) -> Option<Slot> {
        let Self::Fifo(fifo) = self else { return None };
        fifo.after(messages, slot)
    }
}
