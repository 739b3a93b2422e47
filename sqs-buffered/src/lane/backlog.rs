//! Admitted entries that are in no batch yet, in the order in which they may go.
//!
//! ```text
//! push -> line: entry | key of a run --next()--> batch --release()--> line again, or held until its pause is over
//! ```
//! Entries of one key form a run. A run has one place, in the line or held, or is out in a batch; so its entries go in
//! order, and only those of one batch at a time. A run without entries keeps its place until its turn comes.
//!
//! Entries can also be found by their deadlines. An entry that is taken out of turn leaves an empty slot, which is
//! removed when its turn comes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use slab::Slab;
use tokio::time::Instant;

use crate::error::{SendError, SendErrorKind};
use crate::lane::queue::{Key, Pending, Receipt};

/// The entries of a lane that wait.
#[derive(Debug)]
pub(crate) struct Backlog<L, T> {
    slots: Slab<Slot<L, T>>,
    line: VecDeque<Place>,
    runs: BTreeMap<Key, Run>,
    /// By the end of the pause, and a number because two pauses can end at once.
    held: BTreeMap<(Instant, u64), Place>,
    /// The earliest deadline first. Deadlines of entries that are gone are removed when they are the earliest, or when
    /// there are too many.
    deadlines: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    next_number: u64,
}

#[derive(Debug)]
struct Slot<L, T> {
    /// Distinguishes the entry from others that had the same slot.
    number: u64,
    /// `None` if it was taken out of turn.
    entry: Option<Pending<L, T>>,
}

/// A place in the line.
#[derive(Debug)]
enum Place {
    /// The slot of an entry without a key.
    Entry(usize),
    /// The run of a key.
    Run(Key),
}

/// The entries of one key.
#[derive(Debug)]
struct Run {
    slots: VecDeque<usize>,
    /// The highest sequence number of its accepted entries.
    highest: Option<u128>,
    /// Whether a batch has entries of it, so that it has no place.
    is_out: bool,
}

impl Run {
    fn new(is_out: bool) -> Self {
        Self { slots: VecDeque::new(), highest: None, is_out }
    }

    /// The slot of the first entry.
    fn front<L, T>(&mut self, slots: &mut Slab<Slot<L, T>>) -> Option<usize> {
        loop {
            let slot = *self.slots.front()?;
            if slots.get(slot).is_some_and(|slot| slot.entry.is_some()) {
                return Some(slot);
            }
            slots.try_remove(slot);
            self.slots.pop_front();
        }
    }

    /// Takes the first entry. If it was not sent before, no later entry has been accepted.
    fn next<L, T>(&mut self, slots: &mut Slab<Slot<L, T>>) -> Option<Pending<L, T>> {
        let slot = self.front(slots)?;
        self.slots.pop_front();
        let mut entry = slots.try_remove(slot)?.entry?;
        if entry.attempts == 0 {
            entry.preceded_by = self.highest;
        }
        Some(entry)
    }
}

impl<L, T> Backlog<L, T> {
    pub(crate) fn new() -> Self {
        Self {
            slots: Slab::new(),
            line: VecDeque::new(),
            runs: BTreeMap::new(),
            held: BTreeMap::new(),
            deadlines: BinaryHeap::new(),
            next_number: 0,
        }
    }

    /// Adds an entry at the end.
    pub(crate) fn push(&mut self, entry: Pending<L, T>) {
        let key = entry.key.clone();
        let slot = self.insert(entry);
        let Some(key) = key else {
            self.line.push_back(Place::Entry(slot));
            return;
        };
        let run = self.runs.entry(key).or_insert_with_key(|key| {
            self.line.push_back(Place::Run(key.clone()));
            Run::new(false)
        });
        run.slots.push_back(slot);
    }

