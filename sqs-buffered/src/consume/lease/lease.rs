//! The lease of one message, as its holder sees it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Keeper, Number, Term};

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
pub struct Lease(pub(super) Arc<Held>);

/// What holder, keeper and book share.
pub(crate) struct Held {
    pub(super) keeper: Arc<Keeper>,
    pub(super) number: Number,
    pub(super) receipt_handle: Arc<str>,
    pub(super) message_id: Arc<str>,
    /// When the message came.
    pub(super) received: Instant,
    pub(super) is_lost: AtomicBool,
    /// All who wait for a renewal or the loss are woken by each.
    pub(super) changed: Notify,
}

/// The lease was lost, or the message was settled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseOver;

impl fmt::Display for LeaseOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message is not ours any more")
    }
}

impl std::error::Error for LeaseOver {}

impl Lease {
    /// The handle that the message came with.
    pub fn receipt_handle(&self) -> &str {
        &self.0.receipt_handle
    }

    /// Whether the lease is lost. Work that must not be done twice should not go on then.
    pub fn is_lost(&self) -> bool {
        self.0.is_lost.load(Ordering::Acquire)
    }

    /// Waits until the lease is lost; for ever when it never is.
    pub async fn lost(&self) {
        self.until(|| self.is_lost().then_some(())).await;
    }

    /// Until when the message is ours as things are; renewals move it on. `None` when it is not any more.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.keeper.term(self.0.number).map(|term| term.deadline)
    }

    /// Sees to it that the message is ours for at least this long from now, also beyond the receiver's longest lease.
    /// Returns how long it is: a bit less, as a part is not relied on, and no longer than 12 hours after the receive.
    ///
    /// # Errors
    /// The message is not ours any more, or was lost while this was tried.
    pub async fn extend(&self, duration: Duration) -> Result<Duration, LeaseOver> {
        let (keeper, number) = (&self.0.keeper, self.0.number);
        let wish = keeper.want(number, duration).ok_or(LeaseOver)?;
        let deadline = self.until(|| keeper.granted(number, wish).transpose()).await?;
        Ok(deadline.saturating_duration_since(Instant::now()))
    }

    /// Waits until so much time is left that a handler can begin. An error says that this will not be.
    pub(crate) async fn freshen(&self) -> Result<(), LeaseOver> {
        self.until(|| match self.0.keeper.freshen(self.0.number) {
            None => Some(Err(LeaseOver)),
            Some(is_fresh) => is_fresh.then_some(Ok(())),
        })
        .await
    }

    pub(crate) fn is_fresh(&self) -> bool {
        self.0.keeper.freshen(self.0.number) == Some(true)
    }

    /// Ends the lease: from here on it is not renewed. Says how long the message is and can be ours.
    pub(crate) fn end(&self) -> Result<Term, LeaseOver> {
        self.0.keeper.end(&self.0)
    }

    /// Gives the lease up as one that is lost.
    pub(crate) fn forget(&self) {
        if self.end().is_ok() {
            self.0.keeper.lost(&self.0);
        }
    }

    pub(crate) fn message_id(&self) -> &Arc<str> {
        &self.0.message_id
    }

    /// How long the message has been here.
    pub(crate) fn age(&self) -> Duration {
        self.0.received.elapsed()
    }

    async fn until<T>(&self, mut check: impl FnMut() -> Option<T>) -> T {
        loop {
            let mut changed = std::pin::pin!(self.0.changed.notified());
            // Listening starts before the look, so that no change in between is missed.
            changed.as_mut().enable();
            if let Some(result) = check() {
                return result;
            }
            changed.await;
        }
    }
}

impl Held {
    /// Says whether it was not lost before.
    pub(super) fn lose(&self) -> bool {
        let is_news = !self.is_lost.swap(true, Ordering::AcqRel);
        self.changed.notify_waiters();
        is_news
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("message_id", &self.0.message_id)
            .field("is_lost", &self.is_lost())
            .finish_non_exhaustive()
    }
}
