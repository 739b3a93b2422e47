//! Move tasks: dead letters go back where they came from, or elsewhere, at a bounded rate.
//!
//! A task moves nothing by itself. Its owner asks for the [`next step`](MoveTasks::step), moves as many messages
//! from queue to queue as that allows, and reports; so queues are locked one at a time and time is the caller's.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html>

mod handle;
mod task;

use std::collections::HashMap;
use std::sync::Arc;

use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

pub(crate) use handle::TaskHandle;
pub(crate) use task::{FailureReason, MoveStatus, MoveStep, MoveTask, NewMoveTask};

use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;

/// How many ended tasks of one source are remembered.
const REMEMBERED: usize = 10;

/// The tasks of one account in one region.
#[derive(Debug, Default)]
pub(crate) struct MoveTasks {
    /// By source, the newest last.
    by_source: HashMap<Arc<QueueArn>, Vec<MoveTask>>,
    active: usize,
    /// Tasks as they were after each change; `None` without a reader.
    changes: Option<Vec<MoveTask>>,
}

impl MoveTasks {
    /// No tasks. With `recorded`, [`take_changes`](Self::take_changes) gives their changes.
    pub(crate) fn new(recorded: bool) -> Self {
        Self { changes: recorded.then(Vec::new), ..Self::default() }
    }

    /// The tasks that have changed since the last call; none without a reader.
    pub(crate) fn take_changes(&mut self) -> Vec<MoveTask> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Starts a task. That the queues exist and the source is a dead-letter queue is up to the caller to check.
    ///
    /// # Errors
    /// `InvalidParameterValue` when the source has an active task, `OverLimit` when there are 100 others.
    pub(crate) fn start(
        &mut self,
        now: Timestamp,
        id: Uuid,
        order: NewMoveTask,
    ) -> Result<&MoveTask, ServiceError> {
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
        if let Some(changes) = &mut self.changes {
            changes.push(tasks[at].clone());
        }
        Ok(&tasks[at])
    }

    /// What to do next for a task. A task that is over ends by this.
    pub(crate) fn step(&mut self, now: Timestamp, source: &QueueArn, id: Uuid) -> MoveStep {
        self.update(source, id, |task| task.step(now)).unwrap_or(MoveStep::Ended)
    }

    /// Reports that messages were moved.
    pub(crate) fn moved(&mut self, source: &QueueArn, id: Uuid, messages: u64) {
        self.update(source, id, |task| task.moved += messages);
    }

    /// Reports how a task ended: there was nothing left, or it cannot go on.
    pub(crate) fn end(&mut self, source: &QueueArn, id: Uuid, status: MoveStatus) {
        self.update(source, id, |task| {
            if task.status.is_active() {
                task.status = status;
            }
        });
    }

    /// Reads the handle of a task.
    ///
    /// # Errors
    /// `InvalidParameterValue` for text that is no handle.
    pub(crate) fn read_handle(text: &str) -> Result<TaskHandle, ServiceError> {
        TaskHandle::read(text).ok_or_else(|| refused("Value for parameter TaskHandle is invalid."))
    }

    /// Tells a task of this source to stop, and how many messages it has moved. Those on their way still arrive.
    ///
    /// # Errors
    /// `InvalidParameterValue` for a task that has ended, `ResourceNotFoundException` for a task that never was.
    pub(crate) fn cancel(&mut self, source: &QueueArn, handle: &TaskHandle) -> Result<u64, ServiceError> {
        let unknown = || ServiceError::new(ErrorCode::ResourceNotFoundException, "Task does not exist.");
        let tasks = self.by_source.get(source).ok_or_else(unknown)?;
        let task = tasks.iter().find(|task| task.id.to_string() == handle.task_id).ok_or_else(unknown)?;
        if task.status != MoveStatus::Running {
            return Err(refused("Only active tasks can be cancelled."));
        }
        let (id, moved) = (task.id, task.moved);
        self.update(source, id, |task| task.status = MoveStatus::Cancelling);
        Ok(moved)
    }

    /// The tasks of a source, the newest first.
    pub(crate) fn list(&self, source: &QueueArn) -> impl Iterator<Item = &MoveTask> {
        self.by_source.get(source).into_iter().flatten().rev()
    }

    /// Forgets the tasks of a source that is deleted. One that runs ends at its next step.
    pub(crate) fn forget(&mut self, source: &QueueArn) {
        let tasks = self.by_source.remove(source).unwrap_or_default();
        self.active -= tasks.iter().filter(|task| task.status.is_active()).count();
    }

    /// Forgets all tasks.
    pub(crate) fn forget_all(&mut self) {
        self.by_source.clear();
        self.active = 0;
    }

    fn update<T>(
        &mut self,
        source: &QueueArn,
        id: Uuid,
        change: impl FnOnce(&mut MoveTask) -> T,
    ) -> Option<T> {
        let task = self.by_source.get_mut(source)?.iter_mut().find(|task| task.id == id)?;
        let was_active = task.status.is_active();
        let before = self.changes.is_some().then(|| task.clone());
        let result = change(task);
        if let (Some(changes), true) = (&mut self.changes, before.is_some_and(|before| before != *task)) {
            changes.push(task.clone());
        }
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
