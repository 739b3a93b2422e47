//! A lane: the entries of one queue and one operation, and the task that sends them.
//!
//! ```text
//! admit --> queue (pure, under the lock) --ring--> run: send what is due, sleep until the next time --> request
//!             ^                                                                                            |
//!             +------------------- complete: tickets resolve, other entries are retried <------------------+
//! ```
//! The task runs on the runtime that admits entries, unless the client has its own; if several runtimes admit, each has one. It
//! ends when the lane has been idle for a while. If its runtime ends, the tasks of other runtimes go on, and without one, waiting
//! entries end as aborted. The lock is never held while anything waits, nor while tickets resolve.

pub(crate) mod backlog;
pub(crate) mod capacity;
pub(crate) mod flush;
pub(crate) mod limit;
pub(crate) mod queue;
pub(crate) mod request;
pub(crate) mod retry;

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, AbortRegistration, Abortable};
use parking_lot::{Mutex, MutexGuard};
use sqs_client::client::Execute;
use sqs_client::operation::Operation as _;
use sqs_client::random;
use tokio::runtime::{Handle, Id};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};
use tracing::Span;

use crate::entry::{Terms, Ticket, Waiters, is_fifo};
use crate::error::{Panicked, SendError, SendErrorKind};
use crate::lane::capacity::{Permit, Share};
use crate::lane::flush::Summary;
use crate::lane::queue::{Answer, Cause, Dispatch, Key, Look, Pending, Queue, Settled, Step};
use crate::lane::request::{Deduplication, Kind, Request};
use crate::observe::meter::IS_ON;
use crate::observe::sends::{LaneMetrics, Observer, Site};
use crate::settings::Rules;
use crate::time::after;

/// How long an idle task stays at most, because starting another one costs more than keeping it.
const IDLE: Duration = Duration::from_secs(10);

/// How often the age of the oldest entry is recorded.
const AGE_INTERVAL: Duration = Duration::from_secs(1);

/// The lane of one queue and one operation.
#[derive(Debug)]
pub(crate) struct Lane<K: Kind, H: Execute> {
    pub(crate) client: H,
    pub(crate) queue_url: Arc<str>,
    pub(crate) share: Arc<Share>,
    pub(crate) observer: Arc<Observer>,
    deduplication: Deduplication,
    /// How long one request may take.
    pub(crate) attempt_timeout: Duration,
    metrics: LaneMetrics,
    state: Mutex<State<K>>,
}

#[derive(Debug)]
struct State<K: Kind> {
    queue: Queue<Load<K>, Waiters<K::Receipt>, K::Receipt>,
    /// One for each runtime that has admitted entries.
    tasks: Vec<Bell>,
    /// Aborts requests in flight, by the numbers of their batches.
    requests: Vec<(u64, AbortHandle)>,
    /// Requests that have ended since the queue was polled.
    answered: usize,
    /// The latest time at which a ticket resolves.
    ends: Option<Instant>,
    /// Whether another lane has replaced it.
    is_retired: bool,
    /// When the age of the oldest entry was last recorded, and whether it was above zero.
    age_recorded: (Option<Instant>, bool),
}

/// Wakes the task of a runtime.
#[derive(Debug)]
struct Bell {
    runtime: Handle,
    rings: Arc<Notify>,
    /// When the task wakes by itself; `None` if it has been rung, or has not slept yet.
    wakes: Option<Instant>,
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

/// Why an entry was not admitted.
#[derive(Debug)]
pub(crate) enum NotAdmitted<K: Kind> {
    /// The lane is no longer used. Another one replaces it.
    Retired(Arrival<K>),
    Closed(K::Entry),
    /// See [`Kind::is_void`].
    Void(K::Entry),
}

/// The data of an entry in a request.
#[derive(Debug)]
pub(crate) struct Load<K: Kind> {
    pub(crate) entry: K::Entry,
    /// The span of the caller.
    pub(crate) span: Span,
}

/// A batch to send.
#[derive(Debug)]
struct Due<K: Kind> {
    batch: Dispatch<Load<K>>,
    /// Aborts the request.
    given_up: AbortRegistration,
}

/// A request in its slot. If it is dropped, even before it was polled, its entries end, and its slot becomes free.
struct Sending<K: Kind, H: Execute> {
    request: Request<K, H>,
    given_up: AbortRegistration,
    slot: Slot<K, H>,
}

/// The result of a flush of one lane.
#[derive(Debug)]
pub(crate) struct Flush {
    /// The results so far. The sender is dropped after the last one.
    pub(crate) results: watch::Receiver<Summary>,
    /// The latest time at which its entries end, as for tickets. They may depend on a runtime that no longer runs.
    pub(crate) ends: Instant,
    /// How many entries it waits for.
    pub(crate) unsettled: u64,
}

type SettledOf<K> = Settled<Load<K>, Waiters<<K as Kind>::Receipt>, <K as Kind>::Receipt>;

impl<K: Kind, H: Execute> Lane<K, H> {
    pub(crate) fn new(
        client: H,
        queue_url: &str,
        (rules, attempt_timeout): (Rules, Duration),
        share: Share,
        observer: Arc<Observer>,
    ) -> Self {
        Self {
            client,
            queue_url: queue_url.into(),
            share: Arc::new(share),
            observer,
            deduplication: Deduplication::default(),
            attempt_timeout,
            metrics: LaneMetrics::new(queue_url, K::Operation::ACTION),
            state: Mutex::new(State::new(rules)),
        }
    }

