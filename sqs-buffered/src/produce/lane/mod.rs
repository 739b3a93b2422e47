//! One lane: the entries of one queue and one operation. Pure: time and randomness are parameters, nothing waits.
//!
//! ```text
//! push -> backlog (order, runs, pauses) -> open batch (fits, linger) -> poll: Dispatch -> in flight -> complete
//!            ^                                                                                          |
//!            +---- retries, in front ------------------------------ settle: accepted | retried | failed +--> settled
//! ```
//! The load of an entry is moved into the request, and back with the result. It is never copied.
//!
//! Each admitted entry is returned exactly once as [`Settled`].

mod answer;
mod backlog;
mod fill;
mod health;
mod ledger;
mod limit;
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

pub(crate) use answer::{Answer, Receipt};
pub(crate) use pending::{Key, Pending};
pub use rules::{AfterFailure, BatchLimits, FifoOrdering, InFlight, Linger};
pub(crate) use rules::{RetryRules, Rules};

use backlog::Backlog;
use health::Health;
use ledger::Ledger;
use limit::Limit;
use open::Open;

/// How long a lower limit of bytes or entries is kept after SQS has refused a batch as too long.
const LEARNED_FOR: Duration = Duration::from_mins(5);

/// An entry that has ended, and how.
#[derive(Debug)]
pub(crate) struct Settled<L, T, R> {
    pub(crate) item: T,
    /// The load, unless a request has it. Dropping a large one takes time, so it is not dropped under a lock.
    pub(crate) load: Option<L>,
    pub(crate) result: Result<R, SendError>,
    /// The epoch: which flushes wait for its tickets.
    pub(crate) epoch: u64,
}

/// An entry that is retried.
#[derive(Debug)]
pub(crate) struct Retried {
    /// Why the attempt failed.
    pub(crate) error: SendError,
    pub(crate) attempts: u32,
    pub(crate) pause: Duration,
}

/// Why a lane is polled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Cause {
    /// A batch was answered.
    Answer,
    /// An entry waits for the capacity that waiting entries of this lane take.
    Starving,
    /// An entry arrived, or time has passed.
    Other,
}

/// What to do next.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Step<L> {
    /// Send this batch; then ask again.
    Dispatch(Dispatch<L>),
    /// Nothing is due until this time or the next change; `None` if no entry waits.
    Wait(Option<Instant>),
}

/// Whether a batch is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Look {
    Due,
    /// Nothing is due until this time or the next change; `None` if no entry waits.
    Wait(Option<Instant>),
}

/// A batch to send. It occupies a slot until [`Lane::release_slot`].
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Dispatch<L> {
    pub(crate) number: u64,
    /// They come back to [`Lane::complete`], in this order.
    pub(crate) loads: Vec<L>,
    pub(crate) size: BatchSize,
    /// The earliest admission of its entries.
    pub(crate) admitted: Instant,
    /// The earliest deadline of its entries.
    pub(crate) deadline: Instant,
}

/// A batch in numbers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct BatchSize {
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
    /// Entries that were in a batch before.
    pub(crate) retried: usize,
    /// The time from admission to this batch, summed over the entries whose first batch it is.
    pub(crate) waited: Duration,
}

/// The state of a lane.
#[derive(Debug)]
pub(crate) struct Lane<L, T, R> {
    rules: Rules,
    /// The limits of the rules, or lower ones that were learned from SQS and apply until `limits_hold`.
    limits: BatchLimits,
    limits_hold: Option<Instant>,
    backlog: Backlog<L, T>,
    open: Open<L, T>,
    in_flight: Vec<Flight<L, T>>,
    /// Slots in use: batches in flight, and batches whose response is being processed.
    slots: usize,
    limit: Limit,
    health: Health,
    ledger: Ledger,
    next_batch: u64,
    is_closing: bool,
    settled: Vec<Settled<L, T, R>>,
    /// Empty unless an event hook gets retries.
    retried: Vec<Retried>,
}

/// The earlier of two times.
fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

/// A batch in flight. Its request has the loads.
#[derive(Debug)]
struct Flight<L, T> {
    number: u64,
    entries: Vec<Pending<L, T>>,
}

