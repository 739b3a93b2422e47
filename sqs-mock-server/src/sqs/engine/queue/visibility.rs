//! Changing the visibility timeout of received messages.

use std::time::Duration;

use super::{Queue, longest_visibility};
use crate::service::clock::Timestamp;
use crate::sqs::engine::message::State;
use crate::sqs::engine::refusal::HandleRefusal;

impl Queue {
    /// Hides the message of a handle for `timeout` from now; zero makes it visible.
    ///
    /// On a standard queue, the handle of any receive is valid for 12 hours, even while the message is visible. On a
    /// FIFO queue, a handle expires with the visibility timeout or with a later receive.
    ///
    /// # Errors
    /// The text is not a handle of this queue, the handle has expired, the message is gone, or it would stay hidden for
    /// more than 12 hours after its receive.
    pub(crate) fn change_visibility(
        &mut self,
        now: Timestamp,
        receipt_handle: &str,
        timeout: Duration,
    ) -> Result<(), HandleRefusal> {
        let now = self.settle(now);
        let (handle, message) = self.find(now, receipt_handle)?.ok_or(HandleRefusal::Gone)?;
        if !timeout.is_zero() && now.saturating_since(message.received) + timeout > longest_visibility() {
            return Err(HandleRefusal::HiddenTooLong(timeout));
        }
        let visible = timeout.is_zero();
        let state = if visible { State::Available } else { State::InFlight { until: now + timeout } };
        self.set_state(handle.slot, state);
        Ok(())
    }
}
