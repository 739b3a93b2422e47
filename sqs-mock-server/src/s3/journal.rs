//! The journal of requests to S3.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use parking_lot::Mutex;

use super::action::S3Action;
use super::front::RequestState;

/// A request to S3 that was answered or aborted.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct S3Request {
    /// Counts from 1 in the order of the responses. A reset does not restart it.
    pub number: u64,
    /// The name that AWS uses, such as `GetObject`; empty if the request was rejected before the operation was known.
    pub operation: String,
    /// The bucket, if the request names one.
    pub bucket: Option<String>,
    /// The key, if the request names one.
    pub key: Option<String>,
    /// The status of the response; `None` if the connection broke or the caller disconnected.
    pub status: Option<u16>,
}

/// The number of requests for one operation with one status.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct S3Count {
    /// `None` for operations that the server does not implement, and if the request was rejected before it was known.
    pub(crate) action: Option<S3Action>,
    /// `None` as in [`S3Request::status`].
    pub(crate) status: Option<u16>,
    pub(crate) requests: u64,
}

/// The latest requests, and counters of all requests.
#[derive(Debug)]
pub(super) struct Journal {
    capacity: usize,
    /// Held only to copy requests in or out; its holder takes no other lock.
    state: Mutex<State>,
    connections: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    latest: VecDeque<S3Request>,
    seen: u64,
    /// By position in [`S3Action::ALL`] and status, which bounds its size.
    counts: BTreeMap<(Option<usize>, Option<u16>), u64>,
}

impl State {
    fn count(&mut self, operation: &str, status: Option<u16>) {
        let action = S3Action::ALL.iter().position(|action| action.name() == operation);
        *self.counts.entry((action, status)).or_default() += 1;
        self.seen += 1;
    }
}

impl Journal {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, state: Mutex::default(), connections: AtomicUsize::new(0) }
    }

    /// The requests in the journal, oldest first.
    pub(super) fn all(&self) -> Vec<S3Request> {
        self.state.lock().latest.iter().cloned().collect()
    }

    /// Clears the journal and returns how many requests it held. Counters are kept.
    pub(super) fn clear(&self) -> usize {
        let mut state = self.state.lock();
        std::mem::take(&mut state.latest).len()
    }

    /// The counters since the start of the server.
    pub(super) fn counts(&self) -> Vec<S3Count> {
        let state = self.state.lock();
        let counts = state.counts.iter().map(|((action, status), requests)| S3Count {
            action: action.and_then(|at| S3Action::ALL.get(at).copied()),
            status: *status,
            requests: *requests,
        });
        counts.collect()
    }

    /// The number of open connections.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Counts a connection as open until the returned guard is dropped.
    pub(super) fn connection(&self) -> impl Drop + Send {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Open(&self.connections)
    }

    /// Records a request when the returned guard is dropped, so that aborted requests are recorded too.
    pub(super) fn record_on_drop<'j>(&'j self, state: &'j RequestState) -> PendingRecord<'j> {
        PendingRecord { journal: self, state, status: None }
    }
}

struct Open<'j>(&'j AtomicUsize);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Records the outcome of a request on drop.
#[derive(Debug)]
pub(super) struct PendingRecord<'j> {
    journal: &'j Journal,
    state: &'j RequestState,
    status: Option<StatusCode>,
}

impl PendingRecord<'_> {
    pub(super) fn answered(&mut self, status: StatusCode) {
        self.status = Some(status);
    }
}

impl Drop for PendingRecord<'_> {
    fn drop(&mut self) {
        let info = self.state.info().cloned().unwrap_or_default();
        let status = self.status.map(|status| status.as_u16());
        tracing::debug!(operation = info.operation, bucket = info.bucket, key = info.key, status, "S3");
        let mut state = self.journal.state.lock();
        state.count(&info.operation, status);
        if self.journal.capacity == 0 {
            return;
        }
        if state.latest.len() >= self.journal.capacity {
            state.latest.pop_front();
        }
        let number = state.seen;
        state.latest.push_back(S3Request {
            number,
            operation: info.operation,
            bucket: info.bucket,
            key: info.key,
            status,
        });
    }
}
