//! Messages as a stream.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use sqs_client::client::Execute;
use sqs_client::wire::limits::MAX_IN_FLIGHT;
use tokio::time::{Instant, timeout_at};

use super::delivery::Delivery;
use super::error::{ReceiveError, ReceiveErrorKind};
use super::grace::{GRACE, Grace};
use super::intake::Intake;
use super::pump::give_back;
use super::received::Received;
use super::settings::{Settings, receive_setters};
use crate::consume::credit::SharedCredits;
use crate::consume::observe::{Hook, Observer, ReceiveStats};
use crate::consume::source::Source;
use crate::consume::stop::Stop;
use crate::produce::{BufferedClient, BuildError};

/// Messages that may be here when nothing else is said.
const LIMIT: usize = 10;

/// Received messages as they come, each with a lease that is renewed in the background until the message is settled.
///
/// A stream of [`Received`]. It asks for messages as long as fewer than its limit are here, buffered or handed out and
/// not settled. Dropped, it receives nothing more and gives back, in the background, what was not handed out;
/// [`close`](Self::close) waits for that. What was handed out stays as it is.
///
/// ```no_run
/// # async fn example(client: sqs_client::Client, url: &str) -> Result<(), Box<dyn std::error::Error>> {
/// use futures_util::StreamExt as _;
/// use sqs_buffered::{BufferedClient, Receiver};
///
/// let buffered = BufferedClient::new(client);
/// let mut orders = Receiver::builder(&buffered, url).limit(20).start().await?;
/// while let Some(order) = orders.next().await {
///     println!("{}", order.message().body().unwrap_or_default());
///     order.ack().await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Receiver<H: Execute = sqs_client::Client> {
    intake: Intake<H>,
    ready: VecDeque<Delivery>,
    /// Messages whose leases are renewed before they are handed out; `None` is one whose lease was lost.
    stale: FuturesUnordered<BoxFuture<'static, Option<Delivery>>>,
}

/// Settings of a [`Receiver`] that is to start.
#[must_use]
pub struct ReceiverBuilder<H: Execute = sqs_client::Client> {
    source: Source<H>,
    limit: usize,
    settings: Settings,
    hook: Option<Hook>,
}

impl<H: Execute> Receiver<H> {
    /// For a receiver of the queue with this URL. Deletes and changes of visibility go through `client`, in batches with
    /// what else goes through it.
    pub fn builder(client: &BufferedClient<H>, queue_url: impl AsRef<str>) -> ReceiverBuilder<H> {
        let source = Source { client: client.clone(), url: queue_url.as_ref().into() };
        ReceiverBuilder { source, limit: LIMIT, settings: Settings::default(), hook: None }
    }

    /// What it has done so far.
    pub fn stats(&self) -> ReceiveStats {
        self.intake.stats()
    }

    /// Receives nothing more, gives back what was not handed out, and waits until receives under way have ended and all
    /// messages that were handed out are settled: 25 seconds at most, as [`close_within`](Self::close_within).
    ///
    /// # Errors
    /// Why the receiver had ended by itself.
    ///
    /// # Cancel safety
    /// Dropped before its end, the rest happens in the background.
    pub async fn close(self) -> Result<ReceiveStats, ReceiveError> {
        self.close_within(GRACE).await
    }

    /// As [`close`](Self::close), with another bound; at least one second counts.
    ///
    /// A [`Received`] that is still held when the time is over stays with its holder: its lease is renewed in the
    /// background as before, and its methods work. [`ReceiveStats::held`] counts such messages. An eighth of the time, 1 to
    /// 3 seconds, is kept for giving messages back: a receive that runs longer is cut off, and what it would have brought
    /// stays hidden until its visibility timeout is over.
    ///
    /// # Errors
    /// As of `close`.
    ///
    /// # Cancel safety
    /// As of `close`.
    pub async fn close_within(mut self, grace: Duration) -> Result<ReceiveStats, ReceiveError> {
        let grace = Grace::new(Instant::now(), grace);
        self.intake.stop();
        self.stale.clear();
        give_back(self.ready.drain(..).collect());
        if timeout_at(grace.stop, self.give_rest_back()).await.is_err() {
            self.intake.abandon_receives();
            // If this times out too, the statistics count the messages that are still held.
            let _ = timeout_at(grace.end, self.give_rest_back()).await;
        }
        let finished = timeout_at(grace.end, self.intake.finish()).await;
        finished.unwrap_or_else(|_| self.intake.result())?;
        Ok(self.intake.stats())
    }

