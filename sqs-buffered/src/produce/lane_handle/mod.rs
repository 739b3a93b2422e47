//! The shared handle of a lane: its state behind a lock. The lock is never held while waiting, or while tickets resolve. Requests
//! and alarms that a change needs are returned as [`Todo`], for the [driver](super::driver).

mod state;
mod todo;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use sqs_client::operation::Operation as _;
use tokio::runtime::Id;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tracing::Span;

use super::admission::{Permit, Share};
use super::deduplication::Deduplication;
use super::error::{SendError, SendErrorKind};
use super::kind::Kind;
use super::lane::{Answer, Cause, Key, Pending, Rules, Settled};
use super::lane_metrics::LaneMetrics;
use super::observer::{Observer, Site};
use super::summary::Summary;
use super::ticket::{Terms, Ticket, Waiters};
use crate::meter::IS_ON;
use crate::random;
use crate::time::after;

use state::{State, to_record_age};
pub(crate) use todo::{Due, Load, Todo, Work};

/// How much longer than its request a ticket waits before it gives up.
const ANSWER_MARGIN: Duration = Duration::from_secs(1);

/// The lane of one queue and one operation.
#[derive(Debug)]
pub(crate) struct LaneHandle<K: Kind> {
    pub(crate) queue_url: Arc<str>,
    state: Mutex<State<K>>,
    pub(crate) share: Arc<Share>,
    pub(crate) observer: Arc<Observer>,
    metrics: LaneMetrics,
    pub(crate) deduplication: Deduplication,
}

/// An entry that has its capacity.
#[derive(Debug)]
pub(crate) struct Arrival<K: Kind> {
    pub(crate) entry: K::Entry,
    pub(crate) key: Option<Key>,
    pub(crate) bytes: usize,
    pub(crate) permit: Permit,
    pub(crate) admitted: Instant,
    pub(crate) deadline: Instant,
}

/// The ticket of an entry, and the work that its admission requires.
pub(crate) type Admitted<K> = (Ticket<<K as Kind>::Receipt>, Todo<K>);

/// The result of a flush of one lane.
#[derive(Debug)]
pub(crate) struct Flush {
    pub(crate) heard: oneshot::Receiver<Summary>,
    /// The latest time at which its entries end, as for tickets. They may depend on a runtime that no longer runs.
    pub(crate) ends: Instant,
    /// How many entries it waits for.
    pub(crate) unsettled: usize,
}

/// Why an entry was not admitted.
#[derive(Debug)]
pub(crate) enum NotAdmitted<K: Kind> {
    /// The lane is no longer used. Another one replaces it.
    Retired(Arrival<K>),
    Closed(K::Entry),
}

type SettledOf<K> = Settled<Load<K>, Waiters<<K as Kind>::Receipt>, <K as Kind>::Receipt>;

impl<K: Kind> LaneHandle<K> {
    pub(crate) fn new(queue_url: &str, rules: Rules, share: Share, observer: Arc<Observer>) -> Self {
        Self {
            queue_url: queue_url.into(),
            state: Mutex::new(State::new(rules)),
            share: Arc::new(share),
            observer,
            metrics: LaneMetrics::new(queue_url, K::Operation::ACTION),
            deduplication: Deduplication::default(),
        }
    }

