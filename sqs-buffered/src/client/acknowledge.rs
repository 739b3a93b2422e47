//! Deletes and changes of visibility.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::validate::refusal;
use tokio::time::timeout;

use super::{BufferedClient, EnqueueError};
use crate::admission::Permit;
use crate::channel::{Arrival, Channel};
use crate::error::{SendError, SendErrorKind};
use crate::kind::{Change, Kind, Visibility};
use crate::lane::{Key, Rules};
use crate::ticket::Ticket;

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
        let permit = self.enter(0).await.map_err(|kind| refused(&handle, kind))?;
        if let Some(changes) = self.shared.lanes.changes.find(queue_url) {
            changes.supersede(&handle);
        }
        let channel =
            self.shared.lanes.deletes.get(queue_url, || self.channel(queue_url, self.of_acknowledgements()));
        let timeout = self.shared.settings.delivery_timeout(false);
        self.acknowledge(channel, &handle, Key::clone(&handle), permit, timeout)
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
        let timeout = self.shared.settings.delivery_timeout(false);
        self.enqueue_visibility_within(queue_url, receipt_handle, seconds, timeout).await
    }

    /// As [`enqueue_visibility`](Self::enqueue_visibility), given up after `timeout` unless it is under way then: a lease
    /// that is over by then must not be renewed.
    pub(crate) async fn enqueue_visibility_within(
        &self,
        queue_url: &str,
        receipt_handle: impl Into<String>,
        seconds: i32,
        timeout: Duration,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let handle = checked(queue_url, receipt_handle.into())?;
        if let Err(refusal) = sqs_client::validate::message::new_visibility(Some(seconds)) {
            let error = SendError::new(SendErrorKind::Invalid).refused(refusal.code, refusal.message);
            return Err(EnqueueError::new(handle.as_ref().to_owned(), error));
        }
        let permit = self.enter(0).await.map_err(|kind| refused(&handle, kind))?;
        let channel =
            self.shared.lanes.changes.get(queue_url, || self.channel(queue_url, self.of_acknowledgements()));
        let change = Change { handle: Key::clone(&handle), seconds };
        self.acknowledge::<Visibility>(channel, &handle, change, permit, timeout)
    }

    fn acknowledge<K: Kind>(
        &self,
        channel: Option<Arc<Channel<K>>>,
        handle: &Key,
        entry: K::Entry,
        permit: Permit,
        timeout: Duration,
    ) -> Result<Ticket<K::Receipt>, EnqueueError<String>> {
        let Some(channel) = channel else { return Err(refused(handle, SendErrorKind::Closed)) };
        let arrival = Arrival { entry, key: Some(Key::clone(handle)), bytes: 0, permit, timeout };
        let replace = |waiting: &mut K::Entry, newer| *waiting = newer;
        channel.admit(&self.shared.handle, arrival, replace).map_err(|(_, kind)| refused(handle, kind))
    }

    fn of_acknowledgements(&self) -> Rules {
        self.shared.settings.of_acknowledgements()
    }

    pub(super) fn channel<K: Kind>(&self, queue_url: &str, rules: Rules) -> Channel<K> {
        let (admission, counters) = (Arc::clone(&self.shared.admission), Arc::clone(&self.shared.counters));
        Channel::new(queue_url, rules, admission, counters)
    }

    /// Waits for room.
    pub(super) async fn enter(&self, bytes: usize) -> Result<Permit, SendErrorKind> {
        let admission = &self.shared.admission;
        if let Some(permit) = admission.try_enter(bytes) {
            return Ok(permit);
        }
        let entering = admission.enter(bytes, || self.shared.lanes.wake());
        match timeout(self.shared.settings.admission_timeout, entering).await {
            Ok(Some(permit)) => Ok(permit),
            Ok(None) => Err(SendErrorKind::Closed),
            Err(_) => Err(SendErrorKind::Full),
        }
    }

    pub(super) fn full_or_closed(&self) -> SendErrorKind {
        if self.shared.admission.is_closed() { SendErrorKind::Closed } else { SendErrorKind::Full }
    }
}

fn checked(queue_url: &str, handle: String) -> Result<Key, EnqueueError<String>> {
    let check = match sqs_client::validate::queue::url(Some(queue_url)) {
        Ok(()) if handle.is_empty() => Err(refusal::missing("ReceiptHandle")),
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
