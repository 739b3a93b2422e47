//! Move tasks: dead letters move back to their source queues, or to another queue, at a limited rate.
//!
//! A task moves nothing by itself. Its owner requests the [next step](MoveTasks::step), moves up to that many messages
//! between queues, and reports the number. So queues are locked one at a time, and the caller provides the time.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html>

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::error::invalid_parameter;
use strum::{EnumString, IntoStaticStr};

use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::seed::Uuid;

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

/// Messages that a task without a rate moves in one step.
const STEP: u64 = 100;

/// Maximum duration of a task.
const MAX_DURATION: Duration = Duration::from_hours(36);

/// The status of a task.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum MoveStatus {
    /// It moves messages.
    Running,
    /// It has moved all messages.
    Completed,
    /// A cancellation was requested.
    Cancelling,
    /// It was cancelled.
    Cancelled,
    /// It could not continue.
    Failed(FailureReason),
}

/// Why a task failed.
#[derive(Clone, Copy, Debug, EnumString, Eq, IntoStaticStr, PartialEq)]
#[strum(const_into_str)]
pub(crate) enum FailureReason {
    /// The destination of a message does not exist.
    #[strum(serialize = "AWS.SimpleQueueService.NonExistentQueue")]
    NonExistentQueue,
    /// The message has no source queue to return to.
    #[strum(serialize = "CouldNotDetermineMessageSource")]
    UnknownSource,
    /// The runtime of tokio in which it was started has ended. AWS does not have this reason.
    #[strum(serialize = "TaskAborted")]
    Aborted,
    /// It took more than 36 hours.
    #[strum(serialize = "TaskTimedOut")]
    TooLong,
}

impl MoveStatus {
    /// The text of `Status`.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
            Self::Cancelling => "CANCELLING",
            Self::Cancelled => "CANCELLED",
            Self::Failed(_) => "FAILED",
        }
    }

    /// The status from its text, and the reason of a failure.
    #[cfg(feature = "durable")]
    pub(crate) fn parse(text: &str, reason: Option<&str>) -> Option<Self> {
        if let Some(reason) = reason {
            let failed = reason.parse().ok().map(Self::Failed);
            return failed.filter(|failed| failed.as_str() == text);
        }
        let all = [Self::Running, Self::Completed, Self::Cancelling, Self::Cancelled];
        all.into_iter().find(|status| status.as_str() == text)
    }

    pub(crate) const fn is_active(&self) -> bool {
        matches!(self, Self::Running | Self::Cancelling)
    }
}

/// The definition of a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NewMoveTask {
    /// The dead-letter queue.
    pub source: Arc<QueueArn>,
    /// The destination of its messages; if absent, the source queue of each.
    pub destination: Option<Arc<QueueArn>>,
    /// Messages a second, 1 to 500.
    pub rate: Option<u32>,
    /// Number of messages to move.
    pub to_move: u64,
}

/// A task, active or ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MoveTask {
    /// Its id.
    pub id: Uuid,
    /// Its definition.
    pub order: NewMoveTask,
    /// When it was started.
    pub started: Timestamp,
    /// Number of messages it has moved.
    pub moved: u64,
    /// Its status.
    pub status: MoveStatus,
}

/// The content of a task handle, which is base64 of `{"taskId": .., "sourceArn": ..}`, as on AWS.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskHandle {
    /// The id of the task.
    pub(crate) task_id: String,
    /// The ARN of its source.
    pub(crate) source_arn: String,
}

impl TaskHandle {
    /// Reads the text of a handle.
    ///
    /// # Errors
    /// `InvalidParameterValue` for text that is not a handle.
    pub(crate) fn read(text: &str) -> Result<Self, ServiceError> {
        let json = base64_simd::STANDARD.decode_to_vec(text).ok();
        let handle: Option<Self> = json.and_then(|json| serde_json::from_slice(&json).ok());
        let handle = handle.filter(|handle| handle.source_arn.parse::<QueueArn>().is_ok());
        handle.ok_or_else(|| invalid_parameter("Value for parameter TaskHandle is invalid."))
    }
}

/// What the owner of a task does next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MoveStep {
    /// Move this many messages at most, then report.
    Move(u64),
    /// Call again at this time.
    WaitUntil(Timestamp),
    /// Nothing: the task has ended.
    Ended,
}

impl MoveTask {
    /// The text of `TaskHandle`.
    pub(crate) fn handle(&self) -> String {
        let handle = TaskHandle { task_id: self.id.to_string(), source_arn: self.order.source.to_string() };
        base64_simd::STANDARD.encode_to_string(serde_json::to_vec(&handle).unwrap_or_default())
    }

    /// The next step. A task that has finished or timed out ends here.
    pub(crate) fn step(&mut self, now: Timestamp) -> MoveStep {
        if self.status == MoveStatus::Running && now.saturating_since(self.started) >= MAX_DURATION {
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
        // The first message may move at once, each further one after another 1/rate seconds.
        let passed = u64::try_from(now.saturating_since(self.started).as_millis()).unwrap_or(u64::MAX);
        let allowed = (passed.saturating_mul(rate) / 1000 + 1).saturating_sub(self.moved);
        if allowed > 0 {
            return MoveStep::Move(allowed.min(left).min(STEP));
        }
        let next = Duration::from_millis((self.moved * 1000).div_ceil(rate.max(1)));
        MoveStep::WaitUntil(self.started + next)
    }
}

#[cfg(test)]
#[path = "move_task_tests.rs"]
mod tests;
