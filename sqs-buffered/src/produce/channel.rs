//! A lane as its callers share it: the state behind a lock, and a worker while there is work.
//!
//! ```text
//! caller -> admit: lock, push, unlock, wake ----> worker (one task a lane, while there is work)
//! ticket <- told, after the lock was let go <---- poll, dispatch, complete, told
//! ```
//! Nobody holds the lock while waiting for anything, nor while tickets are told. The worker ends when the lane has been idle
//! for a while, or with its runtime; then everything that has not ended is told that it was aborted. The next entry starts
//! a new worker, on the runtime of its caller.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::client::Execute;
use sqs_client::operation::Operation as _;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use tracing::Span;

use crate::produce::admission::{Admission, Permit};
use crate::produce::content_ids::ContentIds;
use crate::produce::error::SendErrorKind;
use crate::produce::event::{SendEvent, Watch};
use crate::produce::kind::Kind;
use crate::produce::lane::{Key, Laden, Lane, Pending, Retried, Rules, Settled};
use crate::produce::stats::Counters;
use crate::produce::summary::Summary;
use crate::produce::ticket::{Ticket, Waiters, warn_of_unheard};
use crate::produce::worker::Worker;

/// How long a worker without work stays.
pub(crate) const IDLE: Duration = Duration::from_secs(10);

/// The lane of one queue and one operation.
#[derive(Debug)]
pub(crate) struct Channel<K: Kind> {
    pub(crate) queue_url: Arc<str>,
    state: Mutex<State<K>>,
    /// The worker waits here.
    pub(crate) changed: Notify,
    pub(crate) admission: Arc<Admission>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) watch: Watch,
    pub(crate) content_ids: ContentIds,
}

#[derive(Debug)]
struct State<K: Kind> {
    lane: LaneOf<K>,
    has_worker: bool,
    /// Whether another lane takes its place.
    is_retired: bool,
}

/// The lane of a kind: what it sends, and who waits.
pub(crate) type LaneOf<K> = Lane<Load<K>, Waiters<<K as Kind>::Receipt>, <K as Kind>::Receipt>;

type SettledOf<K> = Settled<Load<K>, Waiters<<K as Kind>::Receipt>, <K as Kind>::Receipt>;

/// Why an entry was not admitted.
#[derive(Debug)]
pub(crate) enum Turned<K: Kind> {
    /// The lane is not used any more; there is or will be another.
    Retired(Arrival<K>),
    Refused(K::Entry, SendErrorKind),
}

/// What a lane has to send for an entry. It is moved into the request and back.
#[derive(Debug)]
pub(crate) struct Load<K: Kind> {
    pub(crate) entry: K::Entry,
    /// The span of the caller.
    pub(crate) span: Span,
}

/// An entry that was let in.
#[derive(Debug)]
pub(crate) struct Arrival<K: Kind> {
    pub(crate) entry: K::Entry,
    pub(crate) key: Option<Key>,
    pub(crate) bytes: usize,
    pub(crate) permit: Permit,
    pub(crate) admitted: Instant,
    pub(crate) deadline: Instant,
}

impl<K: Kind> Channel<K> {
    pub(crate) fn new(
        queue_url: &str,
        rules: Rules,
        admission: Arc<Admission>,
        counters: Arc<Counters>,
        watch: Watch,
    ) -> Self {
        Self {
            queue_url: queue_url.into(),
            state: Mutex::new(State { lane: Lane::new(rules), has_worker: false, is_retired: false }),
            changed: Notify::new(),
            admission,
            counters,
            watch,
            content_ids: ContentIds::default(),
        }
    }