    /// Admits an entry, or returns it. The task of this runtime sends it.
    pub(crate) fn admit(
        self: &Arc<Self>,
        arrival: Arrival<K>,
        runtime: &Handle,
    ) -> Result<Ticket<K::Receipt>, NotAdmitted<K>> {
        let span = Span::current();
        let mut state = self.state.lock();
        if state.is_retired {
            return Err(NotAdmitted::Retired(arrival));
        }
        if state.queue.is_closing() {
            return Err(NotAdmitted::Closed(arrival.entry));
        }
        if K::is_void(&arrival.entry) {
            return Err(NotAdmitted::Void(arrival.entry));
        }
        let Arrival { entry, key, bytes, permit, admitted, deadline } = arrival;
        self.observer.admitted(self.site(), permit.bytes());
        let ends = after(deadline, K::GRACE + queue::ANSWER_MARGIN);
        state.ends = state.ends.max(Some(ends));
        let terms = Terms { is_watched: self.observer.is_heard(), ends, home: runtime.id() };
        let (waiters, ticket) = Waiters::one(permit, terms);
        let load = Load { entry, span };
        if let Some(key) = key.as_ref().filter(|_| K::MERGES)
            && let Some((last, waiting)) = state.queue.merge(key, deadline)
        {
            *last = Some(load);
            waiting.join(waiters);
        } else {
            state.queue.push(Pending::new(load, waiters, key, bytes, (admitted, deadline)));
        }
        let acts = match state.queue.look(admitted, self.cause(Cause::Other)) {
            Look::Due => Some(admitted),
            Look::Wait(until) => to_record_age(until),
        };
        let new = state.call(runtime, acts);
        // It tells the lane if it does not start, whatever happens here.
        let task = new.map(|rings| {
            Task { lane: Arc::clone(self), runtime: runtime.clone(), is_done: false }.run(rings)
        });
        self.tell(state);
        if let Some(task) = task {
            runtime.spawn(task);
        }
        Ok(ticket)
    }

    /// What the task of a runtime does next: batches to send, and when it wakes. `None` if it ends: when the lane is over, or has
    /// been idle for long.
    fn poll(
        self: &Arc<Self>,
        runtime: Id,
        idle_since: &mut Option<Instant>,
    ) -> Option<(Vec<Sending<K, H>>, Instant)> {
        let now = Instant::now();
        let mut state = self.state.lock();
        let (due, until) = state.due(now, self.share.is_starving());
        let is_idle = due.is_empty() && state.queue.is_idle();
        *idle_since = is_idle.then(|| idle_since.unwrap_or(now));
        let idle_ends = after(idle_since.unwrap_or(now), IDLE);
        if state.queue.is_over() || (is_idle && idle_ends <= now) {
            state.tasks.retain(|task| task.runtime.id() != runtime);
            self.tell(state);
            return None;
        }
        let until =
            if is_idle { None } else { queue::earliest(to_record_age(until), state.queue.next_overdue()) };
        let wakes = until.unwrap_or(idle_ends);
        if let Some(task) = state.tasks.iter_mut().find(|task| task.runtime.id() == runtime) {
            task.wakes = Some(wakes);
        }
        // From here on, dropping a batch frees its slot.
        let sending = due.into_iter().map(|due| self.sending(due)).collect();
        self.tell(state);
        Some((sending, wakes))
    }

