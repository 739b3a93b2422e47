//! Which entries a flush waits for, and the results of entries.

use std::collections::{BTreeMap, VecDeque};

use tokio::sync::watch;

use crate::error::SendErrorKind;

/// Counts the admitted entries that are not settled, by the flushes between their admissions.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The number of the first of `open`.
    first: u64,
    /// Unsettled entries admitted since the flush before; the last is current.
    open: VecDeque<usize>,
    waiting: Vec<Flush>,
}

/// A flush that waits for the entries of an epoch and of all before it.
#[derive(Debug)]
struct Flush {
    epoch: u64,
    /// The results so far.
    results: watch::Sender<Summary>,
}

impl Ledger {
    /// Counts an admitted entry, and returns its epoch.
    pub(crate) fn admit(&mut self) -> u64 {
        if self.open.is_empty() {
            self.open.push_back(0);
        }
        if let Some(current) = self.open.back_mut() {
            *current += 1;
        }
        self.current()
    }

    /// Removes settled entries from the count.
    pub(crate) fn settle(&mut self, epoch: u64, settled: &Summary) {
        for flush in self.waiting.iter_mut().filter(|flush| flush.epoch >= epoch) {
            flush.results.send_modify(|results| results.add(settled));
        }
        let entries = usize::try_from(settled.total()).unwrap_or(usize::MAX);
        let index = epoch.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        if let Some(count) = index.and_then(|index| self.open.get_mut(index)) {
            *count = count.saturating_sub(entries);
        }
        while self.open.len() > 1 && self.open.front() == Some(&0) {
            self.open.pop_front();
            self.first += 1;
        }
        let done = if self.is_settled() { u64::MAX } else { self.first };
        self.waiting.retain(|flush| flush.epoch >= done);
    }

    /// How many entries are unsettled.
    pub(crate) fn unsettled(&self) -> u64 {
        u64::try_from(self.open.iter().sum::<usize>()).unwrap_or(u64::MAX)
    }

    /// Whether nothing is unsettled.
    pub(crate) fn is_settled(&self) -> bool {
        self.open.iter().all(|count| *count == 0)
    }

    /// Whether an entry is unsettled that a flush waits for, even if that flush was dropped.
    pub(crate) fn is_flushing(&self) -> bool {
        self.open.len() > 1
    }

    /// Whether an unsettled entry was admitted before the latest flush.
    pub(crate) fn is_flushed(&self, epoch: u64) -> bool {
        epoch < self.current()
    }

    /// A receiver of the results of the entries admitted so far, whose sender is dropped when all are settled; `None` if they are.
    pub(crate) fn flush(&mut self) -> Option<watch::Receiver<Summary>> {
        if self.is_settled() {
            return None;
        }
        let (results, heard) = watch::channel(Summary::default());
        let admitted_since = self.open.back() != Some(&0);
        let last = if admitted_since { self.current() } else { self.current().saturating_sub(1) };
        self.waiting.push(Flush { epoch: last, results });
        if admitted_since {
            self.open.push_back(0);
        }
        Some(heard)
    }

    fn current(&self) -> u64 {
        let later = u64::try_from(self.open.len().saturating_sub(1)).unwrap_or(u64::MAX);
        self.first + later
    }
}

/// The results of entries: sends, deletes and visibility changes. [`close`](crate::client::BufferedClient::close) returns those of all
/// entries since the client was created, [`flush`](crate::client::BufferedClient::flush) those of the entries that it waited for.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// # let buffered = sqs_buffered::BufferedClient::new(client);
/// buffered.send_detached(sqs_buffered::Entry::new(&url, "one coffee")).await?;
/// let summary = buffered.close().await;
/// assert_eq!((summary.succeeded, summary.failed()), (1, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Entries that succeeded.
    pub succeeded: u64,
    /// Entries that failed, by kind.
    pub failures: BTreeMap<SendErrorKind, u64>,
    /// Visibility changes that were not needed any more, because their messages were deleted.
    pub superseded: u64,
}

impl Summary {
    /// The number of entries that failed.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// The number of entries that ended.
    pub fn total(&self) -> u64 {
        self.succeeded + self.failed() + self.superseded
    }

    #[cfg(test)]
    pub(crate) fn of(succeeded: u64) -> Self {
        Self { succeeded, ..Self::default() }
    }

    pub(crate) fn count(&mut self, failure: Option<SendErrorKind>) {
        match failure {
            None => self.succeeded += 1,
            Some(SendErrorKind::Superseded) => self.superseded += 1,
            Some(kind) => *self.failures.entry(kind).or_default() += 1,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.succeeded += other.succeeded;
        self.superseded += other.superseded;
        for (kind, count) in &other.failures {
            *self.failures.entry(*kind).or_default() += count;
        }
    }
}
