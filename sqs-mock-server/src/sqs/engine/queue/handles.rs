//! Deleting and hiding the messages of receipt handles.

use std::time::Duration;

use sqs_client::wire::limits;

use super::Queue;
use super::walk::PAGE;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sqs::engine::change::QueueChange;
use crate::sqs::engine::handle::Handle;
use crate::sqs::engine::message::{Birth, Core, State, Stored};
use crate::sqs::engine::refusal::HandleRefusal;

/// A message of a standard queue was deleted with the handle of an earlier receive. SQS may ignore such a delete.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct OldHandle {
    /// The message.
    pub id: Uuid,
    /// The receive that returned the handle, counted from 1.
    pub receive: u32,
    /// Number of receives of the message.
    pub receives: u32,
}

impl Queue {
    /// Deletes the message of a handle. Deleting a message that is gone is not an error.
    ///
    /// On a standard queue, the handle of any receive is valid for 12 hours. On a FIFO queue, a handle expires with the
    /// visibility timeout or with a later receive.
    ///
    /// # Errors
    /// The text is not a handle of this queue, or the handle has expired.
    pub(crate) fn delete(
        &mut self,
        now: Timestamp,
        receipt_handle: &str,
    ) -> Result<Option<OldHandle>, HandleRefusal> {
        let now = self.settle(now);
        let Some((handle, message)) = self.find(now, receipt_handle)? else {
            return Ok(None);
        };
        let (slot, receive) = (handle.slot, handle.receive);
        let Core { id, receives, .. } = message.core;
        let Stored { ticket, again, .. } = *message;
        let in_flight = matches!(message.state, State::InFlight { .. });
        // A server that misses a delete still has the message when its visibility timeout ends.
        let survives = again || in_flight && self.is_missed(slot);
        if !survives {
            self.store.remove(now, slot);
            self.record(|_| QueueChange::MessageDeleted { ticket });
        }
        Ok((receive != receives).then_some(OldHandle { id, receive, receives }))
    }

    /// Deletes the message with this id if it is on the next page after `after`, whatever its state, and moves `after`
    /// forward. Returns whether it was deleted; `None` at the end of the queue.
    pub(crate) fn delete_in_page(
        &mut self,
        now: Timestamp,
        id: Uuid,
        after: &mut Option<Birth>,
    ) -> Option<bool> {
        let now = self.settle(now);
        let mut found = None;
        let start = *after;
        for (slot, message) in self.store.after(start).take(PAGE) {
            *after = Some(message.birth());
            if message.core.id == id {
                found = Some((slot, message.ticket));
                break;
            }
        }
        if let Some((slot, ticket)) = found {
            self.store.remove(now, slot);
            self.record(|_| QueueChange::MessageDeleted { ticket });
        }
        (*after != start).then_some(found.is_some())
    }

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

    /// The message of a handle; `Ok(None)` if it is gone.
    fn find(&self, now: Timestamp, handle: &str) -> Result<Option<(Handle, &Stored)>, HandleRefusal> {
        let handle = self.handles.read(handle)?;
        if self.fifo.is_none() && handle.received + longest_visibility() <= now {
            return Err(HandleRefusal::Expired);
        }
        let found = self.store.get(handle.slot).filter(|message| message.ticket == handle.ticket);
        if self.fifo.is_some() && found.is_some_and(|message| !message.is_held(&handle)) {
            return Err(HandleRefusal::Expired);
        }
        Ok(found.map(|message| (handle, message)))
    }
}

/// The maximum visibility timeout after a receive. Handles of standard queues are valid as long.
fn longest_visibility() -> Duration {
    Duration::from_secs(u64::try_from(*limits::VISIBILITY_TIMEOUT_SECONDS.end()).unwrap_or(0))
}