impl<L, T, R: Receipt> Lane<L, T, R> {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            limits: rules.limits,
            limits_hold: None,
            backlog: Backlog::new(),
            open: Open::new(),
            in_flight: Vec::new(),
            slots: 0,
            limit: Limit::new(rules.in_flight),
            health: Health::default(),
            ledger: Ledger::default(),
            next_batch: 0,
            is_closing: false,
            settled: Vec::new(),
            retried: Vec::new(),
        }
    }

    /// Takes an admitted entry. The lane has to be polled for it.
    pub(crate) fn push(&mut self, mut entry: Pending<L, T>) {
        entry.epoch = self.ledger.admit();
        self.backlog.push(entry);
    }

    /// The last entry of a key that is not in flight, to merge a newer one into it. It takes the load of the newer one
    /// and starts again, with the earlier deadline of both. The lane must be polled then.
    pub(crate) fn merge(&mut self, key: &Key, deadline: Instant) -> Option<(&mut Option<L>, &mut T)> {
        let last = self.backlog.change_last(key, deadline).or_else(|| self.open.of_key(key))?;
        (last.attempts, last.last_error) = (0, None);
        last.deadline = last.deadline.min(deadline);
        Some((&mut last.load, &mut last.item))
    }

    /// Ends the entries of a key that are not in flight, and prevents retries of those in flight.
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
            self.fail_unsent(entry, SendError::new(SendErrorKind::Superseded));
        }
        if was_open {
            self.backlog.release(key, Vec::new(), None);
        }
    }

    /// The next step.
    pub(crate) fn poll(&mut self, now: Instant, cause: Cause) -> Step<L> {
        match self.look(now, cause) {
            Look::Due => Step::Dispatch(self.dispatch(now)),
            Look::Wait(until) => Step::Wait(until),
        }
    }

    /// Whether a batch is due. It stays open until the next poll, so other entries may join it.
    pub(crate) fn look(&mut self, now: Instant, cause: Cause) -> Look {
        if self.limits_hold.take_if(|until| *until <= now).is_some() {
            self.limits = self.rules.limits;
        }
        self.expire(now);
        self.backlog.wake(now);
        self.fill();
        let Some(since) = self.open.since() else {
            return Look::Wait(earliest(self.backlog.first_deadline(), self.backlog.next_wake()));
        };
        let pause = self.health.pause(now);
        let linger_ends = self.linger_ends(now, since);
        let is_held = pause.is_some() || self.has_all_in_flight();
        if linger_ends <= now || self.is_due(cause) || self.is_full() {
            if !is_held {
                return Look::Due;
            }
            if pause.is_none() && self.is_full() {
                self.limit.note_waiting();
            }
        }
        let wake = if is_held { pause } else { Some(linger_ends) };
        let deadline = earliest(self.open.first_deadline(), self.backlog.first_deadline());
        Look::Wait(earliest(wake, earliest(deadline, self.backlog.next_wake())))
    }

    /// Releases the slot of a batch whose request has ended and whose results are processed. Another batch may use it.
    pub(crate) fn release_slot(&mut self) {
        self.slots = self.slots.saturating_sub(1);
    }

    /// The entries that have ended since the last call. For flushes, they count as ended when their tickets are
    /// [told](Self::told).
    pub(crate) fn take_settled(&mut self) -> Vec<Settled<L, T, R>> {
        std::mem::take(&mut self.settled)
    }

    /// The entries that were retried since the last call.
    pub(crate) fn take_retried(&mut self) -> Vec<Retried> {
        std::mem::take(&mut self.retried)
    }

    /// The tickets of this number of entries of an epoch have resolved.
    pub(crate) fn told(&mut self, epoch: u64, entries: &Summary) {
        self.ledger.settle(epoch, entries);
    }

    /// Sends the entries admitted so far without waiting for full batches. The receiver resolves when all of them have ended;
    /// `None` if they have.
    pub(crate) fn flush(&mut self) -> Option<oneshot::Receiver<Summary>> {
        self.ledger.flush()
    }

    /// The entries that have not ended, or whose tickets have not resolved.
    pub(crate) fn unsettled(&self) -> usize {
        self.ledger.unsettled()
    }

    /// Sends without waiting for full batches from now on.
    pub(crate) fn close(&mut self) {
        self.is_closing = true;
    }

    /// Ends all entries. Entries that are admitted later are sent as usual.
    pub(crate) fn abort(&mut self) {
        let aborted = SendError::new(SendErrorKind::Aborted);
        for flight in std::mem::take(&mut self.in_flight) {
            for entry in flight.entries {
                self.end(entry, Err(aborted.clone().maybe_sent(true)));
            }
        }
        let waiting = std::mem::replace(&mut self.backlog, Backlog::new()).into_entries();
        for entry in self.open.close().into_iter().chain(waiting) {
            self.fail_unsent(entry, aborted.clone());
        }
    }

    /// Whether all entries have ended, and their tickets have resolved.
    pub(crate) fn is_idle(&self) -> bool {
        self.ledger.is_settled()
    }

    /// Whether nothing is in flight.
    pub(crate) fn has_none_in_flight(&self) -> bool {
        self.slots == 0
    }

    /// How many batches may be in flight.
    pub(crate) fn in_flight_limit(&self) -> usize {
        self.limit.bound()
    }

    /// Whether there are entries that are not in flight.
    pub(crate) fn has_waiting(&self) -> bool {
        self.open.since().is_some() || !self.backlog.is_empty()
    }

    /// The admission time of the oldest of them. Takes linear time.
    pub(crate) fn oldest_waiting(&self) -> Option<Instant> {
        earliest(self.open.oldest(), self.backlog.oldest())
    }

    /// Whether all recent batches failed, so that one is tried at a time.
    pub(crate) fn is_failing(&self) -> bool {
        self.health.is_poor()
    }

    /// Whether no more entries are admitted.
    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// Whether the lane is closed, and all entries have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closing && self.is_idle()
    }

    fn dispatch(&mut self, now: Instant) -> Dispatch<L> {
        let number = self.next_batch;
        self.next_batch += 1;
        self.slots += 1;
        self.limit.sent();
        let mut entries = self.open.close();
        let loads: Vec<L> = entries.iter_mut().filter_map(|entry| entry.load.take()).collect();
        debug_assert_eq!(loads.len(), entries.len(), "each entry has its load");
        let mut size = BatchSize { entries: entries.len(), ..BatchSize::default() };
        let (mut admitted, mut deadline) = (now, None);
        for entry in &entries {
            let is_first = entry.attempts == 0;
            size.bytes += entry.bytes;
            size.retried += usize::from(!is_first);
            size.waited +=
                if is_first { now.saturating_duration_since(entry.admitted) } else { Duration::ZERO };
            admitted = admitted.min(entry.admitted);
            deadline = earliest(deadline, Some(entry.deadline));
        }
        self.in_flight.push(Flight { number, entries });
        Dispatch { number, loads, size, admitted, deadline: deadline.unwrap_or(now) }
    }
}
