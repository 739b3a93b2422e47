//! What an answer means for each entry of its batch: ended, or tried again.

use tokio::time::Instant;

use super::answer::{Answer, EntryAnswer, Failure, Receipt};
use super::fate::Fate;
use super::pending::{Key, Laden, Pending, Waiting};
use super::rules::{AfterFailure, FifoOrdering};
use super::runs::{in_runs, overtakers};
use super::{Lane, Retried, Settled, heed};
use crate::produce::error::{SendError, SendErrorKind};
use crate::time::after;

impl<L, T, R: Receipt> Lane<L, T, R> {
    /// Takes the answer to a batch, and its loads back, in the order in which they went. `chance` is from 0 to 1, for the pause:
    /// one for the whole batch, so that what failed together comes back together.
    pub(crate) fn complete(
        &mut self,
        now: Instant,
        number: u64,
        answer: Answer<R>,
        loads: Vec<L>,
        chance: f64,
    ) {
        let entries = self.land(number);
        if !entries.is_empty() {
            self.health.note(now, &answer, self.in_flight.len(), &self.rules.retry, chance);
        }
        debug_assert!(entries.is_empty() || entries.len() == loads.len(), "each entry has its load");
        let entries: Vec<_> = entries.into_iter().zip(loads).map(|(entry, load)| entry.laden(load)).collect();
        let fates: Vec<Fate<R>> = match answer {
            Answer::TooLong(error) => return self.split(entries, error),
            Answer::Failed(failure) => entries.iter().map(|_| Fate::Failed(failure.clone().into())).collect(),
            Answer::Blamed(failure, places) => {
                let fate =
                    |place: usize| Failure { is_retryable: !places.contains(&place), ..failure.clone() };
                (0..entries.len()).map(|place| Fate::Failed(fate(place).into())).collect()
            }
            Answer::Entries(answers) => answers.into_iter().map(Fate::from).collect(),
        };
        let unaccounted = std::iter::repeat_with(|| EntryAnswer::Unaccounted.into());
        let counted = entries.into_iter().map(|mut entry| {
            entry.attempts += 1;
            entry
        });
        for (key, run) in in_runs(counted.zip(fates.into_iter().chain(unaccounted))) {
            self.settle_run(now, key.as_ref(), run, chance);
        }
    }

    /// Ends a batch whose request is gone, with the loads, and for that reason.
    pub(crate) fn forsake_batch(&mut self, number: u64, error: &SendError) {
        for entry in self.land(number) {
            let key = entry.key.clone();
            self.forsake(entry, error.clone());
            self.after_failure(key.as_ref());
            self.release(key.as_ref(), Vec::new(), None);
        }
    }

    /// The entries of a batch that is not in flight any more; none of one that was aborted.
    fn land(&mut self, number: u64) -> Vec<Pending<T>> {
        let Some(index) = self.in_flight.iter().position(|flight| flight.number == number) else {
            return Vec::new();
        };
        self.nudged = true;
        self.in_flight.swap_remove(index).entries
    }

    /// The service takes less than was thought: everything again, in smaller batches.
    fn split(&mut self, mut entries: Vec<Waiting<L, T>>, error: SendError) {
        if entries.len() < 2 {
            if let Some(entry) = entries.pop() {
                let key = entry.key.clone();
                self.end_unsent(entry, error);
                self.after_failure(key.as_ref());
                self.release(key.as_ref(), Vec::new(), None);
            }
            return;
        }
        let bytes: usize = entries.iter().map(|entry| entry.bytes).sum();
        let limits = self.rules.limits;
        self.rules.limits = match bytes {
            0 => limits.entries(entries.len() / 2),
            _ => limits.bytes(limits.max_bytes().min(bytes / 2).max(1)),
        };
        // The last first: each goes to the front of the line.
        for (key, run) in in_runs(entries.into_iter().map(|entry| (entry, ()))).into_iter().rev() {
            let run = run.into_iter().map(|(entry, ())| entry);
            let (pointless, again) = run.partition::<Vec<_>, _>(|entry| entry.is_superseded);
            for entry in pointless {
                self.lose(entry, SendErrorKind::Superseded);
            }
            self.release(key.as_ref(), again, None);
        }
    }

    fn settle_run(
        &mut self,
        now: Instant,
        key: Option<&Key>,
        run: Vec<(Waiting<L, T>, Fate<R>)>,
        chance: f64,
    ) {
        let overtakers = overtakers(&run);
        let (mut again, mut has_failed, mut until, mut highest) = (Vec::new(), false, None, None);
        for ((mut entry, fate), overtaker) in run.into_iter().zip(overtakers) {
            entry.overtaken_at = [entry.overtaken_at, overtaker.sequence].into_iter().flatten().min();
            entry.preceded_by = entry.preceded_by.max(highest);
            let setback = match fate {
                Fate::Accepted(receipt) => {
                    highest = highest.max(receipt.sequence_number());
                    self.accept(entry, receipt);
                    continue;
                }
                Fate::Done(error) => {
                    self.end(entry, Err(error));
                    continue;
                }
                Fate::Failed(setback) => setback,
            };
            entry.maybe_sent |= !setback.is_refused;
            let pause = self.rules.retry.pause(entry.attempts, setback.is_throttle, chance);
            let wakes = after(now, pause);
            let in_time = wakes < entry.deadline;
            if has_failed && self.rules.after_failure == AfterFailure::FailGroup {
                self.lose(entry, SendErrorKind::PrecedingFailed);
            } else if setback.is_refused && overtaker.is_there {
                has_failed = true;
                let error = setback.error.of_kind(SendErrorKind::OrderGap).after(overtaker.id.as_deref());
                self.end_unsent(entry, error);
            } else if entry.is_superseded && setback.is_retryable {
                self.lose(entry, SendErrorKind::Superseded);
            } else if setback.is_retryable && in_time && entry.attempts < self.rules.retry.attempts {
                until = until.max(Some(wakes));
                if self.rules.tells_retries {
                    let error = setback.error.clone();
                    self.retried.push(Retried { error, attempts: entry.attempts, pause });
                }
                entry.last_error = Some(setback.error);
                again.push(entry);
            } else {
                has_failed = true;
                let is_late = setback.is_retryable && !in_time;
                let error =
                    if is_late { setback.error.of_kind(SendErrorKind::Timeout) } else { setback.error };
                self.end_unsent(entry, error);
            }
        }
        if has_failed {
            self.after_failure(key);
        }
        self.release(key, again, until);
    }

