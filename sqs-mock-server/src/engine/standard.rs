//! Order of a standard queue: first come, first served, with quiet tenants before noisy ones.
//!
//! A message that becomes visible again goes behind those that wait already: a consumer that keeps handing a
//! message back cannot starve the others. Tenants are the message groups of a fair queue:
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html>

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::chain::{Chain, Links};
use super::groups::{Group, Groups};
use super::message::Stored;
use super::slab::{Slab, Slot};
use crate::clock::Timestamp;

/// A tenant can be noisy from this many messages in flight.
const NOISY_IN_FLIGHT: usize = 30;
/// A tenant is noisy with more than one in this many of the messages in flight.
const NOISY_SHARE: usize = 10;
/// A tenant that sends nothing for so long is quiet again.
const CALM_AFTER: Duration = Duration::from_mins(5);

#[derive(Debug)]
struct Tenant {
    waiting: Chain,
    in_flight: usize,
    noisy: bool,
    last_send: Timestamp,
    /// The turn under which the tenant queues up; `None` while nothing of it waits.
    turn: Option<u64>,
}

/// The available messages of a standard queue.
#[derive(Debug, Default)]
pub(super) struct Standard {
    tenants: Groups<Tenant>,
    links: Links,
    next_turn: u64,
    /// Tenants by the turn of their first waiting message.
    quiet: BTreeMap<u64, Slot>,
    noisy: BTreeMap<u64, Slot>,
    /// No noisy tenant calms down before this.
    calm_from: Timestamp,
}

impl Standard {
    /// Counts one more message of a tenant.
    pub(super) fn join(&mut self, group: Option<&str>, now: Timestamp) -> Slot {
        let new =
            || Tenant { waiting: Chain::default(), in_flight: 0, noisy: false, last_send: now, turn: None };
        let tenant = self.tenants.join(group, new);
        if let Some(group) = self.tenants.get_mut(tenant) {
            group.data.last_send = now;
        }
        tenant
    }

    /// Counts one message less of a tenant.
    pub(super) fn leave(&mut self, tenant: Slot) {
        self.tenants.leave(tenant);
    }

    /// The id of a tenant, when it has one.
    pub(super) fn id(&self, tenant: Slot) -> Option<Arc<str>> {
        self.tenants.get(tenant)?.id.clone()
    }

    /// A message has become available.
    pub(super) fn show(&mut self, messages: &mut Slab<Stored>, slot: Slot) {
        let Some(message) = messages.get_mut(slot) else {
            return;
        };
        message.turn = self.next_turn;
        self.next_turn += 1;
        let Some(group) = self.tenants.get_mut(message.group) else {
            return;
        };
        self.links.push_back(&mut group.data.waiting, slot);
        let tenant = message.group;
        self.requeue(messages, tenant);
    }

    /// A message is not available any more.
    pub(super) fn hide(&mut self, messages: &Slab<Stored>, slot: Slot) {
        let Some(tenant) = messages.get(slot).map(|message| message.group) else {
            return;
        };
        let Some(group) = self.tenants.get_mut(tenant) else {
            return;
        };
        self.links.remove(&mut group.data.waiting, slot);
        self.requeue(messages, tenant);
    }

    /// A message was taken into flight.
    pub(super) fn take_off(&mut self, tenant: Slot) {
        if let Some(group) = self.tenants.get_mut(tenant) {
            group.data.in_flight += 1;
        }
    }

    /// A message is not in flight any more.
    pub(super) fn land(&mut self, tenant: Slot) {
        if let Some(group) = self.tenants.get_mut(tenant) {
            group.data.in_flight -= 1;
        }
    }

    /// The message to deliver next; `in_flight` counts those of all tenants.
    pub(super) fn next(&mut self, messages: &Slab<Stored>, now: Timestamp, in_flight: usize) -> Option<Slot> {
        self.calm_down(messages, now);
        while let Some(tenant) = self.quiet.first_key_value().map(|(_, tenant)| *tenant) {
            let group = self.tenants.get_mut(tenant)?;
            if group.id.is_none() || !is_noisy(&group.data, in_flight) {
                return group.data.waiting.first();
            }
            group.data.noisy = true;
            let calm = group.data.last_send + CALM_AFTER;
            self.calm_from = if self.noisy.is_empty() { calm } else { self.calm_from.min(calm) };
            self.requeue(messages, tenant);
        }
        let (_, tenant) = self.noisy.first_key_value()?;
        self.tenants.get(*tenant)?.data.waiting.first()
    }

    /// Looks through the noisy tenants only when one of them may have become quiet.
    fn calm_down(&mut self, messages: &Slab<Stored>, now: Timestamp) {
        if self.noisy.is_empty() || now < self.calm_from {
            return;
        }
        let noisy: Vec<Slot> = self.noisy.values().copied().collect();
        self.calm_from = now + CALM_AFTER;
        for tenant in noisy {
            let Some(group) = self.tenants.get_mut(tenant) else {
                continue;
            };
            let calm = group.data.last_send + CALM_AFTER;
            group.data.noisy = now < calm;
            if group.data.noisy {
                self.calm_from = self.calm_from.min(calm);
            }
            self.requeue(messages, tenant);
        }
    }

    /// Puts a tenant where it belongs after its first message or its noise has changed.
    fn requeue(&mut self, messages: &Slab<Stored>, tenant: Slot) {
        let Some(Group { data, .. }) = self.tenants.get_mut(tenant) else {
            return;
        };
        if let Some(turn) = data.turn.take() {
            self.quiet.remove(&turn);
            self.noisy.remove(&turn);
        }
        data.turn = data.waiting.first().and_then(|slot| messages.get(slot)).map(|message| message.turn);
        // A drained backlog ends the noise.
        data.noisy &= data.turn.is_some();
        if let Some(turn) = data.turn {
            let queue = if data.noisy { &mut self.noisy } else { &mut self.quiet };
            queue.insert(turn, tenant);
        }
    }
}

fn is_noisy(tenant: &Tenant, in_flight: usize) -> bool {
    tenant.in_flight >= NOISY_IN_FLIGHT && tenant.in_flight * NOISY_SHARE > in_flight
}
