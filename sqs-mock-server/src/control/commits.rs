//! Whether changes are stored.
//!
//! ```text
//! change -> record() --> writer --> stored(n) | failed(text)
//!                                      |
//! answer <- settled() <----------------+
//! ```
//! A response waits until every earlier change is stored, also changes that its request only saw. So no client sees
//! what a crash could take back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::watch;

use crate::control::metrics::{Histogram, Reading};

/// Upper bounds of the durations of commits, in microseconds.
const BOUNDS: [u64; 9] = [100, 250, 500, 1_000, 2_500, 5_000, 25_000, 100_000, 1_000_000];

/// The number of changes that were recorded, and that are stored.
#[derive(Debug)]
pub(crate) struct Commits {
    /// What stored changes survive.
    durability: &'static str,
    recorded: AtomicU64,
    progress: watch::Sender<Progress>,
    durations: Histogram<{ BOUNDS.len() }>,
    stored_bytes: AtomicU64,
    /// Read by requests whose changes must be stored together; written by the writer while it takes changes. Readers lock
    /// queues and the changes that wait; the writer holds none of them while it waits.
    together: RwLock<()>,
}

#[derive(Clone, Debug, Default)]
struct Progress {
    stored: u64,
    /// Why the latest attempt failed. The writer tries again.
    failure: Option<Arc<str>>,
    /// Why later changes are never stored.
    end: Option<Arc<str>>,
}

impl Commits {
    /// Of a store that is empty, or has been read.
    pub(crate) fn new(durability: &'static str) -> Self {
        Self {
            durability,
            recorded: AtomicU64::default(),
            progress: watch::Sender::default(),
            durations: Histogram::new(&BOUNDS),
            stored_bytes: AtomicU64::default(),
            together: RwLock::default(),
        }
    }

    /// Counts a change. Returns the number of changes so far.
    pub(crate) fn record(&self) -> u64 {
        self.recorded.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// All changes that are recorded before the guard is dropped are stored together, or not at all.
    pub(crate) fn together(&self) -> RwLockReadGuard<'_, ()> {
        self.together.read()
    }

    /// Waits until no request is between changes that must be stored together, and holds up new ones.
    pub(crate) fn between(&self) -> RwLockWriteGuard<'_, ()> {
        self.together.write()
    }

    /// The first `count` changes are stored, after a commit of this duration.
    pub(crate) fn stored(&self, count: u64, duration: Duration) {
        self.durations.observe(duration);
        self.progress.send_modify(|progress| (progress.stored, progress.failure) = (count, None));
    }

    /// Later changes are never stored.
    pub(crate) fn end(&self, reason: &str) {
        self.progress.send_modify(|progress| progress.end = Some(reason.into()));
    }

    /// The changes after the stored ones could not be stored yet.
    pub(crate) fn failed(&self, reason: &str) {
        self.progress.send_modify(|progress| progress.failure = Some(reason.into()));
    }

    /// The number of responses that wait for a commit.
    pub(crate) fn waiting(&self) -> usize {
        self.progress.receiver_count()
    }

    /// The size of the store.
    pub(crate) fn set_stored_bytes(&self, bytes: u64) {
        self.stored_bytes.store(bytes, Ordering::Relaxed);
    }

    /// The size of the store after the latest commit, in bytes.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.stored_bytes.load(Ordering::Relaxed)
    }

    /// What stored changes survive.
    pub(crate) fn durability(&self) -> &'static str {
        self.durability
    }

    /// How long commits took; `None` before the first.
    pub(crate) fn durations(&self) -> Option<Reading> {
        self.durations.read()
    }

    /// Why changes cannot be stored at present.
    pub(crate) fn failure(&self) -> Option<Arc<str>> {
        let progress = self.progress.borrow();
        progress.end.clone().or_else(|| progress.failure.clone())
    }

    /// Waits until all changes before this call are stored.
    ///
    /// # Errors
    /// They could not be stored; the text says why.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn settled(&self) -> Result<(), Arc<str>> {
        let recorded = self.recorded.load(Ordering::Acquire);
        if self.progress.borrow().stored >= recorded {
            return Ok(());
        }
        let mut progress = self.progress.subscribe();
        loop {
            {
                let now = progress.borrow_and_update();
                if now.stored >= recorded {
                    return Ok(());
                }
                if let Some(failure) = now.end.as_ref().or(now.failure.as_ref()) {
                    return Err(Arc::clone(failure));
                }
            }
            // There is no error: the sender is in `self` and outlives the wait.
            let _ = progress.changed().await;
        }
    }
}
