//! An idempotency store in memory.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::records::{Full, Records};
use super::store::{Begin, IdempotencyStore};
use crate::consume::{Attempt, HandlerError};

/// An [`IdempotencyStore`] in memory: for tests, and for duplicates within one process. Other processes do not see it, and it
/// is lost when the process ends.
///
/// It keeps completed keys for the time to live. When it is full, it forgets the oldest completed key early. If all keys
/// are in progress, an attempt fails; so the capacity must exceed the concurrency.
#[derive(Debug)]
pub struct MemoryStore(Mutex<Records>);

impl MemoryStore {
    /// Creates a store of at most `capacity` keys, at least 1, that keeps completed keys for `time_to_live`.
    pub fn new(capacity: usize, time_to_live: Duration) -> Self {
        Self(Mutex::new(Records::new(capacity, time_to_live)))
    }

    /// The number of keys. Expired ones count until the next attempt begins.
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for MemoryStore {
    /// 100,000 keys for a day.
    fn default() -> Self {
        Self::new(100_000, Duration::from_hours(24))
    }
}

impl IdempotencyStore for MemoryStore {
    async fn begin(&self, attempt: &Attempt, lease: Duration) -> Result<Begin, HandlerError> {
        let begun = self.0.lock().begin(Instant::now(), attempt, lease);
        begun.map_err(|Full| "the memory store is full: all of its keys are in progress; its capacity must exceed the concurrency".into())
    }

    async fn complete(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        let is_completed = self.0.lock().complete(Instant::now(), attempt);
        if is_completed {
            Ok(())
        } else {
            Err("the record belongs to another attempt, or the memory store is full".into())
        }
    }

    async fn abandon(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        self.0.lock().abandon(attempt);
        Ok(())
    }
}
