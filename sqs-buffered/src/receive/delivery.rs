//! One message that was received: its lease, its place, and its claim, from here to its end.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::client::Execute;
use sqs_client::types::{Message, MessageSystemAttributeName as Name};
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::Span;

use crate::error::{SendError, SendErrorKind};
use crate::observe::receives::{Observer, ReceiveEvent, Settled};
use crate::receive::credits::Credit;
use crate::receive::lease::{Abandoned, Lease, Leases};
use crate::receive::lease_table::LeaseTerm;
use crate::receive::pump::Source;
use crate::time::after;

/// A received message with its lease and credit. If it is dropped without an outcome, the message is made visible again in the
/// background.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) message: Arc<Message>,
    /// The span of the receive that returned it.
    pub(crate) span: Span,
    pub(crate) lease: Lease,
    /// How many times in a row its handler returned `Overloaded`, or it could not be opened for a reason that may pass.
    pub(crate) overloads: u32,
    /// How many times its handler has failed since the message was received, or it could not be opened for a reason that stays.
    pub(crate) failures: u32,
    leases: Arc<Leases>,
    observer: Arc<Observer>,
    /// The term of the lease, once its renewal has ended.
    ended: Option<LeaseTerm>,
    /// Set if a delete failed that SQS may have executed. If the message no longer exists, the delivery counts as this.
    maybe_gone: Option<Settled>,
    /// Whether the message is opened.
    is_open: bool,
    /// If an earlier delivery of the message was opened: what its receipt handle has before that of SQS.
    handle_prefix: Option<String>,
    /// Whether a lane has its delete. Then the message must not be made visible, whatever happens to this delivery.
    is_deleting: bool,
    /// `None` when the delivery is settled.
    credit: Option<Credit>,
}

impl Delivery {
    pub(crate) fn new(
        message: Message,
        span: Span,
        lease: Lease,
        credit: Credit,
        leases: Arc<Leases>,
        observer: Arc<Observer>,
    ) -> Self {
        Self {
            message: Arc::new(message),
            span,
            lease,
            overloads: 0,
            failures: 0,
            leases,
            observer,
            ended: None,
            maybe_gone: None,
            is_open: false,
            handle_prefix: None,
            is_deleting: false,
            credit: Some(credit),
        }
    }

    pub(crate) fn id(&self) -> &Arc<str> {
        self.lease.message_id()
    }

    /// The message id and the time of the receive, for the observer.
    fn name(&self) -> (&str, Instant) {
        (self.lease.message_id(), self.lease.received())
    }

    /// How many times the message was received, including this time.
    pub(crate) fn receive_count(&self) -> u32 {
        self.number(&Name::ApproximateReceiveCount).unwrap_or(1)
    }

    /// How many times the handler was, or would have been, asked to handle the message, this time included: its receives and, when it
    /// ran again in place, its failures.
    pub(crate) fn attempts(&self) -> u32 {
        self.receive_count().saturating_add(self.failures)
    }

    /// This is a later delivery of the same message, which was received while the other one was held. So its receive count has one of
    /// the attempts that the other one has counted as a failure.
    pub(crate) fn follow(&mut self, other: &Self) {
        (self.overloads, self.failures) = (other.overloads, other.failures.saturating_sub(1));
        self.handle_prefix = other.handle_prefix().map(str::to_owned);
    }

    pub(crate) fn number<N: std::str::FromStr>(&self, name: &Name) -> Option<N> {
        self.attribute(name)?.parse().ok()
    }

    pub(crate) fn attribute(&self, name: &Name) -> Option<&str> {
        self.message.attributes()?.get(name).map(String::as_str)
    }

    /// Frees the place of the message: another one may be received while this one is deleted.
    pub(crate) fn makes_room(&mut self) {
        if let Some(credit) = &mut self.credit {
            credit.make_room();
        }
    }

