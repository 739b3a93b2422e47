//! Settings of a client that is to be made.

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

/// Settings of a [`BufferedClient`] that is to be made.
///
/// ```
/// # fn example(client: sqs_client::Client) -> Result<(), sqs_buffered::BuildError> {
/// use std::time::Duration;
///
/// use sqs_buffered::{BufferedClient, InFlight, Linger, SendEvent};
///
/// let buffered = BufferedClient::builder(client)
///     .linger(Linger::Fixed(Duration::from_millis(50))) // fewer and fuller requests
///     .in_flight(InFlight::Fixed(30)) // not as many as make it faster
///     .capacity(50_000, 128 << 20) // entries and bytes, before producers wait
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

    /// How much a batch may hold; ten entries and 1 MiB by default.
    pub fn batch_limits(mut self, limits: BatchLimits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// How long a batch that is not full waits for more; adaptive, at most 20 ms, by default.
    pub fn linger(mut self, linger: Linger) -> Self {
        self.settings.linger = linger;
        self
    }

    /// Batches in flight at a time for each queue and operation; adaptive, at most 100, by default.
    pub fn in_flight(mut self, bound: InFlight) -> Self {
        self.settings.in_flight = bound;
        self
    }

    /// How strictly the messages of a group are kept in order on FIFO queues; unconditionally (`Strict`) by default.
    pub fn fifo_ordering(mut self, ordering: FifoOrdering) -> Self {
        self.settings.ordering = ordering;
        self
    }

    /// What becomes of the messages of a group when one before them fails for good; by default they fail too.
    pub fn after_failure(mut self, policy: AfterFailure) -> Self {
        self.settings.after_failure = policy;
        self
    }

    /// What FIFO messages without a deduplication id get; by default a UUID, unless the queue makes ids of the content.
    pub fn dedup_id(mut self, policy: DedupId) -> Self {
        self.settings.dedup_id = policy;
        self
    }

    /// How many requests a message may be in, at least 1; by default as many as the
    /// [delivery timeout](Self::delivery_timeout) allows, as in producers of Kafka: what is given up early is lost to the
    /// program, and in a FIFO group takes others with it. The client below repeats none of them
    /// ([`Retries::Never`](sqs_client::client::Retries)).
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.settings.retry.attempts = attempts;
        self
    }

    /// Pauses between attempts: up to `first` after the first, doubled each time up to `max`; twenty times longer, but not
    /// longer than `max`, when the service asks for fewer requests. `first` is 1 ms or more, and `max` not less than `first`;
    /// 50 ms and 5 s by default.
    pub fn back_off(mut self, first: Duration, max: Duration) -> Self {
        self.settings.retry.first_pause = first;
        self.settings.retry.max_pause = max;
        self
    }

    /// How long an entry may take from its admission on until it is given up; 120 s by default, and at most 280 s on FIFO
    /// queues, where it must stay below the five minutes of deduplication. A request under way then is waited for, a minute at
    /// most, and on FIFO queues until 290 s after the admission; changes of visibility, which may be made twice, are not.
    pub fn delivery_timeout(mut self, timeout: Duration) -> Self {
        self.settings.delivery_timeout = timeout;
        self
    }

    /// How long [`enqueue`](BufferedClient::enqueue) waits for room; 60 s by default.
    pub fn admission_timeout(mut self, timeout: Duration) -> Self {
        self.settings.admission_timeout = timeout;
        self
    }

    /// How much may be buffered or in flight at a time, over all queues: entries, at least 1, and bytes, at least 1; 10,000
    /// and 32 MiB by default. A queue may hold up to eight times of what is free, so that one queue that hangs takes 8/9 of
    /// the capacity and others go on. Deletes and visibility changes have capacity for as many entries of their own.
    pub fn capacity(mut self, entries: usize, bytes: usize) -> Self {
        self.settings.max_entries = entries;
        self.settings.max_bytes = bytes;
        self
    }

    /// The largest message that is taken, in bytes: 1 to 2,147,483,647; 1 MiB by default. Less for services and queues that
    /// take less; more for a client below that keeps large bodies elsewhere. What is larger than a
    /// [batch](Self::batch_limits) goes alone.
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_message_bytes = bytes;
        self
    }

    /// How long [`close`](BufferedClient::close) waits before it aborts what is left; 25 s by default, since
    /// Kubernetes and ECS kill a process 30 s after they asked it to end.
    pub fn close_grace(mut self, grace: Duration) -> Self {
        self.settings.close_grace = grace;
        self
    }

    /// Runs the client's tasks on this runtime. By default they run on the runtime that enqueues; set it if that runtime may
    /// be blocked, idle or gone while others wait for the results, or to keep the work of sending off it.
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Calls this with everything that happens, for metrics. It runs in the tasks that send: it should be quick, and not wait
    /// for anything. A panic in it is logged.
    pub fn on_event(mut self, hook: impl Fn(&SendEvent<'_>) + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// Makes the client. It starts no task before there is something to send.
    ///
    /// # Errors
    /// A setting has a value that it cannot have, such as zero batches in flight.
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
