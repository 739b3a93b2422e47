//! Task handles: base64 of `{"taskId": .., "sourceArn": ..}`, as on AWS.

use serde::{Deserialize, Serialize};

use crate::engine::QueueArn;
use crate::seed::Uuid;

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    task_id: String,
    source_arn: String,
}

pub(super) fn write(id: Uuid, source: &QueueArn) -> String {
    let document = Document { task_id: id.to_string(), source_arn: source.to_string() };
    let json = serde_json::to_vec(&document).unwrap_or_default();
    base64_simd::STANDARD.encode_to_string(json)
}

/// The id of a task and the ARN of its source.
pub(super) fn read(text: &str) -> Option<(String, String)> {
    let json = base64_simd::STANDARD.decode_to_vec(text).ok()?;
    let document: Document = serde_json::from_slice(&json).ok()?;
    Some((document.task_id, document.source_arn))
}
