//! Which messages were sent already: deduplication ids of the last five minutes.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html>

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use sqs_client::limits;

use super::attributes::DeduplicationScope;
use crate::clock::Timestamp;

const WINDOW: Duration = Duration::from_secs(limits::DEDUPLICATION_SECONDS);

/// An id within its scope, as 128 bits: a million ids take an eighth of the memory that their texts would. Two
/// different ids of one queue are taken for the same with a probability of about one in 2^88 for a million ids.
type Mark = [u64; 2];

/// Ids with their originals. An id is forgotten five minutes after its first accepted send; duplicates, receives
/// and deletes change nothing in that.
#[derive(Debug)]
pub(super) struct Deduplication {
    /// The scope at creation: AWS goes on by it when the attribute is changed later.
    scope: DeduplicationScope,
    /// Makes the marks of one queue different from those of others, so that nobody can prepare ids that collide.
    key: u64,
    /// The tickets of the originals. A hash table would now and then stop a send for as long as it takes to move
    /// a million ids.
    tickets: BTreeMap<Mark, u64>,
    /// The oldest first, with the moment at which each is forgotten.
    in_order: VecDeque<(Timestamp, Mark)>,
}

impl Deduplication {
    pub(super) fn new(scope: DeduplicationScope, key: u64) -> Self {
        Self { scope, key, tickets: BTreeMap::new(), in_order: VecDeque::new() }
    }

    /// The ticket of the message that an id stands for. When there is none, the id stands for `ticket` from now on.
    pub(super) fn original(&mut self, now: Timestamp, group: &str, id: &str, ticket: u64) -> Option<u64> {
        self.forget(now);
        let mark = self.mark(group, id);
        if let Some(original) = self.tickets.get(&mark) {
            return Some(*original);
        }
        self.tickets.insert(mark, ticket);
        self.in_order.push_back((now + WINDOW, mark));
        None
    }

    pub(super) fn clear(&mut self) {
        self.tickets.clear();
        self.in_order.clear();
    }

    fn forget(&mut self, now: Timestamp) {
        while let Some((_, mark)) = self.in_order.pop_front_if(|(forget, _)| *forget <= now) {
            self.tickets.remove(&mark);
        }
    }

    fn mark(&self, group: &str, id: &str) -> Mark {
        let group = (self.scope == DeduplicationScope::MessageGroup).then_some(group);
        [self.key, !self.key].map(|key| {
            let mut hasher = DefaultHasher::new();
            (key, group, id).hash(&mut hasher);
            hasher.finish()
        })
    }
}
