//! Access policies of queues: checks of callers, and the operations that add and remove permissions.
//!
//! Callers of other accounts need a statement that allows the action. Callers of the own account are only stopped by a
//! statement that denies: on AWS they need an identity policy too, which this server does not have.

use sqs_client::wire::validate::Validate as _;
use std::sync::Arc;

use sqs_client::operation::Action;
use sqs_client::operation::add_permission::AddPermission;
use sqs_client::operation::remove_permission::RemovePermission;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::queue::is_shareable;

use crate::control::arn::{QueueArn, root};
use crate::control::policies;
use crate::control::policies::{Policies, Principal};
use crate::sqs::engine::policy::Policy;
use crate::sqs::findings::{Finding, FindingKind};
use crate::sqs::locked_queue::SharedQueue;
use crate::sqs::ops::{Context, Serve, Served};
use crate::sqs::service::Service;

/// Why AWS denies a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Cause {
    /// The caller has no policy for the action. Only faults claim this.
    NoIdentityPolicy,
    /// No statement of the queue's policy allows the action.
    NoResourcePolicy,
    /// A statement of the queue's policy denies the action.
    Denied,
}

impl Service {
    /// Checks that a caller may perform an action on a queue. If policies are not enforced, this only reports a denial.
    ///
    /// # Errors
    /// `AccessDenied`.
    pub(crate) fn check_access(
        &self,
        context: &Context,
        action: Action,
        queue: &SharedQueue,
    ) -> Result<(), ServiceError> {
        let setting = self.shared.settings.policies;
        if setting == Policies::Off {
            return Ok(());
        }
        let Some((cause, details)) = self.denial(context, action, queue) else { return Ok(()) };
        let is_enforced = setting == Policies::Enforce;
        let details = if is_enforced {
            details
        } else {
            format!("{details}; AWS denies the request, this server does not")
        };
        context.trace.note_finding(self.report_denial(queue.arn(), details));
        if !is_enforced {
            return Ok(());
        }
        let text = cause.text(&context.account, permission(action), queue.arn());
        Err(ServiceError::new(ErrorCode::AccessDenied, text))
    }

    /// Keeps and logs a denial.
    pub(crate) fn report_denial(&self, queue: &QueueArn, text: String) -> Arc<Finding> {
        let (kind, time) = (FindingKind::AccessDenied, self.clock().now());
        let finding = Finding { kind, queue: queue.clone(), time, text };
        self.findings().report(finding)
    }

    /// Why AWS denies a request, with details for logs, which AWS does not tell.
    fn denial(&self, context: &Context, action: Action, queue: &SharedQueue) -> Option<(Cause, String)> {
        let is_own = *context.account == *queue.arn().account;
        let policy = queue.policy();
        if is_own && policy.is_none() {
            return None;
        }
        let name = format!("sqs:{}", permission(action).as_str());
        if !is_own && !is_shareable(action.as_str()) {
            let details = format!(
                "account {} may not call {name}: no policy can allow this action to other accounts",
                context.account
            );
            return Some((Cause::NoResourcePolicy, details));
        }
        let request = policies::Context {
            principal: Principal::Account(&context.account),
            action: &name,
            resource: &queue.arn().to_string(),
            time: self.clock().now(),
        };
        let document = policy.as_ref().map(Policy::document);
        let why = if is_own {
            policies::explicit_denial(document?, &request)?
        } else {
            policies::denial(document, &request)?
        };
        let cause = if why.is_explicit { Cause::Denied } else { Cause::NoResourcePolicy };
        Some((cause, why.text))
    }
}

/// The action that policies name: a batch needs the permission for its entries.
///
/// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html>
fn permission(action: Action) -> Action {
    match action {
        Action::SendMessageBatch => Action::SendMessage,
        Action::DeleteMessageBatch => Action::DeleteMessage,
        Action::ChangeMessageVisibilityBatch => Action::ChangeMessageVisibility,
        single => single,
    }
}

impl Cause {
    /// The text of AWS, from logs and from the user guide of IAM.
    pub(crate) fn text(self, account: &str, action: Action, queue: &QueueArn) -> String {
        let action = action.as_str().to_lowercase();
        let reason = match self {
            Self::NoIdentityPolicy => {
                format!("because no identity-based policy allows the sqs:{action} action")
            }
            Self::NoResourcePolicy => {
                format!("because no resource-based policy allows the sqs:{action} action")
            }
            Self::Denied => "with an explicit deny in a resource-based policy".to_owned(),
        };
        format!(
            "User: {} is not authorized to perform: sqs:{action} on resource: {queue} {reason}",
            root(&queue.region, account)
        )
    }
}

impl Serve for AddPermission {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let now = service.shared.clock.now();
        let label = input.label().unwrap_or_default();
        queue.with(context, |queue| {
            queue.add_permission(now, label, input.aws_account_ids(), input.actions())
        })??;
        Ok(Self::Output::default())
    }
}

impl Serve for RemovePermission {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let label = input.label().unwrap_or_default();
        queue.with(context, |queue| queue.remove_permission(service.shared.clock.now(), label))??;
        Ok(Self::Output::default())
    }
}
