//! Rules for move tasks: ARNs, rate and task handles.

use super::Validate;
use super::error::{invalid_parameter, required, within};
use crate::types::move_task::{
    CancelMessageMoveTaskInput, ListMessageMoveTasksInput, StartMessageMoveTaskInput,
};
use crate::wire::limits::{LIST_MOVE_TASKS_RESULTS, MOVE_TASK_RATE};
use crate::wire::service_error::ServiceError;

/// Validates a queue ARN: `arn:<partition>:sqs:<region>:<account>:<name>`. The message names `parameter`.
///
/// # Errors
/// `InvalidParameterValue`.
pub fn arn(parameter: &str, arn: &str) -> Result<(), ServiceError> {
    let mut parts = arn.splitn(6, ':');
    let is_arn = parts.next() == Some("arn") && parts.nth(1) == Some("sqs");
    if is_arn && parts.nth(2).is_some_and(|name| !name.is_empty()) {
        return Ok(());
    }
    Err(invalid_parameter(format!(
        "You must use this format to specify the {parameter}: \
         arn:<partition>:<service>:<region>:<account-id>:<resource-id>"
    )))
}

fn source(source_arn: Option<&str>) -> Result<(), ServiceError> {
    arn("SourceArn", required("SourceArn", source_arn)?)
}

impl Validate for StartMessageMoveTaskInput {
    fn validate(&self) -> Result<(), ServiceError> {
        source(self.source_arn())?;
        self.destination_arn().map_or(Ok(()), |destination| arn("DestinationArn", destination))?;
        let reason = |low, high| format!("Must be between {low} and {high}, if provided.");
        let rate = self.max_number_of_messages_per_second;
        within("MaxNumberOfMessagesPerSecond", rate, &MOVE_TASK_RATE, reason)
    }
}

impl Validate for CancelMessageMoveTaskInput {
    fn validate(&self) -> Result<(), ServiceError> {
        required("TaskHandle", self.task_handle()).map(drop)
    }
}

impl Validate for ListMessageMoveTasksInput {
    fn validate(&self) -> Result<(), ServiceError> {
        source(self.source_arn())?;
        let reason = |low, high| format!("Must be between {low} and {high}, if provided.");
        within("MaxResults", self.max_results, &LIST_MOVE_TASKS_RESULTS, reason)
    }
}

#[cfg(test)]
#[path = "move_task_tests.rs"]
mod tests;
