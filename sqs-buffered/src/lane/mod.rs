//! The shared handle of a lane: its state behind a lock. The lock is never held while waiting, or while tickets resolve. Requests
//! and alarms that a change needs are returned as [`Todo`], for the [driver](super::driver).

pub(crate) mod backlog;
pub(crate) mod capacity;
pub(crate) mod flush;
pub(crate) mod limit;
pub(crate) mod queue;
pub(crate) mod request;
pub(crate) mod retry;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{AbortHandle, AbortRegistration, Abortable};
use parking_lot::{Mutex, MutexGuard};
use sqs_client::client::Execute;
use sqs_client::operation::Operation as _;
use sqs_client::random;
use tokio::runtime::{Handle, Id};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};
use tracing::Span;

use crate::entry::{Terms, Ticket, Waiters};
use crate::error::{SendError, SendErrorKind};
use crate::lane::capacity::{Permit, Share};
use crate::lane::flush::Summary;
use crate::lane::queue::{Answer, Cause, Dispatch, Key, Lane, Look, Pending, Settled, Step};
use crate::lane::request::{Deduplication, Kind, Request};
use crate::observe::meter::IS_ON;
use crate::observe::sends::{LaneMetrics, Observer, Site};
use crate::settings::Rules;
use crate::time::after;

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
    fn alarm(&self, runtime: Id) -> (Todo<K>, Option<Instant>) {
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

/// How often the age of the oldest entry is recorded.
const AGE_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct State<K: Kind> {
    pub(crate) lane: LaneOf<K>,
    alarms: Alarms,
    /// Runtimes with a started task that has not yet asked for its batch. They may no longer run.
    starting: Vec<Id>,
    /// Aborts requests in flight, by the numbers of their batches.
    requests: Vec<(u64, AbortHandle)>,
    /// The latest time at which a ticket resolves.
    pub(crate) ends: Option<Instant>,
    /// Whether another lane has replaced it.
    is_retired: bool,
    /// When the age of the oldest entry was last recorded, and whether it was above zero.
    age_recorded: (Option<Instant>, bool),
}

/// The lane of a kind, with its loads and waiters.
type LaneOf<K> = Lane<Load<K>, Waiters<<K as Kind>::Receipt>, <K as Kind>::Receipt>;

impl<K: Kind> State<K> {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            lane: Lane::new(rules),
            alarms: Alarms::default(),
            starting: Vec::new(),
            requests: Vec::new(),
            ends: None,
            is_retired: false,
            age_recorded: (None, false),
        }
    }

    /// The batches to send now, and the time of the next action.
    pub(crate) fn due(&mut self, now: Instant, cause: Cause) -> (Vec<Due<K>>, Option<Instant>) {
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

    /// The same, with the alarm of a runtime set.
    pub(crate) fn poll(&mut self, now: Instant, cause: Cause, runtime: Id) -> Todo<K> {
        let (due, until) = self.due(now, cause);
        Todo { starts: false, due, alarm: self.alarm(until, runtime) }
    }

    /// Whether a task must ask for due batches.
    pub(crate) fn look(&mut self, now: Instant, cause: Cause, runtime: Id) -> Todo<K> {
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

    /// Records metrics of the lane. The age of the oldest entry is recorded at most once a second, because it takes
    /// linear time.
    pub(crate) fn record(&mut self, metrics: &LaneMetrics) {
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
        if self.alarms.is_empty() && self.starting.is_empty() && self.lane.has_none_in_flight() {
            self.abort();
        }
    }

    pub(crate) fn abort(&mut self) {
        self.lane.abort();
        for (_, request) in self.requests.drain(..) {
            request.abort();
        }
    }
}

/// When an alarm is due although there is nothing to send before `until`: waiting entries get older.
fn to_record_age(until: Option<Instant>) -> Option<Instant> {
    if IS_ON { until.map(|until| until.min(Instant::now() + AGE_INTERVAL)) } else { until }
}

/// The data of an entry in a request.
#[derive(Debug)]
pub(crate) struct Load<K: Kind> {
    pub(crate) entry: K::Entry,
    /// The span of the caller.
    pub(crate) span: Span,
}

/// The work that a change of a lane requires.
#[must_use]
#[derive(Debug)]
pub(crate) struct Todo<K: Kind> {
    /// Whether to start a task that takes the due batches. Other entries may join a batch until the task takes it.
    pub(crate) starts: bool,
    /// Batches to send. Each has a slot of the lane.
    pub(crate) due: Vec<Due<K>>,
    /// An alarm to start: when it is due, unless it is woken before.
    alarm: Option<(Instant, Arc<Notify>)>,
}

/// The work of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Asks for due batches, on this runtime.
    Start(Id),
    /// Sends the batch with this number, which has a slot.
    Batch(u64),
    /// Releases the slot of a completed batch.
    Answered,
    /// Runs the alarm of a runtime.
    Alarm(Id),
}

/// A batch to send.
#[derive(Debug)]
pub(crate) struct Due<K: Kind> {
    pub(crate) batch: Dispatch<Load<K>>,
    /// Aborts the request.
    given_up: AbortRegistration,
}

/// How long an idle alarm stays, because starting another one costs more than keeping it.
const IDLE: Duration = Duration::from_secs(10);

