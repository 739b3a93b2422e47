//! Order of a FIFO queue: within a group strictly in order, the groups in turn.
//!
//! A group can give its messages from the first up to the one before the first that is hidden. That one rule is
//! the lock of a group (what is received is taken from the front, so that a message in flight keeps back all
//! behind it), its release by the delete of all messages in flight, and the behaviour of groups whose messages
//! are hidden for different times. Only what is up to the frontier counts: a receive looks at
//! the first messages of the queue,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::groups::Groups;
use super::message::{State, Stored};
use super::sequence::Sequence;
use super::slab::{Slab, Slot};

#[derive(Debug, Default)]
struct Lane {
    /// All messages of the group by ticket, hidden ones too.
    messages: Sequence,
    /// Its place among the groups that are ready.
    place: Option<u64>,
}

/// The messages of a FIFO queue by group, and the groups that can give some.
#[derive(Debug)]
pub(super) struct Fifo {
    groups: Groups<Lane>,
    /// Groups whose first message is available. One that becomes so goes to the end: receives take the groups in turn.
    ready: BTreeMap<u64, Slot>,
    next_place: u64,
    /// The ticket of the last message that a receive looks at.
    frontier: u64,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { groups: Groups::default(), ready: BTreeMap::new(), next_place: 0, frontier: u64::MAX }
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

    /// Puts a message where its ticket belongs in its group, a new one at the end. Returns whether the group has become
    /// ready.
    pub(super) fn push(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        let Some(group) = messages.get(slot).map(|message| message.group) else { return false };
        if let Some(lane) = self.groups.get_mut(group) {
            lane.data.messages.insert(slot, |slot| ticket_of(messages, slot));
        }
        self.refresh(messages, group)
    }

    /// Takes a message out of its group. Returns whether the group has become ready.
    pub(super) fn remove(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        let Some(group) = messages.get(slot).map(|message| message.group) else { return false };
        if let Some(lane) = self.groups.get_mut(group) {
            lane.data.messages.remove(slot, |slot| ticket_of(messages, slot));
        }
        let became_ready = self.refresh(messages, group);
        self.groups.leave(group);
        became_ready
    }

    /// Looks again whether a group is ready. Returns whether it has become so.
    pub(super) fn refresh(&mut self, messages: &Slab<Stored>, slot: Slot) -> bool {
        let Some(lane) = self.groups.get_mut(slot).map(|group| &mut group.data) else { return false };
        let first = lane.messages.first().and_then(|first| messages.get(first));
        let is_ready = first.is_some_and(|message| can_give(message, self.frontier));
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

    /// The message after one in the same group, when it can be received.
    pub(super) fn after(&self, messages: &Slab<Stored>, slot: Slot) -> Option<Slot> {
        let lane = &self.groups.get(messages.get(slot)?.group)?.data;
        let after = lane.messages.after(slot, |slot| ticket_of(messages, slot))?;
        messages.get(after).filter(|after| can_give(after, self.frontier)).map(|_| after)
    }
}

fn ticket_of(messages: &Slab<Stored>, slot: Slot) -> Option<u64> {
    messages.get(slot).map(|message| message.ticket)
}

fn can_give(message: &Stored, frontier: u64) -> bool {
    message.state == State::Available && message.ticket <= frontier
}
