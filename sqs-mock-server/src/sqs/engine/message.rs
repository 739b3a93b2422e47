//! Messages: the part that the sender sets, and the part that a queue adds.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum::{self, Md5Hex};

use super::handle::Handle;
use super::slab::Slot;
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::service::text::serialize_as_text;

/// The part of a message that its sender sets. It never changes; queues share it when a message moves.
#[derive(Debug, PartialEq)]
pub struct Payload {
    /// The body.
    pub body: Box<str>,
    /// Account or principal of the sender.
    pub sender: Arc<str>,
    /// The hash, which is half the size of its hex digits.
    md5_of_body: [u8; 16],
    extras: Option<Box<Extras>>,
}

/// Fields that few messages have, boxed to keep the other messages small.
#[derive(Debug, PartialEq)]
struct Extras {
    attributes: HashMap<String, MessageAttributeValue>,
    md5_of_attributes: Option<Md5Hex>,
    trace_header: Option<Box<str>>,
}

/// The checksums of a message. Computing them takes time: do it before locking a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksums {
    /// MD5 of the body.
    pub md5_of_body: Md5Hex,
    /// MD5 of the message attributes, if any.
    pub md5_of_attributes: Option<Md5Hex>,
}

impl Checksums {
    pub(crate) fn new(
        md5_of_body: Md5Hex,
        attributes: Option<&HashMap<String, MessageAttributeValue>>,
    ) -> Self {
        Self { md5_of_body, md5_of_attributes: attributes.and_then(checksum::md5_of_attributes) }
    }
}

impl Payload {
    pub(crate) fn new(
        body: String,
        attributes: Option<HashMap<String, MessageAttributeValue>>,
        checksums: Checksums,
        trace_header: Option<String>,
        sender: Arc<str>,
    ) -> Self {
        let Checksums { md5_of_body, md5_of_attributes } = checksums;
        let attributes = attributes.unwrap_or_default();
        let extras = (!attributes.is_empty() || trace_header.is_some()).then(|| {
            let trace_header = trace_header.map(String::into_boxed_str);
            Box::new(Extras { attributes, md5_of_attributes, trace_header })
        });
        Self { body: body.into_boxed_str(), md5_of_body: md5_of_body.hash(), sender, extras }
    }

    /// MD5 of the body.
    pub fn md5_of_body(&self) -> Md5Hex {
        Md5Hex::from_hash(self.md5_of_body)
    }

    /// The message attributes, if any.
    pub fn attributes(&self) -> Option<&HashMap<String, MessageAttributeValue>> {
        self.extras.as_ref().map(|extras| &extras.attributes).filter(|attributes| !attributes.is_empty())
    }

    /// MD5 of all message attributes, if any.
    pub fn md5_of_attributes(&self) -> Option<Md5Hex> {
        self.extras.as_ref().and_then(|extras| extras.md5_of_attributes)
    }

    /// The AWS X-Ray trace header.
    pub fn trace_header(&self) -> Option<&str> {
        self.extras.as_ref().and_then(|extras| extras.trace_header.as_deref())
    }
}

impl Payload {
    /// Estimated memory.
    fn bytes(&self) -> usize {
        /// A hash table, the allocation of the trace header, and the box.
        const EXTRAS: usize = 128;
        let extras = self.extras.as_ref().map_or(0, |extras| {
            let header = extras.trace_header.as_ref().map_or(0, |header| header.len());
            let attributes = extras.attributes.iter().map(|(name, value)| attribute_bytes(name, value));
            EXTRAS + header + attributes.sum::<usize>()
        });
        size_of::<Self>() + self.body.len() + extras
    }
}

fn attribute_bytes(name: &str, value: &MessageAttributeValue) -> usize {
    let text = value.string_value().map_or(0, str::len);
    let binary = value.binary_value().map_or(0, |binary| binary.as_ref().len());
    size_of::<(String, MessageAttributeValue)>() + name.len() + value.data_type().len() + text + binary
}

/// The sequence number of a FIFO message, displayed with 20 digits.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SequenceNumber(pub(super) u128);

serialize_as_text!(SequenceNumber);

impl fmt::Display for SequenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:020}", self.0)
    }
}

/// The visibility of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    /// Visible.
    Available,
    /// New, and hidden until its delay ends.
    Delayed {
        /// The end of the delay.
        until: Timestamp,
    },
    /// Received.
    InFlight {
        /// When it becomes visible again.
        until: Timestamp,
    },
}

