//! What a buffered client reports: events, statistics, metrics.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::operation::Action;

use crate::error::{SendError, SendErrorKind};
use crate::lane::capacity::Amount;
use crate::lane::flush::Summary;
use crate::lane::queue::{BatchSize, Retried};
use crate::metrics as names;
use crate::observe::meter::{Counter, Family, Gauge, Histogram, Level, Meter, amount};

/// An event of a batch or an entry, for the hook of
/// [`BufferedClientBuilder::on_event`](crate::settings::BufferedClientBuilder::on_event). [`SendStats`](SendStats) has the totals.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SendEvent<'a> {
    /// A request has completed or failed.
    #[non_exhaustive]
    Batch {
        /// The queue.
        queue_url: &'a str,
        /// The action, such as `SendMessageBatch`.
        action: Action,
        /// Entries in the batch: 1 to 10.
        entries: usize,
        /// Their size in bytes as SQS counts it; 0 for deletes and visibility changes.
        bytes: usize,
        /// Entries in the batch that are retries.
        retried: usize,
        /// The time from admission to first request, summed over the entries whose first request this is.
        waited: Duration,
        /// The time from the request to its response.
        elapsed: Duration,
        /// The error, if the whole request failed.
        error: Option<&'a SendError>,
    },
    /// An entry failed and will be retried.
    #[non_exhaustive]
    Retried {
        /// The queue.
        queue_url: &'a str,
        /// The action, such as `SendMessageBatch`.
        action: Action,
        /// Why it failed.
        error: &'a SendError,
        /// The number of requests that contained it.
        attempts: u32,
        /// The time until the retry.
        retry_in: Duration,
    },
    /// An entry failed for good.
    #[non_exhaustive]
    Failed {
        /// The queue.
        queue_url: &'a str,
        /// The action, such as `SendMessageBatch`.
        action: Action,
        /// The error that its tickets return.
        error: &'a SendError,
    },
}

/// The event hook.
pub(crate) type Hook = Arc<dyn Fn(&SendEvent<'_>) + Send + Sync>;

/// The observer of one client. All of its lanes share it.
#[derive(Default)]
pub(crate) struct Observer {
    counters: Counters,
    hook: Option<Hook>,
}

/// The lane of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    pub(crate) queue_url: &'a str,
    pub(crate) action: Action,
    pub(crate) metrics: &'a LaneMetrics,
}

impl Observer {
    pub(crate) fn new(hook: Option<Hook>) -> Self {
        Self { counters: Counters::default(), hook }
    }

    /// Whether an event hook is set.
    pub(crate) fn is_heard(&self) -> bool {
        self.hook.is_some()
    }

    /// An entry was admitted. `bytes` is its capacity.
    pub(crate) fn admitted(&self, site: Site<'_>, bytes: usize) {
        self.counters.admitted();
        site.metrics.admitted(bytes);
    }

    /// A batch is in flight, until the guards are dropped.
    pub(crate) fn sending<'a>(&'a self, site: Site<'a>) -> (BatchInFlight<'a>, InFlightMetric<'a>) {
        (BatchInFlight::new(&self.counters), site.metrics.sending())
    }

    /// A request has completed or failed.
    pub(crate) fn sent(&self, site: Site<'_>, size: BatchSize, elapsed: Duration, error: Option<&SendError>) {
        self.counters.sent(&size);
        site.metrics.sent(&size, elapsed, error.map(SendError::kind));
        let BatchSize { entries, bytes, retried, waited } = size;
        let Site { queue_url, action, .. } = site;
        self.tell(&SendEvent::Batch { queue_url, action, entries, bytes, retried, waited, elapsed, error });
    }

    pub(crate) fn retried(&self, Site { queue_url, action, .. }: Site<'_>, retried: &Retried) {
        let Retried { error, attempts, pause } = retried;
        let (attempts, retry_in) = (*attempts, *pause);
        self.tell(&SendEvent::Retried { queue_url, action, error, attempts, retry_in });
    }

    /// An entry, or several that were merged, has ended.
    pub(crate) fn ended(
        &self,
        Site { queue_url, action, metrics }: Site<'_>,
        entries: usize,
        error: Option<&SendError>,
    ) {
        let failure = error.map(SendError::kind);
        self.counters.settled(entries, failure);
        if failure == Some(SendErrorKind::Superseded) {
            return;
        }
        metrics.ended(entries, failure);
        if let Some(error) = error {
            self.tell(&SendEvent::Failed { queue_url, action, error });
        }
    }

    /// The ticket of a failed entry was dropped. Without a hook, a warning is logged.
    pub(crate) fn unheard(&self, Site { queue_url, action, .. }: Site<'_>, error: &SendError) {
        if !self.is_heard() {
            warn_of_unheard(error, Some(queue_url), Some(action));
        }
    }

    /// The results of all entries that have ended.
    pub(crate) fn summary(&self) -> Summary {
        self.counters.summary()
    }

    pub(crate) fn stats(&self, taken: Amount) -> SendStats {
        self.counters.snapshot(taken)
    }

    /// Calls the hook. A panic in it must not end the lane.
    fn tell(&self, event: &SendEvent<'_>) {
        let Some(hook) = &self.hook else { return };
        if catch_unwind(AssertUnwindSafe(|| hook(event))).is_err() {
            tracing::error!("the event hook panicked");
        }
    }
}

