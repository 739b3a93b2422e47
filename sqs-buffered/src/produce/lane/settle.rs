//! Applies the result of a batch to its entries: each ends or is retried.

use tokio::time::Instant;

use super::answer::{Answer, Receipt};
use super::pending::{Key, Pending};
use super::rules::{AfterFailure, FifoOrdering};
use super::runs::{EntryResult, in_runs, is_stored, overtakers};
use super::{LEARNED_FOR, Lane, Retried, Settled};
use crate::produce::error::{SendError, SendErrorKind};
use crate::time::after;

impl<L, T, R: Receipt> Lane<L, T, R> {
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
            let is_refused = !error.is_maybe_sent();
            entry.maybe_sent |= !is_refused;
            let pause = self.rules.retry.pause(entry.attempts, error.is_throttle(), chance);
            let wakes = after(now, pause);
            let in_time = wakes < entry.deadline;
            if has_failed && self.rules.after_failure == AfterFailure::FailGroup {
                self.fail_unsent(entry, SendError::new(SendErrorKind::PrecedingFailed));
            } else if is_refused && overtaker.is_there {
                has_failed = true;
                self.fail_unsent(
                    entry,
                    error.of_kind(SendErrorKind::OrderGap).after(overtaker.id.as_deref()),
                );
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

    /// Ends entries whose deadline has passed.
    pub(super) fn expire(&mut self, now: Instant) {
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
    pub(super) fn fail_unsent(&mut self, entry: Pending<L, T>, error: SendError) {
        let error = error.maybe_sent(entry.maybe_sent);
        self.end(entry, Err(error));
    }

    pub(super) fn end(&mut self, entry: Pending<L, T>, result: Result<R, SendError>) {
        let Pending { item, load, epoch, .. } = entry;
        self.settled.push(Settled { item, load, result, epoch });
    }
}
