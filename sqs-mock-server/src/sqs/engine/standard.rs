//! Order of a standard queue: first in, first out, with quiet tenants before noisy ones.
//!
//! A message that becomes visible again returns to its old turn, before later messages. After three receives it moves
//! to the back: a consumer that keeps returning a message cannot starve the others. Tenants are the message groups of a
//! fair queue, see [`fair`](super::fair).
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html>
//!
//! ```text
//! message --group--> messages of a tenant by turn --first turn--> quiet | noisy tenants --ticket--> server
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use super::aws_like::{REORDERING, ServerSample, server_of};
use super::fair::{Recent, Tenant};
use super::groups::{Group, Groups};
use super::message::{State, Stored};
use super::slab::{Slab, Slot};
use crate::service::clock::Timestamp;

/// After this many receives, a message that becomes visible moves to the back.
const RECEIVES_UNTIL_LAST: u32 = 3;

/// The available messages of a standard queue.
#[derive(Debug)]
pub(super) struct Standard {
    tenants: Groups<Tenant>,
    /// One server, unless the queue delivers like AWS.
    servers: usize,
    next_turn: u64,
    processing: Recent,
    /// Quiet tenants by the turn of their first message.
    quiet: BTreeMap<u64, Slot>,
    /// Noisy tenants by the turn of their first message.
    noisy: BTreeMap<u64, Slot>,
    /// All noisy tenants stay noisy until this time.
    quiet_from: Timestamp,
}

impl Standard {
    pub(super) fn new(servers: usize) -> Self {
        Self {
            tenants: Groups::default(),
            servers,
            next_turn: 0,
            processing: Recent::default(),
            quiet: BTreeMap::new(),
            noisy: BTreeMap::new(),
            quiet_from: Timestamp::default(),
        }
    }

    /// The same queue without messages.
    pub(super) fn emptied(&self) -> Self {
        let Self { next_turn, processing, .. } = *self;
        Self { next_turn, processing, ..Self::new(self.servers) }
    }

    /// Adds a message to the count of a tenant.
    pub(super) fn join(&mut self, group: Option<&str>, now: Timestamp) -> Slot {
        let tenant = self.tenants.join(group, Tenant::default);
        if let Some(group) = self.tenants.get_mut(tenant) {
            group.data.last_send = now;
        }
        tenant
    }

    /// The id of a tenant, if it has one.
    pub(super) fn id(&self, tenant: Slot) -> Option<Arc<str>> {
        self.tenants.get(tenant)?.id.clone()
    }

    /// Adds a message: a new one at the back, any other in its turn. Returns whether it is available.
    pub(super) fn added(&mut self, messages: &mut Slab<Stored>, slot: Slot, is_new: bool) -> bool {
        if !is_new {
            // Later messages follow this one.
            let after = messages.get(slot).map_or(0, |message| message.turn + 1);
            self.next_turn = self.next_turn.max(after);
        }
        self.enter_state(messages, slot, !is_new)
    }

    /// Updates a message whose state changed. Returns whether it became available.
    pub(super) fn changed(
        &mut self,
        messages: &mut Slab<Stored>,
        now: Timestamp,
        slot: Slot,
        old: State,
    ) -> bool {
        let in_flight = |state| matches!(state, State::InFlight { .. });
        let Some(message) = messages.get(slot) else { return false };
        // A message that is hidden until another time stays in flight.
        if in_flight(old) && in_flight(message.state) {
            return false;
        }
        let keeps_turn = in_flight(old) && message.core.receives_here() < RECEIVES_UNTIL_LAST;
        self.leave_state(messages, now, slot, old);
        self.enter_state(messages, slot, keeps_turn)
    }

    /// Prepares the removal of a message, which is still in `messages`.
    pub(super) fn leaves(&mut self, messages: &Slab<Stored>, now: Timestamp, slot: Slot) {
        if let Some(Stored { group, state, .. }) = messages.get(slot) {
            self.leave_state(messages, now, slot, *state);
            self.tenants.leave(*group);
        }
    }

    /// A message that becomes available keeps its turn or moves to the back. Returns whether it becomes available.
    fn enter_state(&mut self, messages: &mut Slab<Stored>, slot: Slot, keeps_turn: bool) -> bool {
        let Some(message) = messages.get_mut(slot) else { return false };
        let (tenant, state) = (message.group, message.state);
        match state {
            State::Available => {
                if !keeps_turn {
                    message.turn = self.next_turn;
                    self.next_turn += 1;
                }
                self.change(messages, tenant, |tenant| {
                    tenant.messages.insert(slot, |slot| turn_of(messages, slot));
                });
            }
            State::InFlight { .. } => {
                if let Some(group) = self.tenants.get_mut(tenant) {
                    group.data.in_flight += 1;
                }
            }
            State::Delayed { .. } => {}
        }
        state == State::Available
    }

