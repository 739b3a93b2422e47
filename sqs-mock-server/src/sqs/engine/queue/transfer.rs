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
use crate::sqs::engine::message::{Core, Removed};
use crate::sqs::engine::slab::Slot;

/// A message that was received too often, in transit to the dead-letter queue.
#[derive(Debug)]
#[must_use = "the message is in no queue any more"]
pub(crate) struct DeadLetter {
    /// Boxed, because a deleted queue returns the letter as an error.
    pub(super) message: Box<Removed>,
    source: QueueId,
    target: Arc<QueueArn>,
}

impl DeadLetter {
    /// The dead-letter queue.
    pub(crate) fn target(&self) -> &Arc<QueueArn> {
        &self.target
    }
}

/// A message in transit for a move task.
#[derive(Debug)]
#[must_use = "the message is in no queue any more"]
pub(crate) struct Moving {
    /// Boxed, see [`DeadLetter`].
    message: Box<Removed>,
    source: QueueId,
    destination: Arc<QueueArn>,
}

impl Moving {
    /// The destination queue.
    pub(crate) fn destination(&self) -> &Arc<QueueArn> {
        &self.destination
    }
}

/// Why a move task cannot take a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MovingStopped {
    /// No message is available.
    NothingLeft,
    /// The next message is not a dead letter of another queue, so it has no source queue to return to.
    UnknownSource,
}

impl Queue {
    /// Removes a message that was received too often.
    pub(super) fn move_to_dead_letters(&mut self, now: Timestamp, slot: Slot) -> Option<DeadLetter> {
        let target = Arc::clone(&self.attributes.redrive.as_ref()?.target);
        let message = Box::new(self.store.remove(now, slot)?);
        Some(DeadLetter { message, source: self.id.clone(), target })
    }

    /// Stores a dead letter. It keeps its id and receive count, and on standard queues its age.
    ///
    /// # Errors
    /// The queue was deleted meanwhile; the letter is returned for [`Queue::take_back`].
    pub(crate) fn accept_dead_letter(
        &mut self,
        now: Timestamp,
        letter: DeadLetter,
    ) -> Result<(), DeadLetter> {
        let now = self.settle(now);
        if self.deleted {
            return Err(letter);
        }
        let DeadLetter { message, source, .. } = letter;
        let Removed { mut core, group, place } = *message;
        core.source = Some(Arc::clone(&source.arn));
        core.receives_elsewhere = core.receives;
        if self.fifo.is_some() {
            core.deduplication_id = Some(core.id.to_string().into());
        }
        self.put(now, core, group.as_deref(), (source, place.ticket));
        Ok(())
    }

    /// Puts a dead letter back into its old position, because its target was deleted.
    pub(crate) fn take_back(&mut self, now: Timestamp, letter: DeadLetter) {
        let now = self.settle(now);
        self.put_back(now, *letter.message);
    }

    /// Removes an available message for a move task, to `destination` or else to its source queue.
    ///
    /// # Errors
    /// There is no message, or no destination for it; nothing is removed.
    pub(crate) fn take_for_move(
        &mut self,
        now: Timestamp,
        destination: Option<&Arc<QueueArn>>,
    ) -> Result<Moving, MovingStopped> {
        let now = self.settle(now);
        let slot = self.store.next(now, ServerSample::ALL).ok_or(MovingStopped::NothingLeft)?;
        let message = self.store.get(slot).ok_or(MovingStopped::NothingLeft)?;
        let destination = destination.or(message.core.source.as_ref()).map(Arc::clone);
        let destination = destination.ok_or(MovingStopped::UnknownSource)?;
        let message = self.store.remove(now, slot).ok_or(MovingStopped::NothingLeft)?;
        Ok(Moving { message: Box::new(message), source: self.id.clone(), destination })
    }

    /// Stores a message of a move task as a new message: id, times and receive count start anew.
    ///
    /// # Errors
    /// The queue was deleted meanwhile, or it is a FIFO queue and the message has no group. The message is returned for
    /// [`Queue::take_back_moving`].
    pub(crate) fn accept_moving(&mut self, now: Timestamp, moving: Moving) -> Result<(), Moving> {
        let now = self.settle(now);
        let lacks_group = self.fifo.is_some() && moving.message.group.is_none();
        if self.deleted || lacks_group {
            return Err(moving);
        }
        let Moving { message, source, .. } = moving;
        let Removed { core, group, place } = *message;
        let id = self.ids.of(self.next_ticket);
        let core =
            Core { id, sent: now, born: now, receives: 0, receives_elsewhere: 0, source: None, ..core };
        self.put(now, core, group.as_deref(), (source, place.ticket));
        Ok(())
    }

    /// Puts a message back into its old position, because its destination was deleted or rejected it.
    pub(crate) fn take_back_moving(&mut self, now: Timestamp, moving: Moving) {
        let now = self.settle(now);
        self.put_back(now, *moving.message);
    }

    /// For readers, a message in transit has not left its queue, unless the queue was purged meanwhile.
    fn put_back(&mut self, now: Timestamp, message: Removed) {
        let slot = self.store.put_back(now, message);
        if !self.deleted {
            self.record_stored(slot, |_| None);
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
            && let Some(message) = self.stored(slot)
        {
            let message = Box::new(message);
            self.record(|_| QueueChange::MessageMoved { from, ticket: left, message });
        }
    }
}
