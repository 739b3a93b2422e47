//! Statistics of a client.

use std::sync::atomic::{AtomicU64, Ordering};

/// Statistics of a client and its clones.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Stored payloads.
    pub uploads: u64,
    /// Bytes of stored payloads.
    pub uploaded_bytes: u64,
    /// Payloads that could not be stored.
    pub uploads_failed: u64,
    /// Loaded payloads.
    pub downloads: u64,
    /// Bytes of loaded payloads.
    pub downloaded_bytes: u64,
    /// Received messages whose payload could not be loaded.
    pub payloads_failed: u64,
    /// Deleted objects: of deleted messages, and of messages that were not sent.
    pub objects_deleted: u64,
    /// Failed attempts to delete an object.
    pub cleanup_failed: u64,
    /// Objects that the client gave up deleting. A sweep finds them.
    pub cleanup_given_up: u64,
    /// Objects that wait to be deleted in the background.
    pub cleanup_pending: usize,
    /// Objects that were kept because it is unknown whether SQS has their message.
    pub outcomes_unknown: u64,
}

/// A monotonic counter.
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

/// The counters of [`Stats`].
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