    /// Opens the message: a client that stores bodies elsewhere loads this one. Returns whether it did: most messages are as they should
    /// be, and no store is asked for them.
    ///
    /// # Cancel safety
    /// If the future is dropped, the message is unchanged.
    pub(crate) async fn open<H: Execute>(&mut self, source: &Source<H>) -> Result<bool, H::Error> {
        if self.is_open {
            return Ok(false);
        }
        let length = |message: &Message| message.body().map(str::len);
        let length_before = length(&self.message);
        source.client.inner().open(Arc::make_mut(&mut self.message)).await?;
        self.is_open = true;
        let is_same_handle = self.message.receipt_handle() == Some(self.lease.receipt_handle());
        Ok(!is_same_handle || length(&self.message) != length_before)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// From here on, a delete leaves what belongs to the message: a copy of it as it was received needs that.
    pub(crate) fn leave_payload(&mut self) {
        (self.is_open, self.handle_prefix) = (false, None);
    }

    /// What the receipt handle of the opened message has before that of SQS, if it ends with that.
    fn handle_prefix(&self) -> Option<&str> {
        if !self.is_open {
            return self.handle_prefix.as_deref();
        }
        let prefix = self.message.receipt_handle()?.strip_suffix(self.lease.receipt_handle())?;
        Some(prefix).filter(|prefix| !prefix.is_empty())
    }

    /// The handle that deletes what belongs to an opened message, too, also if it was an earlier delivery that was opened. Otherwise, the
    /// handle of SQS.
    fn delete_handle(&self) -> Cow<'_, str> {
        let (opened, own) =
            (self.message.receipt_handle().filter(|_| self.is_open), self.lease.receipt_handle());
        match (opened, &self.handle_prefix) {
            (Some(opened), _) => opened.into(),
            (None, Some(prefix)) => format!("{prefix}{own}").into(),
            (None, None) => own.into(),
        }
    }

    /// Deletes the message and counts the delivery as `how`. After a failure, the delivery can still be given back.
    ///
    /// # Cancel safety
    /// If the future is dropped once the delete was admitted, its lane still deletes the message.
    pub(crate) async fn delete<H: Execute>(
        &mut self,
        source: &Source<H>,
        how: Settled,
    ) -> Result<(), SendError> {
        self.end_lease()?;
        let result = match source.enqueue_delete(&self.delete_handle(), self.lease.receipt_handle()).await {
            Ok(deleted) => {
                self.is_deleting = true;
                let result = deleted.await;
                self.is_deleting = false;
                result
            }
            Err(refused) => Err(refused.into()),
        };
        match &result {
            Err(error) if !error.is_lease_lost() => {
                self.maybe_gone = error.is_outcome_unknown().then_some(how);
                self.observer.report(&ReceiveEvent::SettleFailed { message_id: self.id(), error });
            }
            _ => {
                self.observer.settled(self.name(), how, &result);
                self.done();
            }
        }
        result
    }

    /// Hides the message for `delay` from now, as far as SQS allows; zero makes it visible. Counts the delivery as
    /// `how`.
    pub(crate) async fn hide<H: Execute>(
        mut self,
        source: &Source<H>,
        delay: Duration,
        how: Settled,
    ) -> Result<(), SendError> {
        let term = self.end_lease()?;
        let delay = delay.min(term.hideable(Instant::now()));
        let result = source.delay(self.lease.receipt_handle(), delay, term.deadline).await;
        let visible = (delay, term.deadline);
        let result = self.observer.given_back(self.name(), (how, self.maybe_gone), visible, result);
        self.done();
        result
    }

    /// Leaves the message hidden until its visibility timeout is over. Counts the delivery as `how`.
    pub(crate) fn keep(mut self, how: Settled) {
        if self.end_lease().is_ok() {
            self.observer.settled(self.name(), how, &Ok(()));
            self.done();
        }
    }

