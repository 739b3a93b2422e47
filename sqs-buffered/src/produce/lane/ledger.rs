//! Which entries a flush waits for.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use crate::produce::summary::Summary;

/// Counts the admitted entries that are not settled, by the flushes between their admissions.
#[derive(Debug, Default)]
pub(super) struct Ledger {
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
    summary: Summary,
    waiter: oneshot::Sender<Summary>,
}

impl Ledger {
    /// Counts an admitted entry, and returns its epoch.
    pub(super) fn admit(&mut self) -> u64 {
        if self.open.is_empty() {
            self.open.push_back(0);
        }
        if let Some(current) = self.open.back_mut() {
            *current += 1;
        }
        self.current()
    }

    /// Removes settled entries from the count.
    pub(super) fn settle(&mut self, epoch: u64, settled: &Summary) {
        for flush in self.waiting.iter_mut().filter(|flush| flush.epoch >= epoch) {
            flush.summary.add(settled);
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
        for flush in self.waiting.extract_if(.., |flush| flush.epoch < done) {
            // An error means that the waiter was dropped.
            let _ = flush.waiter.send(flush.summary);
        }
    }

    /// How many entries are unsettled.
    pub(super) fn unsettled(&self) -> usize {
        self.open.iter().sum()
    }

    /// Whether nothing is unsettled.
    pub(super) fn is_settled(&self) -> bool {
        self.open.iter().all(|count| *count == 0)
    }

    /// Whether an entry is unsettled that a flush waits for, even if that flush was dropped.
    pub(super) fn is_flushing(&self) -> bool {
        self.open.len() > 1
    }

    /// Whether an unsettled entry was admitted before the latest flush.
    pub(super) fn is_flushed(&self, epoch: u64) -> bool {
        epoch < self.current()
    }

    /// A receiver that resolves when all entries admitted so far are settled; `None` if they are.
    pub(super) fn flush(&mut self) -> Option<oneshot::Receiver<Summary>> {
        if self.is_settled() {
            return None;
        }
        let (waiter, heard) = oneshot::channel();
        let admitted_since = self.open.back() != Some(&0);
        let last = if admitted_since { self.current() } else { self.current().saturating_sub(1) };
        self.waiting.push(Flush { epoch: last, summary: Summary::default(), waiter });
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
