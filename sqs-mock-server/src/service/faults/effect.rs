//! What a fault does.

use std::time::Duration;

use sqs_client::operation::Action;
use sqs_client::wire::service_error::{ErrorCode, Fault as Blame, ServiceError};

use super::Request;

/// What happens to a request or an entry that a fault strikes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Effect {
    /// It takes longer, by a time between these two.
    Latency(Duration, Duration),
    /// Entries of a batch fail, the others do not.
    FailEntries(Failure),
    /// Entries of a batch are done, but the answer does not mention them.
    OmitEntries,
    /// Received messages are delivered once more.
    Redeliver,
    /// Bodies go no faster than so many bytes a second.
    #[cfg(feature = "s3")]
    Pace(u64),
    /// The request ends otherwise than it would.
    End(End),
}

/// How a request ends that does not end well.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum End {
    /// With a refusal; nothing is applied.
    Error(Failure),
    /// With an answer that no SQS gives; nothing is applied.
    Status(u16, String),
    /// With its connection; nothing is applied.
    ResetBefore,
    /// With an answer that is not what was sent off.
    Spoilt(Ending),
}

/// What becomes of the answer to a request that was applied.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Ending {
    /// It arrives.
    #[default]
    Whole,
    /// It arrives with a wrong checksum, or, where it has none, garbled.
    Corrupt,
    /// The connection breaks in the middle of it.
    Truncated,
    /// The connection breaks before it.
    Lost,
}

/// A refusal as a fault has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Failure {
    pub(super) code: ErrorCode,
    pub(super) message: Option<String>,
    /// Whether an entry is told that it is its sender's fault; as the code has it when absent.
    pub(super) sender_fault: Option<bool>,
}

impl Failure {
    pub(super) fn new(code: ErrorCode) -> Self {
        Self { code, message: None, sender_fault: None }
    }

    pub(super) fn error(&self, action: Option<Action>) -> ServiceError {
        let message = self.message.as_deref().unwrap_or_else(|| default_text(&self.code, action));
        ServiceError::new(self.code.clone(), message)
    }

    /// As [`error`](Self::error), with the text of AWS where a request is denied.
    pub(super) fn error_for(&self, request: &Request<'_>) -> ServiceError {
        match (&self.code, &self.message) {
            (ErrorCode::AccessDenied, None) => ServiceError::new(ErrorCode::AccessDenied, denial(request)),
            _ => self.error(Some(request.action)),
        }
    }

    pub(super) fn is_sender_fault(&self) -> bool {
        self.sender_fault.unwrap_or(self.code.fault() == Blame::Sender)
    }
}

/// What AWS says of a caller without a policy that allows the action.
fn denial(request: &Request<'_>) -> String {
    let Request { account, region, .. } = request;
    let (action, queue) = (request.action.as_str().to_lowercase(), request.queue.unwrap_or_default());
    format!(
        "User: arn:aws:iam::{account}:root is not authorized to perform: sqs:{action} on resource: \
         arn:aws:sqs:{region}:{account}:{queue} because no identity-based policy allows the sqs:{action} action"
    )
}

/// What SQS says, as far as it is known from logs of AWS. No action is one of another service.
fn default_text(code: &ErrorCode, action: Option<Action>) -> &'static str {
    match (code, action) {
        (
            ErrorCode::RequestThrottled,
            Some(Action::ChangeMessageVisibility | Action::ChangeMessageVisibilityBatch),
        ) => {
            "Request throttled because message visibility configuration was updated too recently. Wait a short while \
             and then retry the operation."
        }
        (ErrorCode::RequestThrottled, _) => "Request is throttled.",
        (ErrorCode::KmsAccessDenied, _) => {
            "The ciphertext refers to a customer master key that does not exist, does not exist in this region, or you \
             are not allowed to access. (Service: AWSKMS; Status Code: 400; Error Code: AccessDeniedException; Request \
             ID: 00000000-0000-0000-0000-000000000000; Proxy: null)"
        }
        _ => "This failure was injected.",
    }
}

impl Effect {
    /// The refusal that a text and a blame can be set of.
    pub(super) fn failure_mut(&mut self) -> Option<&mut Failure> {
        match self {
            Self::FailEntries(failure) | Self::End(End::Error(failure)) => Some(failure),
            _ => None,
        }
    }
}
