//! Changes of queues, as values.
//!
//! A queue with a reader records each change under its lock. The lock holder passes the changes on before it unlocks,
//! so readers receive the changes of a queue in the order in which they happened. Applied in this order, they yield the
//! state of the queue, see `QueueState` in `state.rs`. A queue without a reader records nothing.

use std::sync::Arc;

use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::seed::{Seed, Uuid};
use crate::sqs::engine::attributes::{Attributes, Tags};
use crate::sqs::engine::messages::{State, StoredMessage};
use crate::sqs::engine::send::Known;

/// A queue, distinguished from earlier queues of the same name.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct QueueId {
    /// The ARN.
    pub arn: Arc<QueueArn>,
    /// Increases with each queue of this name.
    pub incarnation: u64,
}

/// A change of one queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum QueueChange {
    /// The queue was created.
    Created(Box<Creation>),
    /// Attributes were changed.
    AttributesSet {
        /// All attributes after the change.
        attributes: Box<Attributes>,
        /// The time of the change.
        at: Timestamp,
    },
    /// Tags were changed; these are all of them.
    TagsSet(Tags),
    /// All messages and deduplication ids were removed.
    Purged {
        /// The time of the purge.
        at: Timestamp,
    },
    /// The queue was deleted with its messages.
    Deleted {
        /// The time of the deletion. The name is blocked for 60 seconds from then.
        at: Timestamp,
    },
    /// A message was sent, or returned because its destination was deleted.
    MessageStored {
        /// The message.
        message: Box<StoredMessage>,
        /// The deduplication id that now refers to the message.
        deduplication: Option<Known>,
    },
    /// Messages were received.
    MessagesDelivered {
        /// The time of the receive.
        at: Timestamp,
        /// The messages.
        messages: Vec<Delivered>,
    },
    /// A message was hidden or became visible, by a request or by a timeout.
    VisibilityChanged {
        /// The ticket of the message.
        ticket: u64,
        /// Its new state.
        state: State,
        /// Its position among the available messages of a standard queue.
        turn: u64,
    },
    /// A message was deleted.
    MessageDeleted {
        /// The ticket of the message.
        ticket: u64,
    },
    /// The retention period of messages ended.
    MessagesExpired {
        /// Their tickets.
        tickets: Vec<u64>,
    },
    /// A message was moved from another queue to this one.
    MessageMoved {
        /// The queue that it left.
        from: QueueId,
        /// Its ticket there.
        ticket: u64,
        /// The move task that moved it, which has moved one message more.
        task: Option<Uuid>,
        /// The message as it is now.
        message: Box<StoredMessage>,
    },
}

/// The initial state of a queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Creation {
    /// The time of creation.
    pub at: Timestamp,
    /// The source of ids and receipt handles.
    pub seed: Seed,
    /// The attributes.
    pub attributes: Attributes,
    /// The tags.
    pub tags: Tags,
}

/// A message after a receive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Delivered {
    /// The ticket of the message.
    pub ticket: u64,
    /// Number of receives, including this one.
    pub receives: u32,
    /// When it becomes visible again.
    pub until: Timestamp,
}
