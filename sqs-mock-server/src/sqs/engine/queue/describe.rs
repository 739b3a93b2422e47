//! Description of a queue, for inspection.

use std::collections::BTreeMap;

use sqs_client::types::QueueAttributeName;

use super::Queue;
use crate::service::clock::Timestamp;
use crate::sqs::engine::Counts;

/// A queue without its messages.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct QueueDescription {
    /// All attributes, as `GetQueueAttributes` returns them.
    pub attributes: BTreeMap<QueueAttributeName, String>,
    /// The tags.
    pub tags: BTreeMap<String, String>,
    /// Message counts.
    pub counts: Counts,
    /// How many messages were ever stored: sent, moved here as dead letters, or moved back here.
    pub arrived: u64,
    /// Start of the retention of the oldest message; `None` without messages.
    pub oldest: Option<Timestamp>,
}

impl Queue {
    pub(crate) fn describe(&mut self, now: Timestamp) -> QueueDescription {
        QueueDescription {
            attributes: self.render(now, &[QueueAttributeName::All]).into_iter().collect(),
            tags: self.tags.all().clone(),
            counts: self.store.counts(),
            arrived: self.next_ticket,
            oldest: self.store.oldest(),
        }
    }

    /// The next time at which the queue changes without a request: a message becomes visible, or expires.
    pub(crate) fn next_change(&mut self, now: Timestamp) -> Option<Timestamp> {
        self.settle(now);
        let expiry = self.store.oldest().map(|born| born + self.attributes.retention);
        self.store.next_return().into_iter().chain(expiry).min()
    }
}
