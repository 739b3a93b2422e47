//! Entries of one batch, by their keys.

use super::Receipt;
use super::pending::{Key, Pending};
use crate::produce::error::{SendError, SendErrorKind};

/// The result of an entry in the response to its batch.
pub(super) type EntryResult<R> = Result<R, SendError>;

/// The entry of the same run that was admitted later and stored.
#[derive(Clone, Default)]
pub(super) struct Overtaker {
    pub(super) is_there: bool,
    /// Of the one that was stored first.
    pub(super) sequence: Option<u128>,
    pub(super) id: Option<String>,
}

/// Whether SQS has stored the entry although its result is an error.
pub(super) fn is_stored(error: &SendError) -> bool {
    error.kind() == SendErrorKind::ChecksumMismatch
}

/// For each entry of a run, the later entry that was stored.
pub(super) fn overtakers<E, R: Receipt>(run: &[(E, EntryResult<R>)]) -> Vec<Overtaker> {
    let mut later = Overtaker::default();
    let mut found = Vec::with_capacity(run.len());
    for (_, result) in run.iter().rev() {
        found.push(later.clone());
        match result {
            Ok(receipt) => {
                later.is_there = true;
                later.sequence = [later.sequence, receipt.sequence_number()].into_iter().flatten().min();
                later.id = receipt.message_id().map(str::to_owned);
            }
            Err(error) if is_stored(error) => {
                later.is_there = true;
                later.id = error.message_id().map(str::to_owned);
            }
            Err(_) => {}
        }
    }
    found.reverse();
    found
}

/// The entries of one key in a batch, in order, each with a value. An entry without a key is a run of its own.
pub(super) type Run<L, T, F> = (Option<Key>, Vec<(Pending<L, T>, F)>);

/// Sorts the entries of a batch by key. Both the keys and the entries of each stay in order.
pub(super) fn in_runs<L, T, F>(entries: impl Iterator<Item = (Pending<L, T>, F)>) -> Vec<Run<L, T, F>> {
    let mut runs: Vec<Run<L, T, F>> = Vec::new();
    for entry in entries {
        let key = entry.0.key.clone();
        match runs.iter_mut().find(|(other, _)| key.is_some() && *other == key) {
            Some((_, run)) => run.push(entry),
            None => runs.push((key, vec![entry])),
        }
    }
    runs
}
