//! Sending messages.
//!
//! Deduplication: the deduplication ids of the last five minutes.
//!
//! Source: the page `using-messagededuplicationid-property.html` of the developer guide,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/>

use std::collections::{HashMap, VecDeque};
use std::hash::Hasher as _;
use std::sync::Arc;
use std::time::Duration;

use siphasher::sip128::{Hasher128 as _, SipHasher13};
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::error::{invalid_parameter, missing_parameter};
use sqs_client::wire::{checksum, limits};

use crate::control::clock::Timestamp;
use crate::control::seed::Uuid;
use crate::sqs::engine::Room;
use crate::sqs::engine::attributes::DeduplicationScope;
use crate::sqs::engine::messages::{Core, Payload, SequenceNumber, is_oversized};
use crate::sqs::engine::queue::Queue;

/// A message to send.
#[derive(Debug)]
pub(crate) struct NewMessage {
    /// The part that the sender sets.
    pub payload: Payload,
    /// Its delay, in whole seconds; the default of the queue if absent.
    pub delay: Option<Duration>,
    /// Its message group, required on FIFO queues.
    pub group: Option<String>,
    /// Its deduplication id, for FIFO queues.
    pub deduplication_id: Option<String>,
}

/// The id of an accepted message, or of the original of a duplicate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Sent {
    /// Its id.
    pub id: Uuid,
    /// Its sequence number, on FIFO queues.
    pub sequence_number: Option<SequenceNumber>,
    /// When the original was sent, if this is a duplicate, which is not stored.
    pub original: Option<Timestamp>,
}

impl Queue {
    /// Stores a message. A duplicate, by its deduplication id, returns the result of the original and is not stored.
    ///
    /// # Errors
    /// `MissingParameter` or `InvalidParameterValue` if group, deduplication id or delay are invalid for this kind of
    /// queue, `OverLimit` if the message does not fit into memory.
    pub(crate) fn send(
        &mut self,
        now: Timestamp,
        room: Room,
        message: NewMessage,
    ) -> Result<Sent, ServiceError> {
        let now = self.settle(now);
        let deduplication_id = self.deduplication_id(&message)?;
        let group = message.group.as_deref();
        let mark = self.mark(group, deduplication_id.as_deref());
        if let Some(original) = mark.and_then(|mark| self.fifo.as_mut()?.deduplication.find(now, mark)) {
            return Ok(Sent {
                id: self.ids.of(original.ticket),
                sequence_number: self.sequence_number(original.ticket),
                original: Some(original.sent()),
            });
        }
        let id = self.ids.of(self.next_ticket);
        let core = Core {
            payload: Arc::new(message.payload),
            id,
            sent: now,
            born: now,
            first_received: now,
            receives: 0,
            receives_elsewhere: 0,
            deduplication_id,
            source: None,
        };
        let memory = if mark.is_some() { Deduplication::BYTES } else { 0 };
        room.check(self.stored_bytes(), core.bytes(group) + memory)?;
        let ticket = self.take_ticket();
        let known = mark.and_then(|mark| Some(self.fifo.as_mut()?.deduplication.remember(now, mark, ticket)));
        // A FIFO queue has one delay for all messages.
        let delay = message.delay.filter(|_| self.fifo.is_none()).unwrap_or(self.attributes.delay);
        let slot = self.store.insert(now, ticket, (core, group), delay);
        self.record_stored(slot, known);
        Ok(Sent { id, sequence_number: self.sequence_number(ticket), original: None })
    }

    /// The deduplication id, on FIFO queues. An explicit id overrides the hash of the body.
    fn deduplication_id(&self, message: &NewMessage) -> Result<Option<Arc<str>>, ServiceError> {
        let Some(fifo) = self.attributes.fifo else { return Ok(None) };
        if message.group.is_none() {
            return Err(missing_parameter("MessageGroupId"));
        }
        match &message.deduplication_id {
            Some(id) => Ok(Some(id.as_str().into())),
            None if fifo.content_based_deduplication => {
                Ok(Some(checksum::content_deduplication_id(&message.payload.body).into()))
            }
            None => Err(invalid_parameter(
                "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided \
                 explicitly",
            )),
        }
    }

    fn mark(&self, group: Option<&str>, id: Option<&str>) -> Option<Mark> {
        Some(self.fifo.as_ref()?.deduplication.mark(group?, id?))
    }
}

const WINDOW: Duration = Duration::from_secs(limits::DEDUPLICATION_SECONDS);

/// A deduplication id, stored as a hash of 128 bits. With a million ids in a queue, the probability of a collision is
/// about one in 2^88. Stable across versions, since a store may keep it.
pub(crate) type Mark = u128;

