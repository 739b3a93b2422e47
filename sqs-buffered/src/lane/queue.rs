//! The entries of one lane. Pure: time and randomness are parameters, nothing waits.
//!
//! ```text
//! push -> backlog (order, runs, pauses) -> open batch (fits, linger) -> poll: Dispatch -> in flight -> complete
//!            ^                                                                                          |
//!            +---- retries, in front ------------------------------ settle: accepted | retried | failed +--> settled
//! ```
//! The load of an entry is moved into the request, and back with the result. It is never copied.
//!
//! Each admitted entry is returned exactly once as [`Settled`].

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::error::{SendError, SendErrorKind};
use crate::lane::backlog::{Backlog, EntryResult, in_runs, is_stored, overtakers};
use crate::lane::flush::{Ledger, Summary};
use crate::lane::limit::Limit;
use crate::lane::retry::Health;
use crate::settings::{AfterFailure, BatchLimits, FifoOrdering, Linger, Rules};
use crate::time::after;

/// How much longer than its request an entry in flight is awaited.
pub(crate) const ANSWER_MARGIN: Duration = Duration::from_secs(1);

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

/// A batch to send. It occupies a slot until [`Queue::release_slot`].
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Dispatch<L> {
    pub(crate) number: u64,
    /// They come back to [`Queue::complete`], in this order.
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
pub(crate) struct Queue<L, T, R> {
    rules: Rules,
    /// The limits of the rules, or lower ones that were learned from SQS and apply until `limits_hold`.
    limits: BatchLimits,
    limits_hold: Option<Instant>,
    backlog: Backlog<L, T>,
    open: Open<L, T>,
    in_flight: Vec<Flight<L, T>>,
    /// The batches that use a slot: those in flight, and those whose response is being processed.
    slots: Vec<u64>,
    limit: Limit,
    health: Health,
    ledger: Ledger,
    next_batch: u64,
    is_closing: bool,
    settled: Vec<Settled<L, T, R>>,
    overdue: Vec<u64>,
    /// Empty unless an event hook gets retries.
    retried: Vec<Retried>,
}

/// The earlier of two times.
pub(crate) fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

/// A batch in flight. Its request has the loads.
#[derive(Debug)]
struct Flight<L, T> {
    number: u64,
    entries: Vec<Pending<L, T>>,
    /// When it is given up: its request should have ended by itself, but may depend on a runtime that no longer runs.
    overdue: Instant,
}

impl<L, T, R: Receipt> Queue<L, T, R> {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            limits: rules.limits,
            limits_hold: None,
            backlog: Backlog::new(),
            open: Open::new(),
            in_flight: Vec::new(),
            slots: Vec::new(),
            limit: Limit::new(rules.in_flight),
            health: Health::default(),
            ledger: Ledger::default(),
            next_batch: 0,
            is_closing: false,
            settled: Vec::new(),
            overdue: Vec::new(),
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
            self.limit.note_waiting(false);
            return Look::Wait(earliest(self.backlog.first_deadline(), self.backlog.next_wake()));
        };
        let pause = self.health.pause(now);
        let linger_ends = self.linger_ends(now, since);
        let is_held = pause.is_some() || self.has_all_in_flight();
        let is_due = linger_ends <= now || self.is_due(cause) || self.is_full();
        if is_due && !is_held {
            return Look::Due;
        }
        let is_limited = is_held && pause.is_none() && self.is_full();
        self.limit.note_waiting(is_limited);
        let wake = if is_held { pause } else { Some(linger_ends) };
        let deadline = earliest(self.open.first_deadline(), self.backlog.first_deadline());
        Look::Wait(earliest(wake, earliest(deadline, self.backlog.next_wake())))
    }

    /// Releases the slot of a batch whose request has ended and whose results are processed. Another batch may use it.
    pub(crate) fn release_slot(&mut self, number: u64) {
        self.slots.retain(|used| *used != number);
    }

    /// Batches that were given up since the last call.
    pub(crate) fn take_overdue(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.overdue)
    }

    /// When a batch in flight is given up next.
    pub(crate) fn next_overdue(&self) -> Option<Instant> {
        self.in_flight.iter().map(|flight| flight.overdue).min()
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

    /// Sends the entries admitted so far without waiting for full batches. The receiver counts the results as entries end, and its
    /// channel closes after the last one. `None` if all have ended.
    pub(crate) fn flush(&mut self) -> Option<watch::Receiver<Summary>> {
        self.ledger.flush()
    }

    /// The entries that have not ended, or whose tickets have not resolved.
    pub(crate) fn unsettled(&self) -> u64 {
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
        self.slots.is_empty()
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
        self.slots.push(number);
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
        let deadline = deadline.unwrap_or(now);
        let overdue = after(deadline, self.rules.grace + ANSWER_MARGIN);
        self.in_flight.push(Flight { number, entries, overdue });
        Dispatch { number, loads, size, admitted, deadline }
    }

    /// When the linger of the open batch ends: at half of the delivery timeout at the latest, so that there is time for retries.
    fn linger_ends(&self, now: Instant, since: Instant) -> Instant {
        let linger_ends = match self.rules.linger {
            Linger::Adaptive { .. } if self.slots.is_empty() => return now,
            Linger::Adaptive { max } => after(since, max),
            Linger::Fixed(linger) => after(since, linger),
        };
        self.open.half_time().map_or(linger_ends, |half| half.min(linger_ends))
    }

    /// Whether the bound on batches in flight is reached.
    fn has_all_in_flight(&self) -> bool {
        let most = if self.health.is_poor() { 1 } else { self.limit.bound() };
        self.slots.len() >= most
    }

    /// Whether entries go without waiting for a fuller batch.
    fn is_due(&self, cause: Cause) -> bool {
        self.is_closing
            || self.is_flushing()
            || match cause {
                Cause::Starving => true,
                Cause::Answer => self.may_go_partly_filled(),
                Cause::Other => false,
            }
    }

    /// Whether the open batch has an entry that a flush waits for, even if that flush was dropped.
    fn is_flushing(&self) -> bool {
        self.ledger.is_flushing() && self.open.any(|entry| self.ledger.is_flushed(entry.epoch))
    }

    /// Whether a response releases a batch that is not full. Such batches may use only half of the bound. Otherwise
    /// each would contain only the few entries of senders whose tickets have just resolved.
    fn may_go_partly_filled(&self) -> bool {
        let is_adaptive = matches!(self.rules.linger, Linger::Adaptive { .. });
        is_adaptive && self.slots.len() < self.limit.bound().div_ceil(2)
    }

    /// Moves entries into the open batch as long as they fit, in order.
    fn fill(&mut self) {
        if self.rules.ordering == FifoOrdering::Grouped {
            for key in self.open.keys() {
                self.fill_with_run(&key);
            }
        }
        while let Some(room) = self.open.room(self.limits) {
            if self.backlog.next_bytes().is_none_or(|bytes| bytes > room) {
                return;
            }
            let Some(entry) = self.backlog.next() else { return };
            let run = entry.key.clone().filter(|_| self.rules.ordering == FifoOrdering::Grouped);
            self.open.push(entry);
            if let Some(key) = run {
                self.fill_with_run(&key);
            }
        }
    }

    /// Adds further entries of a run that the open batch already contains.
    fn fill_with_run(&mut self, key: &Key) {
        while let Some(room) = self.open.room(self.limits) {
            let Some(follower) = self.backlog.follower(key, room) else { return };
            self.open.push(follower);
        }
    }

    /// Whether the batch is full, or the next entry does not fit. No entry fits into a batch that has all its bytes: every send has
    /// at least one byte.
    fn is_full(&mut self) -> bool {
        let Some(room) = self.open.room(self.limits) else { return true };
        room == 0 || self.backlog.next_bytes().is_some_and(|bytes| bytes > room)
    }

    /// Takes the result of a batch, and its loads, in the order of the batch. `chance`, from 0 to 1, sets the pause of
    /// the whole batch, so that entries that failed together are retried together.
    pub(crate) fn complete(
        &mut self,
        now: Instant,
        number: u64,
        answer: Answer<R>,
        loads: Vec<L>,
        chance: f64,
    ) {
        let Some(mut entries) = self.leave_flight(number) else { return };
        debug_assert_eq!(entries.len(), loads.len(), "each entry has its load");
        for (entry, load) in entries.iter_mut().zip(loads) {
            entry.load = Some(load);
        }
        self.health.note(now, &answer, self.in_flight.len(), &self.rules.retry, chance);
        self.limit.answered(now, number, self.next_batch, answer.is_throttle());
        let results: Vec<EntryResult<R>> = match answer {
            Answer::TooLong(error) => return self.split(now, entries, error),
            Answer::Failed(error) => entries.iter().map(|_| Err(error.clone())).collect(),
            Answer::Entries(results) => results,
        };
        let unaccounted = std::iter::repeat_with(|| Err(SendError::unaccounted()));
        let counted = entries.into_iter().map(|mut entry| {
            entry.attempts += 1;
            entry
        });
        for (key, run) in in_runs(counted.zip(results.into_iter().chain(unaccounted))) {
            self.settle_run(now, key.as_ref(), run, chance);
        }
    }

    /// Ends a batch whose request was dropped together with its loads.
    pub(crate) fn fail_batch(&mut self, number: u64, error: &SendError) {
        for entry in self.leave_flight(number).unwrap_or_default() {
            let key = entry.key.clone();
            self.end(entry, Err(error.clone().maybe_sent(true)));
            self.after_failure(key.as_ref());
            self.release(key.as_ref(), Vec::new(), None);
        }
    }

    /// The entries of a batch that is no longer in flight; `None` if it was aborted.
    fn leave_flight(&mut self, number: u64) -> Option<Vec<Pending<L, T>>> {
        let index = self.in_flight.iter().position(|flight| flight.number == number)?;
        Some(self.in_flight.swap_remove(index).entries)
    }

    /// SQS accepts less than the limits: retries all entries in smaller batches.
    fn split(&mut self, now: Instant, mut entries: Vec<Pending<L, T>>, error: SendError) {
        if entries.len() < 2 {
            if let Some(entry) = entries.pop() {
                let key = entry.key.clone();
                self.fail_unsent(entry, error);
                self.after_failure(key.as_ref());
                self.release(key.as_ref(), Vec::new(), None);
            }
            return;
        }
        let bytes: usize = entries.iter().map(|entry| entry.bytes).sum();
        self.limits = match bytes {
            0 => self.limits.entries(self.limits.max_entries().min(entries.len() / 2)),
            _ => self.limits.bytes(self.limits.max_bytes().min(bytes / 2).max(1)),
        };
        self.limits_hold = Some(after(now, LEARNED_FOR));
        // The last run first, because each goes to the front of the line.
        for (key, run) in in_runs(entries.into_iter().map(|entry| (entry, ()))).into_iter().rev() {
            let run = run.into_iter().map(|(entry, ())| entry);
            let (superseded, again) = run.partition::<Vec<_>, _>(|entry| entry.is_superseded);
            for entry in superseded {
                self.fail_unsent(entry, SendError::new(SendErrorKind::Superseded));
            }
            self.release(key.as_ref(), again, None);
        }
    }

    fn settle_run(
        &mut self,
        now: Instant,
        key: Option<&Key>,
        run: Vec<(Pending<L, T>, EntryResult<R>)>,
        chance: f64,
    ) {
        let overtakers = overtakers(&run);
        let (mut again, mut has_failed, mut until, mut highest) = (Vec::new(), false, None, None);
        for ((mut entry, result), overtaker) in run.into_iter().zip(overtakers) {
            entry.overtaken_at = [entry.overtaken_at, overtaker.sequence].into_iter().flatten().min();
            entry.preceded_by = entry.preceded_by.max(highest);
            let error = match result {
                Ok(receipt) => {
                    highest = highest.max(receipt.sequence_number());
                    self.accept(entry, receipt);
                    continue;
                }
                Err(error) if is_stored(&error) => {
                    self.end(entry, Err(error));
                    continue;
                }
                Err(error) => error,
            };
            let is_refused = !error.is_outcome_unknown();
            entry.maybe_sent |= !is_refused;
            let pause = self.rules.retry.pause(entry.attempts, error.is_throttle(), chance);
            let wakes = after(now, pause);
            let in_time = wakes < entry.deadline;
            if has_failed && self.rules.after_failure == AfterFailure::FailGroup {
                self.fail_unsent(entry, SendError::new(SendErrorKind::PrecedingFailed));
            } else if is_refused && overtaker.is_there {
                has_failed = true;
                self.fail_unsent(entry, error.of_kind(SendErrorKind::OrderGap));
            } else if entry.is_superseded && error.is_transient() {
                self.fail_unsent(entry, SendError::new(SendErrorKind::Superseded));
            } else if error.is_transient() && in_time && entry.attempts < self.rules.retry.attempts {
                until = until.max(Some(wakes));
                if self.rules.tells_retries {
                    self.retried.push(Retried { error: error.clone(), attempts: entry.attempts, pause });
                }
                entry.last_error = Some(error);
                again.push(entry);
            } else {
                has_failed = true;
                let is_late = error.is_transient() && !in_time;
                self.fail_unsent(entry, if is_late { error.of_kind(SendErrorKind::Timeout) } else { error });
            }
        }
        if has_failed {
            self.after_failure(key);
        }
        self.release(key, again, until);
    }

    fn accept(&mut self, entry: Pending<L, T>, mut receipt: R) {
        if self.is_out_of_order(&entry, receipt.sequence_number()) {
            let error = SendError::new(SendErrorKind::OutOfOrder).maybe_sent(true);
            return self.end(entry, Err(error.stored_as(receipt.message_id())));
        }
        if entry.maybe_sent && entry.key.is_none() {
            receipt.maybe_duplicate();
        }
        self.end(entry, Ok(receipt));
    }

    /// Whether a message was stored behind one that was admitted later, or, if it was sent more than once, ahead of one that was
    /// admitted earlier. The latter means nothing for other messages: SQS returns an old sequence number for duplicates that
    /// the user sends. If the messages of a group are sent one by one, their order needs no check.
    fn is_out_of_order(&mut self, entry: &Pending<L, T>, sequence: Option<u128>) -> bool {
        let Some((key, own)) = entry.key.as_ref().zip(sequence) else { return false };
        if self.rules.ordering != FifoOrdering::Grouped {
            return false;
        }
        self.backlog.note(key, own);
        entry.overtaken_at.is_some_and(|other| own > other)
            || (entry.maybe_sent && entry.preceded_by.is_some_and(|other| own < other))
    }

    /// Applies a failure to the waiting entries of its group.
    fn after_failure(&mut self, key: Option<&Key>) {
        let Some(key) = key.filter(|_| self.rules.after_failure == AfterFailure::FailGroup) else { return };
        for entry in self.backlog.take_run(key) {
            self.fail_unsent(entry, SendError::new(SendErrorKind::PrecedingFailed));
        }
    }

    /// Returns retried entries to the backlog, and releases the runs of the others.
    fn release(&mut self, key: Option<&Key>, again: Vec<Pending<L, T>>, until: Option<Instant>) {
        match key {
            Some(key) => self.backlog.release(key, again, until),
            None => again.into_iter().rev().for_each(|entry| self.backlog.put_back(entry, until)),
        }
    }

    /// Ends entries whose deadline has passed, and batches that are overdue.
    fn expire(&mut self, now: Instant) {
        while let Some(flight) = self.in_flight.iter().find(|flight| flight.overdue <= now) {
            let number = flight.number;
            self.fail_batch(number, &SendError::new(SendErrorKind::Timeout));
            self.release_slot(number);
            self.overdue.push(number);
        }
        while let Some(entry) = self.backlog.take_expired(now) {
            let key = entry.key.clone();
            self.time_out(entry);
            self.after_failure(key.as_ref());
        }
        if self.open.first_deadline().is_none_or(|deadline| deadline > now) {
            return;
        }
        let expired = self.open.take_all(|entry| entry.deadline <= now);
        let keys: Vec<_> = expired.iter().filter_map(|entry| entry.key.clone()).collect();
        for entry in expired {
            let key = entry.key.clone();
            self.time_out(entry);
            self.after_failure(key.as_ref());
        }
        for key in keys {
            if self.rules.after_failure == AfterFailure::FailGroup {
                for entry in self.open.take_all(|entry| entry.key.as_ref() == Some(&key)) {
                    self.fail_unsent(entry, SendError::new(SendErrorKind::PrecedingFailed));
                }
            }
            if self.open.of_key(&key).is_none() {
                self.backlog.release(&key, Vec::new(), None);
            }
        }
    }

    /// Ends an entry whose time is over, with the reason why its last attempt failed, if there was one.
    fn time_out(&mut self, mut entry: Pending<L, T>) {
        let error = entry.last_error.take().map(|error| error.of_kind(SendErrorKind::Timeout));
        self.fail_unsent(entry, error.unwrap_or_else(|| SendError::new(SendErrorKind::Timeout)));
    }

    /// Ends an entry that is not in flight. Earlier attempts say whether the service may have it.
    fn fail_unsent(&mut self, entry: Pending<L, T>, error: SendError) {
        let error = error.maybe_sent(entry.maybe_sent);
        self.end(entry, Err(error));
    }

    pub(crate) fn end(&mut self, entry: Pending<L, T>, result: Result<R, SendError>) {
        let Pending { item, load, epoch, .. } = entry;
        self.settled.push(Settled { item, load, result, epoch });
    }
}

