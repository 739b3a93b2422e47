//! Sending messages.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::wire::checksum;
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::error::{invalid_parameter, missing_parameter};

use super::{Queue, SequenceNumber};
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sqs::engine::Room;
use crate::sqs::engine::dedup::{Deduplication, Mark};
use crate::sqs::engine::message::{Core, Payload};

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
