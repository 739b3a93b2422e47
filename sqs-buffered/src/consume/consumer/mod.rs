//! Consumers: they receive messages, run handlers and settle the messages.

mod batch;
mod builder;
mod control;
mod dead_letter;
mod groups;
mod handle;
mod handling;
mod limits;
mod report;
mod run;
mod shared;
mod signals;
mod step;

use std::fmt;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use sqs_client::client::Execute;
use tokio::time::Instant;

use crate::consume::observe::ReceiveStats;
use crate::consume::receive::{Intake, ReceiveError, ReceiveErrorKind};
use crate::consume::source::Source;
use crate::produce::BufferedClient;

pub use builder::{ConsumerBuilder, NoHandler, ReadyConsumer, WithHandler};
pub use groups::GroupAdvance;
pub use handle::ConsumerHandle;
pub use report::Report;

use run::Run;
pub(crate) use shared::{Parts, RunGuard, Shared};

/// Receives messages and runs a handler for each one, many at a time.
///
/// It renews leases while messages wait and while their handlers run. Deletes and visibility changes go in batches. On FIFO
/// queues, the messages of a group are handled one by one, in order. Consumers and receivers that share a [`BufferedClient`]
/// ([`builder_with`](Self::builder_with)) never handle two deliveries of one message at the same time. Clones are handles of the
/// same consumer.
///
/// A service:
///
/// ```no_run
/// use sqs_buffered::{Consumer, Json, State};
/// # #[derive(serde::Deserialize)] struct Order { id: u64 }
/// # #[derive(Clone)] struct Db;
/// # impl Db { async fn insert(&self, _: Order) -> Result<(), std::io::Error> { Ok(()) } }
///
/// async fn store(Json(order): Json<Order>, State(db): State<Db>) -> Result<(), std::io::Error> {
///     db.insert(order).await
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let (client, url) = (sqs_client::Client::load().await?, std::env::var("QUEUE_URL")?);
///     Consumer::builder(client, url).state(Db).handler(store).build()?.run_until_signal().await?;
///     Ok(())
/// }
/// ```
pub struct Consumer<H: Execute = sqs_client::Client> {
    shared: Arc<Shared<H>>,
}

impl<H: Execute> Clone for Consumer<H> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<H: Execute> Consumer<H> {
    /// Returns a builder for a consumer of the queue with this URL.
    pub fn builder(client: H, queue_url: impl AsRef<str>) -> ConsumerBuilder<H> {
        Self::builder_with(&BufferedClient::new(client), queue_url)
    }

    /// Like [`builder`](Self::builder), with a client that other consumers, receivers and producers share.
    pub fn builder_with(client: &BufferedClient<H>, queue_url: impl AsRef<str>) -> ConsumerBuilder<H> {
        ConsumerBuilder::new(Source { client: client.clone(), url: queue_url.as_ref().into() })
    }

    fn assemble(parts: Parts<H>) -> Self {
        Self { shared: Arc::new(Shared::new(parts)) }
    }

    /// Handles messages until [`shutdown`](Self::shutdown) is called.
    ///
    /// # Errors
    /// The same as [`run_until`](Self::run_until).
    ///
    /// # Cancel safety
    /// The same as [`run_until`](Self::run_until).
    pub async fn run(&self) -> Result<Report, ReceiveError> {
        self.run_until(pending::<()>()).await
    }

    /// Handles messages until `end` is ready, and then shuts down within the [grace](ConsumerBuilder::grace):
    ///
    /// - It starts no more receives and handlers.
    /// - Running receives finish, and their messages become visible again; so do messages that have not started.
    /// - Running handlers finish, and their outcomes take effect. Handlers that take too long are stopped, and their messages
    ///   become visible again.
    ///
    /// After that, no message of this consumer is hidden, except by an outcome, or if SQS could not be reached. Messages that
    /// are still [held](ReceiveStats::held), [unsettled](ReceiveStats::unsettled), or were in an
    /// [abandoned receive](ReceiveStats::receives_abandoned) become visible when their visibility timeout is over. A consumer
    /// runs once.
    ///
    /// # Errors
    /// The first receive failed permanently; later failures are retried forever. Or the client was closed, a task
    /// panicked, or the consumer has been run before.
    ///
    /// # Cancel safety
    /// If the future is dropped, handlers are stopped, and their messages become visible again in the background.
    pub async fn run_until<T>(&self, end: impl Future<Output = T>) -> Result<Report, ReceiveError> {
        if self.shared.has_run.swap(true, Relaxed) {
            return Err(control::already_run());
        }
        let _ending = RunGuard(&self.shared);
        let mut driven = pin!(self.drive());
        let result = tokio::select! {
            biased;
            result = &mut driven => result,
            _ = end => {
                self.shared.end(None);
                driven.await
            }
        };
        self.shared.result.send_replace(Some(result.clone()));
        result
    }

    async fn drive(&self) -> Result<Report, ReceiveError> {
        let shared = &self.shared;
        let started = Instant::now();
        let (credits, observer) = (Arc::clone(&shared.credits), Arc::clone(&shared.observer));
        let intake =
            Intake::start(shared.source.clone(), &shared.settings, credits, observer, shared.stop.clone());
        let Some(intake) = intake.await? else { return Ok(Report { is_clean: true, ..Report::default() }) };
        let mut run = Run::new(Arc::clone(shared), intake);
        run.serve().await;
        shared.end(None);
        run.wind_up(started).await
    }

    /// Shuts down like [`run_until`](Self::run_until), within this [grace](ConsumerBuilder::grace), and waits for the end of the
    /// run. The latest grace wins: `shutdown(Duration::ZERO)` stops handlers that an earlier call waits for, and returns
    /// within a second. If it is called before the run, the run returns at once.
    ///
    /// # Errors
    /// The run ended with this error.
    ///
    /// # Cancel safety
    /// If the future is dropped, the shutdown continues.
    pub async fn shutdown(&self, grace: Duration) -> Result<Report, ReceiveError> {
        self.shared.end(Some(grace));
        if !self.shared.has_run.load(Relaxed) {
            return Ok(Report { is_clean: true, ..Report::default() });
        }
        let mut result = self.shared.result.subscribe();
        let ended = result.wait_for(Option::is_some).await.ok().and_then(|result| result.clone());
        ended.unwrap_or_else(|| Err(ReceiveError::new(ReceiveErrorKind::Aborted, "the consumer was dropped")))
    }

    /// The totals so far.
    pub fn stats(&self) -> ReceiveStats {
        self.shared.observer.tally.snapshot(self.shared.credits.levels())
    }
}

impl<H: Execute> fmt::Debug for Consumer<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer")
            .field("queue_url", &self.shared.source.url)
            .field("settings", &self.shared.settings)
            .finish_non_exhaustive()
    }
}
