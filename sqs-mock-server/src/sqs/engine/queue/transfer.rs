//! Messages on their way from one queue to another: dead letters, and those that a move task takes back.
//!
//! A message leaves one queue as a value and enters the other in a call of its own, so that nobody ever needs two
//! queues at once.

use std::sync::Arc;
use std::time::Duration;

use super::Queue;
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::sqs::engine::aws_like::Asked;
use crate::sqs::engine::change::{QueueChange, QueueId};
use crate::sqs::engine::message::{Core, Removed};
use crate::sqs::engine::slab::Slot;

/// A message that was delivered too often, between its queue and the dead-letter queue.
#[derive(Debug)]
#[must_use = "the message is in no queue any more"]
pub(crate) struct DeadLetter {
    /// Boxed, because a deleted queue returns the letter as an error.
    pub(super) message: Box<Removed>,
    source: QueueId,
    target: Arc<QueueArn>,
}

impl DeadLetter {
    /// The queue that it goes to.
    pub(crate) fn target(&self) -> &Arc<QueueArn> {
        &self.target
    }
}

/// A message that a move task has taken.
#[derive(Debug)]
#[must_use = "the message is in no queue any more"]
pub(crate) struct Moving {
    /// Boxed, like the message of a dead letter.
    message: Box<Removed>,
    source: QueueId,
    destination: Arc<QueueArn>,
}

impl Moving {
    /// The queue that it goes to.
    pub(crate) fn destination(&self) -> &Arc<QueueArn> {
        &self.destination
    }
}

/// Why a move task can take no message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MovingStopped {
    /// No message is available.
    NothingLeft,
    /// The next message was not moved here as a dead letter, so there is no queue to bring it back to.
    UnknownSource,
}

impl Queue {
    /// Takes out a message that was delivered too often.
    pub(super) fn move_to_dead_letters(&mut self, now: Timestamp, slot: Slot) -> Option<DeadLetter> {
        let target = Arc::clone(&self.attributes.redrive.as_ref()?.target);
        let message = Box::new(self.store.remove(now, slot)?);
        Some(DeadLetter { message, source: self.id.clone(), target })
    }

    /// Takes in a dead letter. It keeps its id, its age (on FIFO queues it becomes new) and its receive count.
    ///
    /// # Errors
    /// The queue was deleted meanwhile, and gives the letter back, for [`Queue::take_back`].
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

    /// Takes back a dead letter whose target is gone, to the place that it had.
    pub(crate) fn take_back(&mut self, now: Timestamp, letter: DeadLetter) {
        let now = self.settle(now);
        self.put_back(now, *letter.message);
    }

    /// Takes an available message out for a move task, to `destination` or else to where it came from.
    ///
    /// # Errors
    /// There is no message, or no place to bring it to; nothing is taken then.
    pub(crate) fn take_for_move(
        &mut self,
        now: Timestamp,
        destination: Option<&Arc<QueueArn>>,
    ) -> Result<Moving, MovingStopped> {
        let now = self.settle(now);
        let slot = self.store.next(now, Asked::ALL).ok_or(MovingStopped::NothingLeft)?;
        let message = self.store.get(slot).ok_or(MovingStopped::NothingLeft)?;
        let destination = destination.or(message.core.source.as_ref()).map(Arc::clone);
        let destination = destination.ok_or(MovingStopped::UnknownSource)?;
        let message = self.store.remove(now, slot).ok_or(MovingStopped::NothingLeft)?;
        Ok(Moving { message: Box::new(message), source: self.id.clone(), destination })
    }

    /// Takes in a message from a move task. It is new: id, times and receive count start afresh.
    ///
    /// # Errors
    /// The queue was deleted meanwhile, or it is a FIFO queue and the message has no group. The message is given
    /// back, for [`Queue::take_back_moving`].
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

    /// Takes back a message whose destination is gone, to the place that it had.
    pub(crate) fn take_back_moving(&mut self, now: Timestamp, moving: Moving) {
        let now = self.settle(now);
        self.put_back(now, *moving.message);
    }

    /// A message in transit has not left its queue for readers, unless the queue was purged in the meantime.
    fn put_back(&mut self, now: Timestamp, message: Removed) {
        let slot = self.store.put_back(now, message);
        if !self.deleted {
            self.record_stored(slot, |_| None);
        }
    }

    /// Retention of a FIFO queue counts from the arrival. The delay of a queue is for what is sent, not for what
    /// is moved.
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
