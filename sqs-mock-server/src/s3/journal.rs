//! What S3 was asked.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use parking_lot::Mutex;

use super::front::Slot;

/// A request to S3 that was answered, or whose caller got no answer.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct S3Request {
    /// The operation by its name at AWS, such as `GetObject`; empty when it was refused before that was known.
    pub operation: String,
    /// The bucket, where it names one.
    pub bucket: Option<String>,
    /// The key, where it names one.
    pub key: Option<String>,
    /// The status of the answer; `None` when the connection broke, or the caller went away.
    pub status: Option<u16>,
}

/// The latest requests.
#[derive(Debug)]
pub(super) struct Journal {
    capacity: usize,
    latest: Mutex<VecDeque<S3Request>>,
    connections: AtomicUsize,
}

impl Journal {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, latest: Mutex::default(), connections: AtomicUsize::new(0) }
    }

    /// All that are kept, from the oldest on.
    pub(super) fn all(&self) -> Vec<S3Request> {
        self.latest.lock().iter().cloned().collect()
    }

    pub(super) fn clear(&self) {
        self.latest.lock().clear();
    }

    /// How many connections are open.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Counts a connection as open until the answer is dropped.
    pub(super) fn connection(&self) -> impl Drop + Send {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Open(&self.connections)
    }

    /// Notes a request when the answer is dropped.
    pub(super) fn witness<'j>(&'j self, slot: &'j Slot) -> Witness<'j> {
        Witness { journal: self, slot, status: None }
    }
}

struct Open<'j>(&'j AtomicUsize);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sees what becomes of a request.
#[derive(Debug)]
pub(super) struct Witness<'j> {
    journal: &'j Journal,
    slot: &'j Slot,
    status: Option<StatusCode>,
}

impl Witness<'_> {
    pub(super) fn answered(&mut self, status: StatusCode) {
        self.status = Some(status);
    }
}

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        let asked = self.slot.asked().cloned().unwrap_or_default();
        let status = self.status.map(|status| status.as_u16());
        tracing::debug!(operation = asked.operation, bucket = asked.bucket, key = asked.key, status, "S3");
        let mut latest = self.journal.latest.lock();
        if self.journal.capacity == 0 {
            return;
        }
        if latest.len() >= self.journal.capacity {
            latest.pop_front();
        }
        latest.push_back(S3Request {
            operation: asked.operation,
            bucket: asked.bucket,
            key: asked.key,
            status,
        });
    }
}
