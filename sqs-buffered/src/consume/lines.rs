//! Decides which message may start: one at a time per line; lines are concurrent. Pure: nothing waits, nothing runs.
//!
//! A line is a message group on FIFO queues, in the order of the sequence numbers. On standard queues each message is a
//! line of its own, so that two deliveries of one message never run at once.
//!
//! ```text
//! arrive -> line: waiting.. -> start -> running -> settling -> done -> the next of the line may start
//!              ^                          ^ a second delivery of the running message goes with the first
//!              +-- a second delivery of a waiting message goes with the first
//! ```
//!
//! A batch starts several messages of a line. When it has ended, the first one is settled. The others are decided: each
//! is settled when the one before it is [done](Lines::done).

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// When the next message of a group may start, on FIFO queues.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum GroupAdvance {
    /// After the previous message was deleted. So a message is never handled before an earlier one that is delivered again
    /// because its delete failed.
    #[default]
    AfterDelete,
    /// After the handler of the previous message has succeeded. This saves the time of a delete.
    AfterHandler,
}

/// A delivery of a message, as lines see it.
pub(crate) trait Item {
    /// The id of its message.
    fn id(&self) -> &Arc<str>;
    /// Its position in the line: lower numbers go first.
    fn sequence(&self) -> u128;
    /// This is a later delivery of the same message.
    fn follow(&mut self, earlier: &Self) {
        let _ = earlier;
    }
}

/// A message with its deliveries. Usually there is one.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Arrived<T> {
    /// The latest delivery: on FIFO queues the only one whose handle still works.
    pub(crate) latest: T,
    /// Earlier deliveries that are not settled.
    pub(crate) earlier: Vec<T>,
}

impl<T: Item> Arrived<T> {
    /// Adds a later delivery.
    pub(crate) fn renew(&mut self, mut delivery: T) {
        delivery.follow(&self.latest);
        self.earlier.push(std::mem::replace(&mut self.latest, delivery));
    }
}

impl<T> Arrived<T> {
    pub(crate) fn new(latest: T) -> Self {
        Self { latest, earlier: Vec::new() }
    }

    /// All deliveries, the latest first.
    pub(crate) fn into_deliveries(self) -> impl Iterator<Item = T> {
        std::iter::once(self.latest).chain(self.earlier.into_iter().rev())
    }
}

/// The name of a line.
pub(crate) type Key = Arc<str>;

/// All lines that have messages. `V` is what a batch decided about a message.
#[derive(Debug)]
pub(crate) struct Lines<T, V> {
    /// Ordered, as the other maps of this crate whose entries do something when they are dropped: a killed run repeats exactly.
    lines: BTreeMap<Key, Line<T, V>>,
    /// Lines whose first message may start, in the order in which they became ready.
    ready: VecDeque<Key>,
}

#[derive(Debug)]
struct Line<T, V> {
    /// Messages that ran in a batch with the one that is being settled, in order.
    decided: VecDeque<(Arrived<T>, V)>,
    waiting: VecDeque<Arrived<T>>,
    stage: Stage<T>,
}

#[derive(Debug)]
enum Stage<T> {
    /// Nothing runs; the line is in `ready`.
    Idle,
    /// The first message runs or is being deleted, perhaps with others in a batch. Deliveries that arrived since then
    /// are stored with their message.
    Running(VecDeque<(Arc<str>, Vec<T>)>),
    /// The message that ran is being given back. If SQS delivers it again before the response, it counts as a new
    /// message.
    GivingBack,
}

impl<T> Stage<T> {
    fn running(id: &Arc<str>) -> Self {
        Self::Running([(Arc::clone(id), Vec::new())].into())
    }
}

impl<T: Item, V> Lines<T, V> {
    pub(crate) fn new() -> Self {
        Self { lines: BTreeMap::new(), ready: VecDeque::new() }
    }

    /// Messages that have not started.
    #[cfg(test)]
    fn waiting(&self) -> usize {
        self.lines.values().map(|line| line.waiting.len()).sum()
    }

    /// Adds a delivery. Returns whether its message was already held.
    pub(crate) fn arrive(&mut self, key: Key, delivery: T) -> bool {
        let line = match self.lines.entry(key) {
            Slot::Occupied(line) => line.into_mut(),
            Slot::Vacant(slot) => {
                self.ready.push_back(slot.key().clone());
                slot.insert(Line { decided: VecDeque::new(), waiting: VecDeque::new(), stage: Stage::Idle })
            }
        };
        if let Stage::Running(running) = &mut line.stage
            && let Some((_, with_it)) = running.iter_mut().find(|(id, _)| id == delivery.id())
        {
            with_it.push(delivery);
            return true;
        }
        let mut here = line.decided.iter_mut().map(|(entry, _)| entry).chain(&mut line.waiting);
        if let Some(same) = here.find(|entry| entry.latest.id() == delivery.id()) {
            same.renew(delivery);
            return true;
        }
        let later = |entry: &Arrived<T>| entry.latest.sequence() > delivery.sequence();
        let place = line.waiting.len() - line.waiting.iter().rev().take_while(|entry| later(entry)).count();
        line.waiting.insert(place, Arrived::new(delivery));
        false
    }

    /// Takes a message that may start now. Its line is blocked until the message is [done](Self::done).
    pub(crate) fn start(&mut self) -> Option<(Key, Arrived<T>)> {
        loop {
            let key = self.ready.pop_front()?;
            let Some(line) = self.lines.get_mut(&key) else { continue };
            let Some(entry) = line.waiting.pop_front() else {
                self.lines.remove(&key);
                continue;
            };
            line.stage = Stage::running(entry.latest.id());
            return Some((key, entry));
        }
    }

