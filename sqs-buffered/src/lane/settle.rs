//! What an answer means for each entry of its batch: ended, or tried again.

use tokio::time::Instant;

use super::answer::{Answer, EntryAnswer, Failure, Receipt, Refusal};
use super::pending::{Key, Pending};
use super::rules::AfterFailure;
use super::{Lane, Settled};
use crate::batch::BatchLimits;
use crate::error::{SendError, SendErrorKind};

/// What came of one entry.
enum Fate<R> {
    Accepted(R),
    /// Done, but not as it should be.
    Done(SendError),
    Failed(Setback),
}

/// Why an entry was not done.
struct Setback {
    error: SendError,
    is_retryable: bool,
    /// Whether this answer says for sure that it was not done.
    is_refused: bool,
}

impl<T, R: Receipt> Lane<T, R> {
    /// Takes the answer to a batch. `chance` gives numbers from 0 to 1, for pauses.
    pub(crate) fn complete(
        &mut self,
        now: Instant,
        number: u64,
        answer: Answer<R>,
        mut chance: impl FnMut() -> f64,
    ) {
        let Some(index) = self.in_flight.iter().position(|flight| flight.number == number) else { return };
        let entries = self.in_flight.swap_remove(index).entries;
        self.nudged = true;
        let fates: Vec<Fate<R>> = match answer {
            Answer::TooLong(error) => return self.split(entries, error),
            Answer::Failed(failure) => entries.iter().map(|_| Fate::Failed(failure.clone().into())).collect(),
            Answer::Entries(answers) => answers.into_iter().map(Fate::from).collect(),
        };
        let unaccounted = std::iter::repeat_with(|| EntryAnswer::Unaccounted.into());
        let counted = entries.into_iter().map(|mut entry| {
            entry.attempts += 1;
            entry
        });
        // The last first: each goes to the front of the line.
        for (key, run) in in_runs(counted.zip(fates.into_iter().chain(unaccounted))).into_iter().rev() {
            self.settle_run(now, key.as_ref(), run, &mut chance);
        }
    }

    /// The service takes less than was thought: everything again, in smaller batches.
    fn split(&mut self, mut entries: Vec<Pending<T>>, error: SendError) {
        if entries.len() < 2 {
            if let Some(entry) = entries.pop() {
                let key = entry.key.clone();
                self.end(entry, Err(error));
                self.after_failure(key.as_ref());
                self.release(key.as_ref(), Vec::new(), None);
            }
            return;
        }
        let bytes: usize = entries.iter().map(|entry| entry.bytes).sum();
        let limits = BatchLimits::default().entries(self.rules.limits.max_entries());
        self.rules.limits = limits.layered_bytes(self.rules.limits.max_bytes().min(bytes / 2));
        for (key, run) in in_runs(entries.into_iter().map(|entry| (entry, ()))).into_iter().rev() {
            self.release(key.as_ref(), run.into_iter().map(|(entry, ())| entry).collect(), None);
        }
    }

