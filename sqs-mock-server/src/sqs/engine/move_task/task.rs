//! One move task: what it is to do, how far it is, what comes next.

use std::sync::Arc;
use std::time::Duration;

use super::handle::TaskHandle;
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;

/// How many messages a task without a rate moves in one step.
const STEP: u64 = 100;
/// How long a task runs at most.
const LIFE: Duration = Duration::from_hours(36);

/// How a task stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum MoveStatus {
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
pub(crate) enum FailureReason {
    /// The queue that a message should go to does not exist.
    NonExistentQueue,
    /// A message should go back but did not come from anywhere.
    UnknownSource,
    /// It took more than 36 hours.
    TooLong,
}

impl FailureReason {
    /// The text of `FailureReason`.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::NonExistentQueue => "AWS.SimpleQueueService.NonExistentQueue",
            Self::UnknownSource => "CouldNotDetermineMessageSource",
            Self::TooLong => "TaskTimedOut",
        }
    }
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

    pub(super) const fn is_active(&self) -> bool {
        matches!(self, Self::Running | Self::Cancelling)
    }
}

/// What a task shall do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NewMoveTask {
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
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MoveTask {
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
pub(crate) enum MoveStep {
    /// Move this many messages at most, then report.
    Move(u64),
    /// Ask again then.
    WaitUntil(Timestamp),
    /// Nothing: the task has ended.
    Ended,
}

impl MoveTask {
    /// The text of `TaskHandle`.
    pub(crate) fn handle(&self) -> String {
        TaskHandle::new(self.id, &self.order.source).write()
    }

    /// What to do next. A task that is over ends by this.
    pub(super) fn step(&mut self, now: Timestamp) -> MoveStep {
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
