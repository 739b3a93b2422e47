//! The shared handle of a lane: its state behind a lock. The lock is never held while waiting, or while tickets resolve. Requests
//! and alarms that a change needs are returned as [`Todo`], for the [driver](super::driver).

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{AbortHandle, AbortRegistration};
use parking_lot::{Mutex, MutexGuard};
use sqs_client::operation::Operation as _;
use tokio::runtime::Id;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use tracing::Span;

use super::admission::{Permit, Share};
use super::alarms::Alarms;
use super::deduplication::Deduplication;
use super::error::{SendError, SendErrorKind};
use super::kind::Kind;
use super::lane::{Answer, Cause, Dispatch, Key, Lane, Look, Pending, Rules, Settled, Step};
use super::lane_metrics::LaneMetrics;
use super::observer::{Observer, Site};
use super::summary::Summary;
use super::ticket::{Terms, Ticket, Waiters};
use crate::meter::IS_ON;
use crate::random;
use crate::time::after;

/// How often the age of the oldest entry is recorded.
const AGE_INTERVAL: Duration = Duration::from_secs(1);

/// How much later than its request a ticket gives up by itself.
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

#[derive(Debug)]
struct State<K: Kind> {
    lane: LaneOf<K>,
    alarms: Alarms,
    /// Runtimes with a started task that has not asked for its batch. They may no longer be driven.
    starting: Vec<Id>,
    /// Aborts requests in flight, by the numbers of their batches.
    requests: Vec<(u64, AbortHandle)>,
    /// Whether another lane takes its place.
    is_retired: bool,
    /// When the age of the oldest entry was recorded last, and whether it was more than nothing.
    age_recorded: (Option<Instant>, bool),
}

/// The lane of a kind, with its loads and waiters.
type LaneOf<K> = Lane<Load<K>, Waiters<<K as Kind>::Receipt>, <K as Kind>::Receipt>;

type SettledOf<K> = Settled<Load<K>, Waiters<<K as Kind>::Receipt>, <K as Kind>::Receipt>;

/// What a lane has to send for an entry.
#[derive(Debug)]
pub(crate) struct Load<K: Kind> {
    pub(crate) entry: K::Entry,
    /// The span of the caller.
    pub(crate) span: Span,
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

/// The ticket of an entry, and what its admission asks for.
pub(crate) type Admitted<K> = (Ticket<<K as Kind>::Receipt>, Todo<K>);

/// Why an entry was not admitted.
#[derive(Debug)]
pub(crate) enum NotAdmitted<K: Kind> {
    /// The lane is not used any more; there is or will be another.
    Retired(Arrival<K>),
    Closed(K::Entry),
}

/// What a change of a lane asks for.
#[must_use]
#[derive(Debug)]
pub(crate) struct Todo<K: Kind> {
    /// Whether to start a task that takes the due batches. Other entries may join a batch until the task takes it.
    pub(crate) starts: bool,
    /// Batches that are to be sent. Each has a slot of the lane.
    pub(crate) due: Vec<Due<K>>,
    /// An alarm that is to be started: when it goes off, unless it is rung before.
    pub(crate) alarm: Option<(Instant, Arc<Notify>)>,
}

/// The work of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// To ask what is due, on that runtime.
    Start(Id),
    /// The batch of that number, which has a slot.
    Batch(u64),
    /// The slot of a batch that is complete.
    Answered,
    /// The alarm of a runtime.
    Alarm(Id),
}

/// A batch that is to be sent.
#[derive(Debug)]
pub(crate) struct Due<K: Kind> {
    pub(crate) batch: Dispatch<Load<K>>,
    /// Aborts the request.
    pub(crate) given_up: AbortRegistration,
}

impl<K: Kind> LaneHandle<K> {
    pub(crate) fn new(queue_url: &str, rules: Rules, share: Share, observer: Arc<Observer>) -> Self {
        let state = State {
            lane: Lane::new(rules),
            alarms: Alarms::default(),
            starting: Vec::new(),
            requests: Vec::new(),
            is_retired: false,
            age_recorded: (None, false),
        };
        Self {
            queue_url: queue_url.into(),
            state: Mutex::new(state),
            share: Arc::new(share),
            observer,
            metrics: LaneMetrics::new(queue_url, K::Operation::ACTION),
            deduplication: Deduplication::default(),
        }
    }