    fn sending(self: &Arc<Self>, Due { batch, given_up }: Due<K>) -> Sending<K, H> {
        let (lane, number, entries) = (Arc::clone(self), batch.number, batch.size.entries);
        let slot = Slot { lane, number, entries, is_answered: false, rings: None };
        Sending { request: Request::new(self, batch), given_up, slot }
    }

    /// Takes the result of a batch, and its loads.
    fn complete(&self, number: u64, answer: Answer<K::Receipt>, loads: Vec<Load<K>>) {
        let mut state = self.state.lock();
        let (was_failing, error) = (state.queue.is_failing(), answer.error().cloned());
        state.queue.complete(Instant::now(), number, answer, loads, random::unit());
        let is_failing = state.queue.is_failing();
        self.tell(state);
        if was_failing != is_failing {
            self.log_outage(is_failing, error.as_ref());
        }
    }

    /// A request has ended. If it was not answered, it was dropped, or it panicked. `rings`: the runtime whose task takes the next
    /// batch, unless this is that task.
    fn leave(&self, number: u64, is_answered: bool, rings: Option<Id>) {
        let mut state = self.state.lock();
        state.requests.retain(|(other, _)| *other != number);
        if !is_answered {
            state.queue.fail_batch(number, &SendError::new(SendErrorKind::Aborted));
        }
        state.queue.release_slot(number);
        state.answered += 1;
        if state.tasks.len() > 1 {
            // Entries of other runtimes may be among those that wait now.
            state.ring_all();
        } else if let Some(runtime) = rings {
            state.ring(runtime);
        }
        state.abort_if_unattended();
        self.tell(state);
    }

    /// The task of a runtime has ended before the lane was idle: it panicked, or its runtime ended.
    fn abandon(&self, runtime: Id) {
        let mut state = self.state.lock();
        state.tasks.retain(|task| task.runtime.id() != runtime);
        state.ring_all();
        state.abort_if_unattended();
        self.tell(state);
    }

    /// One line at the start of an outage, and one at its end. Without a cause, each entry failed by itself.
    fn log_outage(&self, is_failing: bool, cause: Option<&SendError>) {
        let Site { queue_url, action, .. } = self.site();
        let action = action.as_str();
        if is_failing {
            let error = cause.map(tracing::field::debug);
            tracing::warn!(error, queue_url, action, "all requests fail; retrying one at a time");
        } else {
            tracing::info!(queue_url, action, "requests succeed again");
        }
    }

    /// The lane, for the observer.
    fn site(&self) -> Site<'_> {
        Site { queue_url: &self.queue_url, action: K::Operation::ACTION, metrics: &self.metrics }
    }

    fn cause(&self, cause: Cause) -> Cause {
        if self.share.is_starving() { Cause::Starving } else { cause }
    }

    /// Sends waiting entries without waiting for fuller batches, because another entry waits for their capacity.
    pub(crate) fn send_for_capacity(&self) {
        self.state.lock().ring_all();
    }

    /// Ends the entries of a key that are not in flight.
    pub(crate) fn supersede(&self, key: &Key) {
        let mut state = self.state.lock();
        state.queue.supersede(key);
        self.tell(state);
    }

    /// Sends the entries admitted so far without waiting for full batches; `None` if all of them have ended.
    pub(crate) fn flush(&self) -> Option<Flush> {
        let mut state = self.state.lock();
        state.ring_all();
        let (unsettled, ends) = (state.queue.unsettled(), state.ends?);
        state.queue.flush().map(|results| Flush { results, ends, unsettled })
    }