impl State {
    /// When the message becomes visible; `None` if it is.
    pub(super) const fn hidden_until(self) -> Option<Timestamp> {
        match self {
            Self::Available => None,
            Self::Delayed { until } | Self::InFlight { until } => Some(until),
        }
    }
}

/// Exact message counts of a queue.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, serde::Serialize)]
pub struct Counts {
    /// Visible messages, including those behind a message in flight of the same group.
    pub available: usize,
    /// Messages that were received, and were neither deleted nor became visible again.
    pub in_flight: usize,
    /// Messages that have never been visible.
    pub delayed: usize,
}

impl Counts {
    /// The number of messages in a state.
    pub(super) fn of(&mut self, state: State) -> &mut usize {
        match state {
            State::Available => &mut self.available,
            State::Delayed { .. } => &mut self.delayed,
            State::InFlight { .. } => &mut self.in_flight,
        }
    }
}

/// The part of a message that moves with it from queue to queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Core {
    /// The part that the sender set.
    pub payload: Arc<Payload>,
    /// The id of the message.
    pub id: Uuid,
    /// When it was sent.
    pub sent: Timestamp,
    /// The start of its retention.
    pub born: Timestamp,
    /// When it was first received; meaningless while `receives` is 0.
    pub first_received: Timestamp,
    /// Number of receives.
    pub receives: u32,
    /// Number of receives in other queues. The redrive policy of a queue counts only its own receives: with a single
    /// count, two queues that are each other's dead-letter queue would never deliver the message again.
    pub receives_elsewhere: u32,
    /// The deduplication id, on FIFO queues.
    pub deduplication_id: Option<Arc<str>>,
    /// The source queue, if the message is a dead letter.
    pub source: Option<Arc<QueueArn>>,
}

impl Core {
    /// Number of receives in the current queue.
    pub(super) fn receives_here(&self) -> u32 {
        self.receives - self.receives_elsewhere
    }

    /// Estimated memory in a queue, if the message has a group of its own.
    pub(super) fn bytes(&self, group: Option<&str>) -> usize {
        /// Reference counts of shared texts, and entries in lists and timers.
        const PLACES: usize = 96;
        /// A group and its entries.
        const GROUP: usize = 256;
        let id = self.deduplication_id.as_ref().map_or(0, |id| id.len());
        let group = group.map_or(0, |group| GROUP + group.len());
        PLACES + size_of::<Stored>() + self.payload.bytes() + id + group
    }
}

/// A message outside of the memory of a queue: saved, removed or on its way to another queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredMessage {
    /// Its number among all messages that were ever in the queue.
    pub ticket: u64,
    /// Its slot in the memory of the queue, which is part of its receipt handles.
    pub slot: Slot,
    /// Its position among the available messages of a standard queue.
    pub turn: u64,
    /// Whether it is visible.
    pub state: State,
    /// The time of the latest receive, or of its arrival.
    pub received: Timestamp,
    /// The message group.
    pub group: Option<Arc<str>>,
    /// The part that moves with the message from queue to queue.
    pub core: Core,
}

/// A message in the memory of a queue. Its fields are those of [`StoredMessage`].
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) core: Core,
    pub(super) state: State,
    pub(super) group: Slot,
    /// Whether it is delivered a second time, even if its consumer deletes it.
    pub(super) again: bool,
    pub(super) ticket: u64,
    pub(super) turn: u64,
    pub(super) received: Timestamp,
}

/// The start of a message's retention, and its ticket. Unique in a queue.
pub(super) type Birth = (Timestamp, u64);

impl Stored {
    pub(super) fn new(message: StoredMessage, group: Slot) -> Self {
        let StoredMessage { ticket, turn, state, received, core, .. } = message;
        Self { core, state, group, again: false, ticket, turn, received }
    }

    /// The message without its queue, which knows its slot and the id of its group.
    pub(super) fn into_message(self, slot: Slot, group: Option<Arc<str>>) -> StoredMessage {
        let Self { core, state, ticket, turn, received, .. } = self;
        StoredMessage { ticket, slot, turn, state, received, group, core }
    }

    /// Its position by age.
    pub(super) fn birth(&self) -> Birth {
        (self.core.born, self.ticket)
    }

    /// Whether the message is in flight since the receive that returned the handle.
    pub(super) fn is_held(&self, handle: &Handle) -> bool {
        let is_latest = (self.ticket, self.core.receives) == (handle.ticket, handle.receive);
        is_latest && matches!(self.state, State::InFlight { .. })
    }
}
