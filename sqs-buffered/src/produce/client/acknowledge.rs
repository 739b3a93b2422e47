//! Deletes and visibility changes.

use sqs_client::client::Execute;
use sqs_client::wire::validate::error;
use tokio::time::Instant;

use super::enter::{Admitted, Entrant};
use super::{BufferedClient, EnqueueError};
use crate::produce::error::{SendError, SendErrorKind};
use crate::produce::kind::{Change, Delete, Kind, Visibility};
use crate::produce::lane::Key;
use crate::produce::ticket::Ticket;

impl<H: Execute> BufferedClient<H> {
    /// Deletes a received message, in a batch with others, and waits for the result. Drops a pending visibility change of the
    /// message.
    ///
    /// # Errors
    /// The delete was not admitted, or failed; see [`SendError::kind`]. On FIFO queues, a receipt handle can expire
    /// ([`LeaseLost`](SendErrorKind::LeaseLost)).
    ///
    /// # Cancel safety
    /// If the future is dropped, the message may be deleted or not.
    pub async fn delete(&self, queue_url: &str, receipt_handle: &str) -> Result<(), SendError> {
        self.enqueue_delete(queue_url, receipt_handle).await?.await
    }

    /// Like [`delete`](Self::delete), but waits for room only.
    ///
    /// # Errors
    /// The delete was not admitted: `Full`, `Invalid`, `Closed` or `NoRuntime`. The error returns the receipt handle.
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, nothing is deleted.
    pub async fn enqueue_delete(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let handle = checked(queue_url, receipt_handle.into())?;
        let entrant = self.deletion(&handle);
        let admitted = self.enter(&self.shared.lanes.deletes, queue_url, entrant).await;
        self.delete_admitted(queue_url, &handle, admitted)
    }

    /// Like [`enqueue_delete`](Self::enqueue_delete), but fails at once if there is no room.
    ///
    /// # Errors
    /// The same as `enqueue_delete`.
    pub fn try_enqueue_delete(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let handle = checked(queue_url, receipt_handle.into())?;
        let entrant = self.deletion(&handle);
        let admitted = self.try_enter(&self.shared.lanes.deletes, queue_url, entrant);
        self.delete_admitted(queue_url, &handle, admitted)
    }

    /// Hides a received message for this many seconds from now (0 to 43,200), in a batch with others, and waits for the result.
    /// Of several pending changes of one message, the last one wins.
    ///
    /// # Errors
    /// The same as [`delete`](Self::delete); and [`Superseded`](SendErrorKind::Superseded) if the message is deleted first.
    ///
    /// # Cancel safety
    /// If the future is dropped, the visibility may be changed or not.
    pub async fn change_visibility(
        &self,
        queue_url: &str,
        receipt_handle: &str,
        seconds: i32,
    ) -> Result<(), SendError> {
        self.enqueue_visibility(queue_url, receipt_handle, seconds).await?.await
    }

    /// Like [`change_visibility`](Self::change_visibility), but waits for room only.
    ///
    /// # Errors
    /// The same as [`enqueue_delete`](Self::enqueue_delete).
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, nothing is changed.
    pub async fn enqueue_visibility(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
        seconds: i32,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        self.enqueue_visibility_until(queue_url, receipt_handle, seconds, None).await
    }

    /// Like [`enqueue_visibility`](Self::enqueue_visibility), but fails at once if there is no room.
    ///
    /// # Errors
    /// The same as `enqueue_visibility`.
    pub fn try_enqueue_visibility(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
        seconds: i32,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let handle = checked_change(queue_url, receipt_handle.into(), seconds)?;
        let entrant = self.change(&handle, seconds, None);
        let admitted = self.try_enter(&self.shared.lanes.changes, queue_url, entrant);
        admitted.map_err(|(_, kind)| refused(&handle, kind))
    }

    /// Like [`enqueue_visibility`](Self::enqueue_visibility), but abandoned at `deadline` if it is not in flight then: a lease
    /// that has ended must not be renewed.
    pub(crate) async fn enqueue_visibility_until(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
        seconds: i32,
        deadline: Option<Instant>,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let handle = checked_change(queue_url, receipt_handle.into(), seconds)?;
        let entrant = self.change(&handle, seconds, deadline);
        let admitted = self.enter(&self.shared.lanes.changes, queue_url, entrant).await;
        admitted.map_err(|(_, kind)| refused(&handle, kind))
    }

    /// Drops visibility changes of a message, unless they are in flight.
    pub(crate) fn supersede_visibility(&self, queue_url: &str, handle: &str) {
        if let Some(changes) = self.shared.lanes.changes.find(queue_url) {
            changes.supersede(&handle.into());
        }
    }

    /// Drops visibility changes of a message whose delete was admitted, unless they are in flight.
    fn delete_admitted(
        &self,
        queue_url: &str,
        handle: &Key,
        admitted: Admitted<Delete>,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let ticket = admitted.map_err(|(_, kind)| refused(handle, kind))?;
        self.supersede_visibility(queue_url, handle);
        Ok(ticket)
    }

    fn deletion(&self, handle: &Key) -> Entrant<Delete> {
        self.acknowledgement(handle, Key::clone(handle), None)
    }

    fn change(&self, handle: &Key, seconds: i32, deadline: Option<Instant>) -> Entrant<Visibility> {
        self.acknowledgement(handle, Change { handle: Key::clone(handle), seconds }, deadline)
    }

    fn acknowledgement<K: Kind>(
        &self,
        handle: &Key,
        entry: K::Entry,
        deadline: Option<Instant>,
    ) -> Entrant<K> {
        let timeout = self.shared.settings.delivery_timeout(false);
        Entrant { entry, key: Some(Key::clone(handle)), bytes: 0, timeout, deadline }
    }
}

fn checked_change(queue_url: &str, handle: String, seconds: i32) -> Result<Key, EnqueueError<String>> {
    let handle = checked(queue_url, handle)?;
    match sqs_client::wire::validate::message::new_visibility(Some(seconds)) {
        Ok(()) => Ok(handle),
        Err(refusal) => {
            let error = SendError::invalid(refusal);
            Err(EnqueueError::new(handle.as_ref().to_owned(), error))
        }
    }
}

fn checked(queue_url: &str, handle: String) -> Result<Key, EnqueueError<String>> {
    let check = match sqs_client::wire::validate::error::require_queue_url(Some(queue_url)) {
        Ok(()) if handle.is_empty() => Err(error::missing_parameter("ReceiptHandle")),
        checked => checked,
    };
    match check {
        Ok(()) => Ok(handle.into()),
        Err(refusal) => {
            let error = SendError::invalid(refusal);
            Err(EnqueueError::new(handle, error))
        }
    }
}

fn refused(handle: &Key, kind: SendErrorKind) -> EnqueueError<String> {
    EnqueueError::of_kind(handle.as_ref().to_owned(), kind)
}
