//! Which messages were sent already: deduplication ids of the last five minutes.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html>

use std::collections::{BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use sqs_client::limits;

use super::attributes::DeduplicationScope;
use super::memory::Share;
use crate::clock::Timestamp;
use crate::seed::Uuid;

const WINDOW: Duration = Duration::from_secs(limits::DEDUPLICATION_SECONDS);

/// The message that an id stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Original {
    pub(super) id: Uuid,
    pub(super) ticket: u64,
}

/// Within what an id is unique, and the id.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Key {
    group: Option<Arc<str>>,
    id: Arc<str>,
}

impl Key {
    fn bytes(&self) -> usize {
        entry_bytes(self.group.as_ref().map_or(0, |group| group.len()) + self.id.len())
    }
}

/// With the counters of the shared texts and the place in the index.
fn entry_bytes(texts: usize) -> usize {
    size_of::<Known>() + 64 + texts
}

#[derive(Debug)]
struct Known {
    forget: Timestamp,
    hash: u64,
    key: Key,
    original: Original,
}

/// Ids with their originals. An id is forgotten five minutes after its first accepted send; duplicates, receives
/// and deletes change nothing in that.
#[derive(Debug)]
pub(super) struct Deduplication {
    /// The scope at creation: AWS goes on by it when the attribute is changed later.
    scope: DeduplicationScope,
    /// The oldest first.
    known: VecDeque<Known>,
    /// How many were forgotten before the first of `known`.
    forgotten: u64,
    /// Hash and number of each. A hash table would now and then stop a send for as long as it takes to move a
    /// million ids.
    index: BTreeSet<(u64, u64)>,
    share: Share,
}

impl Deduplication {
    pub(super) fn new(scope: DeduplicationScope, share: Share) -> Self {
        Self { scope, known: VecDeque::new(), forgotten: 0, index: BTreeSet::new(), share }
    }

    /// What it takes of memory to remember an id.
    pub(super) fn bytes(&self, group: &str, id: &str) -> usize {
        let group = if self.scope == DeduplicationScope::MessageGroup { group.len() } else { 0 };
        entry_bytes(group + id.len())
    }

    pub(super) fn find(&mut self, now: Timestamp, group: &Arc<str>, id: &Arc<str>) -> Option<Original> {
        self.forget(now);
        let key = self.key(group, id);
        let hash = hash(&key);
        let same_hash = self.index.range((hash, 0)..=(hash, u64::MAX));
        let mut known = same_hash.filter_map(|(_, number)| self.get(*number));
        known.find(|known| known.key == key).map(|known| known.original)
    }

    pub(super) fn remember(&mut self, now: Timestamp, group: &Arc<str>, id: &Arc<str>, original: Original) {
        let key = self.key(group, id);
        let hash = hash(&key);
        self.share.take(key.bytes());
        self.index.insert((hash, self.end()));
        self.known.push_back(Known { forget: now + WINDOW, hash, key, original });
    }

    pub(super) fn stored_bytes(&self) -> usize {
        self.share.bytes()
    }

    pub(super) fn clear(&mut self) {
        self.forgotten = self.end();
        self.known = VecDeque::new();
        self.index.clear();
        self.share.give_all_back();
    }

    /// Forgets what is too old.
    pub(super) fn forget(&mut self, now: Timestamp) {
        while let Some(known) = self.known.pop_front_if(|known| known.forget <= now) {
            self.index.remove(&(known.hash, self.forgotten));
            self.share.give_back(known.key.bytes());
            self.forgotten += 1;
        }
    }

    fn get(&self, number: u64) -> Option<&Known> {
        self.known.get(usize::try_from(number.checked_sub(self.forgotten)?).ok()?)
    }

    /// The number that the next id gets.
    fn end(&self) -> u64 {
        self.forgotten + u64::try_from(self.known.len()).unwrap_or(u64::MAX)
    }

    fn key(&self, group: &Arc<str>, id: &Arc<str>) -> Key {
        let group = (self.scope == DeduplicationScope::MessageGroup).then(|| Arc::clone(group));
        Key { group, id: Arc::clone(id) }
    }
}

fn hash(key: &Key) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
