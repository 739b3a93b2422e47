//! Access policies of topics, and the permissions that are statements in them. They are stored, not enforced.
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/api/API_AddPermission.html>

use serde_json::json;

use super::refusal::invalid;
use crate::service::arn::TopicArn;
use crate::service::policies::{Document, Statement, is_action_of};
use crate::service::query_error::QueryError;

/// A limit of AWS: 30 KiB.
const MAX_BYTES: usize = 30_720;
/// The actions that a permission can name.
const ACTIONS: [&str; 9] = [
    "AddPermission",
    "DeleteTopic",
    "GetTopicAttributes",
    "ListSubscriptionsByTopic",
    "Publish",
    "Receive",
    "RemovePermission",
    "SetTopicAttributes",
    "Subscribe",
];

/// The policy of a topic that never got another. As text, since AWS has its own order of members.
pub(super) fn default_of(topic: &TopicArn) -> String {
    let (resource, account) = (json!(topic.to_string()), json!(topic.account));
    format!(
        r#"{{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{{"Sid":"__default_statement_ID","Effect":"Allow","Principal":{{"AWS":"*"}},"Action":["SNS:GetTopicAttributes","SNS:SetTopicAttributes","SNS:AddPermission","SNS:RemovePermission","SNS:DeleteTopic","SNS:Subscribe","SNS:ListSubscriptionsByTopic","SNS:Publish"],"Resource":{resource},"Condition":{{"StringEquals":{{"AWS:SourceOwner":{account}}}}}}}]}}"#
    )
}

/// A policy of a request, in the form that SNS returns.
///
/// # Errors
/// `InvalidParameter`.
pub(super) fn parse(text: &str) -> Result<String, QueryError> {
    let document: Document =
        serde_json::from_str(text).map_err(|error| invalid(format_args!("Policy Error: {error}")))?;
    if !document.is_valid(|name| is_action_of("sns", name, ACTIONS.into_iter())) {
        return Err(invalid("Policy statement action out of service scope!"));
    }
    write(&document)
}

/// A policy with another statement.
///
/// # Errors
/// `InvalidParameter` for a known label or an unknown action.
pub(super) fn with_permission(
    policy: &str,
    topic: &TopicArn,
    label: &str,
    accounts: &[&str],
    actions: &[&str],
) -> Result<String, QueryError> {
    let mut document = read(policy)?;
    if document.statement.iter().any(|statement| statement.has_label(label)) {
        return Err(invalid("Statement already exists"));
    }
    if actions.is_empty() || !actions.iter().all(|action| ACTIONS.contains(action)) {
        return Err(invalid("Policy statement action out of service scope!"));
    }
    if accounts.is_empty() {
        return Err(invalid("AWSAccountId Reason: no value for required parameter"));
    }
    let actions = actions.iter().map(|action| format!("SNS:{action}")).collect();
    document.statement.push(Statement::permission(label, accounts, actions, topic.to_string()));
    write(&document)
}

/// A policy without the statement of a label, which may not exist.
///
/// # Errors
/// `InternalError`, never for a policy that was accepted before.
pub(super) fn without_permission(policy: &str, label: &str) -> Result<String, QueryError> {
    let mut document = read(policy)?;
    document.statement.retain(|statement| !statement.has_label(label));
    write(&document)
}

fn read(policy: &str) -> Result<Document, QueryError> {
    serde_json::from_str(policy).map_err(|error| broken(&error))
}

fn write(document: &Document) -> Result<String, QueryError> {
    let text = serde_json::to_string(document).map_err(|error| broken(&error))?;
    let too_long = || {
        invalid(format_args!(
            "Policy Reason: the policy has {} bytes; at most {MAX_BYTES} are allowed",
            text.len()
        ))
    };
    if text.len() > MAX_BYTES { Err(too_long()) } else { Ok(text) }
}

/// Every policy that was read can be written and read again; a failure is a bug of this server.
fn broken(error: &serde_json::Error) -> QueryError {
    QueryError::new(500, "InternalError", format!("cannot store the policy: {error}"))
}
