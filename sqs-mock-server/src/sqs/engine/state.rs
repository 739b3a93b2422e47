//! The state of a queue: the result of applying its changes in order.

use std::collections::BTreeMap;

use super::attributes::{Attributes, DeduplicationScope};
use super::change::Creation;
#[cfg(test)]
use super::change::QueueChange;
use super::dedup::Known;
#[cfg(test)]
use super::message::State;
use super::message::StoredMessage;
use super::tags::Tags;
use crate::service::clock::Timestamp;
use crate::service::seed::Seed;

/// A queue as plain data. It lacks data that a queue can lose: receive attempts, noisy tenants, scheduled redeliveries,
/// and which group of a FIFO queue is next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueueState {
    /// The time of creation.
    pub created: Timestamp,
    /// The time of the last change of attributes.
    pub modified: Timestamp,
    /// The source of ids and receipt handles.
    pub seed: Seed,
    /// The attributes.
    pub attributes: Attributes,
    /// The scope of deduplication ids at creation. A later change of the attribute has no effect.
    pub deduplication_scope: DeduplicationScope,
    /// The tags.
    pub tags: Tags,
    /// The time of the last purge.
    pub purged: Option<Timestamp>,
    /// The ticket of the next message.
    pub next_ticket: u64,
    /// The messages by ticket.
    pub messages: BTreeMap<u64, StoredMessage>,
    /// The deduplication ids, oldest first.
    pub deduplication: Vec<Known>,
}

impl QueueState {
    /// The state of a new queue.
    pub(crate) fn new(creation: Creation) -> Self {
        let Creation { at, seed, attributes, tags } = creation;
        Self {
            created: at,
            modified: at,
            seed,
            deduplication_scope: attributes.fifo.map(|fifo| fifo.deduplication_scope).unwrap_or_default(),
            attributes,
            tags,
            purged: None,
            next_ticket: 0,
            messages: BTreeMap::new(),
            deduplication: Vec::new(),
        }
    }
}

#[cfg(test)]
impl QueueState {
    /// Applies a change. A move of a message out of this queue is a change of the other queue, see
    /// [`remove`](Self::remove).
    pub(crate) fn apply(&mut self, change: QueueChange) {
        match change {
            QueueChange::Created(creation) => *self = Self::new(*creation),
            QueueChange::AttributesSet { attributes, at } => {
                (self.attributes, self.modified) = (*attributes, at);
            }
            QueueChange::TagsSet(tags) => self.tags = tags,
            QueueChange::Purged { at } => {
                self.purged = Some(at);
                self.clear();
            }
            QueueChange::Deleted { .. } => self.clear(),
            QueueChange::MessageStored { message, deduplication } => {
                self.deduplication.extend(deduplication);
                self.store(*message);
            }
            QueueChange::MessageMoved { message, .. } => self.store(*message),
            QueueChange::MessagesDelivered { at, messages } => {
                for delivered in messages {
                    let Some(message) = self.messages.get_mut(&delivered.ticket) else { continue };
                    if message.core.receives == 0 {
                        message.core.first_received = at;
                    }
                    message.core.receives = delivered.receives;
                    message.received = at;
                    message.state = State::InFlight { until: delivered.until };
                }
            }
            QueueChange::VisibilityChanged { ticket, state, turn } => {
                if let Some(message) = self.messages.get_mut(&ticket) {
                    (message.state, message.turn) = (state, turn);
                }
            }
            QueueChange::MessageDeleted { ticket } => self.remove(ticket),
            QueueChange::MessagesExpired { tickets } => {
                for ticket in tickets {
                    self.remove(ticket);
                }
            }
        }
    }

    /// Removes a message that was moved to another queue.
    pub(crate) fn remove(&mut self, ticket: u64) {
        self.messages.remove(&ticket);
    }

    fn store(&mut self, message: StoredMessage) {
        self.next_ticket = self.next_ticket.max(message.ticket + 1);
        self.messages.insert(message.ticket, message);
    }

    fn clear(&mut self) {
        self.messages.clear();
        self.deduplication.clear();
    }
}
