//! The settings of a client: the builder, their ranges, and the rules that lanes get from them.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::wire::limits::{MAX_BATCH_BYTES, MAX_BATCH_ENTRIES};
use tokio::runtime::Handle;

use crate::attempt::ATTEMPT_TIMEOUT;
use crate::client::BufferedClient;
use crate::error::BuildError;
use crate::observe::sends::{Hook, SendEvent};

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
pub struct BufferedClientBuilder<H> {
    handle: H,
    settings: Settings,
    runtime: Option<Handle>,
    hook: Option<Hook>,
}

impl<H: Execute> BufferedClientBuilder<H> {
    pub(crate) fn new(handle: H) -> Self {
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
    /// minute at most, on FIFO queues until 290 s after admission.
    pub fn delivery_timeout(mut self, timeout: Duration) -> Self {
        self.settings.delivery_timeout = timeout;
        self
    }

    /// Sets how long one request may take, whatever client is below: 30 s by default, more than zero. A request that takes longer
    /// is abandoned, because connections can die silently, and its entries are retried. The time in which the client below
    /// [prepares](Execute::prepare) entries does not count.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.settings.attempt_timeout = timeout;
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

impl<H> fmt::Debug for BufferedClientBuilder<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferedClientBuilder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// The longest delivery timeout on FIFO queues: after five minutes, SQS treats a retry as a new message.
const MAX_FIFO_DELIVERY: Duration = Duration::from_secs(280);

/// How long a request with a FIFO message is awaited at most, from the admission of the message.
pub(crate) const MAX_FIFO_REQUEST: Duration = Duration::from_secs(290);

/// The shortest first pause. Without a pause, retries would spin.
pub(crate) const MIN_PAUSE: Duration = Duration::from_millis(1);

/// The longest pause between batches of a lane whose batches fail. It limits how late the lane notices that the queue
/// has recovered.
const MAX_LANE_PAUSE: Duration = Duration::from_secs(1);

/// The same for deletes and visibility changes, which must be done before a lease ends.
const MAX_ACK_LANE_PAUSE: Duration = Duration::from_millis(250);

/// The largest message for layers that store bodies elsewhere.
pub(crate) const MAX_OFFLOADED_BYTES: usize = (1 << 31) - 1;

/// The deduplication id of FIFO messages that have none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum DedupId {
    /// A UUID, unless the queue has content-based deduplication. The client asks the queue (`sqs:GetQueueAttributes`) and
    /// remembers the answer for five minutes. If access is denied, it logs a warning and sends messages without an id until
    /// SQS requires one.
    #[default]
    Auto,
    /// No id: the queue must have content-based deduplication.
    Passthrough,
    /// A UUID. It overrides content-based deduplication.
    GenerateUuid,
}

/// All settings, with their defaults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) limits: BatchLimits,
    pub(crate) linger: Linger,
    pub(crate) in_flight: InFlight,
    pub(crate) ordering: FifoOrdering,
    pub(crate) after_failure: AfterFailure,
    pub(crate) dedup_id: DedupId,
    pub(crate) retry: RetryRules,
    pub(crate) delivery_timeout: Duration,
    pub(crate) admission_timeout: Duration,
    pub(crate) max_message_bytes: usize,
    pub(crate) max_entries: usize,
    pub(crate) max_bytes: usize,
    pub(crate) close_grace: Duration,
    pub(crate) attempt_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: BatchLimits::default(),
            linger: Linger::default(),
            in_flight: InFlight::default(),
            ordering: FifoOrdering::default(),
            after_failure: AfterFailure::default(),
            dedup_id: DedupId::default(),
            retry: RetryRules {
                attempts: u32::MAX,
                first_pause: Duration::from_millis(50),
                max_pause: Duration::from_secs(5),
                max_lane_pause: MAX_LANE_PAUSE,
            },
            delivery_timeout: Duration::from_mins(2),
            admission_timeout: Duration::from_mins(1),
            max_message_bytes: MAX_BATCH_BYTES,
            max_entries: 10_000,
            max_bytes: 32 << 20,
            close_grace: Duration::from_secs(25),
            attempt_timeout: ATTEMPT_TIMEOUT,
        }
    }
}

