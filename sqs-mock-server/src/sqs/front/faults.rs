//! Faults of SQS: the description of its requests, and the injected errors.

use sqs_client::operation::Action;
use sqs_client::wire::service_error::{ErrorCode, Fault as Blame, ServiceError};

use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::faults::{FailingEntry, Failure, Request, Resource, ServiceName};
use crate::sqs::engine::Metered;
use crate::sqs::ops::{self, Cause, Context, Serve};

/// Describes a request for faults.
pub(super) fn request<'a, O: Serve>(
    context: &'a Context,
    input: &'a O::Input,
    time: Timestamp,
) -> Request<'a> {
    let queue = queue::<O>(context, input);
    Request {
        service: ServiceName::Sqs,
        operation: O::ACTION.as_str(),
        account: &context.account,
        region: &context.region,
        time,
        entries: O::entries(input),
        // FIFO queues deliver a message again only after its visibility timeout.
        can_redeliver: O::ACTION == Action::ReceiveMessage && !queue.as_ref().is_some_and(QueueArn::is_fifo),
        resource: queue.map(Resource::Queue),
    }
}

/// The queue that a request addresses, whether it exists or not.
fn queue<O: Serve>(context: &Context, input: &O::Input) -> Option<QueueArn> {
    let text = O::queue(input).or(context.request_url.as_deref())?;
    let account = O::owner(input).unwrap_or(&context.account);
    Some(QueueArn::named(text, &context.region, account))
}

/// The injected error of a request.
pub(super) fn error<O: Serve>(failure: Failure, context: &Context, input: &O::Input) -> ServiceError {
    let code = failure.code.map_or(ErrorCode::RequestThrottled, |code| ErrorCode::from_name(&code));
    let message = failure.message.unwrap_or_else(|| match code {
        ErrorCode::AccessDenied => denial::<O>(context, input),
        _ => default_text(&code, O::ACTION).to_owned(),
    });
    ServiceError::new(code, message)
}

/// The injected error of an entry.
pub(super) fn entry<O: Serve>(
    failing: FailingEntry,
    context: &Context,
    input: &O::Input,
) -> (usize, ops::Failure) {
    let error = error::<O>(failing.failure, context, input);
    let sender_fault = failing.sender_fault.unwrap_or(error.code.fault() == Blame::Sender);
    (failing.index, ops::Failure { error, sender_fault })
}

/// The text that AWS sends to callers without a policy for the action.
fn denial<O: Serve>(context: &Context, input: &O::Input) -> String {
    let Context { account, region, .. } = context;
    let queue = queue::<O>(context, input).unwrap_or_else(|| QueueArn::new(region, account, ""));
    Cause::NoIdentityPolicy.text(account, O::ACTION, &queue)
}

/// The text of SQS, where logs of AWS show it.
fn default_text(code: &ErrorCode, action: Action) -> &'static str {
    match (code, action) {
        (
            ErrorCode::RequestThrottled,
            Action::ChangeMessageVisibility | Action::ChangeMessageVisibilityBatch,
        ) => Metered::ChangeVisibility.throttle_text(),
        (ErrorCode::RequestThrottled, _) => Metered::Send.throttle_text(),
        (ErrorCode::KmsAccessDenied, _) => {
            "The ciphertext refers to a customer master key that does not exist, does not exist in this region, or you \
             are not allowed to access. (Service: AWSKMS; Status Code: 400; Error Code: AccessDeniedException; Request \
             ID: 00000000-0000-0000-0000-000000000000; Proxy: null)"
        }
        _ => "This failure was injected.",
    }
}

#[cfg(test)]
mod tests {
    use sqs_client::operation::change_message_visibility::ChangeMessageVisibility;
    use sqs_client::operation::change_message_visibility_batch::ChangeMessageVisibilityBatch;
    use sqs_client::operation::receive_message::ReceiveMessage;
    use sqs_client::operation::send_message::SendMessage;
    use sqs_client::operation::send_message_batch::{SendMessageBatch, SendMessageBatchInput};

    use super::*;

    fn failure(code: &str) -> Failure {
        Failure { code: Some(code.to_owned()), message: None }
    }

    fn text<O: Serve<Input: Default>>(failure: Failure) -> String {
        error::<O>(failure, &Context::default(), &O::Input::default()).message.unwrap_or_default()
    }

    /// From logs of AWS.
    #[test]
    fn throttled_and_denied_requests_get_the_texts_of_sqs() {
        let throttled = || Failure { code: None, message: None };
        assert_eq!(text::<SendMessage>(throttled()), "Request is throttled.");
        let expected = "Request throttled because message visibility configuration was updated too recently. Wait a \
                        short while and then retry the operation.";
        assert_eq!(text::<ChangeMessageVisibility>(throttled()), expected);
        assert_eq!(text::<ChangeMessageVisibilityBatch>(failure("RequestThrottled")), expected);
        let own = Failure { message: Some("own words".to_owned()), ..throttled() };
        assert_eq!(text::<ChangeMessageVisibility>(own), "own words");
        let denied = text::<ReceiveMessage>(failure("KmsAccessDenied"));
        let begin = "The ciphertext refers to a customer master key that does not exist, does not exist in this \
                     region, or you are not allowed to access. (Service: AWSKMS; Status Code: 400; Error Code: \
                     AccessDeniedException;";
        assert!(denied.starts_with(begin) && denied.ends_with("; Proxy: null)"), "{denied}");
    }

    #[test]
    fn code_determines_sender_fault_unless_the_fault_sets_it() {
        let is_sender_fault = |code, sender_fault| {
            let failing = FailingEntry { index: 0, failure: failure(code), sender_fault };
            entry::<SendMessageBatch>(failing, &Context::default(), &SendMessageBatchInput::default())
                .1
                .sender_fault
        };
        assert!(!is_sender_fault("InternalFailure", None));
        assert!(is_sender_fault("InvalidMessageContents", None));
        assert!(is_sender_fault("InternalFailure", Some(true)));
    }
}
