//! A queue and its messages.
//!
//! A queue has no lock and no clock. Each method takes the time and first applies all changes that are due by then. The
//! owner of a queue calls [`Queue::take_wakeups`] and [`Queue::take_expired`] after each call, before it unlocks the
//! queue:
//!
//! ```text
//! lock -> queue.receive(now, ..) -> Received { wake_at, .. } -> take_wakeups -> unlock -> wait for (wakeup | wake_at | deadline)
//!                                                               take_expired ----------> drop
//! ```

mod administer;
mod changes;
mod fifo_memory;
mod handles;
mod inspect;
mod lapse;
mod receive;
mod send;
mod throughput;
mod transfer;
mod wakeups;
mod walk;
mod why_empty;

use std::sync::Arc;

use sqs_client::wire::validate::QueueRules;

pub(crate) use administer::Dropped;
pub(crate) use handles::OldHandle;
pub use inspect::{PeekedMessage, QueueDescription, Visibility};
pub(crate) use lapse::Lapse;
pub(crate) use receive::{Delivery, Receive, Received};
pub(crate) use send::{NewMessage, Sent};
pub(crate) use transfer::InTransit;
pub(crate) use wakeups::Wakeups;
pub(crate) use walk::Walk;
pub use why_empty::WhyEmpty;

use super::attributes::Attributes;
use super::aws_like::AwsLike;
use super::change::{Creation, QueueChange, QueueId};
use super::handle::HandleKey;
use super::message::{Counts, SequenceNumber, State};
use super::slab::Slot;
use super::store::Store;
use super::tags::Tags;
use super::throughput::Throughput;
use super::{DeliveryMode, Settings};
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
#[cfg(test)]
use crate::service::seed::Seed;
use crate::service::seed::UuidSeries;
use fifo_memory::FifoMemory;

/// A queue with its messages.
#[derive(Debug)]
pub(crate) struct Queue {
    id: QueueId,
    attributes: Attributes,
    tags: Tags,
    settings: Settings,
    #[cfg(test)]
    seed: Seed,
    created: Timestamp,
    modified: Timestamp,
    /// The latest time that a caller passed; calls can be slightly out of order.
    now: Timestamp,
    store: Store,
    /// Random delivery, on standard queues that deliver like AWS.
    aws_like: Option<Box<AwsLike>>,
    /// Expired messages.
    expired: Dropped,
    fifo: Option<Box<FifoMemory>>,
    /// Present on FIFO queues with throughput quotas.
    throughput: Option<Box<Throughput>>,
    next_ticket: u64,
    handles: HandleKey,
    ids: UuidSeries,
    purged: Option<Timestamp>,
    deleted: bool,
    announced: Option<Timestamp>,
    /// A receive returned nothing because too many messages were in flight.
    lacked_room: bool,
    /// Lapses since [`take_lapses`](Self::take_lapses).
    lapses: Vec<Lapse>,
    /// Changes since [`take_changes`](Self::take_changes); `None` without a reader.
    changes: Option<Vec<QueueChange>>,
}

impl Queue {
    /// A queue without messages. Its seed is from [`Seed::of_queue`](crate::service::seed::Seed::of_queue). If
    /// `recorded`, [`take_changes`](Self::take_changes) returns its changes.
    pub(crate) fn new(id: QueueId, creation: Creation, settings: Settings, recorded: bool) -> Self {
        let changes = recorded.then(|| vec![QueueChange::Created(Box::new(creation.clone()))]);
        let Creation { at: now, seed, attributes, tags } = creation;
        let fifo = attributes.is_fifo();
        let is_aws_like = settings.delivery == DeliveryMode::AwsLike && !fifo;
        Self {
            store: Store::new(fifo, settings),
            aws_like: is_aws_like.then(|| Box::new(AwsLike::new(seed.generator("delivery")))),
            expired: Dropped::default(),
            fifo: attributes.fifo.map(|fifo| FifoMemory::new(fifo, seed)),
            throughput: None,
            id,
            attributes,
            tags,
            settings,
            #[cfg(test)]
            seed,
            created: now,
            modified: now,
            now,
            next_ticket: 0,
            handles: HandleKey { key: seed.generator("receipt handles").u64(..), fifo },
            ids: UuidSeries::new(seed.generator("message ids")),
            purged: None,
            deleted: false,
            announced: None,
            lacked_room: false,
            lapses: Vec::new(),
            changes,
        }
    }

    /// The ARN of the queue.
    pub(crate) fn arn(&self) -> &Arc<QueueArn> {
        &self.id.arn
    }

    /// The ARN, and the incarnation that distinguishes the queue from earlier ones of the same name.
    pub(crate) fn id(&self) -> &QueueId {
        &self.id
    }

    pub(crate) fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// The rules for messages.
    pub(crate) fn rules(&self) -> QueueRules {
        let Attributes { fifo, maximum_message_size, .. } = self.attributes;
        QueueRules {
            fifo: fifo.is_some(),
            content_based_deduplication: fifo.is_some_and(|fifo| fifo.content_based_deduplication),
            maximum_message_size,
        }
    }

    /// Whether the queue delivers like AWS.
    pub(crate) fn is_aws_like(&self) -> bool {
        self.aws_like.is_some()
    }

    /// Shuffles a list if the queue delivers like AWS.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        if let Some(aws_like) = &mut self.aws_like {
            aws_like.shuffle(list);
        }
    }

    /// Whether the queue was deleted. Parked receives must end then.
    pub(crate) fn is_deleted(&self) -> bool {
        self.deleted
    }

    /// Message counts.
    pub(crate) fn counts(&mut self, now: Timestamp) -> Counts {
        self.settle(now);
        self.store.counts()
    }

    /// Applies all changes that are due, and returns the effective time.
    fn settle(&mut self, now: Timestamp) -> Timestamp {
        self.now = self.now.max(now);
        self.expire();
        while let Some(slot) = self.store.next_due(self.now) {
            self.note_lapse(slot);
            self.set_state(slot, State::Available);
        }
        if let Some(fifo) = &mut self.fifo {
            fifo.forget(self.now);
        }
        if let Some(throughput) = &mut self.throughput {
            throughput.forget(self.now);
        }
        self.now
    }

    /// Removes messages whose retention period has ended.
    fn expire(&mut self) {
        let retention = self.attributes.retention;
        if self.store.is_expired(self.now, retention) {
            self.record(|queue| {
                let tickets = queue.store.after(None).map(|(_, message)| message.ticket).collect();
                QueueChange::MessagesExpired { tickets }
            });
            self.expired.stores.push(self.store.take_all());
        }
        let known = self.expired.messages.len();
        while let Some(slot) = self.store.oldest_slot(self.now, retention) {
            self.expired.messages.extend(self.store.remove(self.now, slot));
        }
        let expired = self.expired.messages.get(known..).unwrap_or_default();
        if self.changes.is_some() && !expired.is_empty() {
            let tickets = expired.iter().map(|message| message.ticket).collect();
            self.record(|_| QueueChange::MessagesExpired { tickets });
        }
    }

    fn set_state(&mut self, slot: Slot, state: State) {
        self.store.set_state(self.now, slot, state);
        self.record_visibility(slot);
    }

    fn take_ticket(&mut self) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        ticket
    }

    /// The sequence number; `None` on standard queues.
    fn sequence_number(&self, ticket: u64) -> Option<SequenceNumber> {
        Some(self.fifo.as_ref()?.sequence_number(ticket))
    }
}

#[cfg(test)]
mod tests;
