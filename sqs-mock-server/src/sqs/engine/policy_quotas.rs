//! Quotas of access policies.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>

use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use crate::service::policies::{Document, List, Principals, Statement};

/// Checks the size of a submitted policy.
///
/// # Errors
/// `OverLimit`.
pub(super) fn check_size(bytes: usize) -> Result<(), ServiceError> {
    if bytes <= limits::MAX_POLICY_BYTES {
        return Ok(());
    }
    Err(ServiceError::new(ErrorCode::OverLimit, "Submitted policy is over max allowed size."))
}

/// Checks the quotas of statements, principals and conditions of the policy, and of actions in each statement.
///
/// # Errors
/// `OverLimit`. The text about actions is recorded from AWS; the others are inferred from it.
pub(super) fn check(document: &Document) -> Result<(), ServiceError> {
    let statements = &document.statement;
    let actions = |statement: &Statement| {
        let lists = [&statement.action, &statement.not_action].into_iter().flatten();
        lists.map(|List(names)| names.len()).sum()
    };
    for statement in statements {
        check_number("actions", "a statement from the", actions(statement), limits::MAX_POLICY_ACTIONS)?;
    }
    let sum = |count: fn(&Statement) -> usize| statements.iter().map(count).sum();
    check_number("statements", "the", statements.len(), limits::MAX_POLICY_STATEMENTS)?;
    check_number("principals", "the", sum(principals), limits::MAX_POLICY_PRINCIPALS)?;
    check_number("conditions", "the", sum(conditions), limits::MAX_POLICY_CONDITIONS)
}

fn check_number(what: &str, place: &str, found: usize, allowed: usize) -> Result<(), ServiceError> {
    if found <= allowed {
        return Ok(());
    }
    let text = format!("{found} {what} were found in {place} submitted policy, max allowed is {allowed}");
    Err(ServiceError::new(ErrorCode::OverLimit, text))
}

fn principals(statement: &Statement) -> usize {
    let count = |principal: &Principals| match principal {
        Principals::All(_) => 1,
        Principals::Kinds(kinds) => kinds.values().map(|List(names)| names.len()).sum(),
    };
    [&statement.principal, &statement.not_principal].into_iter().flatten().map(count).sum()
}

/// Counts keys under operators: `{"StringEquals": {"aws:SourceAccount": ".."}}`.
fn conditions(statement: &Statement) -> usize {
    statement.condition.iter().flatten().map(|(_, keys)| keys.len()).sum()
}
