//! The state of a queue: the result of applying its changes in order.

use std::collections::{BTreeMap, HashMap};

use crate::control::clock::Timestamp;
use crate::control::seed::Seed;
use crate::sqs::engine::attributes::{Attributes, DeduplicationScope, Tags};
use crate::sqs::engine::change::Creation;
#[cfg(test)]
use crate::sqs::engine::change::QueueChange;
#[cfg(test)]
use crate::sqs::engine::messages::State;
use crate::sqs::engine::messages::{Slab, Slot, Store, Stored, StoredMessage};
use crate::sqs::engine::send::Known;

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

/// Gives each message a slot of its own. A message that was on its way to another queue has the same slot as a later one,
/// which keeps it: the receipt handles of the earlier one have exhausted their receives.
fn separate(messages: &mut [(Slot, Stored)]) {
    let mut latest: HashMap<Slot, u64> = HashMap::new();
    for (slot, message) in messages.iter() {
        let ticket = latest.entry(*slot).or_default();
        *ticket = message.ticket.max(*ticket);
    }
    let mut free = messages.iter().map(|(slot, _)| slot.0 + 1).max().unwrap_or(0);
    for (slot, message) in messages {
        if latest.get(slot).is_some_and(|ticket| *ticket != message.ticket) {
            *slot = Slot(free);
            free += 1;
        }
    }
}

impl Store {
    /// Fills an empty store. The messages are sorted by the start of their retention.
    pub(in crate::sqs::engine) fn restore(&mut self, now: Timestamp, messages: Vec<StoredMessage>) {
        let places = messages.into_iter().map(|message| (message.slot, self.joined(now, message)));
        let mut places: Vec<_> = places.collect();
        separate(&mut places);
        let slots: Vec<_> = places.iter().map(|(slot, _)| *slot).collect();
        self.messages = Slab::filled(places);
        for slot in slots {
            self.add_to_indexes(slot, false);
        }
    }

    /// The slots of all messages, oldest first.
    #[cfg(test)]
    pub(in crate::sqs::engine) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.by_age.iter()
    }
}