/// Logs the failure of an entry whose ticket nobody awaited.
pub(crate) fn warn_of_unheard(error: &SendError, queue_url: Option<&str>, action: Option<Action>) {
    // A superseded visibility change needs no warning, because its message was deleted.
    if error.kind() != SendErrorKind::Superseded {
        let action = action.map(Action::as_str);
        tracing::warn!(%error, queue_url, action, "an entry failed, but nobody awaited its ticket");
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("is_heard", &self.is_heard()).finish_non_exhaustive()
    }
}

/// The totals of a client since it was created, over all lanes.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// # let buffered = sqs_buffered::BufferedClient::new(client);
/// buffered.send(&url, "one coffee").await?;
/// let stats = buffered.stats();
/// assert_eq!((stats.admitted, stats.succeeded, stats.entries), (1, 1, 0));
/// println!("{:.1} messages per request", stats.mean_fill());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct SendStats {
    /// Entries that were admitted.
    pub admitted: u64,
    /// Entries that succeeded.
    pub succeeded: u64,
    /// Entries that failed for good.
    pub failed: u64,
    /// Failed entries that were aborted.
    pub aborted: u64,
    /// Visibility changes that were not needed any more, because their messages were deleted.
    pub superseded: u64,
    /// Batches whose requests have completed or failed.
    pub batches: u64,
    /// Entries in these batches; each retry counts again.
    pub batched_entries: u64,
    /// Bytes in these batches.
    pub batched_bytes: u64,
    /// Entries in these batches that were retries.
    pub retried_entries: u64,
    /// The time that entries waited from admission to their first request, summed.
    pub waited: Duration,
    /// Batches in flight now.
    pub batches_in_flight: usize,
    /// Entries buffered or in flight now.
    pub entries: usize,
    /// Bytes buffered or in flight now.
    pub bytes: usize,
}

impl SendStats {
    /// The mean number of entries per batch; 0 before the first batch.
    #[expect(clippy::cast_precision_loss, reason = "an average needs no more digits")]
    pub fn mean_fill(&self) -> f64 {
        if self.batches == 0 { 0.0 } else { self.batched_entries as f64 / self.batches as f64 }
    }
}

/// The counters behind [`SendStats`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    admitted: AtomicU64,
    succeeded: AtomicU64,
    failed: AtomicU64,
    aborted: AtomicU64,
    superseded: AtomicU64,
    batches: AtomicU64,
    entries: AtomicU64,
    bytes: AtomicU64,
    retried: AtomicU64,
    waited_nanos: AtomicU64,
    in_flight: AtomicUsize,
    /// Locked for each failure only.
    failures: Mutex<BTreeMap<SendErrorKind, u64>>,
}

/// Counts a batch in flight, for as long as it lives.
#[derive(Debug)]
pub(crate) struct BatchInFlight<'a>(&'a Counters);

impl<'a> BatchInFlight<'a> {
    pub(crate) fn new(counters: &'a Counters) -> Self {
        counters.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(counters)
    }
}

impl Drop for BatchInFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn admitted(&self) {
        add(&self.admitted, 1);
    }

    pub(crate) fn settled(&self, entries: usize, failure: Option<SendErrorKind>) {
        let counter = match failure {
            None => &self.succeeded,
            Some(SendErrorKind::Superseded) => &self.superseded,
            Some(_) => &self.failed,
        };
        add(counter, entries);
        if let Some(kind) = failure.filter(|kind| *kind != SendErrorKind::Superseded) {
            *self.failures.lock().entry(kind).or_default() += u64::try_from(entries).unwrap_or(u64::MAX);
        }
        if failure == Some(SendErrorKind::Aborted) {
            add(&self.aborted, entries);
        }
    }

    pub(crate) fn sent(&self, batch: &BatchSize) {
        add(&self.batches, 1);
        add(&self.entries, batch.entries);
        add(&self.bytes, batch.bytes);
        add(&self.retried, batch.retried);
        let nanos = u64::try_from(batch.waited.as_nanos()).unwrap_or(u64::MAX);
        self.waited_nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// The results of all entries that have ended.
    pub(crate) fn summary(&self) -> Summary {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let failures = self.failures.lock().clone();
        Summary { succeeded: read(&self.succeeded), failures, superseded: read(&self.superseded) }
    }

    /// `taken` is the capacity in use.
    pub(crate) fn snapshot(&self, taken: Amount) -> SendStats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SendStats {
            admitted: read(&self.admitted),
            succeeded: read(&self.succeeded),
            failed: read(&self.failed),
            aborted: read(&self.aborted),
            superseded: read(&self.superseded),
            batches: read(&self.batches),
            batched_entries: read(&self.entries),
            batched_bytes: read(&self.bytes),
            retried_entries: read(&self.retried),
            waited: Duration::from_nanos(read(&self.waited_nanos)),
            batches_in_flight: self.in_flight.load(Ordering::Relaxed),
            entries: taken.entries,
            bytes: taken.bytes,
        }
    }
}

