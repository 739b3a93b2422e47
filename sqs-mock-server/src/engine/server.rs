//! One of the servers that a standard queue is spread over, with the messages that are available there.

use std::collections::BTreeMap;

use super::chain::{Chain, Links};
use super::message::Stored;
use super::slab::{Slab, Slot};

/// The messages of one tenant.
#[derive(Debug, Default)]
struct Lane {
    /// By turn.
    waiting: Chain,
    /// The turn of the first, under which the tenant queues up; `None` while nothing of it waits.
    turn: Option<u64>,
    /// Among which tenants it queues up.
    noisy: bool,
}

#[derive(Debug, Default)]
pub(super) struct Server {
    /// By the number of the tenant.
    lanes: Vec<Lane>,
    /// Tenants by the turn of their first waiting message.
    quiet: BTreeMap<u64, Slot>,
    noisy: BTreeMap<u64, Slot>,
}

impl Server {
    /// A message is available, in its turn.
    pub(super) fn show(&mut self, messages: &Slab<Stored>, links: &mut Links, slot: Slot, noisy: bool) {
        let Some(message) = messages.get(slot) else {
            return;
        };
        let at = message.group.0 as usize;
        if at >= self.lanes.len() {
            self.lanes.resize_with(at + 1, Lane::default);
        }
        let Some(lane) = self.lanes.get_mut(at) else {
            return;
        };
        let is_later = |slot: &Slot| messages.get(*slot).is_some_and(|other| other.turn > message.turn);
        if lane.waiting.last().is_some_and(|last| is_later(&last)) {
            let next = links.iter(&lane.waiting).find(is_later);
            links.insert_before(&mut lane.waiting, slot, next);
        } else {
            links.push_back(&mut lane.waiting, slot);
        }
        self.requeue(messages, message.group, noisy);
    }

    /// A message is not available any more.
    pub(super) fn hide(&mut self, messages: &Slab<Stored>, links: &mut Links, slot: Slot, noisy: bool) {
        let Some(tenant) = messages.get(slot).map(|message| message.group) else {
            return;
        };
        if let Some(lane) = self.lanes.get_mut(tenant.0 as usize) {
            links.remove(&mut lane.waiting, slot);
        }
        self.requeue(messages, tenant, noisy);
    }

    /// The turn and the tenant of the next message among the quiet or the noisy tenants.
    pub(super) fn first(&self, noisy: bool) -> Option<(u64, Slot)> {
        let queue = if noisy { &self.noisy } else { &self.quiet };
        queue.first_key_value().map(|(turn, tenant)| (*turn, *tenant))
    }

    /// The next message of a tenant.
    pub(super) fn first_of(&self, tenant: Slot) -> Option<Slot> {
        self.lanes.get(tenant.0 as usize)?.waiting.first()
    }

    /// Puts a tenant where it belongs after its first message or its noise has changed.
    pub(super) fn requeue(&mut self, messages: &Slab<Stored>, tenant: Slot, noisy: bool) {
        let Some(lane) = self.lanes.get_mut(tenant.0 as usize) else {
            return;
        };
        let first = lane.waiting.first().and_then(|slot| messages.get(slot));
        let turn = first.map(|message| message.turn);
        if (lane.turn, lane.noisy) == (turn, noisy) {
            return;
        }
        if let Some(turn) = lane.turn {
            let queue = if lane.noisy { &mut self.noisy } else { &mut self.quiet };
            queue.remove(&turn);
        }
        (lane.turn, lane.noisy) = (turn, noisy);
        if let Some(turn) = turn {
            let queue = if noisy { &mut self.noisy } else { &mut self.quiet };
            queue.insert(turn, tenant);
        }
    }
}
