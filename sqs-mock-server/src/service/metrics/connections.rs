//! A gauge of open connections.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of open connections.
#[derive(Debug, Default)]
pub(crate) struct Connections(AtomicUsize);

impl Connections {
    /// Counts a connection as open until the returned guard is dropped.
    pub(crate) fn open(&self) -> impl Drop + Send + '_ {
        self.0.fetch_add(1, Ordering::Relaxed);
        Open(&self.0)
    }

    /// The number of open connections.
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

struct Open<'a>(&'a AtomicUsize);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
