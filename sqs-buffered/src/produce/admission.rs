//! Room for entries: so many, and so many bytes, over all lanes of a client.
//!
//! ```text
//! enqueue -> Admission (first come, first served) -> Permit, inside the entry -> dropped when the entry has ended
//! ```
//! Whoever waits holds no lock. While somebody waits, lanes do not hold entries back for fuller batches.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

/// How much may be buffered or in flight at a time.
#[derive(Debug)]
pub(crate) struct Admission {
    entries: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
    max_entries: usize,
    max_bytes: usize,
    waiting: AtomicUsize,
    /// Held by the first of those who wait: one who waits for bytes keeps others from the entries.
    turn: Mutex<()>,
}

/// The room of one entry. Dropping it gives the room back.
#[derive(Debug)]
pub(crate) struct Permit {
    _entry: OwnedSemaphorePermit,
    _bytes: OwnedSemaphorePermit,
}

impl Admission {
    pub(crate) fn new(max_entries: usize, max_bytes: usize) -> Self {
        let max_entries = max_entries.clamp(1, Semaphore::MAX_PERMITS);
        // Permits are counted in 32 bits where many are taken at once.
        let max_bytes = max_bytes.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Self {
            entries: Arc::new(Semaphore::new(max_entries)),
            bytes: Arc::new(Semaphore::new(max_bytes)),
            max_entries,
            max_bytes,
            waiting: AtomicUsize::new(0),
            turn: Mutex::new(()),
        }
    }

    /// Room for an entry, if there is some now and nobody waits for it. An entry that is larger than all the room gets all of it.
    pub(crate) fn try_enter(&self, bytes: usize) -> Option<Permit> {
        if self.is_starving() {
            return None;
        }
        let entry = Arc::clone(&self.entries).try_acquire_owned().ok()?;
        let bytes = Arc::clone(&self.bytes).try_acquire_many_owned(self.share(bytes)).ok()?;
        Some(Permit { _entry: entry, _bytes: bytes })
    }

    /// Waits for room for an entry; calls `starving` when it is the first that waits.
    ///
    /// # Cancel safety
    /// Dropped before its end, it has taken no room.
    pub(crate) async fn enter(&self, bytes: usize, starving: impl FnOnce()) -> Option<Permit> {
        let (_waiting, is_first) = Waiting::new(&self.waiting);
        if is_first {
            starving();
        }
        let _turn = self.turn.lock().await;
        let entry = Arc::clone(&self.entries).acquire_owned().await.ok()?;
        let bytes = Arc::clone(&self.bytes).acquire_many_owned(self.share(bytes)).await.ok()?;
        Some(Permit { _entry: entry, _bytes: bytes })
    }

    /// Whether somebody waits for room.
    pub(crate) fn is_starving(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    /// Nobody gets in any more; those who wait are told.
    pub(crate) fn close(&self) {
        self.entries.close();
        self.bytes.close();
    }

    /// Whether nobody gets in any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.entries.is_closed()
    }

    /// Entries and bytes inside.
    pub(crate) fn taken(&self) -> (usize, usize) {
        let entries = self.max_entries.saturating_sub(self.entries.available_permits());
        (entries, self.max_bytes.saturating_sub(self.bytes.available_permits()))
    }

    fn share(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.min(self.max_bytes)).unwrap_or(u32::MAX)
    }
}

/// Counts one who waits, for as long as it lives.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    /// With it comes whether nobody waited before.
    fn new(count: &'a AtomicUsize) -> (Self, bool) {
        let before = count.fetch_add(1, Ordering::AcqRel);
        (Self(count), before == 0)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn room_comes_back_with_the_permit_and_with_a_wait_that_is_given_up() {
        let admission = Admission::new(2, 10);
        let first = admission.try_enter(6).unwrap();
        assert!(admission.try_enter(5).is_none(), "too many bytes");
        assert_eq!(admission.taken(), (1, 6));
        let mut wait = Box::pin(admission.enter(5, || {}));
        let waker = std::task::Waker::noop();
        assert!(wait.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
        assert!(admission.is_starving());
        drop(wait);
        assert_eq!((admission.is_starving(), admission.taken()), (false, (1, 6)));
        drop(first);
        let whole = admission.enter(1000, || {}).await.unwrap();
        assert_eq!(admission.taken(), (1, 10), "it gets all there is");
        drop(whole);
        assert_eq!(admission.taken(), (0, 0));
    }

    #[tokio::test]
    async fn closing_ends_waits() {
        let admission = Admission::new(1, 10);
        let inside = admission.try_enter(1);
        let (waited, ()) = tokio::join!(admission.enter(1, || {}), async { admission.close() });
        assert!(inside.is_some() && waited.is_none());
    }
}