/// Entries of one batch, in order. An entry larger than a batch is sent alone.
#[derive(Debug)]
pub(crate) struct Open<L, T> {
    entries: Vec<Pending<L, T>>,
    bytes: usize,
}

impl<L, T> Open<L, T> {
    pub(crate) fn new() -> Self {
        Self { entries: Vec::new(), bytes: 0 }
    }

    /// When its first entry was admitted; `None` if it has none.
    fn since(&self) -> Option<Instant> {
        self.entries.first().map(|entry| entry.admitted)
    }

    /// When the oldest of its entries was admitted: a retry may stand behind a younger one.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        self.entries.iter().map(|entry| entry.admitted).min()
    }

    /// The size that is left for another entry; `None` if the batch is full.
    fn room(&self, limits: BatchLimits) -> Option<usize> {
        if self.entries.is_empty() {
            return Some(usize::MAX);
        }
        let is_full = self.entries.len() >= limits.max_entries() || self.bytes > limits.max_bytes();
        (!is_full).then(|| limits.max_bytes() - self.bytes)
    }

    /// Adds an entry for which there is [room](Self::room).
    pub(crate) fn push(&mut self, entry: Pending<L, T>) {
        self.bytes += entry.bytes;
        self.entries.push(entry);
    }

    /// The entry of a key.
    fn of_key(&mut self, key: &Key) -> Option<&mut Pending<L, T>> {
        self.entries.iter_mut().find(|entry| entry.key.as_ref() == Some(key))
    }

    /// The keys of its entries, each once.
    fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.entries.iter().filter_map(|entry| entry.key.clone()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Removes the entries for which `is_meant` is true.
    fn take_all(&mut self, is_meant: impl FnMut(&Pending<L, T>) -> bool) -> Vec<Pending<L, T>> {
        let (taken, kept) = std::mem::take(&mut self.entries).into_iter().partition::<Vec<_>, _>(is_meant);
        self.bytes = kept.iter().map(|entry| entry.bytes).sum();
        self.entries = kept;
        taken
    }

    /// Whether `is_meant` is true for any entry.
    fn any(&self, is_meant: impl FnMut(&Pending<L, T>) -> bool) -> bool {
        self.entries.iter().any(is_meant)
    }

    /// The time at which an entry has used half of its time, at the earliest.
    fn half_time(&self) -> Option<Instant> {
        let half = |entry: &Pending<L, T>| {
            entry.admitted + entry.deadline.saturating_duration_since(entry.admitted) / 2
        };
        self.entries.iter().map(half).min()
    }

    /// The earliest deadline.
    pub(crate) fn first_deadline(&self) -> Option<Instant> {
        self.entries.iter().map(|entry| entry.deadline).min()
    }

    /// Takes everything.
    pub(crate) fn close(&mut self) -> Vec<Pending<L, T>> {
        self.bytes = 0;
        std::mem::take(&mut self.entries)
    }
}