impl Settings {
    /// Checks all ranges.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        const SOME: RangeInclusive<usize> = 1..=usize::MAX;
        within("batch_limits (entries)", self.limits.max_entries(), 1..=MAX_BATCH_ENTRIES)?;
        within("batch_limits (bytes)", self.limits.max_bytes(), 1..=MAX_BATCH_BYTES)?;
        match self.in_flight {
            InFlight::Adaptive { max } => within("in_flight (max)", max, SOME)?,
            InFlight::Fixed(batches) => within("in_flight", batches, SOME)?,
        }
        within("max_attempts", usize::try_from(self.retry.attempts).unwrap_or(usize::MAX), SOME)?;
        within("capacity (entries)", self.max_entries, SOME)?;
        within("capacity (bytes)", self.max_bytes, SOME)?;
        within("max_message_bytes", self.max_message_bytes, 1..=MAX_OFFLOADED_BYTES)?;
        for (setting, value) in
            [("delivery_timeout", self.delivery_timeout), ("attempt_timeout", self.attempt_timeout)]
        {
            if value.is_zero() {
                return Err(BuildError::new(setting, "zero", "more than zero"));
            }
        }
        let (first, max) = (self.retry.first_pause, self.retry.max_pause);
        at_least("back_off (first)", first, MIN_PAUSE)?;
        at_least("back_off (max)", max, first)
    }

    /// The rules of lanes of sends.
    pub(crate) fn of_sends(&self) -> Rules {
        Rules {
            limits: self.limits,
            linger: self.linger,
            in_flight: self.in_flight,
            ordering: self.ordering,
            after_failure: self.after_failure,
            retry: self.retry,
            grace: Duration::ZERO,
            tells_retries: false,
        }
    }

    /// The rules of lanes of deletes and visibility changes. The entries of a receipt handle stay in order, but do not depend
    /// on each other. They have no limit of attempts: without its delete, a message is handled again.
    pub(crate) fn of_acknowledgements(&self) -> Rules {
        let retry = RetryRules { attempts: u32::MAX, max_lane_pause: MAX_ACK_LANE_PAUSE, ..self.retry };
        let (ordering, after_failure) = (FifoOrdering::Strict, AfterFailure::Continue);
        Rules { ordering, after_failure, retry, ..self.of_sends() }
    }

    /// How long an entry may take from its admission.
    pub(crate) fn delivery_timeout(&self, fifo: bool) -> Duration {
        if fifo { self.delivery_timeout.min(MAX_FIFO_DELIVERY) } else { self.delivery_timeout }
    }
}

fn within(setting: &'static str, value: usize, range: RangeInclusive<usize>) -> Result<(), BuildError> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    let allowed = if most == usize::MAX { format!("{least} or more") } else { format!("{least} to {most}") };
    Err(BuildError::new(setting, value, allowed))
}

fn at_least(setting: &'static str, value: Duration, least: Duration) -> Result<(), BuildError> {
    if value >= least {
        return Ok(());
    }
    Err(BuildError::new(setting, format!("{value:?}"), format!("{least:?} or more")))
}

/// The size limits of a batch. The limits of SQS are the default and the maximum;
/// [`build`](BufferedClientBuilder::build) refuses other values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BatchLimits {
    entries: usize,
    bytes: usize,
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self { entries: MAX_BATCH_ENTRIES, bytes: MAX_BATCH_BYTES }
    }
}

impl BatchLimits {
    /// Sets the maximum number of entries: 1 to 10.
    pub fn entries(mut self, entries: usize) -> Self {
        self.entries = entries;
        self
    }

    /// Sets the maximum size in bytes: 1 to 1,048,576. A larger message is sent alone.
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// The maximum number of entries.
    pub(crate) fn max_entries(&self) -> usize {
        self.entries
    }

    /// The maximum size in bytes.
    pub(crate) fn max_bytes(&self) -> usize {
        self.bytes
    }
}

/// The maximum number of batches in flight per lane (one queue, one operation).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InFlight {
    /// Adapts to the queue. The bound starts at 10. It rises while full batches wait and a higher bound completes more batches
    /// per second, and falls while SQS throttles.
    Adaptive {
        /// The highest bound, at least 1.
        max: usize,
    },
    /// A fixed number, at least 1.
    Fixed(usize),
}

impl Default for InFlight {
    /// Adaptive, at most 100.
    fn default() -> Self {
        Self::Adaptive { max: 100 }
    }
}