    /// Settles a delivery without a request, because the lease of a later delivery of the message is lost.
    pub(crate) fn forget(mut self) {
        self.lease.forget();
        self.done();
    }

    /// Gives the message back in the background, to be visible after `delay`.
    pub(crate) fn give_back_after(mut self, delay: Duration) {
        self.abandon(delay);
    }

    fn abandon(&mut self, delay: Duration) {
        if self.is_deleting {
            self.observer.tally.deleting.one();
            return self.done();
        }
        let Ok(term) = self.end_lease() else { return };
        if let Some(credit) = self.credit.take() {
            self.leases.abandon(Abandoned {
                message_id: Arc::clone(self.id()),
                receipt_handle: self.lease.receipt_handle().into(),
                received: self.lease.received(),
                credit,
                delay: delay.min(term.hideable(Instant::now())),
                until: term.deadline,
                maybe_gone: self.maybe_gone,
            });
        }
    }

    /// Stops the renewal of the lease, and returns its term. An error if the lease is lost or the delivery is settled.
    fn end_lease(&mut self) -> Result<LeaseTerm, SendError> {
        if self.credit.is_none() {
            return Err(SendError::new(SendErrorKind::LeaseLost));
        }
        if let Some(term) = self.ended.or_else(|| self.lease.end().ok()) {
            self.ended = Some(term);
            return Ok(term);
        }
        self.done();
        Err(SendError::new(SendErrorKind::LeaseLost))
    }

    fn done(&mut self) {
        if self.credit.take().is_some() {
            self.leases.settled();
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.abandon(Duration::ZERO);
    }
}

/// A received message. Its lease is renewed until one of its methods settles it.
///
/// A receiver yields messages in the order of arrival. On FIFO queues, settle the messages of a group one after the other, or
/// use a [`Consumer`](crate::consume::consumer::Consumer), which does that.
///
/// If it is dropped without being settled, the message becomes visible again at once.
///
/// # Cancel safety
/// If the future of a method is dropped, the message becomes visible again, unless its delete has begun.
#[derive(Debug)]
pub struct Received<H: Execute = sqs_client::Client> {
    delivery: Delivery,
    source: Source<H>,
    /// Keeps other consumers and receivers of the client from handling the message at the same time.
    _claim: Claim,
}

impl<H: Execute> Received<H> {
    pub(crate) fn new(delivery: Delivery, source: &Source<H>, claim: Claim) -> Self {
        Self { delivery, source: source.clone(), _claim: claim }
    }

    /// The message, with all its attributes.
    pub fn message(&self) -> &Arc<Message> {
        &self.delivery.message
    }

    /// The trace context that the message carries, for spans and for
    /// [`FutureExt::with_context`](opentelemetry::context::FutureExt::with_context). See
    /// [`trace_context`](crate::trace_context).
    #[cfg(feature = "opentelemetry")]
    pub fn trace_context(&self) -> opentelemetry::Context {
        crate::trace_context::extract(&self.delivery.message)
    }

    /// The lease of the message.
    pub fn lease(&self) -> &Lease {
        &self.delivery.lease
    }

    /// Deletes the message.
    ///
    /// # Errors
    /// The lease is lost, and nothing is done; or the delete failed, and the message becomes visible again.
    pub async fn ack(mut self) -> Result<(), SendError> {
        self.delivery.delete(&self.source, Settled::Acked).await
    }

    /// Makes the message visible again after this delay. Fractions of a second are rounded up. No message stays hidden for
    /// more than 12 hours after its receive.
    ///
    /// # Errors
    /// The lease is lost, and nothing is done; or the request failed, and the message becomes visible when its visibility
    /// timeout is over.
    pub async fn nack(self, delay: Duration) -> Result<(), SendError> {
        self.delivery.hide(&self.source, delay, Settled::Nacked).await
    }

    /// Makes the message visible at once.
    ///
    /// # Errors
    /// The same as [`nack`](Self::nack).
    pub async fn release(self) -> Result<(), SendError> {
        self.delivery.hide(&self.source, Duration::ZERO, Settled::Released).await
    }

