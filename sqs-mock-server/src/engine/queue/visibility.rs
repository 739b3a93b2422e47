//! Changing for how long received messages stay hidden.

use std::time::Duration;

use sqs_client::wire::service_error::ServiceError;

use super::{Queue, longest_visibility};
use crate::clock::Timestamp;
use crate::engine::message::State;
use crate::engine::refusal::invalid_parameter;

impl Queue {
    /// Hides the message of a handle for `timeout` from now; with zero it is visible at once.
    ///
    /// On a standard queue any handle will do, also when the message is visible. On a FIFO queue a handle that is
    /// not the latest, or whose visibility timeout has run out, changes nothing.
    ///
    /// # Errors
    /// `ReceiptHandleIsInvalid` for text that is no handle of this queue, `InvalidParameterValue` when the message
    /// is gone or would stay hidden for more than 12 hours after its receive.
    pub(crate) fn change_visibility(
        &mut self,
        now: Timestamp,
        receipt_handle: &str,
        timeout: Duration,
    ) -> Result<(), ServiceError> {
        let now = self.settle(now);
        let gone = "Message does not exist or is not available for visibility timeout change.";
        let missing = || invalid_parameter(receipt_handle, "ReceiptHandle", gone);
        let (slot, receive) = self.find(receipt_handle)?.ok_or_else(missing)?;
        let message = self.store.get(slot).ok_or_else(missing)?;
        let latest = message.core.receives == receive;
        let in_flight = matches!(message.state, State::InFlight { .. });
        if self.fifo.is_some() && !(latest && in_flight) {
            return Ok(());
        }
        if !timeout.is_zero() && now.saturating_since(message.received) + timeout > longest_visibility() {
            let reason = "Total VisibilityTimeout for the message is beyond the limit [43200 seconds]";
            return Err(invalid_parameter(timeout.as_secs(), "VisibilityTimeout", reason));
        }
        let visible = timeout.is_zero();
        let state = if visible { State::Available } else { State::InFlight { until: now + timeout } };
        self.store.set_state(slot, state);
        Ok(())
    }
}
