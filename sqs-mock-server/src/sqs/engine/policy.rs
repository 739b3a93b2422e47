//! Access policies of queues, and the permissions that are statements in them.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_AddPermission.html>

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use sqs_client::operation::Action;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::policy_quotas;
use super::refusal::{invalid_attribute, invalid_parameter};
use crate::service::arn::QueueArn;
use crate::service::policies::{Document, Effect, List, Principals, Statement, Version};

/// An access policy.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Policy(Arc<Parsed>);

#[derive(Debug, Eq, PartialEq)]
struct Parsed {
    document: Document,
    /// The form that SQS returns.
    text: Box<str>,
}

impl Policy {
    /// Parses the document.
    ///
    /// # Errors
    /// `InvalidAttributeValue` if the policy is invalid for SQS, `OverLimit` if it exceeds a quota.
    pub(crate) fn parse(text: &str) -> Result<Self, ServiceError> {
        policy_quotas::check_size(text.len())?;
        let document = Self::read(text)?;
        if !document.is_valid(is_action) {
            return Err(invalid_attribute("Policy"));
        }
        policy_quotas::check(&document)?;
        Self::write(document)
    }

    /// A policy that an earlier process has written. Its size counted when it was submitted.
    ///
    /// # Errors
    /// `InvalidAttributeValue` for a text that is not a policy.
    #[cfg(feature = "durable")]
    pub(super) fn stored(text: &str) -> Result<Self, ServiceError> {
        Self::write(Self::read(text)?)
    }

    /// The statements.
    pub(crate) fn document(&self) -> &Document {
        &self.0.document
    }

    /// A policy with an additional statement: `accounts` may do `actions` (such as `SendMessage`, or `*`) on `queue`.
    ///
    /// # Errors
    /// `OverLimit` if the policy would exceed a quota, `InvalidParameterValue` for a label that exists.
    pub(crate) fn with_permission(
        policy: Option<&Self>,
        queue: &QueueArn,
        label: &str,
        accounts: &[String],
        actions: &[String],
    ) -> Result<Self, ServiceError> {
        let mut document = match policy {
            Some(policy) => policy.document().clone(),
            None => empty_document(queue),
        };
        if document.statement.iter().any(|statement| has_label(statement, label)) {
            return Err(invalid_parameter(label, "Label", "Already exists."));
        }
        let roots = accounts.iter().map(|account| format!("arn:aws:iam::{account}:root")).collect();
        document.statement.push(Statement {
            sid: Some(label.to_owned()),
            effect: Effect::Allow,
            principal: Some(Principals::Kinds(BTreeMap::from([("AWS".to_owned(), List(roots))]))),
            not_principal: None,
            action: Some(List(actions.iter().map(|action| format!("SQS:{action}")).collect())),
            not_action: None,
            resource: Some(List(vec![queue.to_string()])),
            not_resource: None,
            condition: None,
        });
        policy_quotas::check(&document)?;
        let policy = Self::write(document)?;
        policy_quotas::check_size(policy.0.text.len())?;
        Ok(policy)
    }

    /// A policy without the statement of a label; `None` if no other statement is left.
    ///
    /// # Errors
    /// `InvalidParameterValue` for an unknown label.
    pub(crate) fn without_permission(
        policy: Option<&Self>,
        label: &str,
    ) -> Result<Option<Self>, ServiceError> {
        let unknown = || invalid_parameter(label, "Label", "can't find label.");
        let mut document = policy.ok_or_else(unknown)?.document().clone();
        let before = document.statement.len();
        document.statement.retain(|statement| !has_label(statement, label));
        if document.statement.len() == before {
            return Err(unknown());
        }
        if document.statement.is_empty() {
            return Ok(None);
        }
        // AWS adds an empty id to a policy without one.
        document.id.get_or_insert_default();
        Self::write(document).map(Some)
    }

    fn read(text: &str) -> Result<Document, ServiceError> {
        serde_json::from_str(text).map_err(|_| invalid_attribute("Policy"))
    }

    /// Every document can be written; a failure is a bug of this server.
    fn write(document: Document) -> Result<Self, ServiceError> {
        let text = serde_json::to_string(&document).map_err(|error| {
            ServiceError::new(ErrorCode::InternalFailure, format!("cannot store the policy: {error}"))
        })?;
        Ok(Self(Arc::new(Parsed { document, text: text.into() })))
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

fn empty_document(queue: &QueueArn) -> Document {
    let id = Some(format!("{queue}/SQSDefaultPolicy"));
    Document { version: Version::default(), id, statement: Vec::new() }
}

fn has_label(statement: &Statement, label: &str) -> bool {
    statement.sid.as_deref() == Some(label)
}

/// `*`, or an action of SQS, case-insensitive. A name with a wildcard can match several actions.
fn is_action(name: &str) -> bool {
    let Some((service, action)) = name.split_once(':') else { return name == "*" };
    let is_known = || Action::ALL.iter().any(|known| known.as_str().eq_ignore_ascii_case(action));
    service.eq_ignore_ascii_case("sqs") && (action.contains(['*', '?']) || is_known())
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
