//! The batch that is being filled.

use tokio::time::Instant;

use super::pending::{Key, Pending};
use super::rules::BatchLimits;

/// Entries of one batch, in order. An entry larger than a batch is sent alone.
#[derive(Debug)]
pub(super) struct Open<L, T> {
    entries: Vec<Pending<L, T>>,
    bytes: usize,
}

impl<L, T> Open<L, T> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), bytes: 0 }
    }

    /// When its first entry was admitted; `None` if it has none.
    pub(super) fn since(&self) -> Option<Instant> {
        self.entries.first().map(|entry| entry.admitted)
    }

    /// When the oldest of its entries was admitted: a retry may stand behind a younger one.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.entries.iter().map(|entry| entry.admitted).min()
    }

    /// The size that is left for another entry; `None` if the batch is full.
    pub(super) fn room(&self, limits: BatchLimits) -> Option<usize> {
        if self.entries.is_empty() {
            return Some(usize::MAX);
        }
        let is_full = self.entries.len() >= limits.max_entries() || self.bytes > limits.max_bytes();
        (!is_full).then(|| limits.max_bytes() - self.bytes)
    }

    /// Adds an entry for which there is [room](Self::room).
    pub(super) fn push(&mut self, entry: Pending<L, T>) {
        self.bytes += entry.bytes;
        self.entries.push(entry);
    }

    /// The entry of a key.
    pub(super) fn of_key(&mut self, key: &Key) -> Option<&mut Pending<L, T>> {
        self.entries.iter_mut().find(|entry| entry.key.as_ref() == Some(key))
    }

    /// The keys of its entries, each once.
    pub(super) fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.entries.iter().filter_map(|entry| entry.key.clone()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Removes the entries for which `is_meant` is true.
    pub(super) fn take_all(&mut self, is_meant: impl FnMut(&Pending<L, T>) -> bool) -> Vec<Pending<L, T>> {
        let (taken, kept) = std::mem::take(&mut self.entries).into_iter().partition::<Vec<_>, _>(is_meant);
        self.bytes = kept.iter().map(|entry| entry.bytes).sum();
        self.entries = kept;
        taken
    }

    /// Whether `is_meant` is true for any entry.
    pub(super) fn any(&self, is_meant: impl FnMut(&Pending<L, T>) -> bool) -> bool {
        self.entries.iter().any(is_meant)
    }

    /// The time at which an entry has used half of its time, at the earliest.
    pub(super) fn half_time(&self) -> Option<Instant> {
        let half = |entry: &Pending<L, T>| {
            entry.admitted + entry.deadline.saturating_duration_since(entry.admitted) / 2
        };
        self.entries.iter().map(half).min()
    }

    /// The earliest deadline.
    pub(super) fn first_deadline(&self) -> Option<Instant> {
        self.entries.iter().map(|entry| entry.deadline).min()
    }

    /// Takes everything.
    pub(super) fn close(&mut self) -> Vec<Pending<L, T>> {
        self.bytes = 0;
        std::mem::take(&mut self.entries)
    }
}