/// The order key of entries: the group of a FIFO message, or a receipt handle. At most one batch in flight contains a key.
pub(crate) type Key = Arc<str>;

/// An admitted entry.
#[derive(Debug)]
pub(crate) struct Pending<L, T> {
    /// The load of the request; `None` while a request has it.
    pub(crate) load: Option<L>,
    /// The tickets.
    pub(crate) item: T,
    pub(crate) key: Option<Key>,
    /// Its size as SQS counts it.
    pub(crate) bytes: usize,
    pub(crate) admitted: Instant,
    /// The time at which it fails, unless it is in flight.
    pub(crate) deadline: Instant,
    /// The number of attempts.
    pub(crate) attempts: u32,
    /// The error of the last attempt.
    last_error: Option<SendError>,
    /// Whether SQS may have executed it although no response confirms it.
    pub(crate) maybe_sent: bool,
    /// The lowest sequence number of accepted entries of its key that were admitted after it.
    overtaken_at: Option<u128>,
    /// The highest sequence number of accepted entries of its key that were admitted before it.
    pub(crate) preceded_by: Option<u128>,
    /// Whether another entry has superseded it. If so, it is not retried.
    is_superseded: bool,
    /// The epoch of the ledger: which flushes wait for it.
    pub(crate) epoch: u64,
}

