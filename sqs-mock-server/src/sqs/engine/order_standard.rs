//! Order of a standard queue: first in, first out, with quiet tenants before noisy ones.
//!
//! A message that becomes visible again returns to its old turn, before later messages. After three receives it moves
//! to the back: a consumer that keeps returning a message cannot starve the others. Tenants are the message groups of a
//! fair queue.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html>
//!
//! ```text
//! message --group--> messages of a tenant by turn --first turn--> quiet | noisy tenants --ticket--> server
//! ```
//!
//! Noisy tenants of fair queues.
//!
//! Tenants are the message groups of a standard queue. A tenant becomes noisy when it has a large share of the messages
//! in flight or of the recent processing time. It becomes quiet when its backlog is drained or it has sent nothing for
//! five minutes:
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html>
//!
//! Delivery like a standard queue of AWS: from several servers, roughly in order, sometimes twice.
//!
//! Each message is stored on one of [`SERVERS`] servers. A short poll samples some of them, so it can return none or
//! only some of the available messages; a long poll queries all. Each receive prefers a random server, so messages are
//! slightly reordered. A server can miss a receive or a delete of a message. All randomness derives from the seed of
//! the queue.
//!
//! Sources: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html>,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/standard-queues-at-least-once-delivery.html>

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;

use crate::control::clock::Timestamp;
use crate::control::seed::scramble;
use crate::sqs::engine::messages::{Sequence, Slab, Slot, State, Stored};
use crate::sqs::engine::order::{Group, Groups};

/// After this many receives, a message that becomes visible moves to the back.
const RECEIVES_UNTIL_LAST: u32 = 3;

