//! Objects whose messages are about to be sent or deleted.

use std::time::Duration;

use super::{Attempt, Cleaner};
use crate::error::Error;
use crate::event::Event;
use crate::pointer::Pointer;

impl Cleaner {
    /// An object that is about to be written.
    pub(crate) fn new_object(&self, pointer: Pointer) -> UnneededObject {
        UnneededObject { cleaner: self.clone(), pointer: Some(pointer), is_written: false }
    }

    /// An object whose message is about to be deleted.
    pub(crate) fn object(&self, pointer: Pointer) -> UncertainObject {
        UncertainObject { cleaner: self.clone(), pointer: Some(pointer) }
    }
}

/// An object without a message. It is deleted in the background on drop.
#[derive(Debug)]
pub(crate) struct UnneededObject {
    cleaner: Cleaner,
    pointer: Option<Pointer>,
    /// Whether the write has ended. Before that, a delete could overtake the write.
    is_written: bool,
}

impl UnneededObject {
    /// The write has succeeded.
    pub(crate) fn written(mut self) -> Self {
        self.is_written = true;
        self
    }

    /// Deletes the object now. A failed delete is retried in the background, also if the future is dropped.
    pub(crate) async fn delete(mut self) {
        let Some(pointer) = self.pointer.clone() else { return };
        let attempt = self.cleaner.attempt(&pointer, 1).await;
        self.pointer = None;
        match attempt {
            Attempt::Failed => self.cleaner.later(pointer, 1, Duration::ZERO, !self.is_written),
            Attempt::Deleted if !self.is_written => {
                self.cleaner.later(pointer, 0, self.cleaner.grace(), false);
            }
            Attempt::Deleted => self.cleaner.tally.objects_deleted.add(1),
            Attempt::GivenUp => {}
        }
    }

    /// No object was written.
    pub(crate) fn not_written(mut self) {
        self.pointer = None;
    }

    /// The message is being sent, so it may exist from now on.
    pub(crate) fn sent(mut self) -> UncertainObject {
        UncertainObject { cleaner: self.cleaner.clone(), pointer: self.pointer.take() }
    }
}

impl Drop for UnneededObject {
    fn drop(&mut self) {
        if let Some(pointer) = self.pointer.take() {
            self.cleaner.later(pointer, 0, Duration::ZERO, !self.is_written);
        }
    }
}

/// An object whose message may exist. On drop, the object is kept and reported, because it is unknown whether SQS has
/// the message.
#[derive(Debug)]
pub(crate) struct UncertainObject {
    cleaner: Cleaner,
    pointer: Option<Pointer>,
}

impl UncertainObject {
    pub(crate) fn pointer(&self) -> Option<&Pointer> {
        self.pointer.as_ref()
    }

    /// SQS has the message, so the object is kept.
    pub(crate) fn needed(mut self) {
        self.pointer = None;
    }

    /// SQS does not have the message, but the object must not be deleted.
    pub(crate) fn give_up(mut self, error: &Error) {
        if let Some(pointer) = self.pointer.take() {
            self.cleaner.give_up(&pointer, Some(error));
        }
    }

    /// SQS does not have the message, so the object is deleted.
    pub(crate) fn unneeded(mut self) -> UnneededObject {
        UnneededObject { cleaner: self.cleaner.clone(), pointer: self.pointer.take(), is_written: true }
    }
}

impl Drop for UncertainObject {
    fn drop(&mut self) {
        if let Some(pointer) = &self.pointer {
            self.cleaner.tally.outcomes_unknown.add(1);
            self.cleaner.events.send(&Event::OutcomeUnknown { pointer });
        }
    }
}
