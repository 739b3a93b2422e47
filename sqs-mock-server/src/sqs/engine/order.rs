//! The next message to deliver, for both kinds of queues.
//!
//! Order of a FIFO queue: strict order within a group, round robin among groups.
//!
//! A group can deliver its messages from the first up to, and excluding, the first hidden one. This rule covers the
//! lock of a group (receives take messages from the front, so a message in flight blocks all later ones), its release
//! when all messages in flight are deleted, and groups whose messages are hidden for different times. Only messages up
//! to the frontier, the last message in the receive window, count: a receive looks at the first messages of the queue,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::control::clock::Timestamp;
use crate::sqs::engine::messages::{Sequence, Slab, Slot, State, Stored, is_oversized};
use crate::sqs::engine::order_standard::{ServerSample, Standard};

/// The order of a queue's messages. A change returns whether a message (FIFO: a group) became receivable.
#[derive(Debug)]
pub(crate) enum Order {
    Standard(Standard),
    Fifo(Fifo),
}

impl Order {
    /// `servers` applies to standard queues.
    pub(crate) fn new(fifo: bool, servers: usize) -> Self {
        if fifo { Self::Fifo(Fifo::default()) } else { Self::Standard(Standard::new(servers)) }
    }

    /// The same order without messages. Turns continue, so a message that returns to its old turn does not share it.
    pub(crate) fn emptied(&self) -> Self {
        match self {
            Self::Standard(standard) => Self::Standard(standard.emptied()),
            Self::Fifo(_) => Self::Fifo(Fifo::default()),
        }
    }

    /// Adds a message to the count of a group.
    pub(crate) fn join(&mut self, group: Option<&str>, now: Timestamp) -> Slot {
        match self {
            Self::Standard(standard) => standard.join(group, now),
            Self::Fifo(fifo) => fifo.join(group),
        }
    }

    pub(crate) fn group_id(&self, group: Slot) -> Option<Arc<str>> {
        match self {
            Self::Standard(standard) => standard.id(group),
            Self::Fifo(fifo) => fifo.id(group),
        }
    }

    /// Adds a message, which is already in its group's count: a new one at the back, any other in its old position.
    pub(crate) fn added(&mut self, messages: &mut Slab<Stored>, slot: Slot, is_new: bool) -> bool {
        match self {
            Self::Standard(standard) => standard.added(messages, slot, is_new),
            Self::Fifo(fifo) => fifo.push(messages, slot),
        }
    }

    /// Sets the highest ticket that receives look at, on a FIFO queue.
    pub(crate) fn set_frontier(&mut self, frontier: u64) {
        if let Self::Fifo(fifo) = self {
            fifo.set_frontier(frontier);
        }
    }

    /// Whether receives look at this ticket.
    pub(crate) fn is_in_window(&self, ticket: u64) -> bool {
        match self {
            Self::Standard(_) => true,
            Self::Fifo(fifo) => fifo.is_in_window(ticket),
        }
    }

    /// Updates a message of a FIFO queue that moved into or out of the receive window.
    pub(crate) fn window_changed(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        match self {
            Self::Standard(_) => false,
            Self::Fifo(fifo) => fifo.changed(messages, slot),
        }
    }

