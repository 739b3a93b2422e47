//! Order of a FIFO queue: strict order within a group, round robin among groups.
//!
//! A group can deliver its messages from the first up to, and excluding, the first hidden one. This rule covers the
//! lock of a group (receives take messages from the front, so a message in flight blocks all later ones), its release
//! when all messages in flight are deleted, and groups whose messages are hidden for different times. Only messages up
//! to the frontier, the last message in the receive window, count: a receive looks at the first messages of the queue,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::groups::Groups;
use super::message::{State, Stored};
use super::sequence::Sequence;
use super::slab::{Slab, Slot};

#[derive(Debug, Default)]
struct Lane {
    /// All messages of the group by ticket, including hidden ones.
    messages: Sequence,
    /// Its position among the ready groups.
    place: Option<u64>,
}

/// The messages of a FIFO queue by group, and the groups that can deliver.
#[derive(Debug)]
pub(super) struct Fifo {
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
    pub(super) fn join(&mut self, group: Option<&str>) -> Slot {
        self.groups.join(group, Lane::default)
    }

    pub(super) fn id(&self, group: Slot) -> Option<Arc<str>> {
        self.groups.get(group)?.id.clone()
    }

    /// Sets the highest ticket that receives look at.
    pub(super) fn set_frontier(&mut self, frontier: u64) {
        self.frontier = frontier;
    }

    /// Whether receives look at this ticket.
    pub(super) fn is_in_window(&self, ticket: u64) -> bool {
        ticket <= self.frontier
    }

    /// Inserts a message into its group, by ticket. Returns whether the group became ready.
    pub(super) fn push(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        let Some(group) = messages.get(slot).map(|message| message.group) else { return false };
        if let Some(lane) = self.groups.get_mut(group) {
            lane.data.messages.insert(slot, |slot| ticket_of(messages, slot));
        }
        self.refresh(messages, group)
    }

    /// Removes a message from its group. Returns whether the group became ready.
    pub(super) fn remove(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        let Some(group) = messages.get(slot).map(|message| message.group) else { return false };
        if let Some(lane) = self.groups.get_mut(group) {
            lane.data.messages.remove(slot, |slot| ticket_of(messages, slot));
        }
        let became_ready = self.refresh(messages, group);
        self.groups.leave(group);
        became_ready
    }

    /// Updates the group of a message that changed. Returns whether the group became ready.
    pub(super) fn changed(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
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
    pub(super) fn next(&self) -> Option<Slot> {
        self.groups.get(*self.ready.first_key_value()?.1)?.data.messages.first()
    }

    /// The next message of the same group, if it can be received.
    pub(super) fn after(&self, messages: &Slab<Stored>, slot: Slot) -> Option<Slot> {
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
