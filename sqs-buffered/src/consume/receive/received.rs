//! A message that a receiver has yielded.

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

/// A received message. Its lease is renewed until one of its methods settles it.
///
/// A receiver yields messages in the order of arrival. On FIFO queues, settle the messages of a group one after the other, or
/// use a [`Consumer`](crate::Consumer), which does that.
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
    /// `None` if another consumer or receiver of the client is handling the message. It is then hidden for a second.
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
        self.delivery.keep();
        message
    }
}