impl<L, T> Pending<L, T> {
    pub(crate) fn new(
        load: L,
        item: T,
        key: Option<Key>,
        bytes: usize,
        (admitted, deadline): (Instant, Instant),
    ) -> Self {
        Self {
            load: Some(load),
            item,
            key,
            bytes,
            admitted,
            deadline,
            attempts: 0,
            last_error: None,
            maybe_sent: false,
            overtaken_at: None,
            preceded_by: None,
            is_superseded: false,
            epoch: 0,
        }
    }
}

/// The result of a batch. Each error says whether the entry is retried ([`is_transient`](SendError::is_transient)), whether SQS
/// throttles, and whether it may have executed the entry.
#[derive(Debug)]
pub(crate) enum Answer<R> {
    /// One result for each entry, by its position.
    Entries(Vec<Result<R, SendError>>),
    /// The request failed as a whole.
    Failed(SendError),
    /// The batch is too long for SQS.
    TooLong(SendError),
}

impl<R> Answer<R> {
    /// Why the request failed as a whole.
    pub(crate) fn error(&self) -> Option<&SendError> {
        match self {
            Self::Entries(_) => None,
            Self::Failed(error) | Self::TooLong(error) => Some(error),
        }
    }

    /// The result of the entry at this position; `None` if the response does not mention it.
    pub(crate) fn result(&self, position: usize) -> Option<Result<&R, &SendError>> {
        match self {
            Self::Entries(results) => results.get(position).map(Result::as_ref),
            Self::Failed(error) | Self::TooLong(error) => Some(Err(error)),
        }
    }

