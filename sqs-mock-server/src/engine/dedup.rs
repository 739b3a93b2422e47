//! Which messages were sent already: deduplication ids of the last five minutes.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html>

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sqs_client::limits;

use super::attributes::DeduplicationScope;
use super::message::SequenceNumber;
use crate::clock::Timestamp;
use crate::seed::Uuid;

const WINDOW: Duration = Duration::from_secs(limits::DEDUPLICATION_SECONDS);

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Key {
    group: Option<Arc<str>>,
    id: Arc<str>,
}

/// The message that an id stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Original {
    pub(super) id: Uuid,
    pub(super) sequence_number: SequenceNumber,
}

/// Ids with their originals. An id is forgotten five minutes after its first accepted send; duplicates, receives
/// and deletes change nothing in that.
#[derive(Debug)]
pub(super) struct Deduplication {
    /// The scope at creation: AWS goes on by it when the attribute is changed later.
    scope: DeduplicationScope,
    originals: HashMap<Key, Original>,
    in_order: VecDeque<(Timestamp, Key)>,
}

impl Deduplication {
    pub(super) fn new(scope: DeduplicationScope) -> Self {
        Self { scope, originals: HashMap::new(), in_order: VecDeque::new() }
    }

    pub(super) fn find(&mut self, now: Timestamp, group: &Arc<str>, id: &Arc<str>) -> Option<Original> {
        self.forget(now);
        self.originals.get(&self.key(group, id)).copied()
    }

    pub(super) fn remember(&mut self, now: Timestamp, group: &Arc<str>, id: &Arc<str>, original: Original) {
        let key = self.key(group, id);
        self.originals.insert(key.clone(), original);
        self.in_order.push_back((now + WINDOW, key));
    }

    pub(super) fn clear(&mut self) {
        self.originals.clear();
        self.in_order.clear();
    }

    fn forget(&mut self, now: Timestamp) {
        while let Some((_, key)) = self.in_order.pop_front_if(|(end, _)| *end <= now) {
            self.originals.remove(&key);
        }
    }

    fn key(&self, group: &Arc<str>, id: &Arc<str>) -> Key {
        let group = (self.scope == DeduplicationScope::MessageGroup).then(|| Arc::clone(group));
        Key { group, id: Arc::clone(id) }
    }
}
