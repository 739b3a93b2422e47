//! One of the servers that a standard queue is spread over, with the messages that are available there.

use std::collections::BTreeMap;

use super::chain::{Chain, Links};
use super::message::Stored;
use super::slab::{Slab, Slot};

/// The messages of one tenant.
#[derive(Debug, Default)]
struct Lane {
    /// By turn, those that came in their turn.
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
    /// Messages that came back to an earlier turn, by tenant and turn.
    returned: BTreeMap<(Slot, u64), Slot>,
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
        let last = lane.waiting.last().and_then(|last| messages.get(last));
        if last.is_some_and(|last| last.turn > message.turn) {
            self.returned.insert((message.group, message.turn), slot);
        } else {
            links.push_back(&mut lane.waiting, slot);
        }
        self.requeue(messages, message.group, noisy);
    }

    /// A message is not available any more.
    pub(super) fn hide(&mut self, messages: &Slab<Stored>, links: &mut Links, slot: Slot, noisy: bool) {
        let Some((tenant, turn)) = messages.get(slot).map(|message| (message.group, message.turn)) else {
            return;
        };
        let returned = self.returned.remove(&(tenant, turn)).is_some();
        if let Some(lane) = self.lanes.get_mut(tenant.0 as usize).filter(|_| !returned) {
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
        let lane = self.lanes.get(tenant.0 as usize)?;
        self.returned.get(&(tenant, lane.turn?)).copied().or_else(|| lane.waiting.first())
    }

    /// Puts a tenant where it belongs after its first message or its noise has changed.
    pub(super) fn requeue(&mut self, messages: &Slab<Stored>, tenant: Slot, noisy: bool) {
        let Some(lane) = self.lanes.get_mut(tenant.0 as usize) else {
            return;
        };
        let waiting = lane.waiting.first().and_then(|slot| messages.get(slot)).map(|message| message.turn);
        let returned = self.returned.range((tenant, 0)..=(tenant, u64::MAX)).next();
        let turn = waiting.into_iter().chain(returned.map(|((_, turn), _)| *turn)).min();
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
