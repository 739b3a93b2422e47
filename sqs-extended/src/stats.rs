//! What a client has done with payloads.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a client and its clones have done with payloads since it was made.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Payloads that were stored.
    pub uploads: u64,
    /// Bytes of these.
    pub uploaded_bytes: u64,
    /// Payloads that could not be stored.
    pub uploads_failed: u64,
    /// Payloads that were loaded.
    pub downloads: u64,
    /// Bytes of these.
    pub downloaded_bytes: u64,
    /// Received messages that could not be given their payload, whatever the reason.
    pub payloads_failed: u64,
    /// Objects that were deleted: of deleted messages, and of messages that were not sent.
    pub objects_deleted: u64,
    /// Deletes of objects that failed, each attempt counted.
    pub cleanup_failed: u64,
    /// Objects whose deletion was given up. A sweep finds them.
    pub cleanup_given_up: u64,
    /// Objects that are waiting to be deleted now.
    pub cleanup_pending: usize,
    /// Objects that were kept since nobody knows whether their message was sent.
    pub outcomes_unknown: u64,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: usize) {
        self.0.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The same as [`Stats`], while it happens.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) uploads: Counter,
    pub(crate) uploaded_bytes: Counter,
    pub(crate) uploads_failed: Counter,
    pub(crate) downloads: Counter,
    pub(crate) downloaded_bytes: Counter,
    pub(crate) payloads_failed: Counter,
    pub(crate) objects_deleted: Counter,
    pub(crate) cleanup_failed: Counter,
    pub(crate) cleanup_given_up: Counter,
    pub(crate) outcomes_unknown: Counter,
}

impl Tally {
    pub(crate) fn snapshot(&self, cleanup_pending: usize) -> Stats {
        Stats {
            uploads: self.uploads.get(),
            uploaded_bytes: self.uploaded_bytes.get(),
            uploads_failed: self.uploads_failed.get(),
            downloads: self.downloads.get(),
            downloaded_bytes: self.downloaded_bytes.get(),
            payloads_failed: self.payloads_failed.get(),
            objects_deleted: self.objects_deleted.get(),
            cleanup_failed: self.cleanup_failed.get(),
            cleanup_given_up: self.cleanup_given_up.get(),
            cleanup_pending,
            outcomes_unknown: self.outcomes_unknown.get(),
        }
    }
}