    async fn give_rest_back(&mut self) {
        while let Some(unwanted) = self.intake.next().await {
            give_back(unwanted);
        }
    }

    /// Waits until receiving has ended, and says why when it was by itself: after the stream's end this returns at once.
    ///
    /// # Cancel safety
    /// It can be dropped, and called again.
    pub async fn failure(&mut self) -> Option<ReceiveError> {
        self.intake.pumped().await.err()
    }
}

impl<H: Execute> Stream for Receiver<H> {
    type Item = Received<H>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Received<H>>> {
        let this = &mut *self;
        loop {
            let Some(delivery) = ready!(this.poll_fresh(cx)) else { return Poll::Ready(None) };
            let received = Received::new(delivery, &this.intake.source, &this.intake.observer);
            if received.is_some() {
                return Poll::Ready(received);
            }
        }
    }
}

impl<H: Execute> Receiver<H> {
    /// The next message with enough time left. Where there is an order to be kept, it waits for those before it.
    fn poll_fresh(&mut self, cx: &mut Context<'_>) -> Poll<Option<Delivery>> {
        loop {
            while let Poll::Ready(Some(renewed)) = self.stale.poll_next_unpin(cx) {
                if let Some(delivery) = renewed {
                    return Poll::Ready(Some(delivery));
                }
            }
            if !self.stale.is_empty() && self.intake.source.is_fifo() {
                return Poll::Pending;
            }
            let Some(delivery) = self.ready.pop_front() else {
                match ready!(self.intake.poll_next(cx)) {
                    Some(batch) => self.ready.extend(batch),
                    None if self.stale.is_empty() => return Poll::Ready(None),
                    None => return Poll::Pending,
                }
                continue;
            };
            if delivery.lease.is_fresh() {
                return Poll::Ready(Some(delivery));
            }
            self.stale.push(Box::pin(async move {
                let lease = delivery.lease.clone();
                lease.refresh().await.ok().map(|()| delivery)
            }));
        }
    }
}

impl<H: Execute> Drop for Receiver<H> {
    fn drop(&mut self) {
        give_back(self.ready.drain(..).collect());
    }
}

impl<H: Execute> ReceiverBuilder<H> {
    /// How many messages may be here or asked for at a time, 1 to 120,000; 10 by default.
    pub fn limit(mut self, messages: usize) -> Self {
        self.limit = messages;
        self
    }

    receive_setters!();

    /// Starts to receive.
    ///
    /// # Errors
    /// A setting has a value that it cannot have, or the queue, if it is asked, cannot be. What may pass, such as a
    /// refused connection, is tried again until it does.
    ///
    /// # Cancel safety
    /// Dropped before its end, nothing was received.
    pub async fn start(self) -> Result<Receiver<H>, ReceiveError> {
        self.settings.check(&self.source.url).map_err(|error| ReceiveError::invalid(&error))?;
        if !(1..=MAX_IN_FLIGHT).contains(&self.limit) {
            let error = BuildError::new("limit", self.limit, format_args!("1 to {MAX_IN_FLIGHT} messages"));
            return Err(ReceiveError::invalid(&error));
        }
        let observer = Arc::new(Observer::new(&self.source.url, self.hook));
        let held = observer.metrics.held();
        let credits = Arc::new(SharedCredits::of_messages(self.limit, self.settings.max_poll_delay, held));
        let intake = Intake::start(self.source, &self.settings, credits, observer, Stop::new()).await?;
        let intake = intake.ok_or_else(|| ReceiveError::new(ReceiveErrorKind::Aborted, "stopped"))?;
        Ok(Receiver { intake, ready: VecDeque::new(), stale: FuturesUnordered::new() })
    }
}

impl<H: Execute> std::fmt::Debug for ReceiverBuilder<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReceiverBuilder")
            .field("limit", &self.limit)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