    /// Where something happens that the observer hears of.
    pub(crate) fn site(&self) -> Site<'_> {
        Site { queue_url: &self.queue_url, operation: K::Operation::ACTION, metrics: &self.metrics }
    }

    /// Takes an entry, or gives it back. `runtime` is where its task runs.
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

    /// What is to be sent, for a task that was started for it.
    pub(crate) fn begin(&self, runtime: Id) -> Todo<K> {
        let mut state = self.state.lock();
        state.starting.retain(|starting| *starting != runtime);
        let todo = state.poll(Instant::now(), self.cause(Cause::Other), runtime);
        self.tell(state);
        todo
    }

    /// Takes the answer to a batch, and its loads back.
    pub(crate) fn complete(&self, number: u64, answer: Answer<K::Receipt>, loads: Vec<Load<K>>) {
        let mut state = self.state.lock();
        state.forget_request(number);
        state.lane.complete(Instant::now(), number, answer, loads, random::unit());
        self.tell(state);
    }

    /// Releases the slot of a batch that is complete, and says what is to be sent next.
    pub(crate) fn next(&self, runtime: Id) -> Todo<K> {
        let mut state = self.state.lock();
        state.lane.release_slot();
        let todo = state.poll(Instant::now(), self.cause(Cause::Answer), runtime);
        self.tell(state);
        todo
    }

    /// A task has ended without doing its work: it panicked, or its runtime ended.
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
        state.alarms.ring();
        self.tell(state);
    }

    /// An alarm has gone off, or was rung: says what is to be sent, and when it goes off next. `None`: it ends.
    pub(crate) fn alarm(&self, runtime: Id) -> (Todo<K>, Option<Instant>) {
        let mut state = self.state.lock();
        let now = Instant::now();
        let (due, until) = state.due(now, self.cause(Cause::Other));
        let is_over = state.lane.is_over();
        let next = state.alarms.went_off(runtime, now, to_record_age(until).filter(|_| !is_over), is_over);
        self.tell(state);
        (Todo { starts: false, due, alarm: None }, next)
    }

    /// Sends waiting entries without waiting for fuller batches, because an entry waits for their capacity.
    pub(crate) fn press(&self) {
        self.state.lock().alarms.ring();
    }

    /// Ends the entries of a key that are not in flight.
    pub(crate) fn supersede(&self, key: &Key) {
        let mut state = self.state.lock();
        state.lane.supersede(key);
        self.tell(state);
    }

    /// See [`Lane::flush`].
    pub(crate) fn flush(&self) -> Option<oneshot::Receiver<Summary>> {
        let mut state = self.state.lock();
        state.alarms.ring();
        state.lane.flush()
    }

    /// Admits no more entries, and sends what is there without waiting for more.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.lane.close();
        state.alarms.ring();
    }

    /// Ends everything.
    pub(crate) fn abort(&self) {
        let mut state = self.state.lock();
        state.abort();
        state.alarms.ring();
        self.tell(state);
    }

    /// Retires the lane if it is not in use.
    pub(crate) fn retire(&self) -> bool {
        let mut state = self.state.lock();
        state.is_retired = state.lane.is_idle() && state.lane.is_grounded() && !self.share.is_starving();
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
            alarms.ring();
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

impl<K: Kind> State<K> {
    /// What is to be sent now, and when something is to be done next.
    fn due(&mut self, now: Instant, cause: Cause) -> (Vec<Due<K>>, Option<Instant>) {
        let (mut due, mut cause) = (Vec::new(), cause);
        loop {
            let batch = match self.lane.poll(now, cause) {
                Step::Dispatch(batch) => batch,
                Step::Wait(until) => return (due, until),
            };
            let (give_up, given_up) = AbortHandle::new_pair();
            self.requests.push((batch.number, give_up));
            due.push(Due { batch, given_up });
            if cause == Cause::Answer {
                cause = Cause::Other;
            }
        }
    }

    /// The same, with the alarm of a runtime.
    fn poll(&mut self, now: Instant, cause: Cause, runtime: Id) -> Todo<K> {
        let (due, until) = self.due(now, cause);
        Todo { starts: false, due, alarm: self.alarm(until, runtime) }
    }

    /// Whether a task must ask for due batches.
    fn look(&mut self, now: Instant, cause: Cause, runtime: Id) -> Todo<K> {
        let (starts, until) = match self.lane.look(now, cause) {
            Look::Due => (!self.starting.contains(&runtime), None),
            Look::Wait(until) => (false, until),
        };
        self.starting.extend(starts.then_some(runtime));
        Todo { starts, due: Vec::new(), alarm: self.alarm(until, runtime) }
    }

    fn alarm(&mut self, until: Option<Instant>, runtime: Id) -> Option<(Instant, Arc<Notify>)> {
        let until = to_record_age(until)?;
        Some((until, self.alarms.set(runtime, until)?))
    }

    /// Records what is in the lane, the age of the oldest entry at most once a second, since it takes a look at each.
    fn record(&mut self, metrics: &LaneMetrics) {
        metrics.in_flight_limit.set(self.lane.in_flight_limit());
        let (now, (last, was_some)) = (Instant::now(), self.age_recorded);
        if self.lane.has_waiting() {
            if last.is_none_or(|last| now >= last + AGE_INTERVAL) {
                let oldest = self.lane.oldest_waiting().unwrap_or(now);
                metrics.oldest_age.set(now.saturating_duration_since(oldest).as_secs_f64());
                self.age_recorded = (Some(now), true);
            }
        } else if was_some {
            metrics.oldest_age.set(0.0);
            self.age_recorded.1 = false;
        }
    }

    fn forget_request(&mut self, number: u64) {
        if let Some(index) = self.requests.iter().position(|(other, _)| *other == number) {
            self.requests.swap_remove(index);
        }
    }

    /// Ends waiting entries if no task is left to send them.
    fn abort_if_unattended(&mut self) {
        if self.alarms.is_empty() && self.starting.is_empty() && self.lane.is_grounded() {
            self.abort();
        }
    }

    fn abort(&mut self) {
        self.lane.abort();
        for (_, request) in self.requests.drain(..) {
            request.abort();
        }
    }
}

/// When an alarm goes off although nothing is to be done before `until`: entries that wait get older.
fn to_record_age(until: Option<Instant>) -> Option<Instant> {
    if IS_ON { until.map(|until| until.min(Instant::now() + AGE_INTERVAL)) } else { until }
}
