//! Handles of move tasks: base64 of `{"taskId": .., "sourceArn": ..}`, as on AWS.

use serde::{Deserialize, Serialize};

use crate::service::arn::QueueArn;
use crate::service::seed::Uuid;

/// The content of a task handle.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskHandle {
    /// The id of the task.
    pub(super) task_id: String,
    /// The ARN of its source.
    pub(crate) source_arn: String,
}

impl TaskHandle {
    pub(super) fn new(id: Uuid, source: &QueueArn) -> Self {
        Self { task_id: id.to_string(), source_arn: source.to_string() }
    }

    pub(super) fn write(&self) -> String {
        let json = serde_json::to_vec(self).unwrap_or_default();
        base64_simd::STANDARD.encode_to_string(json)
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        let json = base64_simd::STANDARD.decode_to_vec(text).ok()?;
        let handle: Self = serde_json::from_slice(&json).ok()?;
        Some(handle).filter(|handle| handle.source_arn.parse::<QueueArn>().is_ok())
    }
}