/// A deduplication id with its original.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Known {
    /// The hash of the id.
    pub mark: Mark,
    /// When it expires.
    pub forget: Timestamp,
    /// The ticket of the original.
    pub ticket: u64,
}

/// The deduplication ids of a queue. An id expires five minutes after its first accepted send; duplicates, receives and
/// deletes do not change that.
#[derive(Debug)]
pub(crate) struct Deduplication {
    /// The scope at creation: on AWS, a later change of the attribute does not affect it.
    scope: DeduplicationScope,
    /// Makes the hashes of each queue different. Otherwise a sender could compute ids that collide.
    key: u64,
    by_mark: HashMap<Mark, Known>,
    /// Oldest first.
    in_order: VecDeque<Mark>,
}

impl Known {
    /// When the original was sent.
    pub(crate) fn sent(self) -> Timestamp {
        self.forget.saturating_before(WINDOW)
    }
}

impl Deduplication {
    /// Estimated memory of an id.
    pub(crate) const BYTES: usize = 96;

    pub(crate) fn new(scope: DeduplicationScope, key: u64) -> Self {
        Self { scope, key, by_mark: HashMap::new(), in_order: VecDeque::new() }
    }

    /// The original of a deduplication id.
    pub(crate) fn find(&mut self, now: Timestamp, mark: Mark) -> Option<Known> {
        self.forget(now);
        self.by_mark.get(&mark).copied()
    }

    /// Makes the message with this ticket the original of an id that has none.
    pub(crate) fn remember(&mut self, now: Timestamp, mark: Mark, ticket: u64) -> Known {
        let known = Known { mark, forget: now + WINDOW, ticket };
        self.insert(known);
        known
    }

    fn insert(&mut self, known: Known) {
        self.by_mark.insert(known.mark, known);
        self.in_order.push_back(known.mark);
    }

    /// The scope at creation.
    #[cfg(test)]
    pub(crate) fn scope(&self) -> DeduplicationScope {
        self.scope
    }

    /// All ids, oldest first.
    #[cfg(test)]
    pub(crate) fn known(&self) -> Vec<Known> {
        self.in_order.iter().filter_map(|mark| self.by_mark.get(mark).copied()).collect()
    }

    /// Restores the ids of an earlier process, except those that have expired since: they may have been used again.
    #[cfg(any(test, feature = "durable"))]
    pub(crate) fn restore(&mut self, now: Timestamp, scope: DeduplicationScope, known: Vec<Known>) {
        self.scope = scope;
        for known in known.into_iter().filter(|known| now < known.forget) {
            self.insert(known);
        }
    }

    pub(crate) fn stored_bytes(&self) -> usize {
        self.in_order.len() * Self::BYTES
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.scope, self.key);
    }

    /// Removes expired ids.
    pub(crate) fn forget(&mut self, now: Timestamp) {
        while let Some(mark) = self.in_order.front().copied() {
            if self.by_mark.get(&mark).is_some_and(|known| now < known.forget) {
                return;
            }
            self.in_order.pop_front();
            self.by_mark.remove(&mark);
            if is_oversized(self.in_order.len(), self.in_order.capacity()) {
                self.in_order.shrink_to(self.in_order.len() * 2);
                self.by_mark.shrink_to(self.by_mark.len() * 2);
            }
        }
    }

    /// The hash of a deduplication id, within its scope.
    pub(crate) fn mark(&self, group: &str, id: &str) -> Mark {
        let mut hasher = SipHasher13::new_with_keys(self.key, !self.key);
        if self.scope == DeduplicationScope::MessageGroup {
            hasher.write(&(group.len() as u64).to_le_bytes());
            hasher.write(group.as_bytes());
        }
        hasher.write(id.as_bytes());
        hasher.finish128().as_u128()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deduplication_ids_expire_after_five_minutes() {
        let at = |seconds: u64| Timestamp::from_millis(seconds * 1000);
        let mut known = Deduplication::new(DeduplicationScope::Queue, 1);
        for second in 0..1000 {
            let original = |known: &mut Deduplication, group, number: u64, ticket| {
                let mark = known.mark(group, &number.to_string());
                let original = known.find(at(second), mark);
                if original.is_none() {
                    known.remember(at(second), mark, ticket);
                }
                original.map(|known| (known.ticket, known.sent()))
            };
            assert_eq!(original(&mut known, "g", second, second), None);
            let oldest = second.saturating_sub(299);
            assert_eq!(original(&mut known, "h", oldest, 0), Some((oldest, at(oldest))));
            let count = usize::try_from(second - oldest + 1).unwrap();
            assert_eq!(known.stored_bytes(), count * Deduplication::BYTES);
        }
    }
}
