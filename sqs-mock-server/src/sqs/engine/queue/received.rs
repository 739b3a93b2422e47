//! What receives give.

use std::sync::Arc;
use std::time::Duration;

use super::{DeadLetter, SequenceNumber};
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sqs::engine::Payload;

/// How many spent messages one call takes out at most, so that nobody waits long for the lock of the queue.
pub(super) const MAX_DEAD_LETTERS: usize = 256;

/// What a receive gives.
#[derive(Debug)]
#[must_use = "dead letters are in no queue any more"]
pub(crate) struct Received {
    /// Messages or the lack of them.
    pub outcome: Outcome,
    /// Messages that were delivered too often, for
    /// [`Queue::accept_dead_letter`](super::Queue::accept_dead_letter) of their target.
    pub dead_letters: Vec<DeadLetter>,
    /// How long the receive may wait.
    pub wait: Duration,
}

impl Received {
    /// Whether it gives nothing only because it found so many spent messages first: the same call goes on from there.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.dead_letters.len() >= MAX_DEAD_LETTERS && matches!(self.outcome, Outcome::Empty { .. })
    }
}

/// Messages or the lack of them.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// At least one message.
    Messages(Vec<Delivery>),
    /// Nothing to be had now.
    Empty {
        /// The next moment at which the queue by itself could have something.
        wake_at: Option<Timestamp>,
    },
    /// A standard queue with too many messages in flight: an error for a short poll, nothing for a long one.
    OverLimit {
        /// The next moment at which the queue by itself could have something.
        wake_at: Option<Timestamp>,
    },
}

/// A message as one receive gives it.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    /// The id of the message.
    pub id: Uuid,
    /// The handle of this receive.
    pub receipt_handle: String,
    /// What the sender gave.
    pub payload: Arc<Payload>,
    /// When it was sent.
    pub sent: Timestamp,
    /// When it was first received.
    pub first_received: Timestamp,
    /// How often it was received, this time included.
    pub receive_count: u32,
    /// Its message group.
    pub group: Option<Arc<str>>,
    /// Its deduplication id, on FIFO queues.
    pub deduplication_id: Option<Arc<str>>,
    /// Its number, on FIFO queues.
    pub sequence_number: Option<SequenceNumber>,
    /// The queue that it came from as a dead letter.
    pub dead_letter_source: Option<Arc<QueueArn>>,
}
