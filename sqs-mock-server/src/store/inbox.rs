//! The changes that wait for the writer.

use std::sync::OnceLock;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::Durability;
use crate::service::clock::{Clock, ClockSetting};
use crate::service::commits::Commits;
use crate::sns::engine::{TopicChange, TopicNumber, TopicReader, WaitingChange};
use crate::sqs::ops::changes::{Change, ChangeReader};

/// The changes that wait for the writer. Bounded by the number of requests, since each waits for its changes, and by the
/// number of messages, since background work changes each of them a few times only.
#[derive(Debug)]
pub(super) struct Inbox {
    waiting: Mutex<Waiting>,
    /// The writer waits here.
    arrived: Condvar,
    pub(super) commits: Commits,
    pub(super) clock: OnceLock<Clock>,
}

#[derive(Debug, Default)]
struct Waiting {
    changes: Vec<Recorded>,
    /// Number of changes so far.
    recorded: u64,
    clock: Option<ClockSetting>,
    closed: bool,
    /// The number of changes that the writer waits for.
    wanted: usize,
}

/// A change of one of the services.
#[derive(Debug)]
pub(super) enum Recorded {
    Sqs(Change),
    Topic(TopicNumber, TopicChange),
    Waiting(WaitingChange),
}

/// Changes for one transaction.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) changes: Vec<Recorded>,
    /// Number of changes so far, these included.
    pub(super) recorded: u64,
}

/// The maximum wait for further changes: a commit may have taken seconds, and its clients may have gone.
const MAX_WAIT: Duration = Duration::from_millis(10);

/// A commit that has succeeded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Committed {
    /// The number of responses that waited at its end, for it or for the next one.
    pub(super) waiting: usize,
    pub(super) duration: Duration,
}

impl Inbox {
    pub(super) fn new(clock: Option<ClockSetting>, durability: Durability) -> Self {
        Self {
            waiting: Mutex::new(Waiting { clock, ..Waiting::default() }),
            arrived: Condvar::new(),
            commits: Commits::new(durability.as_str()),
            clock: OnceLock::new(),
        }
    }

    /// Waits for changes. `None` after the last.
    ///
    /// Clients often send again when they have their responses. So after the first change, this waits until there are as
    /// many changes as responses waited at the end of the last commit, but at most as long as that commit took: commits
    /// become fewer and larger, and a single client does not wait.
    pub(super) fn next(&self, last: Committed) -> Option<Batch> {
        {
            let mut waiting = self.waiting.lock();
            self.wait(&mut waiting, 1, None);
            if waiting.changes.is_empty() {
                return None;
            }
            self.wait(&mut waiting, last.waiting, Some(last.duration.min(MAX_WAIT)));
        }
        let _between = self.commits.between();
        let mut waiting = self.waiting.lock();
        Some(Batch { changes: std::mem::take(&mut waiting.changes), recorded: waiting.recorded })
    }

    /// Waits for this number of changes, or until the inbox is closed or the time is over.
    fn wait(&self, waiting: &mut MutexGuard<'_, Waiting>, wanted: usize, at_most: Option<Duration>) {
        waiting.wanted = wanted;
        let is_missing = |waiting: &mut Waiting| waiting.changes.len() < wanted && !waiting.closed;
        match at_most {
            Some(time) => drop(self.arrived.wait_while_for(waiting, is_missing, time)),
            None => self.arrived.wait_while(waiting, is_missing),
        }
    }

    /// Waits until the inbox is closed, at most this long. Returns whether it is.
    pub(super) fn closed_within(&self, time: Duration) -> bool {
        let mut waiting = self.waiting.lock();
        self.arrived.wait_while_for(&mut waiting, |waiting| !waiting.closed, time);
        waiting.closed
    }

    /// Ends the writer after the changes so far. Later changes fail.
    pub(super) fn close(&self) {
        self.note_clock();
        let _between = self.commits.between();
        self.waiting.lock().closed = true;
        self.arrived.notify_one();
    }

    fn add(&self, waiting: &mut Waiting, change: Recorded) {
        let recorded = self.commits.record();
        if waiting.closed {
            // The writer must not count it among those that it stores.
            self.commits.end("the data directory is closed");
            return;
        }
        waiting.recorded = recorded;
        waiting.changes.push(change);
        if waiting.changes.len() == waiting.wanted {
            self.arrived.notify_one();
        }
    }
}

impl ChangeReader for Inbox {
    fn read(&self, change: Change) {
        self.add(&mut self.waiting.lock(), Recorded::Sqs(change));
    }

    fn note_clock(&self) {
        let Some(clock) = self.clock.get() else { return };
        let mut waiting = self.waiting.lock();
        // Under the lock, so that a later setting is noted later.
        let setting = clock.setting();
        if waiting.clock != Some(setting) {
            waiting.clock = Some(setting);
            self.add(&mut waiting, Recorded::Sqs(Change::ClockSet(setting)));
        }
    }

    fn commits(&self) -> Option<&Commits> {
        Some(&self.commits)
    }
}

impl TopicReader for Inbox {
    fn read(&self, topic: TopicNumber, change: TopicChange) {
        self.add(&mut self.waiting.lock(), Recorded::Topic(topic, change));
    }

    fn read_waiting(&self, change: WaitingChange) {
        self.add(&mut self.waiting.lock(), Recorded::Waiting(change));
    }
}
