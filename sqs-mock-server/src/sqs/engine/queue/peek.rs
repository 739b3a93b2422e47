//! Messages as found by peeking, which does not receive them.

use std::fmt;
use std::sync::Arc;

use super::SequenceNumber;
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sqs::engine::message::Payload;

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
