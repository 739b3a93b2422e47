//! Order of a FIFO queue: within a group strictly in order, the groups in turn.
//!
//! A group can give its messages from the first up to the one before the first that is hidden. That one rule is
//! the lock of a group (what is received is taken from the front, so that a message in flight keeps back all
//! behind it), its release by the delete of all messages in flight, and the behaviour of groups whose messages
//! are hidden for different times. Only what is up to the frontier counts, see [`window`](super::window).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::groups::Groups;
use super::message::{State, Stored};
use super::slab::{Slab, Slot};

/// The messages of a FIFO queue by group, and the groups that can give some.
#[derive(Debug)]
pub(super) struct Fifo {
    /// Each with its place among the groups that are ready.
    groups: Groups<Option<u64>>,
    /// By group and ticket, hidden ones too.
    messages: BTreeMap<(Slot, u64), Slot>,
    /// Groups whose first message is available. One that becomes so goes to the end: receives take the groups in turn.
    ready: BTreeMap<u64, Slot>,
    next_place: u64,
    /// The ticket of the last message that a receive looks at.
    frontier: u64,
}

impl Default for Fifo {
    fn default() -> Self {
        Self {
            groups: Groups::default(),
            messages: BTreeMap::new(),
            ready: BTreeMap::new(),
            next_place: 0,
            frontier: u64::MAX,
        }
    }
}

impl Fifo {
    /// Counts one more message of a group.
    pub(super) fn join(&mut self, group: Option<&str>) -> Slot {
        self.groups.join(group, || None)
    }

    /// The id of a group.
    pub(super) fn id(&self, group: Slot) -> Option<Arc<str>> {
        self.groups.get(group)?.id.clone()
    }

    /// Receives look at messages up to this ticket from now on.
    pub(super) fn look_up_to(&mut self, frontier: u64) {
        self.frontier = frontier;
    }

    /// Whether receives look at messages of this ticket.
    pub(super) fn looks_at(&self, ticket: u64) -> bool {
        ticket <= self.frontier
    }

    /// Puts a message where its ticket belongs in its group, a new one at the end. Returns whether the group has become
    /// ready.
    pub(super) fn push(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        let Some(message) = messages.get(slot) else { return false };
        self.messages.insert((message.group, message.ticket), slot);
        self.refresh(messages, message.group)
    }

    /// Takes a message out of its group. Returns whether the group has become ready.
    pub(super) fn remove(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        let Some(message) = messages.get(slot) else { return false };
        self.messages.remove(&(message.group, message.ticket));
        let became_ready = self.refresh(messages, message.group);
        self.groups.leave(message.group);
        became_ready
    }

    /// Looks again whether a group is ready. Returns whether it has become so.
    pub(super) fn refresh(&mut self, messages: &Slab<Stored>, group: Slot) -> bool {
        let first = self.first_from(group, 0).and_then(|first| messages.get(first));
        let is_ready = first.is_some_and(|message| can_give(message, self.frontier));
        let Some(place) = self.groups.get_mut(group).map(|group| &mut group.data) else { return false };
        match (*place, is_ready) {
            (None, true) => {
                *place = Some(self.next_place);
                self.ready.insert(self.next_place, group);
                self.next_place += 1;
                return true;
            }
            (Some(at), false) => {
                *place = None;
                self.ready.remove(&at);
            }
            _ => {}
        }
        false
    }

    /// The first message of the group whose turn it is.
    pub(super) fn next(&self) -> Option<Slot> {
        self.first_from(*self.ready.first_key_value()?.1, 0)
    }

    /// The message after one in the same group, when it can be received.
    pub(super) fn after(&self, messages: &Slab<Stored>, slot: Slot) -> Option<Slot> {
        let message = messages.get(slot)?;
        let after = self.first_from(message.group, message.ticket + 1)?;
        messages.get(after).filter(|after| can_give(after, self.frontier)).map(|_| after)
    }

    /// The first message of a group from a ticket on.
    fn first_from(&self, group: Slot, ticket: u64) -> Option<Slot> {
        self.messages.range((group, ticket)..=(group, u64::MAX)).next().map(|(_, slot)| *slot)
    }
}

fn can_give(message: &Stored, frontier: u64) -> bool {
    message.state == State::Available && message.ticket <= frontier
}
