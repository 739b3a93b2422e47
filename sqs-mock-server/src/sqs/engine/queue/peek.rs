//! Peeking at messages without receiving them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::{Queue, SequenceNumber};
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sqs::engine::message::{Payload, State, Stored};
use crate::sqs::engine::slab::Slot;

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

impl Queue {
    /// Peeks at messages, oldest first: `at_most` after the first `skip`. Takes time for all messages up to the end of
    /// that range.
    pub(crate) fn peek(&mut self, now: Timestamp, skip: usize, at_most: usize) -> Vec<PeekedMessage> {
        self.settle(now);
        let messages = self.seen().skip(skip).take(at_most);
        messages.map(|(message, visibility)| self.show(message, visibility)).collect()
    }

    /// Peeks at the first `at_most` messages, oldest first, whose visibility satisfies `is_shown`. Other messages are
    /// not copied.
    pub(crate) fn peek_shown(
        &mut self,
        now: Timestamp,
        at_most: usize,
        is_shown: impl Fn(Visibility) -> bool,
    ) -> Vec<PeekedMessage> {
        self.settle(now);
        let shown = self.seen().filter(|(_, visibility)| is_shown(*visibility)).take(at_most);
        shown.map(|(message, visibility)| self.show(message, visibility)).collect()
    }

    /// All messages with their visibility, oldest first.
    pub(super) fn seen(&self) -> impl Iterator<Item = (&Stored, Visibility)> {
        let mut locks = HashMap::new();
        let is_fifo = self.fifo.is_some();
        self.store.iter().map(move |message| match visibility(message, is_fifo, &mut locks) {
            Visibility::Visible if !self.store.is_in_window(message) => (message, Visibility::BeyondWindow),
            visibility => (message, visibility),
        })
    }

    fn show(&self, message: &Stored, visibility: Visibility) -> PeekedMessage {
        let core = &message.core;
        PeekedMessage {
            id: core.id,
            payload: Arc::clone(&core.payload),
            visibility,
            sent: core.sent,
            first_received: (core.receives > 0).then_some(core.first_received),
            receive_count: core.receives,
            group: self.store.group_id(message.group),
            deduplication_id: core.deduplication_id.clone(),
            sequence_number: self.sequence_number(message.ticket),
            dead_letter_source: core.source.clone(),
        }
    }
}

/// `locks` has the first hidden message of each group so far.
fn visibility(message: &Stored, is_fifo: bool, locks: &mut HashMap<Slot, (Uuid, Timestamp)>) -> Visibility {
    if let (true, Some(until)) = (is_fifo, message.state.hidden_until()) {
        locks.entry(message.group).or_insert((message.core.id, until));
    }
    match message.state {
        State::Delayed { until } => Visibility::DelayedUntil(until),
        State::InFlight { until } => Visibility::InFlightUntil(until),
        State::Available => match locks.get(&message.group) {
            Some((id, until)) => Visibility::GroupLockedBy { id: *id, until: *until },
            None => Visibility::Visible,
        },
    }
}
