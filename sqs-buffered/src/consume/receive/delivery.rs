//! A received message that is not settled.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::types::{Message, MessageSystemAttributeName as Name};
use tokio::time::Instant;
use tracing::Span;

use crate::consume::credit::Credit;
use crate::consume::lease::{Abandoned, Lease, LeaseTerm, Leases};
use crate::consume::observe::{Event, Observer, Settled};
use crate::consume::source::Source;
use crate::produce::{SendError, SendErrorKind};

/// A received message with its lease and credit. If it is dropped without an outcome, the message is made visible again in the
/// background.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) message: Arc<Message>,
    /// The span of the receive that returned it.
    pub(crate) span: Span,
    pub(crate) lease: Lease,
    /// How many times in a row its handler returned `Overloaded`.
    pub(crate) overloads: u32,
    leases: Arc<Leases>,
    observer: Arc<Observer>,
    /// The term of the lease, once its renewal has ended.
    ended: Option<LeaseTerm>,
    /// Set if a delete failed that SQS may have executed. If the message no longer exists, the delivery counts as this.
    maybe_gone: Option<Settled>,
    /// Whether the message is opened.
    is_open: bool,
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
            leases,
            observer,
            ended: None,
            maybe_gone: None,
            is_open: false,
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

    /// Opens the message: a client that stores bodies elsewhere loads this one.
    ///
    /// # Cancel safety
    /// If the future is dropped, the message is unchanged.
    pub(crate) async fn open<H: Execute>(&mut self, source: &Source<H>) -> Result<(), H::Error> {
        if !self.is_open {
            source.client.handle().open(Arc::make_mut(&mut self.message)).await?;
            self.is_open = true;
        }
        Ok(())
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// From here on, a delete leaves what belongs to the message: a copy of it as it was received needs that.
    pub(crate) fn leave_payload(&mut self) {
        self.is_open = false;
    }

    /// The handle that deletes what belongs to an opened message, too. An unopened one is deleted by the handle of SQS.
    fn delete_handle(&self) -> &str {
        let opened = self.message.receipt_handle().filter(|_| self.is_open);
        opened.unwrap_or(self.lease.receipt_handle())
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
        let result = match source.enqueue_delete(self.delete_handle(), self.lease.receipt_handle()).await {
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
                self.maybe_gone = error.is_maybe_sent().then_some(how);
                self.observer.report(&Event::SettleFailed { message_id: self.id(), error });
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
        let result = self.observer.given_back(self.name(), (how, self.maybe_gone), result);
        self.done();
        result
    }

    /// Leaves the message hidden until its visibility timeout is over.
    pub(crate) fn keep(mut self) {
        if self.end_lease().is_ok() {
            self.observer.settled(self.name(), Settled::Kept, &Ok(()));
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
                delay,
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