/// The available messages of a standard queue.
#[derive(Debug)]
pub(crate) struct Standard {
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
    pub(crate) fn new(servers: usize) -> Self {
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
    pub(crate) fn emptied(&self) -> Self {
        let Self { next_turn, processing, .. } = *self;
        Self { next_turn, processing, ..Self::new(self.servers) }
    }

    /// Adds a message to the count of a tenant.
    pub(crate) fn join(&mut self, group: Option<&str>, now: Timestamp) -> Slot {
        let tenant = self.tenants.join(group, Tenant::default);
        if let Some(group) = self.tenants.get_mut(tenant) {
            group.data.last_send = now;
        }
        tenant
    }

    /// The id of a tenant, if it has one.
    pub(crate) fn id(&self, tenant: Slot) -> Option<Arc<str>> {
        self.tenants.get(tenant)?.id.clone()
    }

    /// Adds a message: a new one at the back, any other in its turn. Returns whether it is available.
    pub(crate) fn added(&mut self, messages: &mut Slab<Stored>, slot: Slot, is_new: bool) -> bool {
        if !is_new {
            // Later messages follow this one.
            let after = messages.get(slot).map_or(0, |message| message.turn + 1);
            self.next_turn = self.next_turn.max(after);
        }
        self.enter_state(messages, slot, !is_new)
    }

    /// Updates a message whose state changed. Returns whether it became available.
    pub(crate) fn changed(
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
    pub(crate) fn leaves(&mut self, messages: &Slab<Stored>, now: Timestamp, slot: Slot) {
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
    pub(crate) fn next(
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

/// A tenant is not noisy with fewer messages in flight than this.
const NOISY_IN_FLIGHT: usize = 30;

/// A tenant is not noisy with less recent processing time than this, in milliseconds. AWS documents no such bound.
/// Without one, the first deleted message would make its tenant noisy, because it has all of the processing time.
const NOISY_MILLIS: u64 = 30_000;

/// A noisy tenant has more than one part in this many.
const NOISY_SHARE: u8 = 10;

/// A tenant becomes quiet after sending nothing for this long.
const QUIET_AFTER: Duration = Duration::from_mins(5);

/// Length of an interval. Recent is the current interval and the one before it: 2.5 to 5 minutes.
const PART_MILLIS: u64 = 150_000;

/// Recent processing time, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent {
    part: u64,
    current: u64,
    before: u64,
}

impl Recent {
    pub(crate) fn add(&mut self, now: Timestamp, spent: Duration) {
        let spent = u64::try_from(spent.as_millis()).unwrap_or(u64::MAX);
        *self = self.at(now);
        self.current = self.current.saturating_add(spent);
    }

    fn sum(self, now: Timestamp) -> u64 {
        let Self { current, before, .. } = self.at(now);
        current.saturating_add(before)
    }

    fn at(self, now: Timestamp) -> Self {
        let part = now.as_millis() / PART_MILLIS;
        match part.saturating_sub(self.part) {
            0 => self,
            1 => Self { part, current: 0, before: self.current },
            _ => Self { part, ..Self::default() },
        }
    }
}

/// A tenant with its available messages and its activity.
#[derive(Debug, Default)]
pub(crate) struct Tenant {
    /// The available messages, sorted by turn.
    pub(crate) messages: Sequence,
    /// The turn of the first of them.
    pub(crate) turn: Option<u64>,
    pub(crate) in_flight: usize,
    pub(crate) noisy: bool,
    pub(crate) last_send: Timestamp,
    processing: Recent,
}

impl Tenant {
    /// Counts a message that left flight after `spent`.
    pub(crate) fn leaves_flight(&mut self, now: Timestamp, spent: Duration) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.processing.add(now, spent);
    }

    /// When the tenant becomes quiet, unless it sends again.
    pub(crate) fn quiet_from(&self) -> Timestamp {
        self.last_send + QUIET_AFTER
    }

    /// Whether the tenant has too large a share of the messages in flight or of the processing time of all tenants.
    pub(crate) fn is_too_noisy(&self, now: Timestamp, in_flight: usize, processing: Recent) -> bool {
        let share = usize::from(NOISY_SHARE);
        let by_flight = self.in_flight >= NOISY_IN_FLIGHT && self.in_flight * share > in_flight;
        now < self.quiet_from() && (by_flight || self.takes_too_long(now, processing))
    }

    fn takes_too_long(&self, now: Timestamp, total: Recent) -> bool {
        let millis = self.processing.sum(now);
        millis >= NOISY_MILLIS && millis.saturating_mul(u64::from(NOISY_SHARE)) > total.sum(now)
    }
}

/// Servers of a queue, at most 8.
pub(crate) const SERVERS: usize = 8;

/// Number of servers that a short poll queries.
const SAMPLED: u32 = 5;

/// In a long poll, at most this many messages overtake one.
pub(crate) const REORDERING: u64 = 50;

/// A server misses one in this many receives and deletes.
const MISSES: u32 = 100;

/// The server that stores a message.
pub(crate) fn server_of(ticket: u64, servers: usize) -> usize {
    if servers < 2 {
        return 0;
    }
    usize::try_from(scramble(ticket) % servers as u64).unwrap_or(0)
}

/// The servers that a receive queries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerSample {
    /// One bit for each server.
    servers: u8,
    /// The server whose message comes first, unless another message has waited much longer.
    preferred: usize,
}

impl ServerSample {
    /// All servers. The order is exact if there is only one.
    pub(crate) const ALL: Self = Self { servers: u8::MAX, preferred: 0 };

    pub(crate) fn has(self, server: usize) -> bool {
        self.servers >> server & 1 == 1
    }

    pub(crate) fn is_empty(self) -> bool {
        self.servers == 0
    }

    /// Only the preferred server, if it is one of these.
    pub(crate) fn preferred(self) -> Self {
        Self { servers: self.servers & 1 << self.preferred, ..self }
    }
}

/// The random choices of a queue.
#[derive(Debug)]
pub(crate) struct AwsLike {
    chance: Rng,
}

impl AwsLike {
    pub(crate) fn new(chance: Rng) -> Self {
        Self { chance }
    }

    /// Chooses the servers that a receive queries.
    pub(crate) fn sample(&mut self, all: bool) -> ServerSample {
        let mut sample = ServerSample::ALL;
        while !all && sample.servers.count_ones() > SAMPLED {
            sample.servers &= !(1 << self.chance.u32(0..8));
        }
        sample
    }

    /// The same servers, with a random preferred one.
    pub(crate) fn prefer(&mut self, sample: ServerSample) -> ServerSample {
        ServerSample { preferred: self.chance.usize(0..SERVERS), ..sample }
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        self.chance.shuffle(list);
    }

    /// Whether a server misses a receive or a delete.
    pub(crate) fn misses(&mut self) -> bool {
        self.chance.u32(0..MISSES) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processing_time_is_forgotten_after_five_minutes_at_the_latest() {
        let at = |seconds: u64| Timestamp::from_millis(seconds * 1000);
        let mut recent = Recent::default();
        recent.add(at(10), Duration::from_secs(1));
        recent.add(at(160), Duration::from_secs(2));
        assert_eq!(recent.sum(at(299)), 3000);
        assert_eq!(recent.sum(at(300)), 2000);
        assert_eq!(recent.sum(at(450)), 0);
        recent.add(at(900), Duration::from_secs(4));
        assert_eq!(recent.sum(at(900)), 4000);
    }
}
