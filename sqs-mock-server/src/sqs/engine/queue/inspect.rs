//! Read-only views of queues and messages.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use sqs_client::types::QueueAttributeName;

use super::{Queue, SequenceNumber};
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sqs::engine::Counts;
use crate::sqs::engine::message::Payload;

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

/// A message, as found by peeking.
#[derive(Clone, Debug)]
pub struct PeekedMessage {
    /// The id of the message.
    pub id: Uuid,
    /// The part that the sender set.
    pub payload: Arc<Payload>,
    /// Whether it can be received.
    pub visibility: Visibility,
    /// When it was sent.
    pub sent: Timestamp,
    /// When it was first received, if ever.
    pub first_received: Option<Timestamp>,
    /// Number of receives.
    pub receive_count: u32,
    /// Its message group.
    pub group: Option<Arc<str>>,
    /// Its deduplication id, on FIFO queues.
    pub deduplication_id: Option<Arc<str>>,
    /// Its sequence number, on FIFO queues.
    pub sequence_number: Option<SequenceNumber>,
    /// The source queue, if the message is a dead letter.
    pub dead_letter_source: Option<Arc<QueueArn>>,
}

/// Whether a message can be received, and if not, why.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Visibility {
    /// It can be received.
    Visible,
    /// It is new and delayed.
    DelayedUntil(Timestamp),
    /// It was received.
    InFlightUntil(Timestamp),
    /// It is visible, but behind a hidden message of its group.
    GroupLockedBy {
        /// The hidden message.
        id: Uuid,
        /// When the hidden message becomes visible, unless it is deleted or changed earlier.
        until: Timestamp,
    },
    /// It is visible, but behind more messages of a FIFO queue than a receive looks at.
    BeyondWindow,
}

impl PeekedMessage {
    /// The body.
    pub fn body(&self) -> &str {
        &self.payload.body
    }
}

impl fmt::Display for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Visible => f.write_str("visible"),
            Self::DelayedUntil(until) => write!(f, "delayed until {until}"),
            Self::InFlightUntil(until) => write!(f, "in flight until {until}"),
            Self::BeyondWindow => f.write_str("beyond the receive window"),
            Self::GroupLockedBy { id, until } => write!(f, "group locked by {id} until {until}"),
        }
    }
}