const KINDS: usize = SendErrorKind::NoRuntime as usize + 1;

/// The metrics of one lane: of a queue and an operation.
#[derive(Debug)]
pub(crate) struct LaneMetrics {
    admitted: Counter,
    accepted: Counter,
    failed: Family<Counter, KINDS>,
    /// `None` for lanes that send no messages.
    sent: Option<(Counter, Family<Counter, KINDS>)>,
    retried: Counter,
    entries: Gauge,
    bytes: Gauge,
    buffered: Histogram,
    batch_entries: Histogram,
    batch_bytes: Option<Histogram>,
    duration: Histogram,
    failure_duration: Family<Histogram, KINDS>,
    in_flight: Gauge,
    pub(crate) in_flight_limit: Level,
    pub(crate) oldest_age: Gauge,
}

/// A batch in flight. Dropping it ends the batch.
#[derive(Debug)]
pub(crate) struct InFlightMetric<'a>(&'a Gauge);

impl Drop for InFlightMetric<'_> {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

impl LaneMetrics {
    pub(crate) fn new(queue_url: &str, action: Action) -> Self {
        let meter = Meter::of_queue(queue_url).with(names::OPERATION_LABEL, action.as_str());
        let sends = action == Action::SendMessageBatch;
        let sent: fn(&Meter) -> Counter = |meter| meter.counter(names::SENT_MESSAGES);
        Self {
            admitted: meter.counter(names::ENTRIES_ADMITTED),
            accepted: meter.counter(names::ENTRIES_ACCEPTED),
            failed: Family::new(&meter, names::ERROR_LABEL, |meter| meter.counter(names::ENTRIES_FAILED)),
            sent: sends.then(|| (sent(&meter), Family::new(&meter, names::ERROR_LABEL, sent))),
            retried: meter.counter(names::ENTRIES_RETRIED),
            entries: meter.gauge(names::ENTRIES_HELD),
            bytes: meter.gauge(names::BYTES_HELD),
            buffered: meter.histogram(names::BUFFER_DURATION),
            batch_entries: meter.histogram(names::BATCH_ENTRIES),
            batch_bytes: sends.then(|| meter.histogram(names::BATCH_SIZE)),
            duration: meter.histogram(names::OPERATION_DURATION),
            failure_duration: Family::new(&meter, names::ERROR_LABEL, |meter| {
                meter.histogram(names::OPERATION_DURATION)
            }),
            in_flight: meter.gauge(names::BATCHES_IN_FLIGHT),
            in_flight_limit: meter.level(names::IN_FLIGHT_LIMIT),
            oldest_age: meter.gauge(names::OLDEST_AGE),
        }
    }

    pub(crate) fn admitted(&self, bytes: usize) {
        self.admitted.increment(1);
        self.entries.increment(1.0);
        self.bytes.increment(amount(bytes));
    }

    /// Entries have ended. Call this before their capacity is returned.
    pub(crate) fn released(&self, held: Amount) {
        self.entries.decrement(amount(held.entries));
        self.bytes.decrement(amount(held.bytes));
    }

    pub(crate) fn sending(&self) -> InFlightMetric<'_> {
        self.in_flight.increment(1.0);
        InFlightMetric(&self.in_flight)
    }

    /// A request has completed or failed.
    pub(crate) fn sent(&self, size: &BatchSize, duration: Duration, failure: Option<SendErrorKind>) {
        self.batch_entries.record(amount(size.entries));
        if let Some(bytes) = &self.batch_bytes {
            bytes.record(amount(size.bytes));
        }
        self.retried.increment(count(size.retried));
        let first = size.entries.saturating_sub(size.retried);
        if first > 0 {
            self.buffered.record_many(size.waited.as_secs_f64() / amount(first), first);
        }
        let seconds = duration.as_secs_f64();
        match failure {
            None => self.duration.record(seconds),
            Some(kind) => self.failure_duration.with(label(kind), |duration| duration.record(seconds)),
        }
    }

    pub(crate) fn ended(&self, entries: usize, failure: Option<SendErrorKind>) {
        let entries = count(entries);
        match failure {
            None => {
                self.accepted.increment(entries);
                self.sent.iter().for_each(|(sent, _)| sent.increment(entries));
            }
            Some(kind) => {
                self.failed.with(label(kind), |failed| failed.increment(entries));
                let failed = self.sent.iter().map(|(_, failed)| failed);
                failed.for_each(|failed| failed.with(label(kind), |failed| failed.increment(entries)));
            }
        }
    }
}

fn label(kind: SendErrorKind) -> (usize, &'static str) {
    (kind as usize, kind.as_str())
}

fn count(entries: usize) -> u64 {
    u64::try_from(entries).unwrap_or(u64::MAX)
}