    /// Takes the next message of a line that has started, to run with it in a batch, if it may.
    pub(crate) fn start_next(
        &mut self,
        key: &Key,
        may: impl FnOnce(&Arrived<T>) -> bool,
    ) -> Option<Arrived<T>> {
        let line = self.lines.get_mut(key)?;
        let Stage::Running(running) = &mut line.stage else { return None };
        let entry = line.waiting.pop_front_if(|entry| may(entry))?;
        running.push_back((entry.latest.id().clone(), Vec::new()));
        Some(entry)
    }

    /// The lines that became ready since the last call, in that order. Their messages stay in them.
    pub(crate) fn take_ready(&mut self) -> VecDeque<Key> {
        std::mem::take(&mut self.ready)
    }

    /// The first message of a line that has not started.
    pub(crate) fn head_of(&self, key: &Key) -> Option<&Arrived<T>> {
        self.lines.get(key).filter(|line| matches!(line.stage, Stage::Idle))?.waiting.front()
    }

    /// The caller starts the messages of this line, so it is not ready for others.
    pub(crate) fn keep(&mut self, key: &Key) {
        if let Some(place) = self.ready.iter().rposition(|ready| ready == key) {
            self.ready.remove(place);
        }
    }

    /// Takes the next message of a line whose first one is [done](Self::done), if there is one.
    pub(crate) fn start_next_of(&mut self, key: &Key) -> Option<Arrived<T>> {
        let line = self.lines.get_mut(key).filter(|line| matches!(line.stage, Stage::Idle))?;
        let entry = line.waiting.pop_front()?;
        line.stage = Stage::running(entry.latest.id());
        Some(entry)
    }

    /// How many messages may start. Counting stops at `most`.
    pub(crate) fn startable(&self, most: usize) -> usize {
        let mut count = 0;
        for line in self.ready.iter().filter_map(|key| self.lines.get(key)) {
            count += line.waiting.len();
            if count >= most {
                return most;
            }
        }
        count
    }

    /// Sets the results of the messages that ran in a batch behind the first of the line.
    pub(crate) fn decide(&mut self, key: &Key, ended: impl IntoIterator<Item = (Arrived<T>, V)>) {
        let Some(line) = self.lines.get_mut(key) else { return };
        let Stage::Running(running) = &mut line.stage else { return };
        let rest = running.split_off(1.min(running.len()));
        for ((mut entry, decision), (_, with_it)) in ended.into_iter().zip(rest) {
            for delivery in with_it {
                entry.renew(delivery);
            }
            line.decided.push_back((entry, decision));
        }
    }

    /// The deliveries of the running message that arrived since it started. More can arrive.
    pub(crate) fn take_more(&mut self, key: &Key) -> Vec<T> {
        match self.lines.get_mut(key).map(|line| &mut line.stage) {
            Some(Stage::Running(running)) => {
                running.front_mut().map(|(_, with_it)| std::mem::take(with_it)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// Marks the running message as being given back: later deliveries of it are new messages. Returns the earlier
    /// ones.
    pub(crate) fn give_back(&mut self, key: &Key) -> Vec<T> {
        let with_it = self.take_more(key);
        if let Some(line) = self.lines.get_mut(key) {
            line.stage = Stage::GivingBack;
        }
        with_it
    }

    /// Takes the waiting messages of a line, in order, behind those that were decided in a batch.
    pub(crate) fn take_waiting(&mut self, key: &Key) -> Vec<Arrived<T>> {
        let Some(line) = self.lines.get_mut(key) else { return Vec::new() };
        let decided = line.decided.drain(..).map(|(entry, _)| entry);
        decided.chain(line.waiting.drain(..)).collect()
    }

    /// Puts the message that ran at the front of its line. Messages that ran in a batch with it run again too, in
    /// order.
    pub(crate) fn run_again(&mut self, key: &Key, entry: Arrived<T>) {
        if let Some(line) = self.lines.get_mut(key) {
            while let Some((decided, _)) = line.decided.pop_back() {
                line.waiting.push_front(decided);
            }
            line.waiting.push_front(entry);
        }
    }

    /// Marks the running message as settled: the next one of its line may start, unless one [is
    /// decided](Self::next_decided). Returns deliveries that arrived too late to be settled with it.
    pub(crate) fn done(&mut self, key: &Key) -> Vec<T> {
        let late = self.take_more(key);
        if let Some(line) = self.lines.get_mut(key) {
            line.stage = Stage::Idle;
            if !line.decided.is_empty() {
                // The caller takes it with `next_decided`.
            } else if line.waiting.is_empty() {
                self.lines.remove(key);
            } else {
                self.ready.push_back(key.clone());
            }
        }
        late
    }

    /// Takes the next decided message of a line whose running message is done, to be settled.
    pub(crate) fn next_decided(&mut self, key: &Key) -> Option<(Arrived<T>, V)> {
        let line = self.lines.get_mut(key).filter(|line| matches!(line.stage, Stage::Idle))?;
        let (entry, decision) = line.decided.pop_front()?;
        line.stage = Stage::running(entry.latest.id());
        Some((entry, decision))
    }

    /// Takes everything that has not started, line by line, each in order.
    pub(crate) fn drain(&mut self) -> Vec<Vec<Arrived<T>>> {
        let taken = self.lines.values_mut().map(|line| std::mem::take(&mut line.waiting).into());
        let taken = taken.filter(|waiting: &Vec<_>| !waiting.is_empty()).collect();
        self.ready.clear();
        self.lines.retain(|_, line| !matches!(line.stage, Stage::Idle));
        taken
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
