//! The handle of a lease.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::held::Held;
use super::leases::Leases;
use super::schedule::LeaseTerm;
use super::state::LeaseOver;

/// The time for which a received message is hidden from other consumers.
///
/// It is renewed in the background until the message is settled. If that fails, the lease is lost: another consumer may have
/// the message. Then nothing more is done by its receipt handle, and its handler should stop. Clones share the lease.
///
/// ```
/// use sqs_buffered::{HandlerError, Lease, Outcome};
///
/// async fn cook(lease: Lease) -> Result<Outcome, HandlerError> {
///     tokio::select! {
///         () = tokio::time::sleep(std::time::Duration::from_secs(90)) => Ok(Outcome::Ack), // the work
///         () = lease.lost() => Err("another consumer may have the order".into()),
///     }
/// }
/// # let _ = cook;
/// ```
///
/// # Cancel safety
/// You can drop its futures at any time.
#[derive(Clone)]
pub struct Lease {
    held: Arc<Held>,
    leases: Arc<Leases>,
}

impl Lease {
    /// Opens the leases of messages, given by id and receipt handle, whose response arrived at `now`.
    pub(crate) fn open(leases: &Arc<Leases>, now: Instant, messages: Vec<(Arc<str>, Arc<str>)>) -> Vec<Self> {
        let opened = leases.open(now, messages).into_iter();
        opened.map(|held| Self { held, leases: Arc::clone(leases) }).collect()
    }

    /// The receipt handle of this delivery.
    pub fn receipt_handle(&self) -> &str {
        &self.held.receipt_handle
    }

    /// Whether the lease is lost. Then stop work that must not be done twice.
    pub fn is_lost(&self) -> bool {
        self.held.is_lost()
    }

    /// Waits until the lease is lost. If it is never lost, this waits forever.
    pub async fn lost(&self) {
        self.until(|| self.is_lost().then_some(())).await;
    }

    /// The end of the current lease; renewals extend it. `None` if the lease is lost or the message is settled.
    pub fn deadline(&self) -> Option<Instant> {
        self.leases.term(self.held.number).map(|term| term.deadline)
    }

    /// Extends the lease to at least this long from now, even beyond the `max_lease` of the consumer or receiver.
    /// Returns the usable time. It is up to 2 seconds shorter, as a safety margin, and ends at most 12 hours after the
    /// receive.
    ///
    /// # Errors
    /// The lease is lost, was lost before the extension, or the message is settled.
    ///
    /// # Cancel safety
    /// If the future is dropped, the lease may still be extended.
    pub async fn extend(&self, duration: Duration) -> Result<Duration, LeaseOver> {
        let (leases, number) = (&self.leases, self.held.number);
        let request = leases.extend(number, duration).ok_or(LeaseOver)?;
        let deadline = self.until(|| leases.granted(number, request).transpose()).await?;
        Ok(deadline.saturating_duration_since(Instant::now()))
    }

    /// Waits until enough time is left for a handler to start. An error if the lease is lost.
    pub(crate) async fn refresh(&self) -> Result<(), LeaseOver> {
        self.until(|| match self.leases.refresh(self.held.number) {
            None => Some(Err(LeaseOver)),
            Some(is_fresh) => is_fresh.then_some(Ok(())),
        })
        .await
    }

    pub(crate) fn is_fresh(&self) -> bool {
        self.leases.refresh(self.held.number) == Some(true)
    }

    /// Ends the renewal of the lease, and returns its term.
    pub(crate) fn end(&self) -> Result<LeaseTerm, LeaseOver> {
        self.leases.end(&self.held)
    }

    /// Marks the lease as lost.
    pub(crate) fn forget(&self) {
        if self.end().is_ok() {
            self.leases.lost(&self.held);
        }
    }

    pub(crate) fn message_id(&self) -> &Arc<str> {
        &self.held.message_id
    }

    /// The time of the receive.
    pub(crate) fn received(&self) -> Instant {
        self.held.received
    }

    async fn until<T>(&self, mut check: impl FnMut() -> Option<T>) -> T {
        loop {
            let mut changed = std::pin::pin!(self.held.changed.notified());
            // Listening starts before the check, so that no change in between is missed.
            changed.as_mut().enable();
            if let Some(result) = check() {
                return result;
            }
            changed.await;
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("message_id", &self.held.message_id)
            .field("is_lost", &self.is_lost())
            .finish_non_exhaustive()
    }
}
