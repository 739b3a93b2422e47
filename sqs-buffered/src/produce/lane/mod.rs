//! One lane: what goes to one queue by one operation. Pure: time and randomness are parameters, nothing waits.
//!
//! ```text
//! push -> backlog (order, runs, pauses) -> open batch (fits, linger) -> poll: Dispatch -> in flight -> complete
//!            ^                                                                                          |
//!            +---- retries, in front --------------------------------- settle: accepted | again | lost -+--> settled
//! ```
//! What is to be sent, the load, goes out with the batch and comes back with the answer: it is moved, and what is in flight
//! here has none.
//!
//! What is settled comes back as [`Settled`], each admitted entry exactly once.

mod answer;
mod backlog;
mod fate;
mod fill;
mod health;
mod ledger;
mod open;
mod pending;
mod rules;
mod runs;
mod settle;
#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::produce::error::{SendError, SendErrorKind};
use crate::produce::summary::Summary;

pub(crate) use answer::{Answer, EntryAnswer, Failure, Receipt, Refusal};
pub(crate) use pending::{Key, Laden, Outbound, Pending};
pub use rules::{AfterFailure, FifoOrdering, Linger};
pub(crate) use rules::{RetryRules, Rules};

use backlog::Backlog;
use health::Health;
use ledger::Ledger;
use open::Open;
use pending::Waiting;

/// An entry that has ended, and how.
#[derive(Debug)]
pub(crate) struct Settled<L, T, R> {
    pub(crate) item: T,
    /// What was to be sent, unless a request has it. Large ones take a while to be dropped.
    pub(crate) load: Option<L>,
    pub(crate) result: Result<R, SendError>,
    /// Which flush has to wait until it is told.
    pub(crate) epoch: u64,
}

/// An entry that is tried again.
#[derive(Debug)]
pub(crate) struct Retried {
    /// Why it was not done.
    pub(crate) error: SendError,
    pub(crate) attempts: u32,
    pub(crate) pause: Duration,
}

/// What to do next.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Step<L> {
    /// Send the batch of this number; then ask again. The loads come back to [`Lane::complete`], in their order.
    Dispatch(u64, Vec<Outbound<L>>),
    /// Nothing, until then or until something happens.
    Wait(Option<Instant>),
}

/// The state of a lane.
#[derive(Debug)]
pub(crate) struct Lane<L, T, R> {
    rules: Rules,
    backlog: Backlog<Laden<L, T>>,
    open: Open<Laden<L, T>>,
    in_flight: Vec<Flight<T>>,
    health: Health,
    ledger: Ledger,
    next_batch: u64,
    /// Something came back, so that what is there goes.
    nudged: bool,
    is_closing: bool,
    /// Before this, no waiting entry has passed its deadline.
    no_deadline_before: Option<Instant>,
    settled: Vec<Settled<L, T, R>>,
    /// Empty unless somebody wants to hear.
    retried: Vec<Retried>,
}

/// The earlier of two moments, of those that there are.
fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

/// An entry with this deadline waits from now on. Says whether no other has one that is as near.
fn heed(no_deadline_before: &mut Option<Instant>, deadline: Instant) -> bool {
    let is_nearest = no_deadline_before.is_none_or(|at| deadline < at);
    if is_nearest {
        *no_deadline_before = Some(deadline);
    }
    is_nearest
}

/// A batch in flight.
#[derive(Debug)]
struct Flight<T> {
    number: u64,
    entries: Vec<Pending<T>>,
}

