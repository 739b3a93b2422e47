//! How much an access policy may hold.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>

use serde_json::{Map, Value};
use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

/// Counts what has a quota: bytes, statements, principals and conditions of the policy, actions of each statement.
///
/// # Errors
/// `OverLimit`. The code is that of `AddPermission` with too many actions; the others are not recorded.
pub(super) fn check(document: &Map<String, Value>, bytes: usize) -> Result<(), ServiceError> {
    check_number("Bytes", bytes, limits::MAX_POLICY_BYTES)?;
    let statements = document.get("Statement").map(elements).unwrap_or_default();
    check_number("Statements", statements.len(), limits::MAX_POLICY_STATEMENTS)?;
    let sum = |count: fn(&Value) -> usize| statements.iter().map(count).sum();
    check_number("Principals", sum(principals), limits::MAX_POLICY_PRINCIPALS)?;
    check_number("Conditions", sum(conditions), limits::MAX_POLICY_CONDITIONS)?;
    let actions =
        |statement: &Value| members(statement, ["Action", "NotAction"]).map(|m| elements(m).len()).sum();
    statements
        .iter()
        .try_for_each(|statement| check_number("Actions", actions(statement), limits::MAX_POLICY_ACTIONS))
}

/// "N things were found, maximum allowed is M."
pub(super) fn check_number(what: &str, found: usize, allowed: usize) -> Result<(), ServiceError> {
    if found <= allowed {
        return Ok(());
    }
    let text = format!("{found} {what} were found, maximum allowed is {allowed}.");
    Err(ServiceError::new(ErrorCode::OverLimit, text))
}

/// A policy may have the only element of a list without the list around it.
fn elements(value: &Value) -> &[Value] {
    match value {
        Value::Array(elements) => elements,
        only => std::slice::from_ref(only),
    }
}

fn members<'v>(statement: &'v Value, names: [&'static str; 2]) -> impl Iterator<Item = &'v Value> {
    names.into_iter().filter_map(|name| statement.get(name))
}

/// `"*"`, or lists by kind: `{"AWS": [..], "Service": ".."}`.
fn principals(statement: &Value) -> usize {
    let count = |principal: &Value| match principal {
        Value::Object(kinds) => kinds.values().map(|kind| elements(kind).len()).sum(),
        _ => 1,
    };
    members(statement, ["Principal", "NotPrincipal"]).map(count).sum()
}

/// Keys under operators: `{"StringEquals": {"aws:SourceAccount": ".."}}`.
fn conditions(statement: &Value) -> usize {
    let operators = statement.get("Condition").and_then(Value::as_object);
    operators.into_iter().flat_map(Map::values).map(|keys| keys.as_object().map_or(1, Map::len)).sum()
}
