//! Controls of a running consumer: spawn, signals, pause, concurrency.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use sqs_client::client::Execute;
use tokio::runtime::Handle;

use super::Consumer;
use super::handle::ConsumerHandle;
use super::report::Report;
use super::signals::Signals;
use crate::consume::pool::Concurrency;
use crate::consume::receive::{ReceiveError, ReceiveErrorKind};
use crate::produce::BuildError;

impl<H: Execute> Consumer<H> {
    /// Runs the consumer in its own task, until the handle or a clone of this consumer [shuts it down](Self::shutdown).
    ///
    /// # Errors
    /// There is no tokio runtime, or the consumer has been run before. The handle resolves with later errors.
    pub fn spawn(&self) -> Result<ConsumerHandle<H>, ReceiveError> {
        let runtime = Handle::try_current().map_err(|_| ReceiveError::no_runtime())?;
        if self.shared.has_run.load(Relaxed) {
            return Err(already_run());
        }
        let consumer = self.clone();
        Ok(ConsumerHandle::new(self.clone(), runtime.spawn(async move { consumer.run().await })))
    }

    /// Handles messages until SIGTERM, which Kubernetes, ECS and systemd send, or Ctrl-C. Then it shuts down like
    /// [`run_until`](Self::run_until). A second signal stops the handlers and returns within a second. On Windows, the signal
    /// is Ctrl-C.
    ///
    /// After the first call, these signals no longer end the process by themselves.
    ///
    /// # Errors
    /// The same as [`run_until`](Self::run_until); or the operating system refuses to report signals
    /// ([`ReceiveErrorKind::Signals`]).
    ///
    /// # Cancel safety
    /// The same as [`run_until`](Self::run_until).
    pub async fn run_until_signal(&self) -> Result<Report, ReceiveError> {
        tokio::runtime::Handle::try_current().map_err(|_| ReceiveError::no_runtime())?;
        let mut signals = Signals::listen().map_err(|error| {
            let text = format!("the operating system does not report signals: {error}");
            ReceiveError::new(ReceiveErrorKind::Signals, text)
        })?;
        let mut run = std::pin::pin!(self.run());
        for grace in [None, Some(Duration::ZERO)] {
            tokio::select! {
                biased;
                result = &mut run => return result,
                () = signals.next() => self.shared.end(grace),
            }
        }
        run.await
    }

    /// Starts no more receives and handlers until [`resume`](Self::resume). Running handlers finish, and their outcomes take
    /// effect. Waiting messages, and messages of running receives, are kept and their leases renewed, for at most
    /// [`max_lease`](super::ConsumerBuilder::max_lease).
    ///
    /// You can call it before the run. A paused consumer can be shut down.
    pub fn pause(&self) {
        self.set_paused(true);
    }

    /// Continues after [`pause`](Self::pause).
    pub fn resume(&self) {
        self.set_paused(false);
    }

    /// Whether the consumer is paused.
    pub fn is_paused(&self) -> bool {
        self.shared.is_paused.load(Relaxed)
    }

    /// Changes how many handlers run at a time: a number, or [`Concurrency::Adaptive`]. An increase takes effect at
    /// once. After a decrease, running handlers finish, and fewer start. For a consumer with a
    /// [pool](super::ConsumerBuilder::pool), this changes the pool.
    ///
    /// # Errors
    /// The number is not 1 to 120,000, or exceeds 120,000 together with the prefetch.
    pub fn set_concurrency(&self, concurrency: impl Into<Concurrency>) -> Result<(), BuildError> {
        let concurrency = concurrency.into();
        self.shared.limits.check_concurrency(concurrency)?;
        self.shared.pool.set_concurrency(concurrency)
    }

    /// How many handlers may run at a time now.
    pub fn concurrency(&self) -> usize {
        self.shared.pool.concurrency()
    }

    fn set_paused(&self, is_paused: bool) {
        self.shared.is_paused.store(is_paused, Relaxed);
        Arc::clone(&self.shared.woken).notify_one();
    }
}

pub(super) fn already_run() -> ReceiveError {
    ReceiveError::new(ReceiveErrorKind::Running, "the consumer has been run before; build another one")
}
