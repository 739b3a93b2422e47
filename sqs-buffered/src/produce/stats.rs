//! The statistics of a client.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::admission::Amount;
use super::error::SendErrorKind;
use super::lane::BatchSize;
use super::summary::Summary;

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
pub struct Stats {
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

impl Stats {
    /// The mean number of entries per batch; 0 before the first batch.
    #[expect(clippy::cast_precision_loss, reason = "an average needs no more digits")]
    pub fn mean_fill(&self) -> f64 {
        if self.batches == 0 { 0.0 } else { self.batched_entries as f64 / self.batches as f64 }
    }
}

/// The counters behind [`Stats`].
#[derive(Debug, Default)]
pub(super) struct Counters {
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
pub(super) struct BatchInFlight<'a>(&'a Counters);

impl<'a> BatchInFlight<'a> {
    pub(super) fn new(counters: &'a Counters) -> Self {
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
    pub(super) fn admitted(&self) {
        add(&self.admitted, 1);
    }

    pub(super) fn settled(&self, entries: usize, failure: Option<SendErrorKind>) {
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

    pub(super) fn sent(&self, batch: &BatchSize) {
        add(&self.batches, 1);
        add(&self.entries, batch.entries);
        add(&self.bytes, batch.bytes);
        add(&self.retried, batch.retried);
        let nanos = u64::try_from(batch.waited.as_nanos()).unwrap_or(u64::MAX);
        self.waited_nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// The results of all entries that have ended.
    pub(super) fn summary(&self) -> Summary {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let failures = self.failures.lock().clone();
        Summary { succeeded: read(&self.succeeded), failures, superseded: read(&self.superseded) }
    }

    /// `taken` is the capacity in use.
    pub(super) fn snapshot(&self, taken: Amount) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
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
