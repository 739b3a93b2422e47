//! Rules for permissions: labels, accounts and actions.

use super::error::{invalid_value, missing_parameter, require_queue_url, required};
use super::{Validate, characters};
use crate::types::permission::{AddPermissionInput, RemovePermissionInput};
use crate::wire::limits::{MAX_LABEL_CHARS, MAX_POLICY_ACTIONS};
use crate::wire::service_error::{ErrorCode, ServiceError};

/// Validates a label: 1 to 80 characters of `A-Za-z0-9_-`.
///
/// # Errors
/// `MissingParameter` or `InvalidParameterValue`.
pub fn label(label: Option<&str>) -> Result<(), ServiceError> {
    let label = required("Label", label)?;
    if characters::is_name(label, MAX_LABEL_CHARS) {
        return Ok(());
    }
    let reason = format!(
        "Can only include alphanumeric characters, hyphens, or underscores. 1 to {MAX_LABEL_CHARS} in length"
    );
    Err(invalid_value("Label", label, reason))
}

/// Validates actions: 1 to 7, each `*` or an action that can be shared with other accounts.
///
/// # Errors
/// `MissingParameter`, `OverLimit` or `InvalidParameterValue`.
pub fn actions(actions: &[String]) -> Result<(), ServiceError> {
    let count = actions.len();
    if count == 0 {
        return Err(missing_parameter("Actions"));
    }
    if count > MAX_POLICY_ACTIONS {
        let message = format!("{count} Actions were found, maximum allowed is {MAX_POLICY_ACTIONS}.");
        return Err(ServiceError::new(ErrorCode::OverLimit, message));
    }
    match actions.iter().find(|action| *action != "*" && !is_shareable(action)) {
        Some(action) => {
            let reason = "Only the queue owner is allowed to invoke this action.";
            Err(invalid_value("ActionName", format_args!("SQS:{action}"), reason))
        }
        None => Ok(()),
    }
}

/// Whether an action can be shared with other accounts.
///
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-customer-managed-policy-examples.html>
pub fn is_shareable(action: &str) -> bool {
    matches!(
        action,
        "ChangeMessageVisibility"
            | "ChangeMessageVisibilityBatch"
            | "DeleteMessage"
            | "DeleteMessageBatch"
            | "GetQueueAttributes"
            | "GetQueueUrl"
            | "ListDeadLetterSourceQueues"
            | "PurgeQueue"
            | "ReceiveMessage"
            | "SendMessage"
            | "SendMessageBatch"
    )
}

/// Validates account ids: at least one, each of 12 digits.
///
/// # Errors
/// `MissingParameter` or `InvalidParameterValue`.
pub fn accounts(accounts: &[String]) -> Result<(), ServiceError> {
    if accounts.is_empty() {
        return Err(missing_parameter("AWSAccountIds"));
    }
    match accounts.iter().find(|id| !is_account(id)) {
        Some(id) => Err(invalid_value("PrincipalId", format_args!("[{id}]"), "Unable to verify.")),
        None => Ok(()),
    }
}

/// Whether a text is an account id: 12 digits.
pub fn is_account(id: &str) -> bool {
    id.len() == 12 && id.bytes().all(|digit| digit.is_ascii_digit())
}

impl Validate for AddPermissionInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        label(self.label())?;
        accounts(self.aws_account_ids())?;
        actions(self.actions())
    }
}

impl Validate for RemovePermissionInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        label(self.label())
    }
}

#[cfg(test)]
#[path = "permission_tests.rs"]
mod tests;
