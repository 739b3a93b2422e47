//! What is to be deleted later: pure, it is told what time it is.

use std::time::Duration;

use tokio::time::Instant;

use crate::pointer::Pointer;

/// Objects that may wait at a time.
const CAPACITY: usize = 1_000;
/// How often a delete is tried.
const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// An object that is to be deleted.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) pointer: Pointer,
    pub(super) attempts: u32,
    pub(super) due: Instant,
}

impl Task {
    pub(super) fn new(pointer: Pointer, due: Instant) -> Self {
        Self { pointer, attempts: 0, due }
    }

    /// How long to wait after the latest attempt: 1 s, and four times that after each; `None` after the last. `jitter` is 0
    /// to 1 and takes up to the half away.
    pub(super) fn pause(&self, jitter: f64) -> Option<Duration> {
        let growth = 4_u32.checked_pow(self.attempts.saturating_sub(1))?;
        (self.attempts < ATTEMPTS).then(|| FIRST_PAUSE.saturating_mul(growth).mul_f64(1.0 - jitter / 2.0))
    }
}

/// The tasks, in the order in which they came, and whether somebody works on them.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    tasks: Vec<Task>,
    is_one_taken: bool,
    is_running: bool,
}

impl Waiting {
    /// Gives the task back when there is no room.
    pub(super) fn push(&mut self, task: Task) -> Result<(), Task> {
        if self.tasks.len() >= CAPACITY {
            return Err(task);
        }
        self.tasks.push(task);
        Ok(())
    }

    /// Whether somebody has to begin to work.
    pub(super) fn start(&mut self) -> bool {
        !std::mem::replace(&mut self.is_running, true)
    }

    pub(super) fn stop(&mut self) {
        self.is_running = false;
        self.is_one_taken = false;
    }

    pub(super) fn next_due(&mut self) -> Option<Instant> {
        let due = self.tasks.iter().map(|task| task.due).min();
        if due.is_none() {
            // Whoever comes from now on finds nobody working.
            self.stop();
        }
        due
    }

    pub(super) fn take(&mut self, now: Instant) -> Option<Task> {
        let index = self.tasks.iter().position(|task| task.due <= now)?;
        self.is_one_taken = true;
        Some(self.tasks.swap_remove(index))
    }

    /// What was taken is done with, or waiting again.
    pub(super) fn done(&mut self) {
        self.is_one_taken = false;
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len() + usize::from(self.is_one_taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let mut task = Task::new(Pointer::new("b", "k"), Instant::now());
        let mut pauses = Vec::new();
        loop {
            task.attempts += 1;
            let Some(pause) = task.pause(0.0) else { break };
            pauses.push(pause.as_secs());
            assert!(task.pause(1.0) >= Some(pause / 2));
        }
        assert_eq!(pauses, [1, 4, 16, 64]);
    }

    #[test]
    fn what_is_due_comes_and_there_is_no_more_than_room_for() {
        let now = Instant::now();
        let mut waiting = Waiting::default();
        waiting.push(Task::new(Pointer::new("b", "late"), now + FIRST_PAUSE)).expect("room");
        waiting.push(Task::new(Pointer::new("b", "now"), now)).expect("room");
        assert_eq!(waiting.next_due(), Some(now));
        assert_eq!(waiting.take(now).expect("is due").pointer.key(), "now");
        assert!(waiting.take(now).is_none());
        assert_eq!(waiting.len(), 2);
        waiting.done();
        for _ in 1..CAPACITY {
            waiting.push(Task::new(Pointer::new("b", "k"), now)).expect("room");
        }
        assert!(waiting.push(Task::new(Pointer::new("b", "k"), now)).is_err());
    }
}
