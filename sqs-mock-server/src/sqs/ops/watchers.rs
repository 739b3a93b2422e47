//! Watchers: tests that wait for changes of a queue.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The watchers of one queue.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    count: AtomicUsize,
    changed: Notify,
}

/// Counts as a watcher until it is dropped.
pub(super) struct Watching<'w>(&'w Watchers);

impl Watchers {
    /// Wakes all watchers, after the lock of the queue is released. A watcher registers before it locks the queue to
    /// look, so a change that it did not see comes after its registration. Without watchers, this costs one load.
    pub(super) fn notify(&self) {
        if self.count.load(Ordering::Acquire) > 0 {
            self.changed.notify_waiters();
        }
    }

    pub(super) fn watch(&self) -> Watching<'_> {
        self.count.fetch_add(1, Ordering::AcqRel);
        Watching(self)
    }
}

impl Watching<'_> {
    /// Notified of the next change.
    pub(super) fn changed(&self) -> &Notify {
        &self.0.changed
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
    }
}