    /// Takes an entry, or gives it back with the reason.
    pub(crate) fn admit<H: Execute>(
        self: &Arc<Self>,
        handle: &H,
        arrival: Arrival<K>,
    ) -> Result<Ticket<K::Receipt>, Turned<K>> {
        let Ok(runtime) = Handle::try_current() else {
            return Err(Turned::Refused(arrival.entry, SendErrorKind::NoRuntime));
        };
        let span = Span::current();
        let mut guard = self.state.lock();
        let state = &mut *guard;
        if state.is_retired {
            return Err(Turned::Retired(arrival));
        }
        if state.lane.is_closing() {
            return Err(Turned::Refused(arrival.entry, SendErrorKind::Closed));
        }
        let Arrival { entry, key, bytes, permit, admitted, deadline } = arrival;
        let (waiters, ticket) = Waiters::one(permit, self.watch.is_on());
        self.counters.admitted();
        if let Some(key) = key.as_ref().filter(|_| K::MERGES)
            && let Some((waiting, is_due)) = state.lane.merge(key, deadline)
        {
            waiting.load.entry = entry;
            waiting.item.join(waiters);
            drop(guard);
            if is_due {
                self.changed.notify_one();
            }
            return Ok(ticket);
        }
        let item = Laden { load: Load { entry, span }, item: waiters };
        let is_starving = self.admission.is_starving();
        let is_due = state.lane.push(Pending::new(item, key, bytes, admitted, deadline), is_starving);
        let starts = !std::mem::replace(&mut state.has_worker, true);
        drop(guard);
        if starts {
            runtime.spawn(Worker::new(Arc::clone(self), handle.clone()).run());
        } else if is_due {
            self.changed.notify_one();
        }
        Ok(ticket)
    }

    /// Does something with the lane, and tells those whose entries have ended by it.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut LaneOf<K>) -> T) -> T {
        self.change(|state| act(&mut state.lane))
    }

    fn change<T>(&self, act: impl FnOnce(&mut State<K>) -> T) -> T {
        let (result, settled, retried) = {
            let mut state = self.state.lock();
            (act(&mut state), state.lane.take_settled(), state.lane.take_retried())
        };
        for Retried { error, attempts, pause } in retried {
            self.watch.tell(&SendEvent::Retried {
                queue_url: &self.queue_url,
                operation: K::Operation::ACTION,
                error: &error,
                attempts,
                retry_in: pause,
            });
        }
        if !settled.is_empty() {
            let told = self.tell(settled);
            let lane = &mut self.state.lock().lane;
            for (epoch, entries) in &told {
                lane.told(*epoch, entries);
            }
        }
        result
    }

    /// Ends the entries of a key that are not in flight.
    pub(crate) fn supersede(&self, key: &Key) {
        self.with(|lane| lane.supersede(key));
    }

    /// See [`Lane::flush`].
    pub(crate) fn flush(&self) -> Option<oneshot::Receiver<Summary>> {
        let heard = self.with(Lane::flush);
        self.changed.notify_one();
        heard
    }

    /// Takes no more entries, and sends what is there without waiting for more.
    pub(crate) fn close(&self) {
        self.with(Lane::close);
        self.changed.notify_one();
    }

    /// Ends everything.
    pub(crate) fn abort(&self) {
        self.with(Lane::abort);
        self.changed.notify_one();
    }

    /// Lets the worker go if there is no work.
    pub(crate) fn dismiss(&self) -> bool {
        let mut state = self.state.lock();
        let is_idle = state.lane.is_idle();
        state.has_worker = !is_idle;
        is_idle
    }

    /// Lets the lane go for good if it is not in use.
    pub(crate) fn retire(&self) -> bool {
        let mut state = self.state.lock();
        state.is_retired = !state.has_worker && state.lane.is_idle();
        state.is_retired
    }

    /// What a worker leaves behind that did not end by itself.
    pub(crate) fn bury(&self) {
        self.change(|state| {
            state.has_worker = false;
            state.lane.abort();
        });
    }

    /// Tells those who wait, and counts the entries by epochs.
    fn tell(&self, settled: Vec<SettledOf<K>>) -> Vec<(u64, Summary)> {
        let mut told: Vec<(u64, Summary)> = Vec::new();
        for Settled { item: waiters, load, result, epoch } in settled {
            // Before those who wait for its room get it: what is there stays within the bounds.
            drop(load);
            let failure = result.as_ref().err().map(crate::SendError::kind);
            if told.last().is_none_or(|(last, _)| *last != epoch) {
                told.push((epoch, Summary::default()));
            }
            if let Some((_, entries)) = told.last_mut() {
                entries.count(failure);
            }
            self.counters.settled(waiters.count(), failure);
            if let Err(error) = &result {
                let (queue_url, operation) = (&*self.queue_url, K::Operation::ACTION);
                self.watch.tell(&SendEvent::Failed { queue_url, operation, error });
            }
            let error = result.as_ref().err().cloned();
            let is_heard = waiters.tell(result);
            if let Some(error) = error.filter(|_| !is_heard && !self.watch.is_on()) {
                warn_of_unheard(&error, Some((&self.queue_url, K::Operation::ACTION)));
            }
        }
        told
    }
}
