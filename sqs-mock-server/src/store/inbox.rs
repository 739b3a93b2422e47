//! The changes that wait for the writer.

use std::sync::OnceLock;

use parking_lot::{Condvar, Mutex};

use crate::service::clock::{Clock, ClockSetting};
use crate::service::commits::Commits;
use crate::sqs::ops::changes::{Change, ChangeReader};

/// The changes that wait for the writer. Bounded by the number of requests, since each waits for its changes, and by the
/// number of messages, since background work changes each of them a few times only.
#[derive(Debug)]
pub(super) struct Inbox {
    waiting: Mutex<Waiting>,
    /// The writer waits here.
    arrived: Condvar,
    commits: Commits,
    clock: OnceLock<Clock>,
}

#[derive(Debug, Default)]
struct Waiting {
    changes: Vec<Change>,
    /// Number of changes so far.
    recorded: u64,
    clock: Option<ClockSetting>,
    closed: bool,
}

/// Changes for one transaction.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) changes: Vec<Change>,
    /// Number of changes so far, these included.
    pub(super) recorded: u64,
}

impl Inbox {
    pub(super) fn new(clock: Option<ClockSetting>) -> Self {
        Self {
            waiting: Mutex::new(Waiting { clock, ..Waiting::default() }),
            arrived: Condvar::new(),
            commits: Commits::default(),
            clock: OnceLock::new(),
        }
    }

    pub(super) fn follow(&self, clock: &Clock) {
        let _ = self.clock.set(clock.clone());
    }

    /// Waits for changes. `None` after the last.
    pub(super) fn next(&self) -> Option<Batch> {
        let mut waiting = self.waiting.lock();
        while waiting.changes.is_empty() {
            if waiting.closed {
                return None;
            }
            self.arrived.wait(&mut waiting);
        }
        Some(Batch { changes: std::mem::take(&mut waiting.changes), recorded: waiting.recorded })
    }

    /// Waits until the inbox is closed, at most this long. Returns whether it is.
    pub(super) fn closed_within(&self, time: std::time::Duration) -> bool {
        let mut waiting = self.waiting.lock();
        self.arrived.wait_while_for(&mut waiting, |waiting| !waiting.closed, time);
        waiting.closed
    }

    pub(super) fn progress(&self) -> &Commits {
        &self.commits
    }

    /// Ends the writer after the changes so far. Requests with later ones fail.
    pub(super) fn close(&self) {
        self.note_clock();
        self.waiting.lock().closed = true;
        self.arrived.notify_one();
    }

    fn add(&self, waiting: &mut Waiting, change: Change) {
        waiting.recorded = self.commits.record();
        if waiting.closed {
            self.commits.end("the data directory is closed");
            return;
        }
        waiting.changes.push(change);
        if waiting.changes.len() == 1 {
            self.arrived.notify_one();
        }
    }
}

impl ChangeReader for Inbox {
    fn read(&self, change: Change) {
        self.add(&mut self.waiting.lock(), change);
    }

    fn note_clock(&self) {
        let Some(clock) = self.clock.get() else { return };
        let mut waiting = self.waiting.lock();
        // Under the lock, so that a later setting is noted later.
        let setting = clock.setting();
        if waiting.clock != Some(setting) {
            waiting.clock = Some(setting);
            self.add(&mut waiting, Change::ClockSet(setting));
        }
    }

    fn commits(&self) -> Option<&Commits> {
        Some(&self.commits)
    }
}
