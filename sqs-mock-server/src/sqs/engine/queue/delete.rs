//! Deleting messages.

use super::Queue;
use crate::service::clock::Timestamp;
use crate::sqs::engine::change::QueueChange;
use crate::sqs::engine::message::State;
use crate::sqs::engine::refusal::HandleRefusal;

impl Queue {
    /// Deletes the message of a handle. It is no error when the message is gone already.
    ///
    /// On a standard queue the handle of any receive will do, for 12 hours. On a FIFO queue a handle has expired with the
    /// visibility timeout, or with a later receive.
    ///
    /// # Errors
    /// The text is no handle of this queue, or the handle has expired.
    pub(crate) fn delete(&mut self, now: Timestamp, receipt_handle: &str) -> Result<(), HandleRefusal> {
        let now = self.settle(now);
        let Some((slot, message)) = self.find(now, receipt_handle)? else {
            return Ok(());
        };
        let (ticket, in_flight) = (message.ticket, matches!(message.state, State::InFlight { .. }));
        // A server that misses a delete still has the message when it is visible again.
        let survives = self.is_due_again(slot) || in_flight && self.is_missed(slot);
        if !survives {
            self.store.remove(now, slot);
            self.record(|_| QueueChange::MessageDeleted { ticket });
        }
        Ok(())
    }
}
