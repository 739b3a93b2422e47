//! Results of receives.

use std::sync::Arc;
use std::time::Duration;

use super::{InTransit, SequenceNumber};
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sqs::engine::Payload;

/// Maximum number of dead letters that one call removes, which limits how long the queue is locked.
pub(super) const MAX_DEAD_LETTERS: usize = 256;

/// The result of a receive.
#[derive(Debug)]
#[must_use = "dead letters are in no queue any more"]
pub(crate) struct Received {
    /// Messages, or why there are none.
    pub outcome: Outcome,
    /// Dead letters, for [`Queue::accept_dead_letter`](super::Queue::accept_dead_letter) of their target.
    pub dead_letters: Vec<InTransit>,
    /// How long the receive may wait.
    pub wait: Duration,
}

impl Received {
    /// Whether the receive returned no messages because it reached the limit of dead letters: call it again to
    /// continue.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.dead_letters.len() >= MAX_DEAD_LETTERS && matches!(self.outcome, Outcome::Empty { .. })
    }
}

/// Messages, or why there are none.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// At least one message.
    Messages(Vec<Delivery>),
    /// No message is available.
    Empty {
        /// The next time at which a message can become receivable without a request.
        wake_at: Option<Timestamp>,
    },
    /// A standard queue has too many messages in flight: an error for short polls, an empty result for long polls.
    OverLimit {
        /// The next time at which a message can become receivable without a request.
        wake_at: Option<Timestamp>,
    },
}

/// A received message.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    /// The id of the message.
    pub id: Uuid,
    /// The handle of this receive.
    pub receipt_handle: String,
    /// The part that the sender set.
    pub payload: Arc<Payload>,
    /// When it was sent.
    pub sent: Timestamp,
    /// When it was first received.
    pub first_received: Timestamp,
    /// Number of receives, including this one.
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
