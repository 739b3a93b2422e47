//! A queue as a whole, for inspection.

use std::collections::BTreeMap;

use sqs_client::types::QueueAttributeName;

use super::Queue;
use crate::service::clock::Timestamp;
use crate::sqs::engine::Counts;

/// What can be said about a queue without its messages.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct QueueDescription {
    /// All attributes, as `GetQueueAttributes` answers them.
    pub attributes: BTreeMap<QueueAttributeName, String>,
    /// The tags.
    pub tags: BTreeMap<String, String>,
    /// How many messages there are.
    pub counts: Counts,
    /// From when the retention of the oldest message counts; `None` without messages.
    pub oldest: Option<Timestamp>,
}

impl Queue {
    /// Describes the queue.
    pub(crate) fn describe(&mut self, now: Timestamp) -> QueueDescription {
        // `All` is a name that every queue has.
        let attributes = self.render(now, &[QueueAttributeName::All]).unwrap_or_default();
        QueueDescription {
            attributes: attributes.into_iter().collect(),
            tags: self.tags().clone(),
            counts: self.store.counts(),
            oldest: self.store.oldest(),
        }
    }

    /// The next moment at which something changes by itself: a message becomes visible, or too old.
    pub(crate) fn next_change(&mut self, now: Timestamp) -> Option<Timestamp> {
        self.settle(now);
        let expiry = self.store.oldest().map(|born| born + self.attributes.retention);
        self.store.next_return().into_iter().chain(expiry).min()
    }
}
