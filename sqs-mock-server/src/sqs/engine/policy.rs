//! Access policies of queues, and the permissions that are statements in them.
//!
//! Sources: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_AddPermission.html>,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>

use std::fmt;
use std::sync::Arc;

use sqs_client::operation::Action;
use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::error::invalid_value;

use crate::control::arn::QueueArn;
use crate::control::policies::{Document, List, Principals, Statement, Version, is_action_of};
use crate::sqs::engine::invalid_attribute;

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
        check_size(text.len())?;
        let document = Self::read(text)?;
        if !document.is_valid(is_action) {
            return Err(invalid_attribute("Policy"));
        }
        check_quotas(&document)?;
        Self::write(document)
    }

    /// A policy that an earlier process has written. Its size counted when it was submitted.
    ///
    /// # Errors
    /// `InvalidAttributeValue` for a text that is not a policy.
    #[cfg(feature = "durable")]
    pub(crate) fn stored(text: &str) -> Result<Self, ServiceError> {
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
        document.statement.push(Statement::permission(
            label,
            accounts,
            actions,
            (&queue.region, queue.to_string()),
        ));
        check_quotas(&document)?;
        let policy = Self::write(document)?;
        check_size(policy.0.text.len())?;
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

/// Checks the size of a submitted policy.
///
/// # Errors
/// `OverLimit`.
fn check_size(bytes: usize) -> Result<(), ServiceError> {
    if bytes <= limits::MAX_POLICY_BYTES {
        return Ok(());
    }
    Err(ServiceError::new(ErrorCode::OverLimit, "Submitted policy is over max allowed size."))
}

/// Checks the quotas of statements, principals and conditions of the policy, and of actions in each statement.
///
/// # Errors
/// `OverLimit`. The text about actions is recorded from AWS; the others are inferred from it.
fn check_quotas(document: &Document) -> Result<(), ServiceError> {
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

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
