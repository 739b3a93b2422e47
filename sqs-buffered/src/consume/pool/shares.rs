//! Whose turn it is to start a handler. Pure: nothing waits, nothing runs.
//!
//! Each consumer has a share of the handlers, by its weight. A consumer below its share goes first. What the shares leave,
//! because they are rounded down or others are idle, goes to those that wait, in turns by their weights (stride scheduling).

use std::collections::BTreeMap;

/// A consumer of the pool.
pub(super) type Id = u64;

/// The consumers of a pool, and their handlers.
#[derive(Debug)]
pub(super) struct Shares {
    limit: usize,
    running: usize,
    members: BTreeMap<Id, Member>,
    next_id: Id,
}

#[derive(Debug)]
struct Member {
    weight: u32,
    running: usize,
    /// There is a message to start.
    is_waiting: bool,
    /// Handlers that were started, divided by the weight. The lowest has the next turn.
    turns: f64,
}

impl Shares {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, running: 0, members: BTreeMap::new(), next_id: 0 }
    }

    pub(super) fn join(&mut self, weight: u32) -> Id {
        let id = self.next_id;
        self.next_id += 1;
        self.members.insert(id, Member { weight: weight.max(1), running: 0, is_waiting: false, turns: 0.0 });
        id
    }

    /// Forgets a consumer, with the handlers that it runs.
    pub(super) fn leave(&mut self, id: Id) {
        self.running -= self.members.remove(&id).map_or(0, |member| member.running);
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Handlers that run beyond a new limit go on.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Handlers that run.
    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Starts a handler, if it is this consumer's turn. If not, the consumer waits.
    pub(super) fn start(&mut self, id: Id) -> bool {
        self.wait(id);
        let may = self.turn() == Some(id);
        if may && let Some(member) = self.members.get_mut(&id) {
            self.running += 1;
            member.running += 1;
            member.turns += 1.0 / f64::from(member.weight);
        }
        may
    }

    /// The consumer has nothing to start.
    pub(super) fn idle(&mut self, id: Id) -> bool {
        self.members.get_mut(&id).is_some_and(|member| std::mem::take(&mut member.is_waiting))
    }

    pub(super) fn ended(&mut self, id: Id) {
        if let Some(member) = self.members.get_mut(&id).filter(|member| member.running > 0) {
            member.running -= 1;
            self.running -= 1;
        }
    }

    /// Whose turn it is now, if anybody's.
    pub(super) fn turn(&self) -> Option<Id> {
        if self.running >= self.limit {
            return None;
        }
        let waiting = self.members.iter().filter(|(_, member)| member.is_waiting);
        let order = |member: &Member| (member.running >= self.share(member, false), member.turns);
        let next = waiting.min_by(|(_, one), (_, other)| {
            let (one, other) = (order(one), order(other));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
        });
        next.map(|(id, _)| *id)
    }

    /// How many handlers a consumer may have at a time: its share, or what the others leave.
    pub(super) fn places(&self, id: Id) -> usize {
        let Some(member) = self.members.get(&id) else { return 0 };
        let others = self.running - member.running;
        self.share(member, true).max(self.limit.saturating_sub(others))
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
    fn wait(&mut self, id: Id) {
        let busy = self.members.values().filter(|member| member.is_waiting).map(|member| member.turns);
        let least = busy.min_by(f64::total_cmp).unwrap_or_default();
        if let Some(member) = self.members.get_mut(&id).filter(|member| !member.is_waiting) {
            member.is_waiting = true;
            member.turns = member.turns.max(least);
        }
    }
}

#[cfg(test)]
#[path = "shares_tests.rs"]
mod tests;
