//! Entries of one batch, by their keys.

use super::Receipt;
use super::fate::Fate;
use super::pending::{Key, Pending};

/// The entry of the same run that was admitted later and accepted.
#[derive(Clone, Default)]
pub(super) struct Overtaker {
    pub(super) is_there: bool,
    /// Of the one that was stored first.
    pub(super) sequence: Option<u128>,
    pub(super) id: Option<String>,
}

/// For each entry of a run, who has overtaken it.
pub(super) fn overtakers<T, R: Receipt>(run: &[(Pending<T>, Fate<R>)]) -> Vec<Overtaker> {
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
pub(super) type Run<T, F> = (Option<Key>, Vec<(Pending<T>, F)>);

/// Sorts the entries of a batch by key; both the keys and the entries of each stay in order.
pub(super) fn in_runs<T, F>(entries: impl Iterator<Item = (Pending<T>, F)>) -> Vec<Run<T, F>> {
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
