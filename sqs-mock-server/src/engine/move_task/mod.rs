//! Move tasks: dead letters go back where they came from, or elsewhere, at a bounded rate.
//!
//! A task moves nothing by itself. Its owner asks for the [`next step`](MoveTasks::step), moves as many messages
//! from queue to queue as that allows, and reports; so queues are locked one at a time and time is the caller's.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html>

mod handle;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::limits;
use sqs_client::service_error::{ErrorCode, ServiceError};

use super::QueueArn;
use crate::clock::Timestamp;
use crate::seed::Uuid;

/// How many messages a task without a rate moves in one step.
const STEP: u64 = 100;
/// How long a task runs at most.
const LIFE: Duration = Duration::from_hours(36);
/// How many ended tasks of one source are remembered.
const REMEMBERED: usize = 10;

/// How a task stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MoveStatus {
    /// It moves messages.
    Running,
    /// It has moved all that were there.
    Completed,
    /// It was told to stop.
    Cancelling,
    /// It has stopped as told.
    Cancelled,
    /// It cannot go on.
    Failed(FailureReason),
}

/// Why a task cannot go on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FailureReason {
    /// The queue that a message should go to does not exist.
    NonExistentQueue,
    /// A message should go back but did not come from anywhere.
    UnknownSource,
    /// It took more than 36 hours.
    TooLong,
}

impl FailureReason {
    /// The text of `FailureReason`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NonExistentQueue => "AWS.SimpleQueueService.NonExistentQueue",
            Self::UnknownSource => "CouldNotDetermineMessageSource",
            Self::TooLong => "TaskTimedOut",
        }
    }
}

impl MoveStatus {
    /// The text of `Status`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
            Self::Cancelling => "CANCELLING",
            Self::Cancelled => "CANCELLED",
            Self::Failed(_) => "FAILED",
        }
    }

    const fn is_active(&self) -> bool {
        matches!(self, Self::Running | Self::Cancelling)
    }
}

/// What a task shall do.
#[derive(Clone, Debug)]
pub struct NewMoveTask {
    /// The dead-letter queue.
    pub source: Arc<QueueArn>,
    /// Where its messages go; back to where each came from when absent.
    pub destination: Option<Arc<QueueArn>>,
    /// Messages a second, 1 to 500.
    pub rate: Option<u32>,
    /// How many messages there are to move.
    pub to_move: u64,
}

/// A task, running or ended.
#[derive(Clone, Debug)]
pub struct MoveTask {
    /// Its id.
    pub id: Uuid,
    /// What it does.
    pub order: NewMoveTask,
    /// When it was started.
    pub started: Timestamp,
    /// How many messages it has moved.
    pub moved: u64,
    /// How it stands.
    pub status: MoveStatus,
}

/// What the owner of a task does next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MoveStep {
    /// Move this many messages at most, then report.
    Move(u64),
    /// Ask again then.
    WaitUntil(Timestamp),
    /// Nothing: the task has ended.
    Ended,
}

impl MoveTask {
    /// The text of `TaskHandle`.
    pub fn handle(&self) -> String {
        handle::write(self.id, &self.order.source)
    }

    fn step(&mut self, now: Timestamp) -> MoveStep {
        if self.status == MoveStatus::Running && now.saturating_since(self.started) >= LIFE {
            self.status = MoveStatus::Failed(FailureReason::TooLong);
        }
        match self.status {
            MoveStatus::Cancelling => self.status = MoveStatus::Cancelled,
            MoveStatus::Running if self.moved >= self.order.to_move => self.status = MoveStatus::Completed,
            _ => {}
        }
        if self.status != MoveStatus::Running {
            return MoveStep::Ended;
        }
        let left = self.order.to_move - self.moved;
        let Some(rate) = self.order.rate.map(u64::from) else {
            return MoveStep::Move(left.min(STEP));
        };
        // The first message goes at once, each other one when its part of a second is over.
        let passed = u64::try_from(now.saturating_since(self.started).as_millis()).unwrap_or(u64::MAX);
        let allowed = (passed.saturating_mul(rate) / 1000 + 1).saturating_sub(self.moved);
        if allowed > 0 {
            return MoveStep::Move(allowed.min(left));
        }
        let next = Duration::from_millis((self.moved * 1000).div_ceil(rate.max(1)));
        MoveStep::WaitUntil(self.started + next)
    }
}