    fn accept(&mut self, entry: Waiting<L, T>, mut receipt: R) {
        if self.is_out_of_order(&entry, receipt.sequence_number()) {
            let error = SendError::new(SendErrorKind::OutOfOrder).maybe_sent(true);
            return self.end(entry, Err(error.stored_as(receipt.message_id())));
        }
        if entry.maybe_sent && entry.key.is_none() {
            receipt.maybe_duplicate();
        }
        self.end(entry, Ok(receipt));
    }

    /// Whether a message was stored behind one that was admitted later, or, when it was sent more than once, ahead of one
    /// that was admitted earlier. The latter says nothing of others: those repeat what the user himself has sent before. Where
    /// the messages of a group go one by one, it says nothing of any.
    fn is_out_of_order(&mut self, entry: &Waiting<L, T>, sequence: Option<u128>) -> bool {
        let Some((key, own)) = entry.key.as_ref().zip(sequence) else { return false };
        if self.rules.ordering != FifoOrdering::Grouped {
            return false;
        }
        self.backlog.note(key, own);
        entry.overtaken_at.is_some_and(|other| own > other)
            || (entry.maybe_sent && entry.preceded_by.is_some_and(|other| own < other))
    }

    /// What a failure means for those of its group that wait.
    fn after_failure(&mut self, key: Option<&Key>) {
        let Some(key) = key.filter(|_| self.rules.after_failure == AfterFailure::FailGroup) else { return };
        for entry in self.backlog.take_run(key) {
            self.lose(entry, SendErrorKind::PrecedingFailed);
        }
    }

    /// Lets those that are tried again wait, and others of the key go.
    fn release(&mut self, key: Option<&Key>, again: Vec<Waiting<L, T>>, until: Option<Instant>) {
        for entry in &again {
            heed(&mut self.no_deadline_before, entry.deadline);
        }
        match key {
            Some(key) => self.backlog.release(key, again, until),
            None => again.into_iter().rev().for_each(|entry| self.backlog.put_back(entry, until)),
        }
    }

    /// Ends what has waited for too long. It looks at every entry, but no more often than one can have.
    pub(super) fn expire(&mut self, now: Instant) {
        if self.no_deadline_before.is_none_or(|at| at > now) {
            return;
        }
        let is_late = |entry: &Waiting<L, T>| entry.deadline <= now;
        let opened = self.open.take_all(is_late);
        let was_open: Vec<_> = opened.iter().filter_map(|entry| entry.key.clone()).collect();
        for entry in opened.into_iter().chain(self.backlog.take_all(is_late)) {
            let key = entry.key.clone();
            self.time_out(entry);
            self.after_failure(key.as_ref());
        }
        for key in was_open {
            if self.rules.after_failure == AfterFailure::FailGroup {
                for entry in self.open.take_all(|entry| entry.key.as_ref() == Some(&key)) {
                    self.lose(entry, SendErrorKind::PrecedingFailed);
                }
            }
            if self.open.of_key(&key).is_none() {
                self.backlog.release(&key, Vec::new(), None);
            }
        }
        self.no_deadline_before =
            [self.open.first_deadline(), self.backlog.first_deadline()].into_iter().flatten().min();
    }

    /// Ends an entry whose time is over, with what kept it from being done where it was tried.
    fn time_out(&mut self, mut entry: Waiting<L, T>) {
        let error = entry.last_error.take().map(|error| error.of_kind(SendErrorKind::Timeout));
        self.end_unsent(entry, error.unwrap_or_else(|| SendError::new(SendErrorKind::Timeout)));
    }

    /// Ends an entry without a word of the service.
    pub(super) fn lose(&mut self, entry: Waiting<L, T>, kind: SendErrorKind) {
        self.end_unsent(entry, SendError::new(kind));
    }

    /// Ends an entry in flight whose request gives nothing back.
    pub(super) fn forsake(&mut self, entry: Pending<T>, error: SendError) {
        let result = Err(error.maybe_sent(true));
        self.settled.push(Settled { item: entry.item, load: None, result, epoch: entry.epoch });
    }

    fn end_unsent(&mut self, entry: Waiting<L, T>, error: SendError) {
        let error = error.maybe_sent(entry.maybe_sent);
        self.end(entry, Err(error));
    }

    fn end(&mut self, entry: Waiting<L, T>, result: Result<R, SendError>) {
        let Laden { load, item } = entry.item;
        self.settled.push(Settled { item, load: Some(load), result, epoch: entry.epoch });
    }
}
