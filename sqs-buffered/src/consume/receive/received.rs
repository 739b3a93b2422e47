//! A message as a receiver hands it out.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::types::Message;

use super::delivery::Delivery;
use crate::claims::Claim;
use crate::consume::lease::Lease;
use crate::consume::observe::{Observer, Settled};
use crate::consume::source::Source;
use crate::produce::SendError;

/// A message that is ours until it is settled, which one of its methods does. Its lease is renewed meanwhile.
///
/// A receiver hands out what comes, in the order in which it comes: on FIFO queues it is yours to settle the messages of a
/// group one after the other, or to leave that to a [`Consumer`](crate::Consumer).
///
/// Dropped without being settled, it is made visible again at once, in the background.
///
/// # Cancel safety
/// Dropping the future of a method before its end makes the message visible again, unless it was deleted by then.
#[derive(Debug)]
pub struct Received<H: Execute = sqs_client::Client> {
    delivery: Delivery,
    source: Source<H>,
    /// Nobody else who uses the client gets the message meanwhile.
    _claim: Claim,
}

impl<H: Execute> Received<H> {
    /// `None` when somebody else who uses the same client has the message now; it is given back for a second.
    pub(super) fn new(delivery: Delivery, source: &Source<H>, observer: &Observer) -> Option<Self> {
        let Some(claim) = source.client.claims().claim(&source.url, delivery.id()) else {
            observer.duplicate();
            delivery.give_back_after(Duration::from_secs(1));
            return None;
        };
        Some(Self { delivery, source: source.clone(), _claim: claim })
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

    /// How long it is ours.
    pub fn lease(&self) -> &Lease {
        &self.delivery.lease
    }

    /// Deletes the message.
    ///
    /// # Errors
    /// The lease is lost, which leaves the message alone; or the delete failed, and the message is given back.
    pub async fn ack(mut self) -> Result<(), SendError> {
        self.delivery.delete(&self.source, Settled::Acked).await
    }

    /// Gives the message back, to be visible after this long: parts of a second are rounded up, and at most 12 hours
    /// after the receive count.
    ///
    /// # Errors
    /// The lease is lost, which leaves the message alone; or the request failed, and the message comes back when its
    /// visibility timeout is over.
    pub async fn nack(self, delay: Duration) -> Result<(), SendError> {
        self.delivery.hide(&self.source, delay, Settled::Nacked).await
    }

    /// Makes the message visible at once.
    ///
    /// # Errors
    /// As of [`nack`](Self::nack).
    pub async fn release(self) -> Result<(), SendError> {
        self.delivery.hide(&self.source, Duration::ZERO, Settled::Released).await
    }

    /// Leaves the message as it is: it is not renewed any more, and comes back when its visibility timeout is over,
    /// unless somebody deletes it by its receipt handle.
    pub fn keep(self) -> Arc<Message> {
        let message = Arc::clone(&self.delivery.message);
        self.delivery.keep();
        message
    }
}
