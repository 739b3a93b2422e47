//! Move tasks: dead letters move back to their source queues, or to another queue, at a limited rate.
//!
//! A task moves nothing by itself. Its owner requests the [next step](MoveTasks::step), moves up to that many messages
//! between queues, and reports the number. So queues are locked one at a time, and the caller provides the time.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html>

mod task;

use std::collections::HashMap;
use std::sync::Arc;

use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::error::invalid_parameter;

pub(crate) use task::{FailureReason, MoveStatus, MoveStep, MoveTask, NewMoveTask, TaskHandle};

use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;

/// Number of tasks of a source that are remembered.
pub(crate) const MAX_TASKS_OF_SOURCE: usize = 10;

/// The tasks of one account in one region.
#[derive(Debug, Default)]
pub(crate) struct MoveTasks {
    /// By source, newest last.
    by_source: HashMap<Arc<QueueArn>, Vec<MoveTask>>,
    active: usize,
    /// `None` without a reader.
    changes: Option<Vec<MoveTaskChange>>,
}

/// A change of move tasks.
#[derive(Clone, Debug)]
#[cfg_attr(not(any(test, feature = "durable")), expect(dead_code, reason = "only a store reads changes"))]
pub(crate) enum MoveTaskChange {
    /// A task is new, has moved messages or has ended.
    Updated(MoveTask),
    /// The tasks of a source were forgotten, because it was deleted.
    Forgotten(Arc<QueueArn>),
}

impl MoveTasks {
    /// Without tasks. If `recorded`, [`take_changes`](Self::take_changes) returns their changes.
    pub(crate) fn new(recorded: bool) -> Self {
        Self { changes: recorded.then(Vec::new), ..Self::default() }
    }

    /// The changes since the last call; empty without a reader.
    pub(crate) fn take_changes(&mut self) -> Vec<MoveTaskChange> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Starts a task. The caller checks that the queues exist and that the source is a dead-letter queue.
    ///
    /// # Errors
    /// `InvalidParameterValue` if the source has an active task, `OverLimit` if there are 100 active tasks.
    pub(crate) fn start(
        &mut self,
        now: Timestamp,
        id: Uuid,
        order: NewMoveTask,
    ) -> Result<&MoveTask, ServiceError> {
        if self.list(&order.source).next().is_some_and(|latest| latest.status.is_active()) {
            let text = "There is already a task running. Only one active task is allowed for a source queue arn at a \
                        given time.";
            return Err(invalid_parameter(text));
        }
        if self.active >= limits::MAX_MOVE_TASKS {
            let text = "There are too many active message movement tasks.";
            return Err(ServiceError::new(ErrorCode::OverLimit, text));
        }
        self.active += 1;
        let tasks = self.by_source.entry(Arc::clone(&order.source)).or_default();
        if tasks.len() == MAX_TASKS_OF_SOURCE {
            tasks.remove(0);
        }
        let at = tasks.len();
        tasks.push(MoveTask { id, order, started: now, moved: 0, status: MoveStatus::Running });
        if let Some(changes) = &mut self.changes {
            changes.push(MoveTaskChange::Updated(tasks[at].clone()));
        }
        Ok(&tasks[at])
    }

    /// Adds a task of an earlier process, after those that started before.
    #[cfg(feature = "durable")]
    pub(crate) fn restore(&mut self, task: MoveTask) {
        self.active += usize::from(task.status.is_active());
        self.by_source.entry(Arc::clone(&task.order.source)).or_default().push(task);
    }

    /// The next step of a task. A task that has finished or timed out ends here.
    pub(crate) fn step(&mut self, now: Timestamp, source: &QueueArn, id: Uuid) -> MoveStep {
        self.update(source, id, |task| task.step(now)).unwrap_or(MoveStep::Ended)
    }

    /// Reports that messages were moved.
    pub(crate) fn moved(&mut self, source: &QueueArn, id: Uuid, messages: u64) {
        self.update(source, id, |task| task.moved += messages);
    }

    /// Ends a task: no messages are left, or it cannot continue.
    pub(crate) fn end(&mut self, source: &QueueArn, id: Uuid, status: MoveStatus) {
        self.update(source, id, |task| {
            if task.status.is_active() {
                task.status = status;
            }
        });
    }

    /// Stops a task of this source and returns the number of messages it has moved. Messages already taken still
    /// arrive.
    ///
    /// # Errors
    /// `InvalidParameterValue` for a task that has ended, `ResourceNotFoundException` for an unknown task.
    pub(crate) fn cancel(&mut self, source: &QueueArn, handle: &TaskHandle) -> Result<u64, ServiceError> {
        let unknown = || ServiceError::new(ErrorCode::ResourceNotFoundException, "Task does not exist.");
        let tasks = self.by_source.get(source).ok_or_else(unknown)?;
        let task = tasks.iter().find(|task| task.id.to_string() == handle.task_id).ok_or_else(unknown)?;
        if task.status != MoveStatus::Running {
            return Err(invalid_parameter("Only active tasks can be cancelled."));
        }
        let (id, moved) = (task.id, task.moved);
        self.update(source, id, |task| task.status = MoveStatus::Cancelling);
        Ok(moved)
    }

    /// The tasks of a source, newest first.
    pub(crate) fn list(&self, source: &QueueArn) -> impl Iterator<Item = &MoveTask> {
        self.by_source.get(source).into_iter().flatten().rev()
    }

    /// Forgets the tasks of a deleted source. An active one ends at its next step.
    pub(crate) fn forget(&mut self, source: &QueueArn) {
        let Some((source, tasks)) = self.by_source.remove_entry(source) else { return };
        self.active -= tasks.iter().filter(|task| task.status.is_active()).count();
        if let Some(changes) = &mut self.changes {
            changes.push(MoveTaskChange::Forgotten(source));
        }
    }

    /// Forgets all tasks.
    pub(crate) fn forget_all(&mut self) {
        let sources: Vec<_> = self.by_source.keys().cloned().collect();
        for source in sources {
            self.forget(&source);
        }
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
            changes.push(MoveTaskChange::Updated(task.clone()));
        }
        if was_active && !task.status.is_active() {
            self.active -= 1;
        }
        Some(result)
    }
}

#[cfg(test)]
mod tests;