    /// Leaves the message hidden, without further renewals. It becomes visible when its visibility timeout is over, unless it is
    /// deleted by its receipt handle.
    pub fn keep(self) -> Arc<Message> {
        let message = Arc::clone(&self.delivery.message);
        self.delivery.keep(Settled::Kept);
        message
    }
}

/// How long a shutdown takes at most by default. Kubernetes and ECS kill a process 30 s after SIGTERM.
pub(crate) const GRACE: Duration = Duration::from_secs(25);

/// The shortest grace. With less, no message could be given back.
const MIN_GRACE: Duration = Duration::from_secs(1);

/// The longest part of the grace that is reserved for giving messages back.
const MAX_RESERVE: Duration = Duration::from_secs(3);

/// The times of a shutdown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Grace {
    /// Handlers and receives that still run are stopped.
    pub(crate) stop: Instant,
    /// The shutdown stops waiting for stopped handlers and gives their messages back.
    pub(crate) give_back: Instant,
    /// Requests that still run are dropped, and their messages are given back once more, unless they are being deleted.
    pub(crate) last_try: Instant,
    /// The shutdown returns.
    pub(crate) end: Instant,
}

impl Grace {
    /// A shutdown that begins now and takes this long: at least a second, of which an eighth, 1 to 3 seconds, is
    /// reserved for giving messages back.
    pub(crate) fn new(now: Instant, total: Duration) -> Self {
        let total = total.max(MIN_GRACE);
        let reserve = (total / 8).clamp(MIN_GRACE, MAX_RESERVE);
        let stop = after(now, total.saturating_sub(reserve));
        let part = reserve / 3;
        Self { stop, give_back: stop + part, last_try: stop + part * 2, end: stop + reserve }
    }
}

/// Queue URL and message id.
type MessageName = (Arc<str>, Arc<str>);

/// The messages that consumers of one client are handling, and that its receivers have yielded, so that no message is handled
/// twice at the same time. The lock is held for a few instructions.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    names: Mutex<HashSet<MessageName>>,
    released: Notify,
}

/// The right to handle a message. Dropping it releases the message.
#[derive(Debug)]
pub(crate) struct Claim {
    claims: Arc<Claims>,
    name: MessageName,
}

impl Claims {
    /// `None` if the message is being handled.
    pub(crate) fn claim(self: &Arc<Self>, queue_url: &Arc<str>, message_id: &Arc<str>) -> Option<Claim> {
        let name = (Arc::clone(queue_url), Arc::clone(message_id));
        let is_free = self.names.lock().insert(name.clone());
        is_free.then(|| Claim { claims: Arc::clone(self), name })
    }

    /// Waits until nobody handles a message.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn released(&self, queue_url: &Arc<str>, message_id: &Arc<str>) {
        let name = (Arc::clone(queue_url), Arc::clone(message_id));
        loop {
            let released = self.released.notified();
            if !self.names.lock().contains(&name) {
                return;
            }
            released.await;
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.claims.names.lock().remove(&self.name);
        self.claims.released.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn giving_back_is_part_of_the_grace() {
        let now = Instant::now();
        let moments = |seconds| {
            let grace = Grace::new(now, Duration::from_secs(seconds));
            [grace.stop, grace.give_back, grace.last_try, grace.end].map(|at| (at - now).as_millis())
        };
        assert_eq!(moments(25), [22_000, 23_000, 24_000, 25_000]);
        assert_eq!(moments(2), [1_000, 1_333, 1_666, 2_000]);
        assert_eq!(moments(0), [0, 333, 666, 1_000], "even then there is a second to give back");
        assert_eq!(moments(3_600), [3_597_000, 3_598_000, 3_599_000, 3_600_000]);
        assert!(Grace::new(now, Duration::MAX).end > now);
    }
}
