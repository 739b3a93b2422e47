//! Admitted entries that are in no batch yet, in the order in which they may go.
//!
//! ```text
//! push -> line: entry | key of a run --next()--> batch --release()--> line again, or held until its pause is over
//! ```
//! Entries of one key form a run. A run has one place, in the line or held, or is out in a batch; so its entries go in
//! order, and only those of one batch at a time. A run without entries keeps its place until its turn comes.

use std::collections::{BTreeMap, HashMap, VecDeque};

use tokio::time::Instant;

use super::pending::{Key, Pending};

/// The entries of a lane that wait.
#[derive(Debug)]
pub(super) struct Backlog<T> {
    line: VecDeque<Place<T>>,
    runs: HashMap<Key, Run<T>>,
    /// By the end of the pause; numbered, since two can end at once.
    held: BTreeMap<(Instant, u64), Place<T>>,
    next_hold: u64,
}

/// A place in the line.
#[derive(Debug)]
enum Place<T> {
    /// An entry without a key.
    Entry(Pending<T>),
    /// The run of a key.
    Run(Key),
}

/// The entries of one key.
#[derive(Debug)]
struct Run<T> {
    entries: VecDeque<Pending<T>>,
    /// The highest sequence number of those that were accepted.
    highest: Option<u128>,
    /// Whether a batch has entries of it, so that it has no place.
    is_out: bool,
}

impl<T> Run<T> {
    fn new(is_out: bool) -> Self {
        Self { entries: VecDeque::new(), highest: None, is_out }
    }

    /// Takes the first entry. When it goes for the first time, none that was admitted later has been accepted.
    fn next(&mut self) -> Option<Pending<T>> {
        let mut entry = self.entries.pop_front()?;
        if entry.attempts == 0 {
            entry.preceded_by = self.highest;
        }
        Some(entry)
    }
}

impl<T> Backlog<T> {
    pub(super) fn new() -> Self {
        let (line, runs, held) = (VecDeque::new(), HashMap::new(), BTreeMap::new());
        Self { line, runs, held, next_hold: 0 }
    }

    /// Adds an entry at the end.
    pub(super) fn push(&mut self, entry: Pending<T>) {
        let Some(key) = entry.key.clone() else {
            self.line.push_back(Place::Entry(entry));
            return;
        };
        let run = self.runs.entry(key).or_insert_with_key(|key| {
            self.line.push_back(Place::Run(key.clone()));
            Run::new(false)
        });
        run.entries.push_back(entry);
    }

    /// The last entry of a key that waits.
    pub(super) fn last_of(&mut self, key: &Key) -> Option<&mut Pending<T>> {
        self.runs.get_mut(key)?.entries.back_mut()
    }

    /// The size of the entry that is next.
    pub(super) fn next_bytes(&mut self) -> Option<usize> {
        loop {
            let key = match self.line.front()? {
                Place::Entry(entry) => return Some(entry.bytes),
                Place::Run(key) => key,
            };
            if let Some(entry) = self.runs.get(key).and_then(|run| run.entries.front()) {
                return Some(entry.bytes);
            }
            self.runs.remove(key);
            self.line.pop_front();
        }
    }

    /// Takes the entry that is next. Its run, if it has one, is out until it is [released](Self::release).
    pub(super) fn next(&mut self) -> Option<Pending<T>> {
        self.next_bytes()?;
        let entry = match self.line.pop_front()? {
            Place::Entry(entry) => entry,
            Place::Run(key) => {
                let run = self.runs.get_mut(&key)?;
                run.is_out = true;
                run.next()?
            }
        };
        Some(entry)
    }

    /// Takes one more entry of a run that is out, when it has at most that many bytes.
    pub(super) fn follower(&mut self, key: &Key, most: usize) -> Option<Pending<T>> {
        let run = self.runs.get_mut(key)?;
        run.entries.front().filter(|entry| entry.bytes <= most)?;
        run.next()
    }

