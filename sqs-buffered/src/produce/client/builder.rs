//! The builder of a client.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use tokio::runtime::Handle;

use super::{BufferedClient, BuildError};
use crate::produce::event::SendEvent;
use crate::produce::lane::{AfterFailure, BatchLimits, FifoOrdering, InFlight, Linger};
use crate::produce::observer::Hook;
use crate::produce::settings::{DedupId, Settings};

/// Builds a [`BufferedClient`].
///
/// ```
/// # fn example(client: sqs_client::Client) -> Result<(), sqs_buffered::BuildError> {
/// use std::time::Duration;
///
/// use sqs_buffered::{BufferedClient, InFlight, Linger, SendEvent};
///
/// let buffered = BufferedClient::builder(client)
///     .linger(Linger::Fixed(Duration::from_millis(50))) // fewer and fuller requests
///     .in_flight(InFlight::Fixed(30)) // instead of an adaptive bound
///     .capacity(50_000, 128 << 20) // entries and bytes; then producers wait
///     .on_event(|event| {
///         if let SendEvent::Failed { queue_url, error, .. } = event {
///             eprintln!("{queue_url}: {error}");
///         }
///     })
///     .build()?;
/// # drop(buffered);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Builder<H> {
    handle: H,
    settings: Settings,
    runtime: Option<Handle>,
    hook: Option<Hook>,
}

impl<H: Execute> Builder<H> {
    pub(super) fn new(handle: H) -> Self {
        Self { handle, settings: Settings::default(), runtime: None, hook: None }
    }

    /// Sets the size limits of a batch: ten entries and 1 MiB by default.
    pub fn batch_limits(mut self, limits: BatchLimits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Sets how long a batch that is not full waits for more entries: adaptive, at most 20 ms, by default.
    pub fn linger(mut self, linger: Linger) -> Self {
        self.settings.linger = linger;
        self
    }

    /// Sets how many batches are in flight at a time per queue and operation: adaptive, at most 100, by default.
    pub fn in_flight(mut self, bound: InFlight) -> Self {
        self.settings.in_flight = bound;
        self
    }

    /// Sets how strictly messages of a group stay in order on FIFO queues: always ([`Strict`](FifoOrdering::Strict)) by default.
    pub fn fifo_ordering(mut self, ordering: FifoOrdering) -> Self {
        self.settings.ordering = ordering;
        self
    }

    /// Sets what happens to the admitted messages of a group after one before them has failed for good: by default, they fail
    /// too.
    pub fn after_failure(mut self, policy: AfterFailure) -> Self {
        self.settings.after_failure = policy;
        self
    }

    /// Sets the deduplication id of FIFO messages that have none: by default a UUID, unless the queue has content-based
    /// deduplication.
    pub fn dedup_id(mut self, policy: DedupId) -> Self {
        self.settings.dedup_id = policy;
        self
    }

    /// Sets the maximum number of requests for a message, at least 1. By default, only the
    /// [delivery timeout](Self::delivery_timeout) limits them, as in Kafka producers. The client below does not retry them
    /// ([`Retries::Never`](sqs_client::client::Retries)). Deletes and visibility changes have no maximum.
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.settings.retry.attempts = attempts;
        self
    }

    /// Sets the pauses between attempts: random, at most `first` after the first attempt, doubled each time up to `max`. After
    /// throttling, pauses are twenty times longer, but at most `max`. `first` is at least 1 ms, and `max` at least `first`;
    /// 50 ms and 5 s by default.
    pub fn back_off(mut self, first: Duration, max: Duration) -> Self {
        self.settings.retry.first_pause = first;
        self.settings.retry.max_pause = max;
        self
    }

    /// Sets how long an entry is tried, from its admission: 120 s by default, more than zero. On FIFO queues at most 280 s
    /// count, because SQS forgets deduplication ids after five minutes. A send in flight at that time is awaited for another
    /// minute at most, on FIFO queues until 290 s after admission. Requests of deletes and visibility changes end after 30 s
    /// and are retried, because they can be made twice.
    pub fn delivery_timeout(mut self, timeout: Duration) -> Self {
        self.settings.delivery_timeout = timeout;
        self
    }

    /// Sets how long [`enqueue`](BufferedClient::enqueue) waits for room: 60 s by default.
    pub fn admission_timeout(mut self, timeout: Duration) -> Self {
        self.settings.admission_timeout = timeout;
        self
    }

    /// Sets how many entries and bytes are buffered or in flight at a time, over all queues: at least 1 each; 10,000 and
    /// 32 MiB by default. A queue may hold up to eight times what is free. So a queue that hangs takes at most 8/9 of the
    /// capacity, and other queues continue. Deletes and visibility changes have their own capacity for as many entries.
    pub fn capacity(mut self, entries: usize, bytes: usize) -> Self {
        self.settings.max_entries = entries;
        self.settings.max_bytes = bytes;
        self
    }

    /// Sets the maximum size of a message in bytes: 1 to 2,147,483,647; 1 MiB by default. Use less if the queue allows less,
    /// and more if the client below stores large bodies elsewhere. A message larger than a [batch](Self::batch_limits) is
    /// sent alone.
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_message_bytes = bytes;
        self
    }

    /// Sets how long [`close`](BufferedClient::close) waits before it aborts the remaining entries: 25 s by default, because
    /// Kubernetes and ECS kill a process 30 s after they ask it to stop.
    pub fn close_grace(mut self, grace: Duration) -> Self {
        self.settings.close_grace = grace;
        self
    }

    /// Runs the tasks of the client on this runtime. By default, they run on the runtime that enqueues. Set another one if that
    /// runtime may be blocked, idle or ended while results are awaited elsewhere.
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Sets a hook that gets each [event](SendEvent), for metrics. It runs in the tasks that send, so it must not block. A panic
    /// in it is logged.
    pub fn on_event(mut self, hook: impl Fn(&SendEvent<'_>) + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// Creates the client. It starts no task before an entry is enqueued.
    ///
    /// # Errors
    /// A setting is out of range. The error names it, with its value and what is allowed.
    pub fn build(self) -> Result<BufferedClient<H>, BuildError> {
        self.settings.check()?;
        Ok(BufferedClient::assemble(self.handle, self.settings, self.runtime, self.hook))
    }
}

impl<H> fmt::Debug for Builder<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("settings", &self.settings).finish_non_exhaustive()
    }
}
