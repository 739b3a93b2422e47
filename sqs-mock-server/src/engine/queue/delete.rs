//! Deleting messages.

use sqs_client::wire::service_error::ServiceError;

use super::Queue;
use crate::clock::Timestamp;
use crate::engine::message::State;
use crate::engine::refusal::invalid_parameter;

impl Queue {
    /// Deletes the message of a handle. It is no error when the message is gone already.
    ///
    /// On a standard queue a handle older than the latest receive leaves the message alone, which is what AWS
    /// warns of. On a FIFO queue such a handle, like one whose visibility timeout has run out, has expired.
    ///
    /// # Errors
    /// `ReceiptHandleIsInvalid` for text that is no handle of this queue, `InvalidParameterValue` for an expired
    /// handle.
    pub(crate) fn delete(&mut self, now: Timestamp, receipt_handle: &str) -> Result<(), ServiceError> {
        self.settle(now);
        let Some((slot, receive)) = self.find(receipt_handle)? else {
            return Ok(());
        };
        let Some(message) = self.store.get(slot) else {
            return Ok(());
        };
        let latest = message.core.receives == receive;
        let in_flight = matches!(message.state, State::InFlight { .. });
        if self.fifo.is_some() && !(latest && in_flight) {
            return Err(invalid_parameter(
                receipt_handle,
                "ReceiptHandle",
                "The receipt handle has expired.",
            ));
        }
        // A server that misses a delete still has the message when it is visible again.
        if latest && !self.is_due_again(slot) && !(in_flight && self.is_missed(slot)) {
            self.store.remove(slot);
        }
        Ok(())
    }
}