/// The alarms of a lane. Their tasks sleep until an alarm is due or woken.
#[derive(Debug, Default)]
struct Alarms(Vec<Alarm>);

#[derive(Debug)]
struct Alarm {
    runtime: Id,
    /// When it is due at the latest.
    at: Instant,
    /// Whether anything waits for it.
    is_set: bool,
    wake: Arc<Notify>,
}

impl Alarms {
    /// Makes the alarm of a runtime due at `until` or earlier. Returns the notifier of a new alarm, which the caller
    /// must start.
    pub(crate) fn set(&mut self, runtime: Id, until: Instant) -> Option<Arc<Notify>> {
        if let Some(alarm) = self.0.iter_mut().find(|alarm| alarm.runtime == runtime) {
            alarm.is_set = true;
            if until < alarm.at {
                alarm.at = until;
                alarm.wake.notify_one();
            }
            return None;
        }
        let wake = Arc::new(Notify::new());
        self.0.push(Alarm { runtime, at: until, is_set: true, wake: Arc::clone(&wake) });
        Some(wake)
    }

    /// An alarm was due or woken. Returns when it is due next; `None` if it ends: at once if `is_over`, else if nothing
    /// has waited for it since the last time.
    fn fired(&mut self, runtime: Id, now: Instant, until: Option<Instant>, is_over: bool) -> Option<Instant> {
        let index = self.0.iter().position(|alarm| alarm.runtime == runtime)?;
        let alarm = self.0.get_mut(index)?;
        let was_set = std::mem::replace(&mut alarm.is_set, until.is_some());
        if is_over || (until.is_none() && !was_set) {
            self.0.swap_remove(index);
            return None;
        }
        alarm.at = until.unwrap_or(now + IDLE);
        Some(alarm.at)
    }

    /// Wakes all alarms now.
    pub(crate) fn wake(&self) {
        for alarm in &self.0 {
            alarm.wake.notify_one();
        }
    }

    pub(crate) fn remove(&mut self, runtime: Id) {
        self.0.retain(|alarm| alarm.runtime != runtime);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Starts the tasks that a change of a lane requires.
pub(crate) fn start<K: Kind, H: Execute>(
    lane: &Arc<LaneHandle<K>>,
    client: &H,
    runtime: &Handle,
    todo: Todo<K>,
) {
    let Todo { starts, due, alarm } = todo;
    let task = |work| Task {
        lane: Arc::clone(lane),
        client: client.clone(),
        runtime: runtime.clone(),
        work: Some(work),
    };
    if starts {
        runtime.spawn(task(Work::Start(runtime.id())).begin());
    }
    for due in due {
        runtime.spawn(task(Work::Batch(due.batch.number)).send(due));
    }
    if let Some((at, ring)) = alarm {
        runtime.spawn(task(Work::Alarm(runtime.id())).watch(at, ring));
    }
}

/// A task of a lane. If it is dropped before its work is done, it informs the lane.
struct Task<K: Kind, H: Execute> {
    lane: Arc<LaneHandle<K>>,
    client: H,
    runtime: Handle,
    work: Option<Work>,
}

impl<K: Kind, H: Execute> Task<K, H> {
    /// Sends what is due.
    async fn begin(mut self) {
        self.work = None;
        let todo = self.lane.begin(self.runtime.id());
        if let Some(first) = self.take_first(todo) {
            self.send(first).await;
        }
    }

    /// Sends a batch, and further ones as long as there are any.
    async fn send(mut self, first: Due<K>) {
        let mut due = Some(first);
        while let Some(Due { batch, given_up }) = due {
            let (number, entries) = (batch.number, batch.size.entries);
            let request = Request::new(&self.lane, batch).send(&self.client);
            if let Ok((answer, loads)) = Abortable::new(request, given_up).await {
                self.lane.complete(number, answer, loads);
            }
            self.work = Some(Work::Answered);
            if entries > 1 {
                // Senders whose tickets have just resolved may have entries for the same batch.
                tokio::task::yield_now().await;
            }
            self.work = None;
            let todo = self.lane.next(self.runtime.id());
            due = self.take_first(todo);
        }
    }

    /// Takes a batch for this task, and starts others for the rest.
    fn take_first(&mut self, mut todo: Todo<K>) -> Option<Due<K>> {
        let first = (!todo.due.is_empty()).then(|| todo.due.remove(0));
        self.work = first.as_ref().map(|due| Work::Batch(due.batch.number));
        start(&self.lane, &self.client, &self.runtime, todo);
        first
    }

    /// Runs the alarm of its runtime.
    async fn watch(mut self, at: Instant, ring: Arc<Notify>) {
        let mut sleep = pin!(sleep_until(at));
        loop {
            tokio::select! {
                () = ring.notified() => {}
                () = &mut sleep => {}
            }
            let (todo, next) = self.lane.alarm(self.runtime.id());
            start(&self.lane, &self.client, &self.runtime, todo);
            match next {
                Some(next) => sleep.as_mut().reset(next),
                None => return self.work = None,
            }
        }
    }
}

impl<K: Kind, H: Execute> Drop for Task<K, H> {
    fn drop(&mut self) {
        if let Some(work) = self.work {
            self.lane.abandon(work);
        }
    }
}