impl<L, T, R: Receipt> Lane<L, T, R> {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            backlog: Backlog::new(),
            open: Open::new(),
            in_flight: Vec::new(),
            health: Health::default(),
            ledger: Ledger::default(),
            next_batch: 0,
            nudged: false,
            is_closing: false,
            no_deadline_before: None,
            settled: Vec::new(),
            retried: Vec::new(),
        }
    }

    /// Takes an admitted entry, and says whether the lane is to be polled for it. It need not be where an answer or a time
    /// that the lane waits for already comes first.
    pub(crate) fn push(&mut self, mut entry: Waiting<L, T>, starving: bool) -> bool {
        entry.epoch = self.ledger.admit();
        let is_urgent = heed(&mut self.no_deadline_before, entry.deadline);
        let is_first = self.open.is_empty();
        self.backlog.push(entry);
        self.fill();
        if self.open.is_empty() || self.has_all_in_flight() {
            return is_urgent;
        }
        is_urgent || is_first || self.is_pressing(starving) || self.is_full()
    }

    /// The last entry of a key that is not in flight, for a newer one that says the same or better: it takes its place, with
    /// its own deadline and all attempts before it. With it comes whether the lane is to be polled for that.
    pub(crate) fn merge(&mut self, key: &Key, deadline: Instant) -> Option<(&mut Laden<L, T>, bool)> {
        let last = self.backlog.last_of(key).or_else(|| self.open.of_key(key))?;
        (last.deadline, last.attempts, last.last_error) = (deadline, 0, None);
        Some((&mut last.item, heed(&mut self.no_deadline_before, deadline)))
    }

    /// Ends the entries of a key that are not in flight, and sees to it that those in flight are not tried again.
    pub(crate) fn supersede(&mut self, key: &Key) {
        let is_meant = |own: Option<&Key>| own == Some(key);
        let in_flight = self.in_flight.iter_mut().flat_map(|flight| &mut flight.entries);
        for entry in in_flight.filter(|entry| is_meant(entry.key.as_ref())) {
            entry.is_superseded = true;
        }
        let opened = self.open.take_all(|entry| is_meant(entry.key.as_ref()));
        let was_open = !opened.is_empty();
        let waiting = self.backlog.take_run(key);
        for entry in opened.into_iter().chain(waiting) {
            self.lose(entry, SendErrorKind::Superseded);
        }
        if was_open {
            self.backlog.release(key, Vec::new(), None);
        }
    }

    /// What to do now. `starving`: somebody waits for the capacity that waiting entries take.
    pub(crate) fn poll(&mut self, now: Instant, starving: bool) -> Step<L> {
        self.expire(now);
        self.backlog.wake(now);
        self.fill();
        let mut wake = earliest(self.no_deadline_before, self.backlog.next_wake());
        let Some(since) = self.open.since() else {
            self.nudged = false;
            return Step::Wait(wake);
        };
        let pause = self.health.pause(now);
        if pause.is_some() {
            return Step::Wait(earliest(wake, pause));
        }
        if !self.has_all_in_flight() {
            let linger_ends = self.linger_ends(now, since);
            if linger_ends <= now || self.is_pressing(starving) || self.is_full() {
                return self.dispatch();
            }
            wake = earliest(wake, Some(linger_ends));
        }
        Step::Wait(wake)
    }

    #[cfg(test)]
    fn batch(&self, number: u64) -> impl Iterator<Item = &Pending<T>> {
        self.in_flight.iter().filter(move |flight| flight.number == number).flat_map(|flight| &flight.entries)
    }

    /// What has ended since the last time. It counts as ended for flushes when it was [told](Self::told).
    pub(crate) fn take_settled(&mut self) -> Vec<Settled<L, T, R>> {
        std::mem::take(&mut self.settled)
    }

    /// What is tried again, since the last time.
    pub(crate) fn take_retried(&mut self) -> Vec<Retried> {
        std::mem::take(&mut self.retried)
    }

    /// Those who wait for these entries of an epoch know how they have ended.
    pub(crate) fn told(&mut self, epoch: u64, entries: &Summary) {
        self.ledger.settle(epoch, entries);
        if self.is_idle() {
            self.no_deadline_before = None;
        }
    }

    /// Sends without waiting for full batches what was admitted so far. The receiver hears when all of it has ended;
    /// `None` says that it has.
    pub(crate) fn flush(&mut self) -> Option<oneshot::Receiver<Summary>> {
        self.ledger.flush()
    }

    /// From now on nothing waits for full batches.
    pub(crate) fn close(&mut self) {
        self.is_closing = true;
    }

    /// Ends everything that has not ended. What comes later starts afresh.
    pub(crate) fn abort(&mut self) {
        let flights = std::mem::take(&mut self.in_flight).into_iter();
        flights
            .flat_map(|flight| flight.entries)
            .for_each(|entry| self.forsake(entry, SendError::new(SendErrorKind::Aborted)));
        let waiting = std::mem::replace(&mut self.backlog, Backlog::new()).into_entries();
        for entry in self.open.close().into_iter().chain(waiting) {
            self.lose(entry, SendErrorKind::Aborted);
        }
    }

    /// Whether everything has ended, and was told.
    pub(crate) fn is_idle(&self) -> bool {
        self.ledger.is_settled()
    }

    /// Whether nothing more will come.
    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing
    }

    fn dispatch(&mut self) -> Step<L> {
        self.nudged = false;
        let number = self.next_batch;
        self.next_batch += 1;
        let (loads, entries) = self.open.close().into_iter().map(Pending::unladen).unzip();
        self.in_flight.push(Flight { number, entries });
        Step::Dispatch(number, loads)
    }
}
