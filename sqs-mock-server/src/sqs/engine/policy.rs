//! Access policies of queues, and the permissions that are statements in them.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_AddPermission.html>

use std::fmt;
use std::sync::Arc;

use sqs_client::operation::Action;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::error::invalid_value;

use super::policy_quotas;
use super::refusal::invalid_attribute;
use crate::service::arn::QueueArn;
use crate::service::policies::{Document, Statement, Version, is_action_of};

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
        if document.statement.iter().any(|statement| statement.has_label(label)) {
            return Err(invalid_value("Label", label, "Already exists."));
        }
        let actions = actions.iter().map(|action| format!("SQS:{action}")).collect();
        document.statement.push(Statement::permission(label, accounts, actions, queue.to_string()));
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
        let unknown = || invalid_value("Label", label, "can't find label.");
        let mut document = policy.ok_or_else(unknown)?.document().clone();
        let before = document.statement.len();
        document.statement.retain(|statement| !statement.has_label(label));
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

fn is_action(name: &str) -> bool {
    is_action_of("sqs", name, Action::ALL.iter().map(|known| known.as_str()))
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