    fn insert(&mut self, entry: Pending<L, T>) -> usize {
        let (number, deadline) = (self.number(), entry.deadline);
        let slot = self.slots.insert(Slot { number, entry: Some(entry) });
        self.deadlines.push(Reverse((deadline, number, slot)));
        if self.deadlines.len() > 2 * self.slots.len() + 64 {
            let slots = &self.slots;
            self.deadlines.retain(|Reverse(deadline)| is_current(slots, *deadline));
        }
        slot
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// The last entry of a key, with `deadline` if that is earlier than its own.
    pub(crate) fn change_last(&mut self, key: &Key, deadline: Instant) -> Option<&mut Pending<L, T>> {
        let run = self.runs.get_mut(key)?;
        let slot = *run
            .slots
            .iter()
            .rev()
            .find(|slot| self.slots.get(**slot).is_some_and(|slot| slot.entry.is_some()))?;
        let Slot { number, entry } = self.slots.get_mut(slot)?;
        let entry = entry.as_mut()?;
        if deadline < entry.deadline {
            entry.deadline = deadline;
            self.deadlines.push(Reverse((deadline, *number, slot)));
        }
        Some(entry)
    }

    /// The size of the entry that is next.
    pub(crate) fn next_bytes(&mut self) -> Option<usize> {
        loop {
            let slot = match self.line.front()? {
                Place::Entry(slot) => Some(*slot),
                Place::Run(key) => self.runs.get_mut(key).and_then(|run| run.front(&mut self.slots)),
            };
            let entry = slot.and_then(|slot| self.slots.get(slot)).and_then(|slot| slot.entry.as_ref());
            if let Some(entry) = entry {
                return Some(entry.bytes);
            }
            match self.line.pop_front()? {
                Place::Entry(slot) => drop(self.slots.try_remove(slot)),
                Place::Run(key) => drop(self.runs.remove(&key)),
            }
        }
    }

    /// Takes the entry that is next. Its run, if it has one, is out until it is [released](Self::release).
    pub(crate) fn next(&mut self) -> Option<Pending<L, T>> {
        self.next_bytes()?;
        match self.line.pop_front()? {
            Place::Entry(slot) => self.slots.try_remove(slot)?.entry,
            Place::Run(key) => {
                let run = self.runs.get_mut(&key)?;
                run.is_out = true;
                run.next(&mut self.slots)
            }
        }
    }

    /// Takes one more entry of a run that is out, if it has at most that many bytes.
    pub(crate) fn follower(&mut self, key: &Key, most: usize) -> Option<Pending<L, T>> {
        let run = self.runs.get_mut(key)?;
        let slot = run.front(&mut self.slots)?;
        self.slots.get(slot)?.entry.as_ref().filter(|entry| entry.bytes <= most)?;
        run.next(&mut self.slots)
    }

    /// Notes the sequence number of an accepted entry of a run that is out. All waiting entries were admitted after it.
    pub(crate) fn note(&mut self, key: &Key, sequence: u128) {
        let Some(run) = self.runs.get_mut(key) else { return };
        run.highest = run.highest.max(Some(sequence));
        for slot in &run.slots {
            let Some(entry) = self.slots.get_mut(*slot).and_then(|slot| slot.entry.as_mut()) else {
                continue;
            };
            // Entries that were sent before are in front. The others inherit it with their first attempt.
            if entry.attempts == 0 {
                return;
            }
            entry.preceded_by = entry.preceded_by.max(Some(sequence));
        }
    }

    /// Gives an entry without a key back, to the front, after a pause.
    pub(crate) fn put_back(&mut self, entry: Pending<L, T>, until: Option<Instant>) {
        let slot = self.insert(entry);
        self.place(Place::Entry(slot), until);
    }

    /// Gives a run that is out a place again: at the front or held if it returns entries, else at the end. A run that
    /// has a place keeps it.
    pub(crate) fn release(&mut self, key: &Key, back: Vec<Pending<L, T>>, until: Option<Instant>) {
        let gives_back = !back.is_empty();
        let back: Vec<usize> = back.into_iter().map(|entry| self.insert(entry)).collect();
        let run = self.runs.entry(key.clone()).or_insert_with(|| Run::new(true));
        for slot in back.into_iter().rev() {
            run.slots.push_front(slot);
        }
        if !std::mem::take(&mut run.is_out) {
            return;
        }
        if run.front(&mut self.slots).is_none() {
            self.runs.remove(key);
        } else if gives_back {
            self.place(Place::Run(key.clone()), until);
        } else {
            self.line.push_back(Place::Run(key.clone()));
        }
    }

    fn place(&mut self, place: Place, until: Option<Instant>) {
        match until {
            None => self.line.push_front(place),
            Some(until) => {
                let number = self.number();
                self.held.insert((until, number), place);
            }
        }
    }

    /// Moves everything whose pause is over to the front of the line, the longest held first.
    pub(crate) fn wake(&mut self, now: Instant) {
        let mut due = Vec::new();
        while let Some(first) = self.held.first_entry().filter(|held| held.key().0 <= now) {
            due.push(first.remove());
        }
        for place in due.into_iter().rev() {
            self.line.push_front(place);
        }
    }

    /// When the next pause is over.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        self.held.first_key_value().map(|((until, _), _)| *until)
    }

