//! Messages: the part that the sender sets, and the part that a queue adds.
//!
//! The messages of one queue, indexed by age, by the end of their invisibility, and by order.
//!
//! [`queue`](super::queue) decides what happens to messages; this module maintains the indexes.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum;
use sqs_client::wire::checksum::Md5Hex;

use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::seed::Uuid;
use crate::control::text::serialize_as_text;
use crate::sqs::engine::handles::Handle;
use crate::sqs::engine::order::Order;
use crate::sqs::engine::order_standard::{SERVERS, ServerSample};
use crate::sqs::engine::{DeliveryMode, Settings};

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
pub struct SequenceNumber(pub(crate) u128);

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
    pub(crate) const fn hidden_until(self) -> Option<Timestamp> {
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
    pub(crate) fn of(&mut self, state: State) -> &mut usize {
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
    pub(crate) fn receives_here(&self) -> u32 {
        self.receives - self.receives_elsewhere
    }

    /// Estimated memory in a queue, if the message has a group of its own.
    pub(crate) fn bytes(&self, group: Option<&str>) -> usize {
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
pub(crate) struct Stored {
    pub(crate) core: Core,
    pub(crate) state: State,
    pub(crate) group: Slot,
    /// Whether it is delivered a second time, even if its consumer deletes it.
    pub(crate) again: bool,
    pub(crate) ticket: u64,
    pub(crate) turn: u64,
    pub(crate) received: Timestamp,
}

/// The start of a message's retention, and its ticket. Unique in a queue.
pub(crate) type Birth = (Timestamp, u64);

impl Stored {
    pub(crate) fn new(message: StoredMessage, group: Slot) -> Self {
        let StoredMessage { ticket, turn, state, received, core, .. } = message;
        Self { core, state, group, again: false, ticket, turn, received }
    }

    /// The message without its queue, which knows its slot and the id of its group.
    pub(crate) fn into_message(self, slot: Slot, group: Option<Arc<str>>) -> StoredMessage {
        let Self { core, state, ticket, turn, received, .. } = self;
        StoredMessage { ticket, slot, turn, state, received, group, core }
    }

    /// Its position by age.
    pub(crate) fn birth(&self) -> Birth {
        (self.core.born, self.ticket)
    }

    /// Whether the message is in flight since the receive that returned the handle.
    pub(crate) fn is_held(&self, handle: &Handle) -> bool {
        let is_latest = (self.ticket, self.core.receives) == (handle.ticket, handle.receive);
        is_latest && matches!(self.state, State::InFlight { .. })
    }
}

/// From this number on, removing all messages at once is worthwhile.
const MANY: usize = 1024;

#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) messages: Slab<Stored>,
    order: Order,
    /// Oldest first.
    pub(crate) by_age: Sequence,
    /// Number of messages of a FIFO queue that a receive looks at.
    window: Option<usize>,
    /// The times at which hidden messages become visible, with ticket and slot. At the same time, the message with the
    /// lower ticket is first.
    timers: BTreeSet<(Timestamp, u64, Slot)>,
    counts: Counts,
    became_receivable: usize,
    bytes: usize,
}

impl Store {
    pub(crate) fn new(fifo: bool, settings: Settings) -> Self {
        let servers = if settings.delivery == DeliveryMode::AwsLike { SERVERS } else { 1 };
        Self::empty(Order::new(fifo, servers), fifo.then(|| settings.receive_window.max(1)))
    }

    fn empty(order: Order, window: Option<usize>) -> Self {
        Self {
            messages: Slab::default(),
            order,
            by_age: Sequence::default(),
            window,
            timers: BTreeSet::new(),
            counts: Counts::default(),
            became_receivable: 0,
            bytes: 0,
        }
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<&Stored> {
        self.messages.get(slot)
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut Stored> {
        self.messages.get_mut(slot)
    }

    /// Places for messages, used or not.
    #[cfg(test)]
    pub(crate) fn allocated(&self) -> usize {
        self.messages.chunks.iter().map(|chunk| chunk.places.capacity()).sum::<usize>()
            + self.by_age.0.capacity()
    }

    pub(crate) fn group_id(&self, group: Slot) -> Option<Arc<str>> {
        self.order.group_id(group)
    }

    /// Estimated memory of the messages.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn len(&self) -> usize {
        let Counts { available, in_flight, delayed } = self.counts;
        available + in_flight + delayed
    }

    /// The next time at which a hidden message becomes visible.
    pub(crate) fn next_return(&self) -> Option<Timestamp> {
        self.timers.first().map(|(at, ..)| *at)
    }

    /// Start of the retention of the oldest message.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        self.get(self.by_age.first()?).map(|oldest| oldest.core.born)
    }

    /// Number of messages (FIFO: groups) that became receivable since the last call.
    pub(crate) fn take_receivable(&mut self) -> usize {
        std::mem::take(&mut self.became_receivable)
    }

    /// Adds a message that was not received from this queue yet.
    pub(crate) fn insert(
        &mut self,
        now: Timestamp,
        ticket: u64,
        (core, group): (Core, Option<&str>),
        delay: Duration,
    ) -> Slot {
        let state = if delay.is_zero() { State::Available } else { State::Delayed { until: now + delay } };
        self.bytes += core.bytes(group);
        let group = self.order.join(group, now);
        let slot =
            self.messages.insert(Stored { core, state, group, again: false, ticket, turn: 0, received: now });
        self.add_to_indexes(slot, true);
        slot
    }

    /// Returns a removed message to its old position. It is available.
    pub(crate) fn put_back(&mut self, now: Timestamp, message: StoredMessage) -> Slot {
        let message = StoredMessage { state: State::Available, received: now, ..message };
        let slot = message.slot;
        let message = self.joined(now, message);
        // Its receipt handles have the slot.
        let slot = match self.messages.insert_at(slot, message) {
            Ok(()) => slot,
            Err(message) => self.messages.insert(message),
        };
        self.add_to_indexes(slot, false);
        slot
    }

    /// Counts the memory of a message that was in the queue before, and joins its group.
    pub(crate) fn joined(&mut self, now: Timestamp, message: StoredMessage) -> Stored {
        let group = message.group.as_deref();
        self.bytes += message.core.bytes(group);
        let group = self.order.join(group, now);
        Stored::new(message, group)
    }

    /// Adds a stored message to counts, timers, ages and order.
    pub(crate) fn add_to_indexes(&mut self, slot: Slot, is_new: bool) {
        let Some((state, ticket)) = self.get(slot).map(|message| (message.state, message.ticket)) else {
            return;
        };
        *self.counts.of(state) += 1;
        if let Some(until) = state.hidden_until() {
            self.timers.insert((until, ticket, slot));
        }
        let outside = self.insert_by_age(slot);
        let became_receivable = self.order.added(&mut self.messages, slot, is_new);
        self.became_receivable += usize::from(became_receivable);
        // After the new message is in its group, so that the group can keep its turn.
        if let Some(outside) = outside {
            self.order.window_changed(&self.messages, outside);
        }
    }

    /// Adds a message by age. Returns the message of a FIFO queue that leaves the receive window because of it.
    fn insert_by_age(&mut self, slot: Slot) -> Option<Slot> {
        let messages = &self.messages;
        let at = self.by_age.insert(slot, |slot| messages.get(slot).map(Stored::birth));
        let window = self.window.filter(|window| at <= *window)?;
        self.update_frontier();
        self.by_age.get(window)
    }

    /// Removes a message by age. Returns the message of a FIFO queue that enters the receive window because of it. The
    /// frontier is updated before the group of the removed message is refreshed: the group can continue with its next
    /// message and keep its turn.
    fn remove_by_age(&mut self, slot: Slot) -> Option<Slot> {
        let messages = &self.messages;
        let at = self.by_age.remove(slot, |slot| messages.get(slot).map(Stored::birth))?;
        let window = self.window.filter(|window| at < *window)?;
        self.update_frontier();
        self.by_age.get(window - 1)
    }

    fn update_frontier(&mut self) {
        let window = self.window.filter(|window| self.by_age.len() > *window);
        let last = window.and_then(|window| self.get(self.by_age.get(window - 1)?));
        self.order.set_frontier(last.map_or(u64::MAX, |last| last.ticket));
    }

    pub(crate) fn set_state(&mut self, now: Timestamp, slot: Slot, state: State) {
        let Some(message) = self.messages.get_mut(slot) else {
            return;
        };
        let old = std::mem::replace(&mut message.state, state);
        let ticket = message.ticket;
        if old == state {
            return;
        }
        *self.counts.of(old) -= 1;
        *self.counts.of(state) += 1;
        if let Some(until) = old.hidden_until() {
            self.timers.remove(&(until, ticket, slot));
        }
        if let Some(until) = state.hidden_until() {
            self.timers.insert((until, ticket, slot));
        }
        let became_receivable = self.order.changed(&mut self.messages, now, slot, old);
        self.became_receivable += usize::from(became_receivable);
    }

    /// A message that became visible by `now`. The caller sets its state.
    pub(crate) fn next_due(&mut self, now: Timestamp) -> Option<Slot> {
        if self.next_return()? > now {
            return None;
        }
        self.timers.pop_first().map(|(.., slot)| slot)
    }

    /// Removes a message.
    pub(crate) fn remove(&mut self, now: Timestamp, slot: Slot) -> Option<StoredMessage> {
        let Stored { group, state, ticket, .. } = *self.messages.get(slot)?;
        let group = self.group_id(group);
        *self.counts.of(state) -= 1;
        let next_inside = self.remove_by_age(slot);
        if let Some(until) = state.hidden_until() {
            self.timers.remove(&(until, ticket, slot));
        }
        self.became_receivable += usize::from(self.order.leaves(&self.messages, now, slot));
        let message = self.messages.remove(slot)?;
        if let Some(next) = next_inside {
            self.became_receivable += usize::from(self.order.window_changed(&self.messages, next));
        }
        self.bytes -= message.core.bytes(group.as_deref());
        Some(message.into_message(slot, group))
    }

    /// Removes all messages at once. Their memory is released for the limit at once: no send is rejected while they are
    /// dropped.
    pub(crate) fn take_all(&mut self) -> Self {
        let mut empty = Self::empty(self.order.emptied(), self.window);
        empty.became_receivable = self.became_receivable;
        std::mem::replace(self, empty)
    }

    /// Whether there are many messages and the retention period of all has ended.
    pub(crate) fn is_expired(&self, now: Timestamp, retention: Duration) -> bool {
        let youngest = self.by_age.last().and_then(|slot| self.get(slot));
        self.len() >= MANY && youngest.is_some_and(|youngest| youngest.core.born + retention <= now)
    }

    /// The oldest message, if its retention period has ended.
    pub(crate) fn oldest_slot(&self, now: Timestamp, retention: Duration) -> Option<Slot> {
        let oldest = self.by_age.first()?;
        self.get(oldest).filter(|message| message.core.born + retention <= now).map(|_| oldest)
    }

    /// The message to deliver next from these servers.
    pub(crate) fn next(&mut self, now: Timestamp, sample: ServerSample) -> Option<Slot> {
        self.order.next(&self.messages, now, self.counts.in_flight, sample)
    }

    /// Whether receives look at this message.
    pub(crate) fn is_in_window(&self, message: &Stored) -> bool {
        self.order.is_in_window(message.ticket)
    }

    /// The message to deliver in the same receive: the next of its group.
    pub(crate) fn follower(&self, slot: Slot) -> Option<Slot> {
        self.order.follower(&self.messages, slot)
    }

    /// A copy of a message, in the form that readers store.
    pub(crate) fn stored(&self, slot: Slot) -> Option<StoredMessage> {
        let message = self.get(slot)?;
        Some(message.clone().into_message(slot, self.group_id(message.group)))
    }

    /// All messages younger than `birth`, oldest first.
    pub(crate) fn after(&self, birth: Option<Birth>) -> impl Iterator<Item = (Slot, &Stored)> {
        let is_before = move |slot| self.get(slot).map(Stored::birth) <= birth;
        self.by_age.beyond(is_before).filter_map(|slot| Some((slot, self.get(slot)?)))
    }

    /// Messages whose retention started after `moment`, the latest ticket first.
    pub(crate) fn younger_than(&self, moment: Timestamp) -> Vec<Slot> {
        let is_younger = |slot: &Slot| self.get(*slot).is_some_and(|message| message.core.born > moment);
        let mut slots: Vec<_> = self.by_age.iter().rev().take_while(is_younger).collect();
        slots.sort_unstable_by_key(|slot| Reverse(self.get(*slot).map(|message| message.ticket)));
        slots
    }
}

/// Values per chunk. A slab grows by chunks, so insertions do not copy existing values.
const CHUNK: usize = 1 << CHUNK_BITS;

const CHUNK_BITS: u32 = 10;

/// A slot in a [`Slab`]. Slots are reused after a removal.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Slot(pub(crate) u32);

impl Slot {
    const fn split(self) -> (usize, usize) {
        let at = self.0 as usize;
        (at >> CHUNK_BITS, at & (CHUNK - 1))
    }
}

/// Values in slots that do not move. A chunk without values gives its memory back, except for the one that was last emptied: a queue
/// with a message now and then would allocate for each.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    chunks: Vec<Chunk<T>>,
    /// The chunks that have room, each once. The last is filled first.
    open: Vec<usize>,
    /// The chunk that was last emptied.
    spare: Option<usize>,
}

#[derive(Debug)]
struct Chunk<T> {
    places: Vec<Option<T>>,
    /// The free ones among the places.
    free: Vec<usize>,
}

impl<T> Chunk<T> {
    /// Puts a value into a chunk that has room.
    fn put(&mut self, value: T) -> usize {
        if let Some(at) = self.free.pop()
            && let Some(place) = self.places.get_mut(at)
        {
            *place = Some(value);
            return at;
        }
        self.places.push(Some(value));
        self.places.len() - 1
    }

    fn is_full(&self) -> bool {
        self.free.is_empty() && self.places.len() == CHUNK
    }

    fn is_empty(&self) -> bool {
        self.free.len() == self.places.len()
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), open: Vec::new(), spare: None }
    }
}