    fn settle_run(
        &mut self,
        now: Instant,
        key: Option<&Key>,
        run: Vec<(Pending<T>, Fate<R>)>,
        chance: &mut impl FnMut() -> f64,
    ) {
        let overtakers = overtakers(&run);
        let (mut again, mut has_failed, mut until) = (Vec::new(), false, None);
        for ((mut entry, fate), overtaker) in run.into_iter().zip(overtakers) {
            entry.overtaken_at = [entry.overtaken_at, overtaker.sequence].into_iter().flatten().min();
            let setback = match fate {
                Fate::Accepted(receipt) => {
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
            let pause = self.rules.retry.pause(entry.attempts, chance());
            let in_time = now + pause < entry.deadline;
            if has_failed && self.rules.after_failure == AfterFailure::FailGroup {
                self.lose(entry, SendErrorKind::PrecedingFailed);
            } else if setback.is_refused && overtaker.is_there {
                has_failed = true;
                let error = setback.error.of_kind(SendErrorKind::OrderGap).after(overtaker.id.as_deref());
                self.end_unsent(entry, error);
            } else if setback.is_retryable && in_time && entry.attempts < self.rules.retry.attempts {
                until = until.max(Some(now + pause));
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

    fn accept(&mut self, entry: Pending<T>, mut receipt: R) {
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
    /// that was admitted earlier. The latter says nothing of others: those repeat what the user himself has sent before.
    fn is_out_of_order(&mut self, entry: &Pending<T>, sequence: Option<u128>) -> bool {
        let Some((key, own)) = entry.key.as_ref().zip(sequence) else { return false };
        let before = self.backlog.note(key, own);
        entry.overtaken_at.is_some_and(|other| own > other)
            || (entry.maybe_sent && before.is_some_and(|other| own < other))
    }

    /// What a failure means for those of its group that wait.
    fn after_failure(&mut self, key: Option<&Key>) {
        let Some(key) = key.filter(|_| self.rules.after_failure == AfterFailure::FailGroup) else { return };
        for entry in self.backlog.take_run(key) {
            self.lose(entry, SendErrorKind::PrecedingFailed);
        }
    }

    /// Lets those that are tried again wait, and others of the key go.
    fn release(&mut self, key: Option<&Key>, again: Vec<Pending<T>>, until: Option<Instant>) {
        for entry in &again {
            self.heed(entry.deadline);
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
        let is_late = |entry: &Pending<T>| entry.deadline <= now;
        let opened = self.open.take_all(is_late);
        let was_open: Vec<_> = opened.iter().filter_map(|entry| entry.key.clone()).collect();
        for entry in opened.into_iter().chain(self.backlog.take_all(is_late)) {
            let key = entry.key.clone();
            self.lose(entry, SendErrorKind::Timeout);
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

    /// Ends an entry without a word of the service.
    pub(super) fn lose(&mut self, entry: Pending<T>, kind: SendErrorKind) {
        self.end_unsent(entry, SendError::new(kind));
    }

    fn end_unsent(&mut self, entry: Pending<T>, error: SendError) {
        let error = error.maybe_sent(entry.maybe_sent);
        self.end(entry, Err(error));
    }

    fn end(&mut self, entry: Pending<T>, result: Result<R, SendError>) {
        self.ledger.settle(entry.epoch);
        self.settled.push(Settled { item: entry.item, result });
    }
}

/// The entry of the same run that was admitted later and accepted.
#[derive(Clone, Default)]
struct Overtaker {
    is_there: bool,
    /// Of the one that was stored first.
    sequence: Option<u128>,
    id: Option<String>,
}

/// For each entry of a run, who has overtaken it.
fn overtakers<T, R: Receipt>(run: &[(Pending<T>, Fate<R>)]) -> Vec<Overtaker> {
    let mut later = Overtaker::default();
    let mut found: Vec<_> = run
        .iter()
        .rev()
        .map(|(_, fate)| {
            let of_this = later.clone();
            match fate {
                Fate::Accepted(receipt) => {
                    later.is_there = true;
                    later.sequence = [later.sequence, receipt.sequence_number()].into_iter().flatten().min();
                    later.id = receipt.message_id().map(str::to_owned);
                }
                Fate::Done(error) => {
                    later.is_there = true;
                    later.id = error.message_id().map(str::to_owned);
                }
                Fate::Failed(_) => {}
            }
            of_this
        })
        .collect();
    found.reverse();
    found
}

/// Entries of one batch that have the same key, in order, each with something; one entry where there is no key.
type Run<T, F> = (Option<Key>, Vec<(Pending<T>, F)>);

/// Sorts the entries of a batch by key; both the keys and the entries of each stay in order.
fn in_runs<T, F>(entries: impl Iterator<Item = (Pending<T>, F)>) -> Vec<Run<T, F>> {
    let mut runs: Vec<Run<T, F>> = Vec::new();
    for entry in entries {
        let key = entry.0.key.clone();
        match runs.iter_mut().find(|(other, _)| key.is_some() && *other == key) {
            Some((_, run)) => run.push(entry),
            None => runs.push((key, vec![entry])),
        }
    }
    runs
}

impl<R> From<EntryAnswer<R>> for Fate<R> {
    fn from(answer: EntryAnswer<R>) -> Self {
        match answer {
            EntryAnswer::Accepted(receipt) => Self::Accepted(receipt),
            EntryAnswer::Damaged(error) => Self::Done(error),
            EntryAnswer::Refused(refusal) => Self::Failed(refusal.into()),
            EntryAnswer::Unaccounted => Self::Failed(Setback {
                error: SendError::new(SendErrorKind::Unaccounted),
                is_retryable: true,
                is_refused: false,
            }),
        }
    }
}

impl From<Refusal> for Setback {
    fn from(refusal: Refusal) -> Self {
        let Refusal { kind, code, message, is_retryable } = refusal;
        Self { error: SendError::new(kind).refused(code, message), is_retryable, is_refused: true }
    }
}

impl From<Failure> for Setback {
    fn from(failure: Failure) -> Self {
        let Failure { error, is_retryable, is_outcome_unknown } = failure;
        Self { error, is_retryable, is_refused: !is_outcome_unknown }
    }
}
