//! What S3 was asked.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use parking_lot::Mutex;

use super::action::S3Action;
use super::front::Slot;

/// A request to S3 that was answered, or whose caller got no answer.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct S3Request {
    /// Its number, from 1, in the order of the answers. Nothing but a new server begins anew.
    pub number: u64,
    /// The operation by its name at AWS, such as `GetObject`; empty when it was refused before that was known.
    pub operation: String,
    /// The bucket, where it names one.
    pub bucket: Option<String>,
    /// The key, where it names one.
    pub key: Option<String>,
    /// The status of the answer; `None` when the connection broke, or the caller went away.
    pub status: Option<u16>,
}

/// How many requests there were for an operation with a status.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct S3Count {
    /// `None` for operations that the server does not have, and for what was refused before that was known.
    pub(crate) action: Option<S3Action>,
    /// `None` as in [`S3Request::status`].
    pub(crate) status: Option<u16>,
    pub(crate) requests: u64,
}

/// The latest requests, and how many there were.
#[derive(Debug)]
pub(super) struct Journal {
    capacity: usize,
    /// Locked for as long as it takes to copy one request in or all out; never while anything else is locked.
    state: Mutex<State>,
    connections: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    latest: VecDeque<S3Request>,
    seen: u64,
    /// By operation, as S3 has them in order, and status: as many as there are of both, at most.
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

    /// All that are kept, from the oldest on.
    pub(super) fn all(&self) -> Vec<S3Request> {
        self.state.lock().latest.iter().cloned().collect()
    }

    /// Forgets them, and says how many that were. What was counted stays counted.
    pub(super) fn clear(&self) -> usize {
        let mut state = self.state.lock();
        std::mem::take(&mut state.latest).len()
    }

    /// How many requests there were since the start.
    pub(super) fn counts(&self) -> Vec<S3Count> {
        let state = self.state.lock();
        let counts = state.counts.iter().map(|((action, status), requests)| S3Count {
            action: action.and_then(|at| S3Action::ALL.get(at).copied()),
            status: *status,
            requests: *requests,
        });
        counts.collect()
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
        let mut state = self.journal.state.lock();
        state.count(&asked.operation, status);
        if self.journal.capacity == 0 {
            return;
        }
        if state.latest.len() >= self.journal.capacity {
            state.latest.pop_front();
        }
        let number = state.seen;
        state.latest.push_back(S3Request {
            number,
            operation: asked.operation,
            bucket: asked.bucket,
            key: asked.key,
            status,
        });
    }
}
