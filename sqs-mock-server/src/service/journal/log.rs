//! The latest requests to all services.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::record::Record;
use super::ring::Ring;

/// The latest requests to all services.
#[derive(Debug)]
pub(crate) struct Journal {
    capacity: usize,
    /// The number of the latest request. Numbers of records are assigned while the ring is locked.
    latest: AtomicU64,
    /// Every recorded request locks it. Records are built before locking and shared afterwards, so nothing is copied
    /// under the lock. Holders take no other lock.
    ring: Mutex<Ring>,
    generation: AtomicU64,
}

impl Journal {
    /// A journal of at most `capacity` requests; with 0 it records nothing.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, latest: AtomicU64::new(0), ring: Mutex::default(), generation: AtomicU64::new(0) }
    }

    /// Whether it records anything.
    pub(crate) fn is_on(&self) -> bool {
        self.capacity > 0
    }

    /// All records, in the order of their responses.
    pub(crate) fn records(&self) -> Vec<Arc<Record>> {
        self.ring.lock().all()
    }

    /// The number of the latest request, and how many requests are kept.
    pub(crate) fn latest(&self) -> (u64, usize) {
        let ring = self.ring.lock();
        (self.latest.load(Ordering::Relaxed), ring.len())
    }

    /// Removes all records. Requests in progress are not recorded.
    pub(crate) fn reset(&self) {
        let mut ring = self.ring.lock();
        self.generation.fetch_add(1, Ordering::Relaxed);
        let taken = ring.take();
        drop(ring);
        drop(taken);
    }

    /// Changes with each reset.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Removes all records and returns their number.
    pub(crate) fn clear(&self) -> usize {
        let taken = self.ring.lock().take();
        taken.len()
    }

    /// Counts a request and returns its number. Requests that are not recorded count too, so that whoever compares
    /// [`latest`](Self::latest) notices them.
    pub(super) fn count(&self) -> u64 {
        self.latest.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Adds a request that began in this generation.
    pub(super) fn record(&self, record: Record, generation: u64) {
        let mut record = Arc::new(record);
        let mut ring = self.ring.lock();
        if generation == self.generation() {
            if let Some(record) = Arc::get_mut(&mut record) {
                record.number = self.count();
            }
            ring.push(record, self.capacity);
        }
    }
}
