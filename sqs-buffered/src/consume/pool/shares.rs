//! Decides which consumer starts the next handler. Pure: nothing waits, nothing runs, and time is a parameter.
//!
//! Each consumer has a share of the handlers, by its weight. A consumer below its share goes first. The rest, because
//! of rounding or idle consumers, goes to waiting consumers, in turns by weight (stride scheduling).

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// How long a busy consumer keeps the handlers that it uses, while it receives. Otherwise another consumer, whose
/// handlers may run for an hour, would take them in the meantime.
const RESERVED: Duration = Duration::from_secs(1);

/// A consumer of the pool.
pub(super) type Id = u64;

/// The consumers of a pool, and their handlers.
#[derive(Debug)]
pub(super) struct Shares {
    limit: usize,
    running: usize,
    members: BTreeMap<Id, Member>,
    next_id: Id,
    /// The turns of the consumer that started last. A consumer that was idle continues from here.
    pass: f64,
}

#[derive(Debug)]
struct Member {
    weight: u32,
    running: usize,
    /// Whether a message waits to start.
    is_waiting: bool,
    /// Handlers that were started, divided by the weight. The lowest has the next turn.
    turns: f64,
    /// When it last had something to start, or a handler ended.
    busy: Option<Instant>,
    peak: Peak,
}

/// The most handlers of a consumer that ran at a time in the last second or two.
#[derive(Clone, Copy, Debug, Default)]
struct Peak {
    /// When the current second began.
    since: Option<Instant>,
    current: usize,
    previous: usize,
}

impl Peak {
    fn note(&mut self, running: usize, now: Instant) {
        if self.since.is_none_or(|since| now >= since + RESERVED) {
            *self = Self { since: Some(now), current: 0, previous: self.at(now) };
        }
        self.current = self.current.max(running);
    }

    fn at(&self, now: Instant) -> usize {
        match self.since {
            Some(since) if now < since + RESERVED => self.current.max(self.previous),
            Some(since) if now < since + 2 * RESERVED => self.current,
            _ => 0,
        }
    }
}

impl Shares {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, running: 0, members: BTreeMap::new(), next_id: 0, pass: 0.0 }
    }

    pub(super) fn join(&mut self, weight: u32) -> Id {
        let id = self.next_id;
        self.next_id += 1;
        self.members.insert(
            id,
            Member {
                weight: weight.max(1),
                running: 0,
                is_waiting: false,
                turns: 0.0,
                busy: None,
                peak: Peak::default(),
            },
        );
        id
    }

    /// Forgets a consumer, with the handlers that it runs.
    pub(super) fn leave(&mut self, id: Id) {
        self.running -= self.members.remove(&id).map_or(0, |member| member.running);
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Running handlers above a new limit continue.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Running handlers.
    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Starts a handler, if it is this consumer's turn. If not, the consumer waits.
    pub(super) fn start(&mut self, id: Id, now: Instant) -> bool {
        self.wait(id, now);
        let may = self.turn(now) == Some(id);
        if may && let Some(member) = self.members.get_mut(&id) {
            self.running += 1;
            member.running += 1;
            member.peak.note(member.running, now);
            self.pass = self.pass.max(member.turns);
            member.turns += 1.0 / f64::from(member.weight);
        }
        may
    }

    /// The consumer has nothing to start.
    pub(super) fn idle(&mut self, id: Id) -> bool {
        self.members.get_mut(&id).is_some_and(|member| std::mem::take(&mut member.is_waiting))
    }

    pub(super) fn ended(&mut self, id: Id, now: Instant) {
        if let Some(member) = self.members.get_mut(&id).filter(|member| member.running > 0) {
            member.peak.note(member.running, now);
            member.running -= 1;
            member.busy = Some(now);
            self.running -= 1;
        }
    }

    /// The consumer whose turn it is, if any.
    pub(super) fn turn(&self, now: Instant) -> Option<Id> {
        if self.running >= self.limit {
            return None;
        }
        let reserved: usize = self.members.values().map(|member| self.reserved(member, now)).sum();
        let is_full = self.running + reserved >= self.limit;
        let order = |member: &Member| (member.running >= self.share(member, false), member.turns);
        let may = |member: &Member| member.is_waiting && !(is_full && order(member).0);
        let waiting = self.members.iter().filter(|(_, member)| may(member));
        let next = waiting.min_by(|(_, one), (_, other)| {
            let (one, other) = (order(one), order(other));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
        });
        next.map(|(id, _)| *id)
    }

    /// How many handlers a consumer may have at a time: its share, or what the others leave.
    pub(super) fn places(&self, id: Id, now: Instant) -> usize {
        let Some(member) = self.members.get(&id) else { return 0 };
        let others = self.members.iter().filter(|(other, _)| **other != id);
        let taken: usize = others.map(|(_, other)| other.running + self.reserved(other, now)).sum();
        self.share(member, true).max(self.limit.saturating_sub(taken))
    }

    /// When this consumer may take handlers that are reserved for others, if there are any.
    pub(super) fn next_change(&self, id: Id, now: Instant) -> Option<Instant> {
        let others = self.members.iter().filter(|(other, _)| **other != id).map(|(_, other)| other);
        let reserved = others.filter(|other| !other.is_waiting && self.reserved(other, now) > 0);
        reserved.filter_map(|other| other.busy).map(|busy| busy + RESERVED).min()
    }

    /// How many handlers are reserved for a busy consumer in addition to those that it runs: as many as it ran
    /// recently, within its share. A queue with few messages does not hold back the others.
    fn reserved(&self, member: &Member, now: Instant) -> usize {
        let is_busy = member.is_waiting || member.busy.is_some_and(|busy| now < busy + RESERVED);
        let used = self.share(member, false).min(member.peak.at(now).max(1));
        if is_busy { used.saturating_sub(member.running) } else { 0 }
    }

    /// The share of a consumer, rounded up or down.
    fn share(&self, member: &Member, is_rounded_up: bool) -> usize {
        let weights: u64 = self.members.values().map(|member| u64::from(member.weight)).sum();
        let limit = u64::try_from(self.limit).unwrap_or(u64::MAX);
        let product = limit.saturating_mul(member.weight.into());
        let share = if is_rounded_up { product.div_ceil(weights) } else { product / weights };
        usize::try_from(share).unwrap_or(usize::MAX)
    }

    /// A consumer that was idle does not make up for turns that it did not take.
    fn wait(&mut self, id: Id, now: Instant) {
        let Some(member) = self.members.get_mut(&id) else { return };
        member.busy = Some(now);
        if !std::mem::replace(&mut member.is_waiting, true) {
            member.turns = member.turns.max(self.pass);
        }
    }
}

#[cfg(test)]
#[path = "shares_tests.rs"]
mod tests;