    /// Updates a message whose state changed.
    pub(crate) fn changed(
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
    pub(crate) fn leaves(&mut self, messages: &Slab<Stored>, now: Timestamp, slot: Slot) -> bool {
        match self {
            Self::Standard(standard) => {
                standard.leaves(messages, now, slot);
                false
            }
            Self::Fifo(fifo) => fifo.remove(messages, slot),
        }
    }

    /// The message to deliver next. `in_flight` is the number of messages in flight.
    pub(crate) fn next(
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
    pub(crate) fn follower(&self, messages: &Slab<Stored>, slot: Slot) -> Option<Slot> {
        let Self::Fifo(fifo) = self else { return None };
        fifo.after(messages, slot)
    }
}

/// A group with data that depends on the kind of queue.
#[derive(Debug)]
pub(crate) struct Group<T> {
    /// `None` for messages without a group, which only standard queues have.
    pub(crate) id: Option<Arc<str>>,
    pub(crate) data: T,
    members: usize,
}

/// Groups by id. A group with an id exists while it has messages.
#[derive(Debug)]
pub(crate) struct Groups<T> {
    by_id: HashMap<Arc<str>, Slot>,
    nameless: Option<Slot>,
    all: Slab<Group<T>>,
}

impl<T> Default for Groups<T> {
    fn default() -> Self {
        Self { by_id: HashMap::new(), nameless: None, all: Slab::default() }
    }
}

impl<T> Groups<T> {
    pub(crate) fn get(&self, slot: Slot) -> Option<&Group<T>> {
        self.all.get(slot)
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut Group<T>> {
        self.all.get_mut(slot)
    }

    /// Adds a message to the count of a group. The first message creates the group.
    pub(crate) fn join(&mut self, id: Option<&str>, new: impl FnOnce() -> T) -> Slot {
        let found = match id {
            Some(id) => self.by_id.get(id).copied(),
            None => self.nameless,
        };
        if let Some((slot, group)) = found.and_then(|slot| Some((slot, self.all.get_mut(slot)?))) {
            group.members += 1;
            return slot;
        }
        let id: Option<Arc<str>> = id.map(Arc::from);
        let slot = self.all.insert(Group { id: id.clone(), data: new(), members: 1 });
        match id {
            Some(id) => drop(self.by_id.insert(id, slot)),
            None => self.nameless = Some(slot),
        }
        slot
    }

    /// Removes a message from the count of a group. The last message removes the group, unless it has no id: most queues
    /// have no other group, and would create it again and again.
    pub(crate) fn leave(&mut self, slot: Slot) {
        let Some(group) = self.all.get_mut(slot) else {
            return;
        };
        group.members -= 1;
        if group.members > 0 {
            return;
        }
        if let Some(id) = group.id.take() {
            self.by_id.remove(&id);
            if is_oversized(self.by_id.len(), self.by_id.capacity()) {
                self.by_id.shrink_to(self.by_id.len() * 2);
            }
            self.all.remove(slot);
        }
    }
}

#[derive(Debug, Default)]
struct Lane {
    /// All messages of the group by ticket, including hidden ones.
    messages: Sequence,
    /// Its position among the ready groups.
    place: Option<u64>,
}

/// The messages of a FIFO queue by group, and the groups that can deliver.
#[derive(Debug)]
pub(crate) struct Fifo {
    groups: Groups<Lane>,
    /// Groups whose first message is available. A group that becomes ready is appended, so receives take the groups in
    /// turn.
    ready: BTreeMap<u64, Slot>,
    next_place: u64,
    /// The highest ticket that receives look at.
    frontier: u64,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { groups: Groups::default(), ready: BTreeMap::new(), next_place: 0, frontier: u64::MAX }
    }
}

impl Fifo {
    /// Adds a message to the count of a group.
    pub(crate) fn join(&mut self, group: Option<&str>) -> Slot {
        self.groups.join(group, Lane::default)
    }

    pub(crate) fn id(&self, group: Slot) -> Option<Arc<str>> {
        self.groups.get(group)?.id.clone()
    }

    /// Sets the highest ticket that receives look at.
    pub(crate) fn set_frontier(&mut self, frontier: u64) {
        self.frontier = frontier;
    }

    /// Whether receives look at this ticket.
    pub(crate) fn is_in_window(&self, ticket: u64) -> bool {
        ticket <= self.frontier
    }

    /// Inserts a message into its group, by ticket. Returns whether the group became ready.
    pub(crate) fn push(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        let Some(group) = messages.get(slot).map(|message| message.group) else { return false };
        if let Some(lane) = self.groups.get_mut(group) {
            lane.data.messages.insert(slot, |slot| ticket_of(messages, slot));
        }
        self.refresh(messages, group)
    }

    /// Removes a message from its group. Returns whether the group became ready.
    pub(crate) fn remove(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        let Some(group) = messages.get(slot).map(|message| message.group) else { return false };
        if let Some(lane) = self.groups.get_mut(group) {
            lane.data.messages.remove(slot, |slot| ticket_of(messages, slot));
        }
        let became_ready = self.refresh(messages, group);
        self.groups.leave(group);
        became_ready
    }

    /// Updates the group of a message that changed. Returns whether the group became ready.
    pub(crate) fn changed(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        messages.get(slot).is_some_and(|message| self.refresh(messages, message.group))
    }

    /// Updates whether a group is ready. Returns whether it became ready.
    fn refresh(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        let Some(lane) = self.groups.get_mut(slot).map(|group| &mut group.data) else { return false };
        let first = lane.messages.first().and_then(|first| messages.get(first));
        let is_ready = first.is_some_and(|message| can_deliver(message, self.frontier));
        match (lane.place, is_ready) {
            (None, true) => {
                lane.place = Some(self.next_place);
                self.ready.insert(self.next_place, slot);
                self.next_place += 1;
                return true;
            }
            (Some(place), false) => {
                lane.place = None;
                self.ready.remove(&place);
            }
            _ => {}
        }
        false
    }

    /// The first message of the group whose turn it is.
    pub(crate) fn next(&self) -> Option<Slot> {
        self.groups.get(*self.ready.first_key_value()?.1)?.data.messages.first()
    }

    /// The next message of the same group, if it can be received.
    pub(crate) fn after(&self, messages: &Slab<Stored>, slot: Slot) -> Option<Slot> {
        let lane = &self.groups.get(messages.get(slot)?.group)?.data;
        let after = lane.messages.after(slot, |slot| ticket_of(messages, slot))?;
        messages.get(after).filter(|after| can_deliver(after, self.frontier)).map(|_| after)
    }
}

fn ticket_of(messages: &Slab<Stored>, slot: Slot) -> Option<u64> {
    messages.get(slot).map(|message| message.ticket)
}

fn can_deliver(message: &Stored, frontier: u64) -> bool {
    message.state == State::Available && message.ticket <= frontier
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_exists_from_its_first_to_its_last_message() {
        let mut groups = Groups::<u8>::default();
        let a = groups.join(Some("a"), || 1);
        assert_eq!(groups.join(Some("a"), || 2), a);
        let nameless = groups.join(None, || 3);
        assert_ne!(nameless, a);
        groups.leave(a);
        assert_eq!(groups.get(a).map(|group| group.data), Some(1));
        groups.leave(a);
        assert!(groups.get(a).is_none());
        assert_eq!(groups.get(nameless).map(|group| group.data), Some(3));
    }
}