    /// Admits no more entries, and sends the waiting ones without waiting for more.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.queue.close();
        state.ring_all();
    }

    /// Ends all entries.
    pub(crate) fn abort(&self) {
        let mut state = self.state.lock();
        state.abort();
        state.ring_all();
        self.tell(state);
    }

    /// Retires the lane if it is unused.
    pub(crate) fn retire(&self) -> bool {
        let mut state = self.state.lock();
        state.is_retired =
            state.queue.is_idle() && state.queue.has_none_in_flight() && !self.share.is_starving();
        state.is_retired
    }

    /// Reports events, with the lock released.
    fn tell(&self, mut state: MutexGuard<'_, State<K>>) {
        let (settled, retried) = (state.queue.take_settled(), state.queue.take_retried());
        state.abort_overdue();
        let has_unsent = settled.iter().any(|settled| settled.result.is_err() && settled.load.is_some());
        let home = state.tasks.first().filter(|_| has_unsent).map(|task| task.runtime.clone());
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
        let told = self.tell_tickets(site, settled, home.as_ref());
        let state = &mut *self.state.lock();
        for (epoch, entries) in &told {
            state.queue.told(*epoch, entries);
        }
        if state.queue.is_over() {
            state.ring_all();
        }
    }

    /// Resolves tickets, and counts the entries by epoch.
    fn tell_tickets(
        &self,
        site: Site<'_>,
        settled: Vec<SettledOf<K>>,
        home: Option<&Handle>,
    ) -> Vec<(u64, Summary)> {
        let mut told: Vec<(u64, Summary)> = Vec::new();
        let mut results = Vec::with_capacity(settled.len());
        let mut permits = Vec::with_capacity(settled.len());
        for Settled { item: mut waiters, load, result, epoch } in settled {
            let failure = result.as_ref().err();
            if let Some((error, Load { entry, .. })) = failure.zip(load) {
                // On standard queues, an attempt in doubt has discarded what was prepared for it.
                let is_maybe_sent = error.is_outcome_unknown() && is_fifo(&self.queue_url);
                discard::<K, H>(&self.client, entry, is_maybe_sent, home);
            }
            // Loads are dropped before their capacity is returned, so that memory stays within the bounds.
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
    fn new(rules: Rules) -> Self {
        Self {
            queue: Queue::new(rules),
            tasks: Vec::new(),
            requests: Vec::new(),
            answered: 0,
            ends: None,
            is_retired: false,
            age_recorded: (None, false),
        }
    }

    /// The batches to send now, and the time of the next action.
    fn due(&mut self, now: Instant, is_starving: bool) -> (Vec<Due<K>>, Option<Instant>) {
        let mut due = Vec::new();
        loop {
            let cause = match std::mem::take(&mut self.answered) {
                _ if is_starving => Cause::Starving,
                0 => Cause::Other,
                answered => {
                    // Each response releases one batch that is not full.
                    self.answered = answered - 1;
                    Cause::Answer
                }
            };
            let batch = match self.queue.poll(now, cause) {
                Step::Dispatch(batch) => batch,
                Step::Wait(until) => {
                    self.answered = 0;
                    return (due, until);
                }
            };
            let (give_up, given_up) = AbortHandle::new_pair();
            self.requests.push((batch.number, give_up));
            due.push(Due { batch, given_up });
        }
    }

    /// Makes the task of a runtime act at this time, if it wakes later. Returns the bell of a task that has to be started.
    fn call(&mut self, runtime: &Handle, acts: Option<Instant>) -> Option<Arc<Notify>> {
        let Some(task) = self.tasks.iter_mut().find(|task| task.runtime.id() == runtime.id()) else {
            let rings = Arc::new(Notify::new());
            self.tasks.push(Bell { runtime: runtime.clone(), rings: Arc::clone(&rings), wakes: None });
            return Some(rings);
        };
        if acts.zip(task.wakes).is_some_and(|(acts, wakes)| acts < wakes) {
            task.ring();
        }
        None
    }

    /// Wakes the task of a runtime, or all others if it has ended.
    fn ring(&mut self, runtime: Id) {
        match self.tasks.iter_mut().find(|task| task.runtime.id() == runtime) {
            Some(task) => task.ring(),
            None => self.ring_all(),
        }
    }

    /// Aborts requests whose batches were given up: nothing of them may reach SQS later.
    fn abort_overdue(&mut self) {
        for number in self.queue.take_overdue() {
            if let Some(index) = self.requests.iter().position(|(other, _)| *other == number) {
                self.requests.swap_remove(index).1.abort();
            }
        }
    }

    fn ring_all(&mut self) {
        self.tasks.iter_mut().for_each(Bell::ring);
    }

    /// Records metrics of the lane. The age of the oldest entry is recorded at most once a second, because it takes
    /// linear time.
    fn record(&mut self, metrics: &LaneMetrics) {
        metrics.in_flight_limit.set(self.queue.in_flight_limit());
        let (now, (last, was_some)) = (Instant::now(), self.age_recorded);
        if self.queue.has_waiting() {
            if last.is_none_or(|last| now >= last + AGE_INTERVAL) {
                let oldest = self.queue.oldest_waiting().unwrap_or(now);
                metrics.oldest_age.set(now.saturating_duration_since(oldest).as_secs_f64());
                self.age_recorded = (Some(now), true);
            }
        } else if was_some {
            metrics.oldest_age.set(0.0);
            self.age_recorded.1 = false;
        }
    }

    /// Ends waiting entries if no task is left to send them.
    fn abort_if_unattended(&mut self) {
        if self.tasks.is_empty() && self.queue.has_none_in_flight() {
            self.abort();
        }
    }

    fn abort(&mut self) {
        self.queue.abort();
        for (_, request) in self.requests.drain(..) {
            request.abort();
        }
    }
}

impl Bell {
    fn ring(&mut self) {
        if self.wakes.take().is_some() {
            self.rings.notify_one();
        }
    }
}

/// When a task acts although there is nothing to send before `until`: waiting entries get older.
fn to_record_age(until: Option<Instant>) -> Option<Instant> {
    if IS_ON { until.map(|until| until.min(Instant::now() + AGE_INTERVAL)) } else { until }
}

/// The task of a lane on one runtime. If it is dropped before it is done, it tells the lane.
struct Task<K: Kind, H: Execute> {
    lane: Arc<Lane<K, H>>,
    runtime: Handle,
    is_done: bool,
}

impl<K: Kind, H: Execute> Task<K, H> {
    /// Sends what is due, until the lane is idle. One request runs inside this task, so that a lone sender waits for no other;
    /// further ones have tasks of their own.
    async fn run(mut self, rings: Arc<Notify>) {
        let home = self.runtime.id();
        let (mut own, mut timer) = (pin!(None), pin!(sleep_until(Instant::now())));
        let mut idle_since = None;
        while let Some((due, wakes)) = self.lane.poll(home, &mut idle_since) {
            for mut sending in due {
                if own.is_none() {
                    // A client below that panics must not end this task.
                    own.set(Some(AssertUnwindSafe(sending.send()).catch_unwind().map(drop)));
                } else {
                    sending.slot.rings = Some(home);
                    self.runtime.spawn(sending.send());
                }
            }
            if wakes < timer.deadline() || timer.is_elapsed() {
                timer.as_mut().reset(wakes);
            }
            tokio::select! {
                biased;
                () = end_of(own.as_mut()) => own.set(None),
                () = rings.notified() => {}
                () = &mut timer => {}
            }
        }
        self.is_done = true;
    }
}

/// The end of a request, if there is one.
async fn end_of(request: Pin<&mut Option<impl Future<Output = ()>>>) {
    match request.as_pin_mut() {
        Some(request) => request.await,
        None => pending().await,
    }
}

impl<K: Kind, H: Execute> Drop for Task<K, H> {
    fn drop(&mut self) {
        if !self.is_done {
            self.lane.abandon(self.runtime.id());
        }
    }
}

impl<K: Kind, H: Execute> Sending<K, H> {
    async fn send(self) {
        let Self { request, given_up, mut slot } = self;
        let request = pin!(request.send());
        if let Ok((answer, loads)) = Abortable::new(request, given_up).await {
            slot.lane.complete(slot.number, answer, loads);
        }
        slot.is_answered = true;
        if slot.entries > 1 {
            // Senders whose tickets have just resolved may have entries for the next batch.
            tokio::task::yield_now().await;
        }
    }
}

/// Lets the client below remove what it has prepared for an entry. That needs a runtime, and may panic.
fn discard<K: Kind, H: Execute>(client: &H, entry: K::Entry, is_maybe_sent: bool, home: Option<&Handle>) {
    contain(|| {
        let _entered = home.filter(|_| Handle::try_current().is_err()).map(Handle::enter);
        K::discard(client, entry, is_maybe_sent);
    });
}

/// Calls the client below, which may panic.
pub(crate) fn contain(call: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
        tracing::error!(error = %Panicked::of(&*panic), "the client below panicked");
    }
}

/// The slot of a request. Dropping it frees the slot, however the request has ended.
struct Slot<K: Kind, H: Execute> {
    lane: Arc<Lane<K, H>>,
    number: u64,
    /// How many entries the request has.
    entries: usize,
    /// Whether its entries have their results, unless it was aborted.
    is_answered: bool,
    rings: Option<Id>,
}

impl<K: Kind, H: Execute> Drop for Slot<K, H> {
    fn drop(&mut self) {
        self.lane.leave(self.number, self.is_answered, self.rings);
    }
}
