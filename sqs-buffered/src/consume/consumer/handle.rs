//! A consumer that runs in the background.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use sqs_client::client::Execute;
use tokio::task::JoinHandle;

use super::Consumer;
use super::report::Report;
use crate::consume::observe::ReceiveStats;
use crate::consume::receive::ReceiveError;

/// A [`Consumer`] that runs in its own task: see [`Consumer::spawn`].
///
/// It is a future that resolves with the result of [`Consumer::run`]. If it is dropped, the consumer continues; a clone of the
/// consumer can shut it down.
///
/// ```no_run
/// # async fn example(consumer: sqs_buffered::Consumer) -> Result<(), Box<dyn std::error::Error>> {
/// let handle = consumer.spawn()?;
/// // ... the rest of the service ...
/// let report = handle.shutdown(std::time::Duration::from_secs(20)).await?;
/// println!("{} done", report.stats.acked);
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping the handle leaves the consumer running"]
pub struct ConsumerHandle<H: Execute = sqs_client::Client> {
    consumer: Consumer<H>,
    task: JoinHandle<Result<Report, ReceiveError>>,
}

impl<H: Execute> ConsumerHandle<H> {
    pub(super) fn new(consumer: Consumer<H>, task: JoinHandle<Result<Report, ReceiveError>>) -> Self {
        Self { consumer, task }
    }

    /// The consumer, to pause it, resume it, or change its concurrency.
    pub fn consumer(&self) -> &Consumer<H> {
        &self.consumer
    }

    /// The totals of the consumer so far.
    pub fn stats(&self) -> ReceiveStats {
        self.consumer.stats()
    }

    /// Shuts the consumer down within this grace, and waits for the end of the run: see [`Consumer::shutdown`].
    ///
    /// # Errors
    /// The same as [`Consumer::run`].
    ///
    /// # Cancel safety
    /// If the future is dropped, the shutdown continues.
    pub async fn shutdown(self, grace: Duration) -> Result<Report, ReceiveError> {
        self.consumer.shared.end(Some(grace));
        self.await
    }
}

impl<H: Execute> Future for ConsumerHandle<H> {
    type Output = Result<Report, ReceiveError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = std::task::ready!(Pin::new(&mut self.task).poll(cx));
        Poll::Ready(ended.unwrap_or_else(|error| Err(ReceiveError::broken("the consumer", &error))))
    }
}

impl<H: Execute> fmt::Debug for ConsumerHandle<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConsumerHandle").field(&self.consumer).finish()
    }
}
