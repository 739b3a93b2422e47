//! Order of a standard queue: first in, first out, with quiet tenants before noisy ones.
//!
//! A message that becomes visible again returns to its old turn, before later messages. After three receives it moves
//! to the back: a consumer that keeps returning a message cannot starve the others. Tenants are the message groups of a
//! fair queue, see [`fair`](super::fair).
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html>
//!
//! ```text
//! message --ticket--> server --group--> messages by turn --first turn--> quiet | noisy
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::aws_like::{ServerSample, server_of};
use super::fair::{Recent, Tenant, Total};
use super::groups::{Group, Groups};
use super::message::{State, Stored};
use super::server::Server;
use super::slab::{Slab, Slot};
use crate::service::clock::Timestamp;

/// After this many receives, a message that becomes visible moves to the back.
const RECEIVES_UNTIL_LAST: u32 = 3;

/// The available messages of a standard queue.
#[derive(Debug)]
pub(super) struct Standard {
    tenants: Groups<Tenant>,
    /// One server, unless the queue delivers like AWS.
    servers: Vec<Server>,
    next_turn: u64,
    processing: Recent,
    noisy: BTreeSet<Slot>,
    /// All noisy tenants stay noisy until this time.
    quiet_from: Timestamp,
}

impl Standard {
    pub(super) fn new(servers: usize) -> Self {
        Self {
            tenants: Groups::default(),
            servers: std::iter::repeat_with(Server::default).take(servers).collect(),
            next_turn: 0,
            processing: Recent::default(),
            noisy: BTreeSet::new(),
            quiet_from: Timestamp::default(),
        }
    }

    /// The same queue without messages.
    pub(super) fn emptied(&self) -> Self {
        let Self { next_turn, processing, .. } = *self;
        Self { next_turn, processing, ..Self::new(self.servers.len()) }
    }

    /// Adds a message to the count of a tenant.
    pub(super) fn join(&mut self, group: Option<&str>, now: Timestamp) -> Slot {
        let tenant = self.tenants.join(group, || Tenant::new(now));
        if let Some(group) = self.tenants.get_mut(tenant) {
            group.data.sends(now);
        }
        tenant
    }

    /// Removes a message from the count of a tenant.
    pub(super) fn leave(&mut self, tenant: Slot) {
        self.tenants.leave(tenant);
    }

    /// The id of a tenant, if it has one.
    pub(super) fn id(&self, tenant: Slot) -> Option<Arc<str>> {
        self.tenants.get(tenant)?.id.clone()
    }

    /// Makes a message available, at the back.
    pub(super) fn show(&mut self, messages: &mut Slab<Stored>, slot: Slot) {
        if let Some(message) = messages.get_mut(slot) {
            message.turn = self.next_turn;
            self.next_turn += 1;
        }
        self.show_in_turn(messages, slot);
    }

    /// Makes later messages follow this one.
    #[cfg(any(test, feature = "durable"))]
    pub(super) fn keep_turn(&mut self, messages: &Slab<Stored>, slot: Slot) {
        let after = messages.get(slot).map_or(0, |message| message.turn + 1);
        self.next_turn = self.next_turn.max(after);
    }

    /// Makes a message available that was hidden.
    pub(super) fn show_again(&mut self, messages: &mut Slab<Stored>, slot: Slot, old: State) {
        let has_turn = matches!(old, State::InFlight { .. });
        let receives = messages.get(slot).map_or(0, |message| message.core.receives_here());
        if has_turn && receives < RECEIVES_UNTIL_LAST {
            self.show_in_turn(messages, slot);
        } else {
            self.show(messages, slot);
        }
    }

    /// Makes a message available in its old turn.
    pub(super) fn show_in_turn(&mut self, messages: &Slab<Stored>, slot: Slot) {
        let Some(message) = messages.get(slot) else {
            return;
        };
        let Some(Group { data: tenant, .. }) = self.tenants.get_mut(message.group) else {
            return;
        };
        tenant.waiting += 1;
        let noisy = tenant.noisy;
        let server = server_of(message.ticket, self.servers.len());
        if let Some(server) = self.servers.get_mut(server) {
            server.show(messages, message.group, slot, noisy);
        }
    }

    /// Removes a message that is no longer available.
    pub(super) fn hide(&mut self, messages: &Slab<Stored>, slot: Slot) {
        let Some(message) = messages.get(slot) else {
            return;
        };
        let Some(Group { data: tenant, .. }) = self.tenants.get_mut(message.group) else {
            return;
        };
        tenant.waiting -= 1;
        if tenant.waiting == 0 && tenant.noisy {
            // A tenant without a backlog is not noisy.
            tenant.noisy = false;
            self.noisy.remove(&message.group);
        }
        let noisy = tenant.noisy;
        let server = server_of(message.ticket, self.servers.len());
        if let Some(server) = self.servers.get_mut(server) {
            server.hide(messages, message.group, slot, noisy);
        }
    }

    /// Counts a message in flight.
    pub(super) fn enter_flight(&mut self, tenant: Slot) {
        if let Some(group) = self.tenants.get_mut(tenant) {
            group.data.in_flight += 1;
        }
    }

    /// Counts a message that left flight after `spent`.
    pub(super) fn leave_flight(&mut self, now: Timestamp, tenant: Slot, spent: Duration) {
        self.processing.add(now, spent);
        if let Some(group) = self.tenants.get_mut(tenant) {
            group.data.leaves_flight(now, spent);
        }
    }

    /// The message to deliver next. `in_flight` is the number of messages in flight of all tenants.
    pub(super) fn next(&mut self, now: Timestamp, in_flight: usize, sample: ServerSample) -> Option<Slot> {
        self.expire_noisy(now);
        let total = Total { in_flight, processing: self.processing };
        while let Some((server, tenant)) = self.first(sample, false) {
            let group = self.tenants.get_mut(tenant)?;
            if group.id.is_none() || !group.data.is_too_noisy(now, total) {
                return self.servers.get(server)?.first_of(tenant);
            }
            let quiet_from = group.data.quiet_from();
            self.quiet_from =
                if self.noisy.is_empty() { quiet_from } else { self.quiet_from.min(quiet_from) };
            self.set_noisy(tenant, true);
        }
        let (server, tenant) = self.first(sample, true)?;
        self.servers.get(server)?.first_of(tenant)
    }

    /// Server and tenant of the first message of the quiet or noisy tenants.
    fn first(&self, sample: ServerSample, noisy: bool) -> Option<(usize, Slot)> {
        sample.choose(self.servers.iter().map(|server| server.first(noisy)))
    }

    /// Scans the noisy tenants only if one of them can have become quiet.
    fn expire_noisy(&mut self, now: Timestamp) {
        if self.noisy.is_empty() || now < self.quiet_from {
            return;
        }
        self.quiet_from = Timestamp::from_millis(u64::MAX);
        for tenant in self.noisy.clone() {
            let quiet_from = self.tenants.get(tenant).map(|group| group.data.quiet_from());
            match quiet_from.filter(|quiet_from| now < *quiet_from) {
                Some(quiet_from) => self.quiet_from = self.quiet_from.min(quiet_from),
                None => self.set_noisy(tenant, false),
            }
        }
    }

    fn set_noisy(&mut self, tenant: Slot, noisy: bool) {
        if let Some(group) = self.tenants.get_mut(tenant) {
            group.data.noisy = noisy;
        }
        if noisy {
            self.noisy.insert(tenant)
        } else {
            self.noisy.remove(&tenant)
        };
        for server in &mut self.servers {
            server.set_noisy(tenant, noisy);
        }
    }
}