    /// The earliest deadline.
    pub(crate) fn first_deadline(&mut self) -> Option<Instant> {
        loop {
            let Reverse(first) = *self.deadlines.peek()?;
            if is_current(&self.slots, first) {
                return Some(first.0);
            }
            self.deadlines.pop();
        }
    }

    /// Takes an entry whose deadline has passed.
    pub(crate) fn take_expired(&mut self, now: Instant) -> Option<Pending<L, T>> {
        self.first_deadline().filter(|deadline| *deadline <= now)?;
        let Reverse((_, _, slot)) = self.deadlines.pop()?;
        self.slots.get_mut(slot)?.entry.take()
    }

    /// Takes all waiting entries of a key, in order.
    pub(crate) fn take_run(&mut self, key: &Key) -> Vec<Pending<L, T>> {
        let slots = self.runs.get_mut(key).map(|run| std::mem::take(&mut run.slots)).unwrap_or_default();
        slots.into_iter().filter_map(|slot| self.slots.try_remove(slot)?.entry).collect()
    }

    /// Whether nothing waits; false while slots of entries that were taken out of turn are left.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// When the oldest entry was admitted.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        self.slots.iter().filter_map(|(_, slot)| slot.entry.as_ref().map(|entry| entry.admitted)).min()
    }

    /// All waiting entries. Those of one key are in order.
    pub(crate) fn into_entries(self) -> Vec<Pending<L, T>> {
        let Self { mut slots, line, held, mut runs, .. } = self;
        let keyed = runs.values_mut().flat_map(|run| std::mem::take(&mut run.slots));
        let single = line.into_iter().chain(held.into_values()).filter_map(|place| match place {
            Place::Entry(slot) => Some(slot),
            Place::Run(_) => None,
        });
        single.chain(keyed).filter_map(|slot| slots.try_remove(slot)?.entry).collect()
    }
}

/// Whether this slot has a waiting entry with this number and deadline.
fn is_current<L, T>(slots: &Slab<Slot<L, T>>, (deadline, number, slot): (Instant, u64, usize)) -> bool {
    let slot = slots.get(slot).filter(|slot| slot.number == number);
    slot.and_then(|slot| slot.entry.as_ref()).is_some_and(|entry| entry.deadline == deadline)
}

/// The result of an entry in the response to its batch.
pub(crate) type EntryResult<R> = Result<R, SendError>;

/// The entry of the same run that was admitted later and stored.
#[derive(Clone, Copy, Default)]
pub(crate) struct Overtaker {
    pub(crate) is_there: bool,
    /// Of the one that was stored first.
    pub(crate) sequence: Option<u128>,
}

/// Whether SQS has stored the entry although its result is an error.
pub(crate) fn is_stored(error: &SendError) -> bool {
    error.kind() == SendErrorKind::ChecksumMismatch
}

/// For each entry of a run, the later entry that was stored.
pub(crate) fn overtakers<E, R: Receipt>(run: &[(E, EntryResult<R>)]) -> Vec<Overtaker> {
    let mut later = Overtaker::default();
    let mut found = Vec::with_capacity(run.len());
    for (_, result) in run.iter().rev() {
        found.push(later);
        match result {
            Ok(receipt) => {
                later.is_there = true;
                later.sequence = [later.sequence, receipt.sequence_number()].into_iter().flatten().min();
            }
            Err(error) if is_stored(error) => later.is_there = true,
            Err(_) => {}
        }
    }
    found.reverse();
    found
}

/// The entries of one key in a batch, in order, each with a value. An entry without a key is a run of its own.
type GroupRun<L, T, F> = (Option<Key>, Vec<(Pending<L, T>, F)>);

/// Sorts the entries of a batch by key. Both the keys and the entries of each stay in order.
pub(crate) fn in_runs<L, T, F>(entries: impl Iterator<Item = (Pending<L, T>, F)>) -> Vec<GroupRun<L, T, F>> {
    let mut runs: Vec<GroupRun<L, T, F>> = Vec::new();
    for entry in entries {
        let key = entry.0.key.clone();
        match runs.iter_mut().find(|(other, _)| key.is_some() && *other == key) {
            Some((_, run)) => run.push(entry),
            None => runs.push((key, vec![entry])),
        }
    }
    runs
}
