//! Access policies, and the permissions that are statements in them. Nobody is kept out by a policy here.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_AddPermission.html>

use std::fmt;

use serde_json::{Map, Value, json};
use sqs_client::wire::limits;
use sqs_client::wire::service_error::ServiceError;

use super::QueueArn;
use super::policy_quotas::{self, check_number};
use super::refusal::{invalid_attribute, invalid_parameter};

/// An access policy: a JSON object, kept as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Policy(Box<str>);

impl Policy {
    /// Reads the document.
    ///
    /// # Errors
    /// `InvalidAttributeValue` when it is not a JSON object, `OverLimit` when it holds too much.
    pub(crate) fn parse(text: &str) -> Result<Self, ServiceError> {
        let document = serde_json::from_str(text).map_err(|_| invalid_attribute("Policy"))?;
        policy_quotas::check(&document, text.len())?;
        Ok(Self(text.into()))
    }

    /// A policy with one statement more: `accounts` may do `actions` (such as `SendMessage`, or `*`) on `queue`.
    ///
    /// # Errors
    /// `OverLimit` when it would hold too much, `InvalidParameterValue` for a label that exists.
    pub(crate) fn with_permission(
        policy: Option<&Self>,
        queue: &QueueArn,
        label: &str,
        accounts: &[String],
        actions: &[String],
    ) -> Result<Self, ServiceError> {
        // Before the label, as the service looks at the input first.
        check_number("Actions", actions.len(), limits::MAX_POLICY_ACTIONS)?;
        check_number("Principals", accounts.len(), limits::MAX_POLICY_PRINCIPALS)?;
        let mut document = policy.map_or_else(|| empty_document(queue), Self::document);
        let mut statements = take_statements(&mut document);
        if statements.iter().any(|statement| has_label(statement, label)) {
            return Err(invalid_parameter(label, "Label", "Already exists."));
        }
        statements.push(json!({
            "Sid": label,
            "Effect": "Allow",
            "Principal": { "AWS": one_or_list(accounts, |account| format!("arn:aws:iam::{account}:root")) },
            "Action": one_or_list(actions, |action| format!("SQS:{action}")),
            "Resource": queue.to_string(),
        }));
        document.insert("Statement".to_owned(), statements.into());
        let text = Value::Object(document.clone()).to_string();
        policy_quotas::check(&document, text.len())?;
        Ok(Self(text.into()))
    }

    /// A policy without the statement of a label; `None` when no other statement is left.
    ///
    /// # Errors
    /// `InvalidParameterValue` when there is no such label.
    pub(crate) fn without_permission(
        policy: Option<&Self>,
        label: &str,
    ) -> Result<Option<Self>, ServiceError> {
        let mut document = policy.map_or_else(Map::new, Self::document);
        let mut statements = take_statements(&mut document);
        let before = statements.len();
        statements.retain(|statement| !has_label(statement, label));
        if statements.len() == before {
            return Err(invalid_parameter(label, "Label", "can't find label."));
        }
        if statements.is_empty() {
            return Ok(None);
        }
        document.insert("Statement".to_owned(), statements.into());
        Ok(Some(Self::from(document)))
    }

    fn document(&self) -> Map<String, Value> {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl From<Map<String, Value>> for Policy {
    fn from(document: Map<String, Value>) -> Self {
        Self(Value::Object(document).to_string().into())
    }
}

impl PartialEq for Policy {
    /// Space and the order of members do not matter.
    fn eq(&self, other: &Self) -> bool {
        self.document() == other.document()
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn empty_document(queue: &QueueArn) -> Map<String, Value> {
    let id = format!("{queue}/SQSDefaultPolicy");
    Map::from_iter([("Version".to_owned(), "2008-10-17".into()), ("Id".to_owned(), id.into())])
}

/// A policy may have its only statement without a list around it.
fn take_statements(document: &mut Map<String, Value>) -> Vec<Value> {
    match document.remove("Statement") {
        Some(Value::Array(statements)) => statements,
        Some(statement) => vec![statement],
        None => Vec::new(),
    }
}

fn has_label(statement: &Value, label: &str) -> bool {
    statement.get("Sid").and_then(Value::as_str) == Some(label)
}

fn one_or_list(items: &[String], name: impl Fn(&String) -> String) -> Value {
    match items {
        [item] => name(item).into(),
        items => items.iter().map(name).collect(),
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
