//! Which message may start: one at a time of each line, lines side by side. Pure: nothing waits, nothing runs.
//!
//! A line is a message group on FIFO queues, in the order of the sequence numbers. On standard queues each message is a
//! line of its own, so that two deliveries of one message never run at once.
//!
//! ```text
//! arrive -> line: waiting.. -> start -> running -> settling -> done -> the next of the line may start
//!              ^                          ^ a second delivery of the running message goes with the first
//!              +-- a second delivery of a waiting message goes with the first
//! ```

use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// When the next message of a group may start, on FIFO queues.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum GroupAdvance {
    /// When the message before it was deleted. So a message is never handled before one of its group that comes again
    /// because its delete failed.
    #[default]
    AfterDelete,
    /// When the handler of the message before it has succeeded. Faster by the time that a delete takes.
    AfterHandler,
}

/// A delivery of a message, as lines see it.
pub(crate) trait Item {
    /// The message that it is a delivery of.
    fn id(&self) -> &Arc<str>;
    /// Where it belongs in its line: lower numbers go first.
    fn sequence(&self) -> u128;
}

/// A message with its deliveries. Usually there is one.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Entry<T> {
    /// The latest delivery: on FIFO queues the only one whose handle still works.
    pub(crate) latest: T,
    /// Earlier ones that are not settled.
    pub(crate) earlier: Vec<T>,
}

impl<T> Entry<T> {
    pub(crate) fn new(latest: T) -> Self {
        Self { latest, earlier: Vec::new() }
    }

    fn renew(&mut self, delivery: T) {
        self.earlier.push(std::mem::replace(&mut self.latest, delivery));
    }

    /// All deliveries, the latest first.
    pub(crate) fn into_deliveries(self) -> impl Iterator<Item = T> {
        std::iter::once(self.latest).chain(self.earlier.into_iter().rev())
    }
}

/// The name of a line.
pub(crate) type Key = Arc<str>;

/// All lines that have messages.
#[derive(Debug)]
pub(crate) struct Groups<T> {
    lines: HashMap<Key, Line<T>>,
    /// Lines whose first message may start, in the order in which they came to be so.
    ready: VecDeque<Key>,
    waiting: usize,
}

#[derive(Debug)]
struct Line<T> {
    waiting: VecDeque<Entry<T>>,
    stage: Stage<T>,
}

#[derive(Debug)]
enum Stage<T> {
    /// Nothing runs; the line is in `ready`.
    Idle,
    /// This message runs, or was run and is being deleted. Deliveries of it that came since then are with it.
    Running(Arc<str>, Vec<T>),
    /// What ran is being given back: it can come again before that is answered, as a message like others.
    GivingBack,
}

impl<T: Item> Groups<T> {
    pub(crate) fn new() -> Self {
        Self { lines: HashMap::new(), ready: VecDeque::new(), waiting: 0 }
    }

    /// Messages that have not started.
    #[cfg(test)]
    fn waiting(&self) -> usize {
        self.waiting
    }

    /// Takes a delivery. Says whether it is one more of a message that is here already.
    pub(crate) fn arrive(&mut self, key: Key, delivery: T) -> bool {
        let line = match self.lines.entry(key) {
            Slot::Occupied(line) => line.into_mut(),
            Slot::Vacant(slot) => {
                self.ready.push_back(slot.key().clone());
                slot.insert(Line { waiting: VecDeque::new(), stage: Stage::Idle })
            }
        };
        if let Stage::Running(id, with_it) = &mut line.stage
            && id == delivery.id()
        {
            with_it.push(delivery);
            return true;
        }
        if let Some(same) = line.waiting.iter_mut().find(|entry| entry.latest.id() == delivery.id()) {
            same.renew(delivery);
            return true;
        }
        let later = |entry: &Entry<T>| entry.latest.sequence() > delivery.sequence();
        let place = line.waiting.len() - line.waiting.iter().rev().take_while(|entry| later(entry)).count();
        line.waiting.insert(place, Entry::new(delivery));
        self.waiting += 1;
        false
    }

    /// Takes a message that may start now; its line stands still until it is [done](Self::done).
    pub(crate) fn start(&mut self) -> Option<(Key, Entry<T>)> {
        loop {
            let key = self.ready.pop_front()?;
            let Some(line) = self.lines.get_mut(&key) else { continue };
            let Some(entry) = line.waiting.pop_front() else {
                self.lines.remove(&key);
                continue;
            };
            line.stage = Stage::Running(entry.latest.id().clone(), Vec::new());
            self.waiting -= 1;
            return Some((key, entry));
        }
    }

    /// The deliveries of the running message that came since it started. More can come.
    pub(crate) fn take_more(&mut self, key: &Key) -> Vec<T> {
        match self.lines.get_mut(key).map(|line| &mut line.stage) {
            Some(Stage::Running(_, with_it)) => std::mem::take(with_it),
            _ => Vec::new(),
        }
    }

    /// The running message is given back: from now on its deliveries are new ones. Returns those that came before.
    pub(crate) fn give_back(&mut self, key: &Key) -> Vec<T> {
        let with_it = self.take_more(key);
        if let Some(line) = self.lines.get_mut(key) {
            line.stage = Stage::GivingBack;
        }
        with_it
    }

    /// Takes what waits in a line, in order.
    pub(crate) fn take_waiting(&mut self, key: &Key) -> Vec<Entry<T>> {
        let Some(line) = self.lines.get_mut(key) else { return Vec::new() };
        self.waiting -= line.waiting.len();
        std::mem::take(&mut line.waiting).into()
    }

    /// Puts a delivery of the message that ran before all others of its line.
    pub(crate) fn run_again(&mut self, key: &Key, entry: Entry<T>) {
        if let Some(line) = self.lines.get_mut(key) {
            line.waiting.push_front(entry);
            self.waiting += 1;
        }
    }

    /// The running message is settled; the next of its line may start. Returns deliveries that came too late to be
    /// settled with it.
    pub(crate) fn done(&mut self, key: &Key) -> Vec<T> {
        let late = self.take_more(key);
        if let Some(line) = self.lines.get_mut(key) {
            line.stage = Stage::Idle;
            if line.waiting.is_empty() {
                self.lines.remove(key);
            } else {
                self.ready.push_back(key.clone());
            }
        }
        late
    }

    /// Takes everything that has not started, line by line, each in order.
    pub(crate) fn drain(&mut self) -> Vec<Vec<Entry<T>>> {
        self.waiting = 0;
        let taken = self.lines.values_mut().map(|line| std::mem::take(&mut line.waiting).into());
        let taken = taken.filter(|waiting: &Vec<_>| !waiting.is_empty()).collect();
        self.ready.clear();
        self.lines.retain(|_, line| !matches!(line.stage, Stage::Idle));
        taken
    }
}

#[cfg(test)]
#[path = "groups_tests.rs"]
mod tests;
