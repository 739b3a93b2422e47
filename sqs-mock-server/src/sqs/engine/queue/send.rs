//! Sending messages.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::wire::checksum;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::{Queue, SequenceNumber};
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sqs::engine::Room;
use crate::sqs::engine::dedup::{Deduplication, Known};
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
        if self.fifo.is_some() {
            self.send_in_order(now, room, message)
        } else {
            self.send_standard(now, room, message)
        }
    }

    fn send_standard(
        &mut self,
        now: Timestamp,
        room: Room,
        message: NewMessage,
    ) -> Result<Sent, ServiceError> {
        let id = self.ids.of(self.next_ticket);
        let core = new_core(now, id, message.payload, None);
        room.check(self.stored_bytes(), core.bytes(message.group.as_deref()))?;
        let ticket = self.take_ticket();
        let delay = message.delay.unwrap_or(self.attributes.delay);
        let slot = self.store.insert(now, ticket, (core, message.group.as_deref()), delay);
        self.record_stored(slot, |_| None);
        Ok(Sent { id, sequence_number: None, original: None })
    }

    fn send_in_order(
        &mut self,
        now: Timestamp,
        room: Room,
        message: NewMessage,
    ) -> Result<Sent, ServiceError> {
        let deduplication_id = self.deduplication_id(&message)?;
        let group = message.group.ok_or_else(missing_group)?;
        let id = self.ids.of(self.next_ticket);
        let core = new_core(now, id, message.payload, Some(deduplication_id.as_str().into()));
        if let Some(original) = self.original(now, room, (&group, &deduplication_id), &core)? {
            let sequence_number = self.sequence_number(original.ticket);
            return Ok(Sent {
                id: self.ids.of(original.ticket),
                sequence_number,
                original: Some(original.sent()),
            });
        }
        let ticket = self.take_ticket();
        let slot = self.store.insert(now, ticket, (core, Some(&group)), self.attributes.delay);
        self.record_stored(slot, |queue| queue.fifo.as_ref()?.deduplication.latest());
        Ok(Sent { id, sequence_number: self.sequence_number(ticket), original: None })
    }

    /// The original of a duplicate. If there is none and the message fits into memory, it becomes the original.
    fn original(
        &mut self,
        now: Timestamp,
        room: Room,
        (group, id): (&str, &str),
        core: &Core,
    ) -> Result<Option<Known>, ServiceError> {
        let (ticket, here) = (self.next_ticket, self.stored_bytes());
        let check = || room.check(here, core.bytes(Some(group)) + Deduplication::BYTES);
        let memory = self.fifo.as_mut();
        memory.map_or(Ok(None), |fifo| fifo.deduplication.original(now, (group, id), ticket, check))
    }

    /// An explicit id overrides the hash of the body.
    fn deduplication_id(&self, message: &NewMessage) -> Result<String, ServiceError> {
        let by_content = self.attributes.fifo.is_some_and(|fifo| fifo.content_based_deduplication);
        match &message.deduplication_id {
            Some(id) => Ok(id.clone()),
            None if by_content => Ok(checksum::content_deduplication_id(&message.payload.body)),
            None if message.group.is_none() => Err(missing_group()),
            None => Err(ServiceError::new(
                ErrorCode::InvalidParameterValue,
                "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided \
                 explicitly",
            )),
        }
    }
}

fn missing_group() -> ServiceError {
    let text = "The request must contain the parameter MessageGroupId.";
    ServiceError::new(ErrorCode::MissingParameter, text)
}

fn new_core(now: Timestamp, id: Uuid, payload: Payload, deduplication_id: Option<Arc<str>>) -> Core {
    Core {
        payload: Arc::new(payload),
        id,
        sent: now,
        born: now,
        first_received: now,
        receives: 0,
        receives_elsewhere: 0,
        deduplication_id,
        source: None,
    }
}
