//! One move task: its definition, progress and next step.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::error::invalid_parameter;

use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::service::text_enum::text_enum;

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

text_enum! {
    /// Why a task failed.
    pub(crate) enum FailureReason {
        /// The destination of a message does not exist.
        NonExistentQueue => "AWS.SimpleQueueService.NonExistentQueue",
        /// The message has no source queue to return to.
        UnknownSource => "CouldNotDetermineMessageSource",
        /// It took more than 36 hours.
        TooLong => "TaskTimedOut",
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

    /// The status from its text, and the reason of a failure.
    #[cfg(feature = "durable")]
    pub(crate) fn parse(text: &str, reason: Option<&str>) -> Option<Self> {
        if let Some(reason) = reason {
            let failed = FailureReason::from_text(reason).map(Self::Failed);
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
    pub(super) task_id: String,
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
    pub(super) fn step(&mut self, now: Timestamp) -> MoveStep {
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
