//! A gauge of what is in progress, such as open connections.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of entered scopes.
#[derive(Debug, Default)]
pub(crate) struct Gauge(AtomicUsize);

impl Gauge {
    /// Counts one more until the returned guard is dropped.
    pub(crate) fn enter(&self) -> impl Drop + Send + '_ {
        self.0.fetch_add(1, Ordering::Relaxed);
        Entered(&self.0)
    }

    /// The current number.
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

struct Entered<'a>(&'a AtomicUsize);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
