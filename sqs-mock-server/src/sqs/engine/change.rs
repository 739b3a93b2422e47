//! What operations change in queues, as values.
//!
//! A queue with a reader records each change while its lock is held; whoever holds the lock passes the changes on before it
//! releases it. So readers get the changes of a queue in the order in which they happened. Applied in that order, they
//! give the state of the queue, see [`QueueState`](super::QueueState). A queue without a reader records nothing.

use std::sync::Arc;

use super::attributes::Attributes;
use super::dedup::Known;
use super::message::{Core, State};
use super::slab::Slot;
use super::tags::Tags;
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Seed;

/// A queue, told apart from earlier queues of the same name.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct QueueId {
    /// The name.
    pub arn: Arc<QueueArn>,
    /// Grows with each queue of this name.
    pub incarnation: u64,
}

/// A change of one queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum QueueChange {
    /// The queue is new.
    Created(Box<Creation>),
    /// Attributes have new values.
    AttributesSet {
        /// All of them.
        attributes: Box<Attributes>,
        /// The time of the change.
        at: Timestamp,
    },
    /// Tags have new values; these are all of them.
    TagsSet(Tags),
    /// All messages and deduplication ids were removed.
    Purged {
        /// The time of the purge.
        at: Timestamp,
    },
    /// The queue was deleted with its messages.
    Deleted,
    /// A message was sent, or came back because its destination was deleted.
    MessageStored {
        /// The message.
        message: Box<StoredMessage>,
        /// The deduplication id that now stands for the message.
        deduplication: Option<Known>,
    },
    /// Messages were received.
    MessagesDelivered {
        /// The time of the receive.
        at: Timestamp,
        /// The messages.
        messages: Vec<Delivered>,
    },
    /// A message was hidden or shown, by a request or by the time.
    VisibilityChanged {
        /// The ticket of the message.
        ticket: u64,
        /// Its new state.
        state: State,
        /// Its place among the available messages of a standard queue.
        turn: u64,
    },
    /// A message was deleted.
    MessageDeleted {
        /// The ticket of the message.
        ticket: u64,
    },
    /// Messages have exceeded their retention period.
    MessagesExpired {
        /// Their tickets.
        tickets: Vec<u64>,
    },
    /// A message has left another queue and is in this one.
    MessageMoved {
        /// The queue that it has left.
        from: QueueId,
        /// Its ticket there.
        ticket: u64,
        /// The message as it is now.
        message: Box<StoredMessage>,
    },
}

/// What a new queue is.
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

/// A message in a queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredMessage {
    /// Its number among all messages that the queue ever had.
    pub ticket: u64,
    /// Its place in memory, which is part of its receipt handles.
    pub slot: Slot,
    /// Its place among the available messages of a standard queue.
    pub turn: u64,
    /// Whether it is visible.
    pub state: State,
    /// The time of the latest receive, or of its arrival.
    pub received: Timestamp,
    /// The message group.
    pub group: Option<Arc<str>>,
    /// The rest.
    pub core: Core,
}

/// A message after a receive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Delivered {
    /// The ticket of the message.
    pub ticket: u64,
    /// How often it was received, this time included.
    pub receives: u32,
    /// When it is visible again.
    pub until: Timestamp,
}