/// The tasks of one account in one region.
#[derive(Debug, Default)]
pub struct MoveTasks {
    /// By source, the newest last.
    by_source: HashMap<Arc<QueueArn>, Vec<MoveTask>>,
    active: usize,
}

impl MoveTasks {
    /// Starts a task. That the queues exist and the source is a dead-letter queue is up to the caller to check.
    ///
    /// # Errors
    /// `InvalidParameterValue` when the source has an active task, `OverLimit` when there are 100 others.
    pub fn start(&mut self, now: Timestamp, id: Uuid, order: NewMoveTask) -> Result<&MoveTask, ServiceError> {
        let tasks = self.by_source.entry(Arc::clone(&order.source)).or_default();
        if tasks.last().is_some_and(|task| task.status.is_active()) {
            return Err(refused(
                "There is already a task running. Only one active task is allowed for a source \
                                queue arn at a given time.",
            ));
        }
        if self.active >= limits::MAX_MOVE_TASKS {
            return Err(ServiceError::new(
                ErrorCode::OverLimit,
                "There are too many active message movement tasks.",
            ));
        }
        self.active += 1;
        if tasks.len() == REMEMBERED {
            tasks.remove(0);
        }
        let at = tasks.len();
        tasks.push(MoveTask { id, order, started: now, moved: 0, status: MoveStatus::Running });
        Ok(&tasks[at])
    }

    /// What to do next for a task. A task that is over ends by this.
    pub fn step(&mut self, now: Timestamp, source: &QueueArn, id: Uuid) -> MoveStep {
        self.update(source, id, |task| task.step(now)).unwrap_or(MoveStep::Ended)
    }

    /// Reports that messages were moved.
    pub fn moved(&mut self, source: &QueueArn, id: Uuid, messages: u64) {
        self.update(source, id, |task| task.moved += messages);
    }

    /// Reports how a task ended: there was nothing left, or it cannot go on.
    pub fn end(&mut self, source: &QueueArn, id: Uuid, status: MoveStatus) {
        self.update(source, id, |task| {
            if task.status.is_active() {
                task.status = status;
            }
        });
    }

    /// Tells a task to stop, and how many messages it has moved. Those on their way still arrive.
    ///
    /// # Errors
    /// `InvalidParameterValue` for text that is no handle or for a task that has ended, `ResourceNotFoundException`
    /// for a task that never was.
    pub fn cancel(&mut self, task_handle: &str) -> Result<u64, ServiceError> {
        let unknown = || ServiceError::new(ErrorCode::ResourceNotFoundException, "Task does not exist.");
        let invalid = || refused("Value for parameter TaskHandle is invalid.");
        let (id, source) = handle::read(task_handle).ok_or_else(invalid)?;
        let source: QueueArn = source.parse().map_err(|_| invalid())?;
        let tasks = self.by_source.get_mut(&source).ok_or_else(unknown)?;
        let task = tasks.iter_mut().find(|task| task.id.to_string() == id).ok_or_else(unknown)?;
        if task.status != MoveStatus::Running {
            return Err(refused("Only active tasks can be cancelled."));
        }
        task.status = MoveStatus::Cancelling;
        Ok(task.moved)
    }

    /// The tasks of a source, the newest first.
    pub fn list(&self, source: &QueueArn) -> impl Iterator<Item = &MoveTask> {
        self.by_source.get(source).into_iter().flatten().rev()
    }

    fn update<T>(
        &mut self,
        source: &QueueArn,
        id: Uuid,
        change: impl FnOnce(&mut MoveTask) -> T,
    ) -> Option<T> {
        let task = self.by_source.get_mut(source)?.iter_mut().find(|task| task.id == id)?;
        let was_active = task.status.is_active();
        let result = change(task);
        if was_active && !task.status.is_active() {
            self.active -= 1;
        }
        Some(result)
    }
}

fn refused(text: &str) -> ServiceError {
    ServiceError::new(ErrorCode::InvalidParameterValue, text)
}

#[cfg(test)]
mod tests;