impl<T> Slab<T> {
    /// A slab with these values in these slots, all different.
    #[cfg(any(test, feature = "durable"))]
    pub(crate) fn filled(values: Vec<(Slot, T)>) -> Self {
        let mut slab = Self::default();
        for (slot, value) in values {
            let (chunk, at) = slot.split();
            while slab.chunks.len() <= chunk {
                slab.chunks.push(Chunk { places: Vec::new(), free: Vec::new() });
            }
            let places = &mut slab.chunks[chunk].places;
            places.resize_with(places.len().max(at + 1), || None);
            places[at] = Some(value);
        }
        for (index, chunk) in slab.chunks.iter_mut().enumerate() {
            chunk.free = (0..chunk.places.len()).filter(|at| chunk.places[*at].is_none()).collect();
            if !chunk.is_full() {
                slab.open.push(index);
            }
        }
        slab
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<&T> {
        let (chunk, at) = slot.split();
        self.chunks.get(chunk)?.places.get(at)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut T> {
        let (chunk, at) = slot.split();
        self.chunks.get_mut(chunk)?.places.get_mut(at)?.as_mut()
    }

    pub(crate) fn insert(&mut self, value: T) -> Slot {
        let index = self.open.last().copied().unwrap_or_else(|| {
            self.chunks.push(Chunk { places: Vec::new(), free: Vec::new() });
            self.open.push(self.chunks.len() - 1);
            self.chunks.len() - 1
        });
        let chunk = &mut self.chunks[index];
        let at = chunk.put(value);
        if chunk.is_full() {
            self.open.pop();
        }
        // Memory cannot hold 2^32 messages.
        Slot(u32::try_from(index * CHUNK + at).unwrap_or(u32::MAX))
    }

    /// Puts a value into a slot that had one before, or returns it if the slot has been used again.
    pub(crate) fn insert_at(&mut self, slot: Slot, value: T) -> Result<(), T> {
        let (index, at) = slot.split();
        let Some(chunk) = self.chunks.get_mut(index) else { return Err(value) };
        while chunk.places.len() <= at {
            chunk.free.push(chunk.places.len());
            chunk.places.push(None);
        }
        let Some(free) = chunk.free.iter().position(|free| *free == at) else { return Err(value) };
        chunk.free.swap_remove(free);
        chunk.places[at] = Some(value);
        if chunk.is_full() {
            self.open.retain(|open| *open != index);
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> Option<T> {
        let (index, at) = slot.split();
        let chunk = self.chunks.get_mut(index)?;
        let was_full = chunk.is_full();
        let value = chunk.places.get_mut(at)?.take()?;
        chunk.free.push(at);
        if was_full {
            self.open.push(index);
        }
        if chunk.is_empty() {
            chunk.places.clear();
            chunk.free.clear();
            let earlier = self.spare.replace(index).filter(|earlier| *earlier != index);
            if let Some(earlier) = earlier.and_then(|earlier| self.chunks.get_mut(earlier))
                && earlier.places.is_empty()
            {
                *earlier = Chunk { places: Vec::new(), free: Vec::new() };
            }
        }
        Some(value)
    }
}

/// Below this capacity, collections keep what they have.
const KEPT: usize = 1024;

/// Whether a collection should give memory back: the backlog that needed it is gone.
pub(crate) fn is_oversized(len: usize, capacity: usize) -> bool {
    capacity > KEPT && len < capacity / 4
}

/// Slots sorted by a key of their messages. A slot takes 4 bytes; an entry of a B-tree takes 40.
///
/// Most messages are added at the back and removed near the front, which costs a few comparisons. Elsewhere, an
/// insertion or removal moves up to half of the slots: with a million slots, 2 MB in about 100 microseconds.
#[derive(Debug, Default)]
pub(crate) struct Sequence(VecDeque<Slot>);

impl Sequence {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<Slot> {
        self.0.get(at).copied()
    }

    pub(crate) fn first(&self) -> Option<Slot> {
        self.get(0)
    }

    pub(crate) fn last(&self) -> Option<Slot> {
        self.0.back().copied()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Slot> {
        self.0.iter().copied()
    }

    /// Inserts a slot and returns its index. `key_of` returns the key of a slot; keys are unique.
    pub(crate) fn insert<K: Ord>(&mut self, slot: Slot, key_of: impl Fn(Slot) -> K) -> usize {
        let is_last = self.last().is_none_or(|last| key_of(last) < key_of(slot));
        let at = if is_last { self.len() } else { self.place_of(slot, key_of) };
        self.0.insert(at, slot);
        at
    }

    /// Removes a slot and returns its index.
    pub(crate) fn remove<K: Ord>(&mut self, slot: Slot, key_of: impl Fn(Slot) -> K) -> Option<usize> {
        let at = self.place_of(slot, key_of);
        self.0.get(at).filter(|found| **found == slot)?;
        self.0.remove(at);
        if is_oversized(self.0.len(), self.0.capacity()) {
            self.0.shrink_to(self.0.len() * 2);
        }
        Some(at)
    }

    /// The slot after one that is in the sequence.
    pub(crate) fn after<K: Ord>(&self, slot: Slot, key_of: impl Fn(Slot) -> K) -> Option<Slot> {
        self.get(self.place_of(slot, key_of) + 1)
    }

    /// The slots after the first ones, for which `is_before` returns true.
    pub(crate) fn beyond(&self, is_before: impl Fn(Slot) -> bool) -> impl Iterator<Item = Slot> {
        self.0.range(self.partition_point(is_before)..).copied()
    }

    /// Number of slots with a smaller key.
    fn place_of<K: Ord>(&self, slot: Slot, key_of: impl Fn(Slot) -> K) -> usize {
        let key = key_of(slot);
        self.partition_point(|slot| key_of(slot) < key)
    }

    /// Number of slots for which `is_before` returns true; they come first. Exponential search from the front.
    fn partition_point(&self, is_before: impl Fn(Slot) -> bool) -> usize {
        let is_before = |at: usize| self.get(at).is_some_and(&is_before);
        let (mut from, mut to) = (0, 1);
        while is_before(to - 1) {
            (from, to) = (to, to * 2);
        }
        let mut to = to.min(self.len());
        while from < to {
            let middle = from.midpoint(to);
            if is_before(middle) { from = middle + 1 } else { to = middle }
        }
        from
    }
}

#[cfg(test)]
mod slab_tests {
    use super::*;

    #[test]
    fn slots_are_stable_and_reused() {
        let mut slab = Slab::default();
        let slots: Vec<_> = (0..3000).map(|value| slab.insert(value)).collect();
        assert_eq!(slab.remove(slots[1500]), Some(1500));
        assert_eq!(slab.remove(slots[1500]), None);
        assert_eq!(slab.get(slots[2999]), Some(&2999));
        assert_eq!(slab.insert(7), slots[1500]);
        assert_eq!(slab.get(slots[1500]), Some(&7));
        assert_eq!(slab.insert_at(slots[1500], 8), Err(8));
        for slot in &slots {
            slab.remove(*slot);
        }
        for (value, slot) in slots.iter().enumerate().rev() {
            assert_eq!(slab.insert_at(*slot, value), Ok(()), "{slot:?}");
        }
        assert!(slots.iter().enumerate().all(|(value, slot)| slab.get(*slot) == Some(&value)));
        assert!((0..100).all(|value| !slots.contains(&slab.insert(value))));
    }

    #[test]
    fn unused_slot_is_empty() {
        let mut slab = Slab::<u8>::default();
        assert_eq!(slab.get(Slot(u32::MAX)), None);
        assert_eq!(slab.remove(Slot(5)), None);
    }
}

#[cfg(test)]
mod sequence_tests {
    use super::*;

    fn key(slot: Slot) -> u32 {
        slot.0
    }

    #[test]
    fn slots_stay_sorted_under_random_insertions_and_removals() {
        let mut sequence = Sequence::default();
        let mut naive = std::collections::BTreeSet::new();
        let mut random = crate::control::seed::Seed(1).generator("sequence");
        for _ in 0..20_000 {
            let slot = Slot(random.u32(..200));
            if naive.contains(&slot) {
                let place = naive.iter().position(|other| *other == slot);
                let after = naive.range(slot..).nth(1).copied();
                assert_eq!(sequence.after(slot, key), after);
                assert!(sequence.beyond(|other| other <= slot).eq(naive.range(slot..).skip(1).copied()));
                assert_eq!(sequence.remove(slot, key), place);
                naive.remove(&slot);
            } else {
                assert_eq!(sequence.remove(slot, key), None);
                naive.insert(slot);
                let place = naive.iter().position(|other| *other == slot).unwrap();
                assert_eq!(sequence.insert(slot, key), place);
            }
            assert!(sequence.iter().eq(naive.iter().copied()));
        }
    }
}