    fn leave_state(&mut self, messages: &Slab<Stored>, now: Timestamp, slot: Slot, state: State) {
        let Some(message) = messages.get(slot) else { return };
        match state {
            State::Available => self.change(messages, message.group, |tenant| {
                tenant.messages.remove(slot, |slot| turn_of(messages, slot));
            }),
            State::InFlight { until } => {
                let spent = until.min(now).saturating_since(message.received);
                self.processing.add(now, spent);
                if let Some(group) = self.tenants.get_mut(message.group) {
                    group.data.leaves_flight(now, spent);
                }
            }
            State::Delayed { .. } => {}
        }
    }

    /// Changes the messages or the noise of a tenant, and updates its position among the others.
    fn change(&mut self, messages: &Slab<Stored>, slot: Slot, change: impl FnOnce(&mut Tenant)) {
        let Some(Group { data: tenant, .. }) = self.tenants.get_mut(slot) else { return };
        let old = (tenant.turn, tenant.noisy);
        change(tenant);
        tenant.turn = tenant.messages.first().and_then(|first| turn_of(messages, first));
        // A tenant without a backlog is not noisy.
        tenant.noisy &= tenant.turn.is_some();
        let new = (tenant.turn, tenant.noisy);
        if old == new {
            return;
        }
        let tenants = [&mut self.quiet, &mut self.noisy];
        if let (Some(turn), noisy) = old {
            tenants[usize::from(noisy)].remove(&turn);
        }
        if let (Some(turn), noisy) = new {
            tenants[usize::from(noisy)].insert(turn, slot);
        }
    }

    /// The message to deliver next. `in_flight` is the number of messages in flight of all tenants.
    pub(super) fn next(
        &mut self,
        messages: &Slab<Stored>,
        now: Timestamp,
        in_flight: usize,
        sample: ServerSample,
    ) -> Option<Slot> {
        self.expire_noisy(messages, now);
        while let Some(slot) = self.first(messages, &self.quiet, sample) {
            let tenant = messages.get(slot)?.group;
            let Group { id, data, .. } = self.tenants.get(tenant)?;
            if id.is_none() || !data.is_too_noisy(now, in_flight, self.processing) {
                return Some(slot);
            }
            let quiet_from = data.quiet_from();
            self.quiet_from =
                if self.noisy.is_empty() { quiet_from } else { self.quiet_from.min(quiet_from) };
            self.change(messages, tenant, |tenant| tenant.noisy = true);
        }
        self.first(messages, &self.noisy, sample)
    }

    /// The first message on the preferred server, unless one on another sampled server has waited much longer.
    fn first(
        &self,
        messages: &Slab<Stored>,
        tenants: &BTreeMap<u64, Slot>,
        sample: ServerSample,
    ) -> Option<Slot> {
        let (turn, slot) = self.first_on(sample, messages, tenants, u64::MAX)?;
        let preferred = sample.preferred();
        if self.servers < 2 || preferred.is_empty() {
            return Some(slot);
        }
        let preferred = self.first_on(preferred, messages, tenants, turn + REORDERING);
        Some(preferred.map_or(slot, |(_, slot)| slot))
    }

    /// Turn and slot of the first message on the sampled servers, if its turn is not after `until`. Looks only at
    /// messages before it. They are few, whatever the backlog: one receive takes a bounded number of messages, and the next
    /// one samples other servers, so that skipped messages do not pile up.
    fn first_on(
        &self,
        sample: ServerSample,
        messages: &Slab<Stored>,
        tenants: &BTreeMap<u64, Slot>,
        mut until: u64,
    ) -> Option<(u64, Slot)> {
        let mut first = None;
        for (turn, tenant) in tenants {
            if *turn > until {
                break;
            }
            let slots = self.tenants.get(*tenant)?.data.messages.iter();
            let found = slots
                .map_while(|slot| Some((slot, messages.get(slot)?)))
                .take_while(|(_, message)| message.turn <= until)
                .find(|(_, message)| sample.has(server_of(message.ticket, self.servers)));
            if let Some((slot, message)) = found {
                until = message.turn;
                first = Some((until, slot));
            }
        }
        first
    }

    /// Scans the noisy tenants only if one of them can have become quiet.
    fn expire_noisy(&mut self, messages: &Slab<Stored>, now: Timestamp) {
        if self.noisy.is_empty() || now < self.quiet_from {
            return;
        }
        self.quiet_from = Timestamp::from_millis(u64::MAX);
        for tenant in self.noisy.values().copied().collect::<Vec<_>>() {
            let quiet_from = self.tenants.get(tenant).map(|group| group.data.quiet_from());
            match quiet_from.filter(|quiet_from| now < *quiet_from) {
                Some(quiet_from) => self.quiet_from = self.quiet_from.min(quiet_from),
                None => self.change(messages, tenant, |tenant| tenant.noisy = false),
            }
        }
    }
}

fn turn_of(messages: &Slab<Stored>, slot: Slot) -> Option<u64> {
    messages.get(slot).map(|message| message.turn)
}
