//! Messages in transit between queues: dead letters, and messages of a move task.
//!
//! A message leaves one queue as a value and enters the other in a separate call, so no caller needs two queues at
//! once.

use std::sync::Arc;
use std::time::Duration;

use super::Queue;
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::sqs::engine::aws_like::ServerSample;
use crate::sqs::engine::change::{QueueChange, QueueId};
use crate::sqs::engine::message::{Core, StoredMessage};
use crate::sqs::engine::slab::Slot;
use crate::sqs::engine::{FailureReason, MoveStatus};

/// A message in transit to another queue.
#[derive(Debug)]
#[must_use = "the message is in no queue any more"]
pub(crate) struct InTransit {
    /// Boxed, because a queue that refuses the message returns it as an error.
    pub(super) message: Box<StoredMessage>,
    source: QueueId,
    destination: Arc<QueueArn>,
}

impl InTransit {
    /// The queue to which it goes.
    pub(crate) fn destination(&self) -> &Arc<QueueArn> {
        &self.destination
    }
}

impl Queue {
    /// Removes a message that was received too often.
    pub(super) fn move_to_dead_letters(&mut self, now: Timestamp, slot: Slot) -> Option<InTransit> {
        let destination = Arc::clone(&self.attributes.redrive.as_ref()?.target);
        let message = Box::new(self.store.remove(now, slot)?);
        Some(InTransit { message, source: self.id.clone(), destination })
    }

    /// Stores a dead letter. It keeps its id and receive count, and on standard queues its age.
    ///
    /// # Errors
    /// The queue was deleted meanwhile; the letter is returned for [`Queue::take_back`].
    pub(crate) fn accept_dead_letter(&mut self, now: Timestamp, letter: InTransit) -> Result<(), InTransit> {
        let now = self.settle(now);
        if self.deleted {
            return Err(letter);
        }
        let InTransit { message, source, .. } = letter;
        let StoredMessage { mut core, group, ticket, .. } = *message;
        core.source = Some(Arc::clone(&source.arn));
        core.receives_elsewhere = core.receives;
        if self.fifo.is_some() {
            core.deduplication_id = Some(core.id.to_string().into());
        }
        self.put(now, core, group.as_deref(), (source, ticket));
        Ok(())
    }

    /// Removes an available message for a move task, to `destination` or else to its source queue.
    ///
    /// # Errors
    /// The final status of the task: there is no message, or no destination for it. Nothing is removed.
    pub(crate) fn take_for_move(
        &mut self,
        now: Timestamp,
        destination: Option<&Arc<QueueArn>>,
    ) -> Result<InTransit, MoveStatus> {
        let now = self.settle(now);
        let slot = self.store.next(now, ServerSample::ALL).ok_or(MoveStatus::Completed)?;
        let message = self.store.get(slot).ok_or(MoveStatus::Completed)?;
        let destination = destination.or(message.core.source.as_ref()).map(Arc::clone);
        let destination = destination.ok_or(MoveStatus::Failed(FailureReason::UnknownSource))?;
        let message = self.store.remove(now, slot).ok_or(MoveStatus::Completed)?;
        Ok(InTransit { message: Box::new(message), source: self.id.clone(), destination })
    }

    /// Stores a message of a move task as a new message: id, times and receive count start anew.
    ///
    /// # Errors
    /// The queue was deleted meanwhile, or it is a FIFO queue and the message has no group. The message is returned for
    /// [`Queue::take_back`].
    pub(crate) fn accept_moving(&mut self, now: Timestamp, moving: InTransit) -> Result<(), InTransit> {
        let now = self.settle(now);
        let lacks_group = self.fifo.is_some() && moving.message.group.is_none();
        if self.deleted || lacks_group {
            return Err(moving);
        }
        let InTransit { message, source, .. } = moving;
        let StoredMessage { core, group, ticket, .. } = *message;
        let id = self.ids.of(self.next_ticket);
        let core =
            Core { id, sent: now, born: now, receives: 0, receives_elsewhere: 0, source: None, ..core };
        self.put(now, core, group.as_deref(), (source, ticket));
        Ok(())
    }

    /// Puts a message back into its old position, because its destination was deleted or rejected it. For readers, a
    /// message in transit has not left its queue, unless the queue was purged meanwhile.
    pub(crate) fn take_back(&mut self, now: Timestamp, message: InTransit) {
        let now = self.settle(now);
        let slot = self.store.put_back(now, *message.message);
        if !self.deleted {
            self.record_stored(slot, None);
        }
    }

    /// On a FIFO queue, retention starts at the arrival. The delay of a queue applies to sent messages, not to moved
    /// ones.
    fn put(&mut self, now: Timestamp, mut core: Core, group: Option<&str>, (from, left): (QueueId, u64)) {
        if self.fifo.is_some() {
            core.born = now;
        }
        let ticket = self.take_ticket();
        let slot = self.store.insert(now, ticket, (core, group), Duration::ZERO);
        if self.changes.is_some()
            && let Some(message) = self.store.stored(slot)
        {
            let message = Box::new(message);
            self.record(|_| QueueChange::MessageMoved { from, ticket: left, message });
        }
    }
}
