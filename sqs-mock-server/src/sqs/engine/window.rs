//! How far into a FIFO queue a receive looks for groups that can give messages.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use super::message::Birth;
use super::slab::Slot;

/// The first messages of a queue.
#[derive(Debug)]
pub(super) struct Window {
    limit: usize,
    inside: usize,
    /// The last message inside.
    last: Option<Birth>,
}

impl Window {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), inside: 0, last: None }
    }

    /// A window of the same size, on a queue without messages.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.limit)
    }

    /// The ticket up to which receives look.
    pub(super) fn frontier(&self) -> u64 {
        let full = self.last.filter(|_| self.inside == self.limit);
        full.map_or(u64::MAX, |(_, ticket)| ticket)
    }

    /// A message has come in; it is among `messages`. Returns the message that is outside because of it, which may be the
    /// new one.
    pub(super) fn enter(&mut self, messages: &BTreeMap<Birth, Slot>, birth: Birth) -> Option<Slot> {
        let last = self.last.get_or_insert(birth);
        if self.inside < self.limit {
            self.inside += 1;
            *last = birth.max(*last);
            return None;
        }
        let outside = birth.max(*last);
        if birth < *last {
            *last = messages.range(..*last).next_back().map_or(birth, |(before, _)| *before);
        }
        messages.get(&outside).copied()
    }

    /// A message has left; it is not among `messages`. Returns the message that is inside because of it.
    pub(super) fn leave(&mut self, messages: &BTreeMap<Birth, Slot>, birth: Birth) -> Option<Slot> {
        let last = self.last.filter(|last| birth <= *last)?;
        let next = messages.range((Excluded(last), Unbounded)).next();
        if let Some((next, slot)) = next {
            self.last = Some(*next);
            return Some(*slot);
        }
        self.inside -= 1;
        self.last = messages.last_key_value().map(|(last, _)| *last);
        None
    }
}