    /// Notes the sequence number of an accepted entry of a run that is out. All that wait were admitted after it.
    pub(super) fn note(&mut self, key: &Key, sequence: u128) {
        let Some(run) = self.runs.get_mut(key) else { return };
        run.highest = run.highest.max(Some(sequence));
        // Those that were sent before stand in front; the others hear of it when they go.
        for entry in run.entries.iter_mut().take_while(|entry| entry.attempts > 0) {
            entry.preceded_by = entry.preceded_by.max(Some(sequence));
        }
    }

    /// Gives an entry without a key back, to the front, after a pause.
    pub(super) fn put_back(&mut self, entry: Pending<T>, until: Option<Instant>) {
        self.place(Place::Entry(entry), until);
    }

    /// Lets a run that is out have a place again: in front or held where it gives entries back, else at the end. One that
    /// has a place keeps it.
    pub(super) fn release(&mut self, key: &Key, back: Vec<Pending<T>>, until: Option<Instant>) {
        let run = self.runs.entry(key.clone()).or_insert_with(|| Run::new(true));
        let gives_back = !back.is_empty();
        for entry in back.into_iter().rev() {
            run.entries.push_front(entry);
        }
        if !std::mem::take(&mut run.is_out) {
            return;
        }
        if run.entries.is_empty() {
            self.runs.remove(key);
        } else if gives_back {
            self.place(Place::Run(key.clone()), until);
        } else {
            self.line.push_back(Place::Run(key.clone()));
        }
    }

    fn place(&mut self, place: Place<T>, until: Option<Instant>) {
        let Some(until) = until else {
            self.line.push_front(place);
            return;
        };
        self.next_hold += 1;
        self.held.insert((until, self.next_hold), place);
    }

    /// Lets those into the line whose pause is over: in front, the longest held first.
    pub(super) fn wake(&mut self, now: Instant) {
        let mut due = Vec::new();
        while let Some(first) = self.held.first_entry().filter(|held| held.key().0 <= now) {
            due.push(first.remove());
        }
        for place in due.into_iter().rev() {
            self.line.push_front(place);
        }
    }

    /// When the next pause is over.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        self.held.first_key_value().map(|((until, _), _)| *until)
    }

    /// All that waits; those of one key in order.
    pub(super) fn into_entries(mut self) -> Vec<Pending<T>> {
        self.take_all(|_| true)
    }

    /// Takes all waiting entries of a key, in order.
    pub(super) fn take_run(&mut self, key: &Key) -> VecDeque<Pending<T>> {
        self.runs.get_mut(key).map(|run| std::mem::take(&mut run.entries)).unwrap_or_default()
    }

    /// Takes the entries of which `is_meant` is true; those of one key in order.
    pub(super) fn take_all(&mut self, mut is_meant: impl FnMut(&Pending<T>) -> bool) -> Vec<Pending<T>> {
        let mut taken = Vec::new();
        let mut sieve = |place: Place<T>| match place {
            Place::Entry(entry) if is_meant(&entry) => {
                taken.push(entry);
                None
            }
            place => Some(place),
        };
        self.line = std::mem::take(&mut self.line).into_iter().filter_map(&mut sieve).collect();
        let held = std::mem::take(&mut self.held).into_iter();
        self.held = held.filter_map(|(until, place)| Some((until, sieve(place)?))).collect();
        for run in self.runs.values_mut() {
            let (out, kept) =
                std::mem::take(&mut run.entries).into_iter().partition::<Vec<_>, _>(&mut is_meant);
            run.entries = kept.into();
            taken.extend(out);
        }
        taken
    }

    /// The earliest deadline of all that waits. It looks at every entry.
    pub(super) fn first_deadline(&self) -> Option<Instant> {
        let single = |place: &Place<T>| match place {
            Place::Entry(entry) => Some(entry.deadline),
            Place::Run(_) => None,
        };
        let singles = self.line.iter().chain(self.held.values()).filter_map(single);
        singles.chain(self.runs.values().flat_map(|run| &run.entries).map(|entry| entry.deadline)).min()
    }
}
