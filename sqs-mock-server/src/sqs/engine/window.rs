//! How far into a FIFO queue a receive looks for groups that can give messages.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>

use super::ages::Ages;
use super::slab::Slot;

/// The first messages of a queue, in the order in which they came. Messages that came back to an earlier place do
/// not count, and are always within.
#[derive(Debug)]
pub(super) struct Window {
    limit: usize,
    inside: usize,
    /// The last message within.
    last: Option<Slot>,
}

impl Window {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), inside: 0, last: None }
    }

    /// A window as wide, on a queue without messages.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.limit)
    }

    /// A message has come in as the last. Gives the last message within when that one is not.
    pub(super) fn enter(&mut self, slot: Slot) -> Option<Slot> {
        if self.inside == self.limit {
            return self.last;
        }
        self.inside += 1;
        self.last = Some(slot);
        None
    }

    /// A message within goes; it is still there. Gives the message that is within instead.
    pub(super) fn leave(&mut self, ages: &Ages, slot: Slot) -> Option<Slot> {
        let next = match self.last {
            Some(last) => ages.after(last),
            None => None,
        };
        if next.is_some() {
            self.last = next;
        } else {
            self.inside -= 1;
            if self.last == Some(slot) {
                self.last = ages.before(slot);
            }
        }
        next
    }
}