/// How long a batch that is not full waits for more entries, from the admission of its first entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Linger {
    /// No wait if nothing is in flight on the lane; otherwise until a response arrives, at most `max`. So a lone sender is
    /// not delayed, and a busy lane fills its batches.
    Adaptive {
        /// The longest wait.
        max: Duration,
    },
    /// Always this long; zero for no wait.
    Fixed(Duration),
}

impl Default for Linger {
    /// Adaptive, at most 20 ms.
    fn default() -> Self {
        Self::Adaptive { max: Duration::from_millis(20) }
    }
}

/// How strictly messages of a group stay in order on FIFO queues.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum FifoOrdering {
    /// One message per group and request. Accepted messages are always in admission order. Ten groups still fill a batch.
    #[default]
    Strict,
    /// Several messages per group and request, for up to ten times the rate of one group. If SQS refuses a message and accepts
    /// a later one of its group, the refused one ends as [`OrderGap`](crate::error::SendErrorKind::OrderGap). If the response of
    /// such a request is lost, the retry may store the message behind the later one; it then ends as
    /// [`OutOfOrder`](crate::error::SendErrorKind::OutOfOrder).
    Grouped,
}

/// What happens to the messages of a group after one of them has failed: to those that the client has admitted, and with
/// [`ConsumerBuilder::after_failure`](crate::consume::builder::ConsumerBuilder::after_failure), to those that a consumer has received.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum AfterFailure {
    /// To send: they end as [`PrecedingFailed`](crate::error::SendErrorKind::PrecedingFailed). Messages that are admitted later are sent.
    /// Received: they wait for it, in order.
    #[default]
    FailGroup,
    /// They are sent, or handled, without the one that failed.
    Continue,
}

/// The factor of pauses after throttling: by default the first is up to a second, as in the client. Four attempts within a
/// fraction of a second would all hit the same limit.
const THROTTLED: u32 = 20;

/// When a failed entry is retried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RetryRules {
    /// The maximum number of requests per entry; 1 for no retry.
    pub(crate) attempts: u32,
    /// The longest first pause. It doubles with each attempt.
    pub(crate) first_pause: Duration,
    pub(crate) max_pause: Duration,
    /// The longest pause between batches while all batches of the lane fail.
    pub(crate) max_lane_pause: Duration,
}

impl RetryRules {
    /// The pause after this number of attempts: random between zero and a limit ("full jitter",
    /// <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>). `chance` is from 0 to 1.
    pub(crate) fn pause(&self, attempts: u32, is_throttled: bool, chance: f64) -> Duration {
        let doublings = attempts.saturating_sub(1).min(20);
        let first = self.first_pause.saturating_mul(if is_throttled { THROTTLED } else { 1 });
        let longest = first.saturating_mul(1 << doublings).min(self.max_pause);
        let pause = longest.as_secs_f64() * chance.clamp(0.0, 1.0);
        Duration::try_from_secs_f64(pause).unwrap_or(longest)
    }
}

/// All rules of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rules {
    pub(crate) limits: BatchLimits,
    pub(crate) linger: Linger,
    pub(crate) in_flight: InFlight,
    pub(crate) ordering: FifoOrdering,
    pub(crate) after_failure: AfterFailure,
    pub(crate) retry: RetryRules,
    /// How long a batch in flight is awaited after the first deadline of its entries.
    pub(crate) grace: Duration,
    /// Whether an event hook gets retries.
    pub(crate) tells_retries: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let rules = RetryRules {
            attempts: 4,
            first_pause: Duration::from_millis(50),
            max_pause: Duration::from_secs(5),
            max_lane_pause: Duration::from_secs(1),
        };
        let longest: Vec<_> = (1..=9).map(|attempts| rules.pause(attempts, false, 1.0).as_millis()).collect();
        let throttled: Vec<_> =
            (1..=4).map(|attempts| rules.pause(attempts, true, 1.0).as_millis()).collect();
        assert_eq!(throttled, [1000, 2000, 4000, 5000]);
        assert_eq!(longest, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(rules.pause(u32::MAX, false, 0.5), Duration::from_millis(2500));
        assert_eq!(rules.pause(3, false, 0.0), Duration::ZERO);
        let endless = RetryRules { first_pause: Duration::MAX, max_pause: Duration::MAX, ..rules };
        assert_eq!(endless.pause(1, true, 1.0), Duration::MAX);
    }
}
