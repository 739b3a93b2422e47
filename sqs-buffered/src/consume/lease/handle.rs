//! The lease of one message, as its holder sees it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::held::Held;
use super::leases::Leases;
use super::schedule::LeaseTerm;
use super::state::LeaseOver;

/// The time for which a received message is ours: nobody else receives it meanwhile.
///
/// It is renewed in the background until the message is settled. When that fails the lease is lost: somebody else may
/// have the message, so that nothing more is done about it here, and its handler should stop. Clones are of the same
/// lease.
///
/// ```
/// use sqs_buffered::{HandlerError, Lease, Outcome};
///
/// async fn cook(lease: Lease) -> Result<Outcome, HandlerError> {
///     tokio::select! {
///         () = tokio::time::sleep(std::time::Duration::from_secs(90)) => Ok(Outcome::Ack), // the work
///         () = lease.lost() => Err("somebody else may have the order by now".into()),
///     }
/// }
/// # let _ = cook;
/// ```
///
/// # Cancel safety
/// All futures of it can be dropped at any time; nothing is lost.
#[derive(Clone)]
pub struct Lease {
    held: Arc<Held>,
    leases: Arc<Leases>,
}

impl Lease {
    /// Opens the leases of messages, given by id and receipt handle, that came with an answer of this moment.
    pub(crate) fn open(leases: &Arc<Leases>, now: Instant, messages: Vec<(Arc<str>, Arc<str>)>) -> Vec<Self> {
        let opened = leases.open(now, messages).into_iter();
        opened.map(|held| Self { held, leases: Arc::clone(leases) }).collect()
    }

    /// The handle that the message came with.
    pub fn receipt_handle(&self) -> &str {
        &self.held.receipt_handle
    }

    /// Whether the lease is lost. Work that must not be done twice should not go on then.
    pub fn is_lost(&self) -> bool {
        self.held.is_lost()
    }

    /// Waits until the lease is lost; for ever when it never is.
    pub async fn lost(&self) {
        self.until(|| self.is_lost().then_some(())).await;
    }

    /// Until when the message is ours as things are; renewals move it on. `None` when it is not any more.
    pub fn deadline(&self) -> Option<Instant> {
        self.leases.term(self.held.number).map(|term| term.deadline)
    }

    /// Sees to it that the message is ours for at least this long from now, also beyond the receiver's longest lease.
    /// Returns how long it is: a bit less, as a part is not relied on, and no longer than 12 hours after the receive.
    ///
    /// # Errors
    /// The message is not ours any more, or was lost while this was tried.
    pub async fn extend(&self, duration: Duration) -> Result<Duration, LeaseOver> {
        let (leases, number) = (&self.leases, self.held.number);
        let request = leases.extend(number, duration).ok_or(LeaseOver)?;
        let deadline = self.until(|| leases.granted(number, request).transpose()).await?;
        Ok(deadline.saturating_duration_since(Instant::now()))
    }

    /// Waits until so much time is left that a handler can begin. An error says that this will not be.
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

    /// Ends the lease: from here on it is not renewed. Says how long the message is and can be ours.
    pub(crate) fn end(&self) -> Result<LeaseTerm, LeaseOver> {
        self.leases.end(&self.held)
    }

    /// Gives the lease up as one that is lost.
    pub(crate) fn forget(&self) {
        if self.end().is_ok() {
            self.leases.lost(&self.held);
        }
    }

    pub(crate) fn message_id(&self) -> &Arc<str> {
        &self.held.message_id
    }

    /// When the message came.
    pub(crate) fn received(&self) -> Instant {
        self.held.received
    }

    async fn until<T>(&self, mut check: impl FnMut() -> Option<T>) -> T {
        loop {
            let mut changed = std::pin::pin!(self.held.changed.notified());
            // Listening starts before the look, so that no change in between is missed.
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
