//! One of the servers of a standard queue, with the messages that are available on it.

use std::collections::BTreeMap;

use super::message::Stored;
use super::sequence::Sequence;
use super::slab::{Slab, Slot};

/// The messages of one tenant.
#[derive(Debug, Default)]
struct Lane {
    /// Sorted by turn.
    messages: Sequence,
    place: Place,
}

/// Position of a tenant among the others.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Place {
    /// The turn of its first message; `None` without available messages.
    turn: Option<u64>,
    noisy: bool,
}

#[derive(Debug, Default)]
pub(super) struct Server {
    /// Indexed by the slot of the tenant.
    lanes: Vec<Lane>,
    /// Tenants by the turn of their first message.
    quiet: BTreeMap<u64, Slot>,
    noisy: BTreeMap<u64, Slot>,
}

impl Server {
    /// Adds an available message of a tenant, in its turn.
    pub(super) fn show(&mut self, messages: &Slab<Stored>, tenant: Slot, slot: Slot, noisy: bool) {
        let at = tenant.0 as usize;
        if at >= self.lanes.len() {
            self.lanes.resize_with(at + 1, Lane::default);
        }
        self.change(messages, tenant, noisy, |lane| {
            lane.insert(slot, |slot| turn_of(messages, slot));
        });
    }

    /// Removes a message that is no longer available.
    pub(super) fn hide(&mut self, messages: &Slab<Stored>, tenant: Slot, slot: Slot, noisy: bool) {
        self.change(messages, tenant, noisy, |lane| {
            lane.remove(slot, |slot| turn_of(messages, slot));
        });
    }

    fn change(
        &mut self,
        messages: &Slab<Stored>,
        tenant: Slot,
        noisy: bool,
        change: impl FnOnce(&mut Sequence),
    ) {
        let Some(lane) = self.lanes.get_mut(tenant.0 as usize) else { return };
        change(&mut lane.messages);
        let turn = lane.messages.first().and_then(|first| turn_of(messages, first));
        self.put(tenant, Place { turn, noisy });
    }

    /// Marks a tenant as noisy or quiet.
    pub(super) fn set_noisy(&mut self, tenant: Slot, noisy: bool) {
        if let Some(lane) = self.lanes.get(tenant.0 as usize) {
            self.put(tenant, Place { noisy, ..lane.place });
        }
    }

    /// Turn and tenant of the first message of the quiet or noisy tenants.
    pub(super) fn first(&self, noisy: bool) -> Option<(u64, Slot)> {
        let queue = if noisy { &self.noisy } else { &self.quiet };
        queue.first_key_value().map(|(turn, tenant)| (*turn, *tenant))
    }

    /// The first message of a tenant.
    pub(super) fn first_of(&self, tenant: Slot) -> Option<Slot> {
        self.lanes.get(tenant.0 as usize)?.messages.first()
    }

    /// Updates the position of a tenant.
    fn put(&mut self, tenant: Slot, new: Place) {
        let Some(lane) = self.lanes.get_mut(tenant.0 as usize) else { return };
        let old = std::mem::replace(&mut lane.place, new);
        if old == new {
            return;
        }
        if let Some(turn) = old.turn {
            self.tenants(old.noisy).remove(&turn);
        }
        if let Some(turn) = new.turn {
            self.tenants(new.noisy).insert(turn, tenant);
        }
    }

    fn tenants(&mut self, noisy: bool) -> &mut BTreeMap<u64, Slot> {
        if noisy { &mut self.noisy } else { &mut self.quiet }
    }
}

fn turn_of(messages: &Slab<Stored>, slot: Slot) -> Option<u64> {
    messages.get(slot).map(|message| message.turn)
}
