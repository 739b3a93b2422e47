//! One of the servers that a standard queue is spread over, with the messages that are available there.

use std::collections::BTreeMap;

use super::message::Stored;
use super::slab::Slot;

/// Where a tenant is among the others.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Place {
    /// The turn of its first message; `None` without available messages.
    turn: Option<u64>,
    /// Among which tenants.
    noisy: bool,
}

#[derive(Debug, Default)]
pub(super) struct Server {
    /// By tenant and turn.
    messages: BTreeMap<(Slot, u64), Slot>,
    /// By the number of the tenant.
    places: Vec<Place>,
    /// Tenants by the turn of their first message.
    quiet: BTreeMap<u64, Slot>,
    noisy: BTreeMap<u64, Slot>,
}

impl Server {
    /// A message is available, in its turn.
    pub(super) fn show(&mut self, message: &Stored, slot: Slot, noisy: bool) {
        self.messages.insert((message.group, message.turn), slot);
        self.requeue(message.group, noisy);
    }

    /// A message is not available any more.
    pub(super) fn hide(&mut self, message: &Stored, noisy: bool) {
        self.messages.remove(&(message.group, message.turn));
        self.requeue(message.group, noisy);
    }

    /// The turn and the tenant of the next message among the quiet or the noisy tenants.
    pub(super) fn first(&self, noisy: bool) -> Option<(u64, Slot)> {
        let queue = if noisy { &self.noisy } else { &self.quiet };
        queue.first_key_value().map(|(turn, tenant)| (*turn, *tenant))
    }

    /// The next message of a tenant.
    pub(super) fn first_of(&self, tenant: Slot) -> Option<Slot> {
        self.first_message(tenant).map(|(_, slot)| slot)
    }

    fn first_message(&self, tenant: Slot) -> Option<(u64, Slot)> {
        let first = self.messages.range((tenant, 0)..=(tenant, u64::MAX)).next();
        first.map(|((_, turn), slot)| (*turn, *slot))
    }

    /// Puts a tenant where it belongs after its first message or its noise has changed.
    pub(super) fn requeue(&mut self, tenant: Slot, noisy: bool) {
        let new = Place { turn: self.first_message(tenant).map(|(turn, _)| turn), noisy };
        let at = tenant.0 as usize;
        if at >= self.places.len() {
            self.places.resize(at + 1, Place::default());
        }
        let Some(place) = self.places.get_mut(at) else { return };
        let old = std::mem::replace(place, new);
        if old == new {
            return;
        }
        if let Some(turn) = old.turn {
            if old.noisy {
                self.noisy.remove(&turn)
            } else {
                self.quiet.remove(&turn)
            };
        }
        if let Some(turn) = new.turn {
            if noisy {
                self.noisy.insert(turn, tenant)
            } else {
                self.quiet.insert(turn, tenant)
            };
        }
    }
}
