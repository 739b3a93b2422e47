//! Deletes and changes of visibility.

use sqs_client::client::Execute;
use sqs_client::wire::validate::error;
use tokio::time::Instant;

use super::enter::Entrant;
use super::{BufferedClient, EnqueueError};
use crate::produce::error::{SendError, SendErrorKind};
use crate::produce::kind::{Change, Kind};
use crate::produce::lane::Key;
use crate::produce::ticket::Ticket;

impl<H: Execute> BufferedClient<H> {
    /// Deletes a received message in a batch with others, and waits until the service has done it. A waiting change of its
    /// visibility is dropped.
    ///
    /// # Errors
    /// It was not taken or not done; [`SendError::kind`] says which and why. On FIFO queues a handle can expire
    /// ([`LeaseLost`](SendErrorKind::LeaseLost)).
    ///
    /// # Cancel safety
    /// Dropped before its end, the message may have been deleted or not.
    pub async fn delete(&self, queue_url: &str, receipt_handle: &str) -> Result<(), SendError> {
        self.enqueue_delete(queue_url, receipt_handle).await?.await
    }

    /// As [`delete`](Self::delete), without waiting for the service.
    ///
    /// # Errors
    /// It was not taken: `Full`, `Invalid`, `Closed` or `NoRuntime`. The receipt handle comes back.
    ///
    /// # Cancel safety
    /// Dropped before its end, nothing is deleted.
    pub async fn enqueue_delete(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let handle = checked(queue_url, receipt_handle.into())?;
        let entrant = self.acknowledgement(&handle, Key::clone(&handle), None);
        let admitted = self.enter(&self.shared.lanes.deletes, queue_url, entrant).await;
        let ticket = admitted.map_err(|(_, kind)| refused(&handle, kind))?;
        self.supersede_changes(queue_url, &handle);
        Ok(ticket)
    }

    /// As [`enqueue_delete`](Self::enqueue_delete), if there is room now.
    ///
    /// # Errors
    /// As of `enqueue_delete`.
    pub fn try_enqueue_delete(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let handle = checked(queue_url, receipt_handle.into())?;
        let entrant = self.acknowledgement(&handle, Key::clone(&handle), None);
        let admitted = self.try_enter(&self.shared.lanes.deletes, queue_url, entrant);
        let ticket = admitted.map_err(|(_, kind)| refused(&handle, kind))?;
        self.supersede_changes(queue_url, &handle);
        Ok(ticket)
    }

    /// Keeps a received message hidden for that many seconds from now, 0 to 43,200, in a batch with others, and waits until
    /// the service has done it. Of several changes that wait, the last counts.
    ///
    /// # Errors
    /// As of [`delete`](Self::delete); and [`Superseded`](SendErrorKind::Superseded) when the message was deleted meanwhile.
    ///
    /// # Cancel safety
    /// Dropped before its end, the visibility may have been changed or not.
    pub async fn change_visibility(
        &self,
        queue_url: &str,
        receipt_handle: &str,
        seconds: i32,
    ) -> Result<(), SendError> {
        self.enqueue_visibility(queue_url, receipt_handle, seconds).await?.await
    }

    /// As [`change_visibility`](Self::change_visibility), without waiting for the service.
    ///
    /// # Errors
    /// As of [`enqueue_delete`](Self::enqueue_delete).
    ///
    /// # Cancel safety
    /// Dropped before its end, nothing is changed.
    pub async fn enqueue_visibility(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
        seconds: i32,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        self.enqueue_visibility_until(queue_url, receipt_handle, seconds, None).await
    }

    /// As [`enqueue_visibility`](Self::enqueue_visibility), if there is room now.
    ///
    /// # Errors
    /// As of `enqueue_visibility`.
    pub fn try_enqueue_visibility(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
        seconds: i32,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let handle = checked_change(queue_url, receipt_handle.into(), seconds)?;
        let change = Change { handle: Key::clone(&handle), seconds };
        let entrant = self.acknowledgement(&handle, change, None);
        let admitted = self.try_enter(&self.shared.lanes.changes, queue_url, entrant);
        admitted.map_err(|(_, kind)| refused(&handle, kind))
    }

    /// As [`enqueue_visibility`](Self::enqueue_visibility), given up at `deadline` unless it is under way then, and however
    /// long it has waited for room: a lease that is over by then must not be renewed.
    pub(crate) async fn enqueue_visibility_until(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
        seconds: i32,
        deadline: Option<Instant>,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let handle = checked_change(queue_url, receipt_handle.into(), seconds)?;
        let change = Change { handle: Key::clone(&handle), seconds };
        let entrant = self.acknowledgement(&handle, change, deadline);
        let admitted = self.enter(&self.shared.lanes.changes, queue_url, entrant).await;
        admitted.map_err(|(_, kind)| refused(&handle, kind))
    }

    /// A delete of a message makes changes of its visibility pointless that are not in flight.
    fn supersede_changes(&self, queue_url: &str, handle: &Key) {
        if let Some(changes) = self.shared.lanes.changes.find(queue_url) {
            changes.supersede(handle);
        }
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
            let error = SendError::new(SendErrorKind::Invalid).refused(refusal.code, refusal.message);
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
            let error = SendError::new(SendErrorKind::Invalid).refused(refusal.code, refusal.message);
            Err(EnqueueError::new(handle, error))
        }
    }
}

fn refused(handle: &Key, kind: SendErrorKind) -> EnqueueError<String> {
    EnqueueError::of_kind(handle.as_ref().to_owned(), kind)
}
