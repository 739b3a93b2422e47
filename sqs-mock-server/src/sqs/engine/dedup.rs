//! Deduplication: the deduplication ids of the last five minutes.
//!
//! Source: the page `using-messagededuplicationid-property.html` of the developer guide,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/>

use std::collections::{HashMap, VecDeque};
use std::hash::Hasher as _;
use std::time::Duration;

use siphasher::sip128::{Hasher128 as _, SipHasher13};
use sqs_client::wire::limits;

use super::attributes::DeduplicationScope;
use crate::service::clock::Timestamp;

const WINDOW: Duration = Duration::from_secs(limits::DEDUPLICATION_SECONDS);

/// A deduplication id, stored as a hash of 128 bits. With a million ids in a queue, the probability of a collision is
/// about one in 2^88. Stable across versions, since a store may keep it.
pub(super) type Mark = u128;

/// A deduplication id with its original.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Known {
    /// The hash of the id.
    pub mark: Mark,
    /// When it expires.
    pub forget: Timestamp,
    /// The ticket of the original.
    pub ticket: u64,
}

/// The deduplication ids of a queue. An id expires five minutes after its first accepted send; duplicates, receives and
/// deletes do not change that.
#[derive(Debug)]
pub(super) struct Deduplication {
    /// The scope at creation: on AWS, a later change of the attribute does not affect it.
    scope: DeduplicationScope,
    /// Makes the hashes of each queue different. Otherwise a sender could compute ids that collide.
    key: u64,
    by_mark: HashMap<Mark, Known>,
    /// Oldest first.
    in_order: VecDeque<Mark>,
}

impl Known {
    /// When the original was sent.
    pub(crate) fn sent(self) -> Timestamp {
        self.forget.saturating_before(WINDOW)
    }
}

impl Deduplication {
    /// Estimated memory of an id.
    pub(super) const BYTES: usize = 96;

    pub(super) fn new(scope: DeduplicationScope, key: u64) -> Self {
        Self { scope, key, by_mark: HashMap::new(), in_order: VecDeque::new() }
    }

    /// The original of a deduplication id.
    pub(super) fn find(&mut self, now: Timestamp, mark: Mark) -> Option<Known> {
        self.forget(now);
        self.by_mark.get(&mark).copied()
    }

    /// Makes the message with this ticket the original of an id that has none.
    pub(super) fn remember(&mut self, now: Timestamp, mark: Mark, ticket: u64) -> Known {
        let known = Known { mark, forget: now + WINDOW, ticket };
        self.insert(known);
        known
    }

    fn insert(&mut self, known: Known) {
        self.by_mark.insert(known.mark, known);
        self.in_order.push_back(known.mark);
    }

    /// The scope at creation.
    #[cfg(test)]
    pub(super) fn scope(&self) -> DeduplicationScope {
        self.scope
    }

    /// All ids, oldest first.
    #[cfg(test)]
    pub(super) fn known(&self) -> Vec<Known> {
        self.in_order.iter().filter_map(|mark| self.by_mark.get(mark).copied()).collect()
    }

    /// Restores the ids of an earlier process, except those that have expired since: they may have been used again.
    #[cfg(any(test, feature = "durable"))]
    pub(super) fn restore(&mut self, now: Timestamp, scope: DeduplicationScope, known: Vec<Known>) {
        self.scope = scope;
        for known in known.into_iter().filter(|known| now < known.forget) {
            self.insert(known);
        }
    }

    pub(super) fn stored_bytes(&self) -> usize {
        self.in_order.len() * Self::BYTES
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.scope, self.key);
    }

    /// Removes expired ids, and frees the memory with the last.
    pub(super) fn forget(&mut self, now: Timestamp) {
        while let Some(mark) = self.in_order.front().copied() {
            if self.by_mark.get(&mark).is_some_and(|known| now < known.forget) {
                return;
            }
            self.in_order.pop_front();
            self.by_mark.remove(&mark);
            if self.in_order.is_empty() {
                self.clear();
            }
        }
    }

    /// The hash of a deduplication id, within its scope.
    pub(super) fn mark(&self, group: &str, id: &str) -> Mark {
        let mut hasher = SipHasher13::new_with_keys(self.key, !self.key);
        if self.scope == DeduplicationScope::MessageGroup {
            hasher.write(&(group.len() as u64).to_le_bytes());
            hasher.write(group.as_bytes());
        }
        hasher.write(id.as_bytes());
        hasher.finish128().as_u128()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deduplication_ids_expire_after_five_minutes() {
        let at = |seconds: u64| Timestamp::from_millis(seconds * 1000);
        let mut known = Deduplication::new(DeduplicationScope::Queue, 1);
        for second in 0..1000 {
            let original = |known: &mut Deduplication, group, number: u64, ticket| {
                let mark = known.mark(group, &number.to_string());
                let original = known.find(at(second), mark);
                if original.is_none() {
                    known.remember(at(second), mark, ticket);
                }
                original.map(|known| (known.ticket, known.sent()))
            };
            assert_eq!(original(&mut known, "g", second, second), None);
            let oldest = second.saturating_sub(299);
            assert_eq!(original(&mut known, "h", oldest, 0), Some((oldest, at(oldest))));
            let count = usize::try_from(second - oldest + 1).unwrap();
            assert_eq!(known.stored_bytes(), count * Deduplication::BYTES);
        }
    }
}
