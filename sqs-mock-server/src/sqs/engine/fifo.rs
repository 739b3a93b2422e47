//! Order of a FIFO queue: within a group strictly in order, the groups in turn.
//!
//! A group can give its messages from the first up to the one before the first that is hidden. That one rule is
//! the lock of a group (what is received is taken from the front, so that a message in flight keeps back all
//! behind it), its release by the delete of all messages in flight, and the behaviour of groups whose messages
//! are hidden for different times. Only what is up to the frontier counts, see [`window`](super::window).

use std::sync::Arc;

use super::chain::{Chain, Links};
use super::groups::Groups;
use super::message::{State, Stored};
use super::slab::{Slab, Slot};

#[derive(Debug, Default)]
struct Lane {
    /// All messages of the group, hidden ones too.
    messages: Chain,
    ready: bool,
}

/// The messages of a FIFO queue by group, and the groups that can give some.
#[derive(Debug)]
pub(super) struct Fifo {
    groups: Groups<Lane>,
    links: Links,
    /// Groups whose first message is available. One that becomes so goes to the end; so receives walk round the
    /// groups.
    ready: Chain,
    ready_links: Links,
    /// The ticket of the last message that a receive looks at.
    frontier: u64,
}

impl Default for Fifo {
    fn default() -> Self {
        Self {
            groups: Groups::default(),
            links: Links::default(),
            ready: Chain::default(),
            ready_links: Links::default(),
            frontier: u64::MAX,
        }
    }
}

impl Fifo {
    /// Counts one more message of a group.
    pub(super) fn join(&mut self, group: Option<&str>) -> Slot {
        self.groups.join(group, Lane::default)
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

    /// Puts a message where its ticket belongs in its group, a new one at the end. Says whether the group has
    /// become ready.
    pub(super) fn push(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        let Some(message) = messages.get(slot) else {
            return false;
        };
        let Some(group) = self.groups.get_mut(message.group) else {
            return false;
        };
        let lane = &mut group.data.messages;
        let is_later = |slot: &Slot| messages.get(*slot).is_some_and(|other| other.ticket > message.ticket);
        if lane.last().is_some_and(|last| is_later(&last)) {
            let next = self.links.iter(lane).find(is_later);
            self.links.insert_before(lane, slot, next);
        } else {
            self.links.push_back(lane, slot);
        }
        self.refresh(messages, message.group)
    }

    /// Takes a message out of its group. Says whether the group has become ready.
    pub(super) fn remove(&mut self, messages: &Slab<Stored>, group: Slot, slot: Slot) -> bool {
        let Some(lane) = self.groups.get_mut(group) else {
            return false;
        };
        self.links.remove(&mut lane.data.messages, slot);
        let became_ready = self.refresh(messages, group);
        self.groups.leave(group);
        became_ready
    }

    /// Looks again whether a group is ready. Says whether it has become so.
    pub(super) fn refresh(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        let Some(group) = self.groups.get_mut(slot) else {
            return false;
        };
        let frontier = self.frontier;
        let lane = &mut group.data;
        let first = lane.messages.first().and_then(|first| messages.get(first));
        let ready = first.is_some_and(|message| can_give(message, frontier));
        let became_ready = ready && !lane.ready;
        if became_ready {
            self.ready_links.push_back(&mut self.ready, slot);
        } else if lane.ready && !ready {
            self.ready_links.remove(&mut self.ready, slot);
        }
        lane.ready = ready;
        became_ready
    }

    /// The first message of the group whose turn it is.
    pub(super) fn next(&self) -> Option<Slot> {
        self.groups.get(self.ready.first()?)?.data.messages.first()
    }

    /// The message after one in the same group, when it can be received.
    pub(super) fn after(&self, messages: &Slab<Stored>, slot: Slot) -> Option<Slot> {
        self.links
            .after(slot)
            .filter(|after| messages.get(*after).is_some_and(|after| can_give(after, self.frontier)))
    }
}

fn can_give(message: &Stored, frontier: u64) -> bool {
    message.state == State::Available && message.ticket <= frontier
}