    /// The lane, for the observer.
    pub(crate) fn site(&self) -> Site<'_> {
        Site { queue_url: &self.queue_url, operation: K::Operation::ACTION, metrics: &self.metrics }
    }

    /// Admits an entry, or returns it. `runtime` is where its task runs.
    pub(crate) fn admit(&self, arrival: Arrival<K>, runtime: Id) -> Result<Admitted<K>, NotAdmitted<K>> {
        let span = Span::current();
        let mut state = self.state.lock();
        if state.is_retired {
            return Err(NotAdmitted::Retired(arrival));
        }
        if state.lane.is_closing() {
            return Err(NotAdmitted::Closed(arrival.entry));
        }
        let Arrival { entry, key, bytes, permit, admitted, deadline } = arrival;
        let terms =
            Terms { is_watched: self.observer.is_heard(), ends: after(deadline, K::GRACE + ANSWER_MARGIN) };
        self.observer.admitted(self.site(), permit.bytes());
        state.ends = state.ends.max(Some(terms.ends));
        let (waiters, ticket) = Waiters::one(permit, terms);
        let load = Load { entry, span };
        if let Some(key) = key.as_ref().filter(|_| K::MERGES)
            && let Some((last, waiting)) = state.lane.merge(key, deadline)
        {
            *last = Some(load);
            waiting.join(waiters);
        } else {
            state.lane.push(Pending::new(load, waiters, key, bytes, (admitted, deadline)));
        }
        let todo = state.look(admitted, self.cause(Cause::Other), runtime);
        self.tell(state);
        Ok((ticket, todo))
    }

    /// The work of a task that has just started.
    pub(crate) fn begin(&self, runtime: Id) -> Todo<K> {
        let mut state = self.state.lock();
        state.starting.retain(|starting| *starting != runtime);
        let todo = state.poll(Instant::now(), self.cause(Cause::Other), runtime);
        self.tell(state);
        todo
    }

    /// Takes the result of a batch, and its loads.
    pub(crate) fn complete(&self, number: u64, answer: Answer<K::Receipt>, loads: Vec<Load<K>>) {
        let mut state = self.state.lock();
        state.forget_request(number);
        let (was_failing, error) = (state.lane.is_failing(), answer.error().cloned());
        state.lane.complete(Instant::now(), number, answer, loads, random::unit());
        let is_failing = state.lane.is_failing();
        self.tell(state);
        if was_failing != is_failing {
            self.log_outage(is_failing, error.as_ref());
        }
    }

    /// One line at the start of an outage, and one at its end. Without a cause, each entry was throttled.
    fn log_outage(&self, is_failing: bool, cause: Option<&SendError>) {
        let Site { queue_url, operation, .. } = self.site();
        let operation = operation.as_str();
        if is_failing {
            let error = cause.map(tracing::field::debug);
            tracing::warn!(error, queue_url, operation, "all requests fail; retrying one at a time");
        } else {
            tracing::info!(queue_url, operation, "requests succeed again");
        }
    }

    /// Releases the slot of a batch that is complete, and returns the next work.
    pub(crate) fn next(&self, runtime: Id) -> Todo<K> {
        let mut state = self.state.lock();
        state.lane.release_slot();
        let todo = state.poll(Instant::now(), self.cause(Cause::Answer), runtime);
        self.tell(state);
        todo
    }

    /// A task has ended before its work was done: it panicked, or its runtime ended.
    pub(crate) fn abandon(&self, work: Work) {
        let mut state = self.state.lock();
        match work {
            Work::Start(runtime) => state.starting.retain(|starting| *starting != runtime),
            Work::Batch(number) => {
                state.forget_request(number);
                state.lane.fail_batch(number, &SendError::new(SendErrorKind::Aborted));
                state.lane.release_slot();
            }
            Work::Answered => state.lane.release_slot(),
            Work::Alarm(runtime) => state.alarms.remove(runtime),
        }
        state.abort_if_unattended();
        state.alarms.wake();
        self.tell(state);
    }

    /// An alarm was due or woken. Returns the work, and when the alarm is due next; `None` if it ends.
    pub(crate) fn alarm(&self, runtime: Id) -> (Todo<K>, Option<Instant>) {
        let mut state = self.state.lock();
        let now = Instant::now();
        let (due, until) = state.due(now, self.cause(Cause::Other));
        let is_over = state.lane.is_over();
        let next = state.alarms.fired(runtime, now, to_record_age(until).filter(|_| !is_over), is_over);
        self.tell(state);
        (Todo { starts: false, due, alarm: None }, next)
    }

    /// Sends waiting entries without waiting for fuller batches, because another entry waits for their capacity.
    pub(crate) fn send_for_capacity(&self) {
        self.state.lock().alarms.wake();
    }

    /// Ends the entries of a key that are not in flight.
    pub(crate) fn supersede(&self, key: &Key) {
        let mut state = self.state.lock();
        state.lane.supersede(key);
        self.tell(state);
    }

    /// See [`Lane::flush`].
    pub(crate) fn flush(&self) -> Option<Flush> {
        let mut state = self.state.lock();
        state.alarms.wake();
        let (unsettled, ends) = (state.lane.unsettled(), state.ends?);
        state.lane.flush().map(|heard| Flush { heard, ends, unsettled })
    }

    /// Admits no more entries, and sends the waiting ones without waiting for more.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.lane.close();
        state.alarms.wake();
    }

    /// Ends all entries.
    pub(crate) fn abort(&self) {
        let mut state = self.state.lock();
        state.abort();
        state.alarms.wake();
        self.tell(state);
    }

    /// Retires the lane if it is unused.
    pub(crate) fn retire(&self) -> bool {
        let mut state = self.state.lock();
        state.is_retired =
            state.lane.is_idle() && state.lane.has_none_in_flight() && !self.share.is_starving();
        state.is_retired
    }

    fn cause(&self, cause: Cause) -> Cause {
        if self.share.is_starving() { Cause::Starving } else { cause }
    }

    /// Reports events, with the lock released.
    fn tell(&self, mut state: MutexGuard<'_, State<K>>) {
        let (settled, retried) = (state.lane.take_settled(), state.lane.take_retried());
        if IS_ON {
            state.record(&self.metrics);
        }
        drop(state);
        let site = self.site();
        for retried in &retried {
            self.observer.retried(site, retried);
        }
        if settled.is_empty() {
            return;
        }
        let told = self.tell_tickets(site, settled);
        let State { lane, alarms, .. } = &mut *self.state.lock();
        for (epoch, entries) in &told {
            lane.told(*epoch, entries);
        }
        if lane.is_over() {
            alarms.wake();
        }
    }

    /// Resolves tickets, and counts the entries by epoch.
    fn tell_tickets(&self, site: Site<'_>, settled: Vec<SettledOf<K>>) -> Vec<(u64, Summary)> {
        let mut told: Vec<(u64, Summary)> = Vec::new();
        let mut results = Vec::with_capacity(settled.len());
        let mut permits = Vec::with_capacity(settled.len());
        for Settled { item: mut waiters, load, result, epoch } in settled {
            // Drops loads before their capacity is returned, so that memory stays within the bounds.
            drop(load);
            let failure = result.as_ref().err();
            if told.last().is_none_or(|(last, _)| *last != epoch) {
                told.push((epoch, Summary::default()));
            }
            if let Some((_, entries)) = told.last_mut() {
                entries.count(failure.map(SendError::kind));
            }
            self.observer.ended(site, waiters.count(), failure);
            waiters.take_permits(&mut permits);
            results.push((waiters, result));
        }
        site.metrics.released(Permit::sum(&permits));
        Permit::release_all(permits);
        for (waiters, result) in results {
            let error = result.as_ref().err().cloned();
            let is_heard = waiters.tell(result);
            if let Some(error) = error.filter(|_| !is_heard) {
                self.observer.unheard(site, &error);
            }
        }
        told
    }
}