    /// The same, owned.
    pub(crate) fn owned(&self, position: usize) -> Result<R, SendError>
    where
        R: Clone,
    {
        match self.result(position) {
            Some(result) => result.cloned().map_err(Clone::clone),
            None => Err(SendError::unaccounted()),
        }
    }

    /// Whether each entry failed by itself, but may succeed later.
    pub(crate) fn is_outage(&self) -> bool {
        let Self::Entries(results) = self else { return false };
        !results.is_empty()
            && results.iter().all(|result| {
                result
                    .as_ref()
                    .is_err_and(|error| error.kind() == SendErrorKind::Request && error.is_transient())
            })
    }

    /// Whether SQS throttled the whole batch, or each of its entries.
    pub(crate) fn is_throttle(&self) -> bool {
        match self {
            Self::Entries(results) => {
                let is_throttled =
                    |result: &Result<R, SendError>| matches!(result, Err(error) if error.is_throttle());
                !results.is_empty() && results.iter().all(is_throttled)
            }
            Self::Failed(error) => error.is_throttle(),
            Self::TooLong(_) => false,
        }
    }
}

/// The result of an accepted entry.
pub(crate) trait Receipt {
    /// Its sequence number, on FIFO queues.
    fn sequence_number(&self) -> Option<u128> {
        None
    }

    /// The message id, if there is one.
    fn message_id(&self) -> Option<&str> {
        None
    }

    /// Notes that SQS may have executed the entry twice.
    fn maybe_duplicate(&mut self) {}
}

impl Receipt for () {}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
