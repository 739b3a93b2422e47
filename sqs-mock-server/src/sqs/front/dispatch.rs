//! Finds the action of a request, and runs its operation.

use std::sync::Arc;

use http::Method;
use http::request::Parts;
use sqs_client::operation::{Action, Input};
use sqs_client::wire::protocol::{DecodeError, Detected, EncodedResponse, Form, Protocol};
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::faults;
use super::queue_url::check_url;
use super::respond::Style;
use crate::service::faults::{Damage, Rejection, Rule};
use crate::sqs::ops::{Context, Serve, Service};

/// A request whose action is known.
pub(super) struct Call<'a> {
    pub(super) action: Action,
    body: &'a [u8],
    /// The input in the Query protocol; in AWS JSON, the body is the input.
    form: Option<Form<'a>>,
}

/// A request without an output.
#[derive(Debug)]
pub(super) enum NoOutput {
    /// Neither GET nor POST.
    MethodNotAllowed,
    /// The URL of a queue without an action, as opened in a browser.
    NoAction,
    /// An error, with the damage of a fault to its response.
    Refused(ServiceError, Option<Damage>),
    /// A fault replaces the response, as if by a proxy.
    Replaced(u16, String),
    /// A fault breaks the connection.
    Lost,
}

impl From<ServiceError> for NoOutput {
    fn from(error: ServiceError) -> Self {
        Self::Refused(error, None)
    }
}

impl<'a> Call<'a> {
    /// Finds the action. `form` is the text of [`form_text`](crate::http::form_text).
    pub(super) fn read(
        detected: &Detected,
        head: &Parts,
        body: &'a [u8],
        form: &'a [u8],
    ) -> Result<Self, NoOutput> {
        if head.method != Method::POST && head.method != Method::GET {
            return Err(NoOutput::MethodNotAllowed);
        }
        let form = match detected {
            Detected::AwsJson(Ok(action)) => return Ok(Self { action: *action, body, form: None }),
            Detected::AwsJson(Err(_)) => return Err(ServiceError::bare(ErrorCode::UnknownOperation).into()),
            Detected::Query => Form::parse(form).map_err(|error| malformed(&error))?,
        };
        match form.action().ok_or(NoOutput::NoAction)? {
            Ok(Action::ListQueues | Action::CreateQueue) if head.uri.path() != "/" => {
                Err(invalid_action(&form).into())
            }
            Ok(action) => Ok(Self { action, body, form: Some(form) }),
            Err(_) => Err(invalid_action(&form).into()),
        }
    }

    /// A parameter of the form; AWS JSON has none.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.form.as_ref()?.get(name)
    }

    /// Decodes the input.
    pub(super) fn input<I: Input>(self) -> Result<I, ServiceError> {
        let input = match self.form {
            None => Protocol::AwsJson.decode_request(self.body),
            Some(form) => form.read(),
        };
        input.map_err(|error| malformed(&error))
    }
}

fn malformed(error: &DecodeError) -> ServiceError {
    ServiceError::new(ErrorCode::MalformedInput, error.to_string())
}

fn invalid_action(form: &Form<'_>) -> ServiceError {
    let action = form.get("Action").unwrap_or_default();
    ServiceError::new(
        ErrorCode::UnknownOperation,
        format!("The action {action} is not valid for this endpoint."),
    )
}

/// Has one arm for each operation; a missing one is a compile error.
macro_rules! by_action {
    ($action:expr, $run:ident $arguments:tt; $( $operation:ident in $module:ident; )*) => {
        match $action {
            $( Action::$operation => $run::<sqs_client::operation::$module::$operation> $arguments.await, )*
        }
    };
}

/// An output, with the damage of a fault to its response.
pub(super) type Answered = Result<(EncodedResponse, Option<Damage>), NoOutput>;

/// Decodes the input, runs the operation and encodes its output in the protocol of the request and the form that it
/// accepts. Faults may reject the request or damage the response.
pub(super) async fn dispatch(
    service: &Service,
    context: &mut Context,
    call: Call<'_>,
    style: Style,
    request_id: &str,
) -> Answered {
    by_action! { call.action, run(service, context, call, style, request_id);
        AddPermission in add_permission;
        CancelMessageMoveTask in cancel_message_move_task;
        ChangeMessageVisibility in change_message_visibility;
        ChangeMessageVisibilityBatch in change_message_visibility_batch;
        CreateQueue in create_queue;
        DeleteMessage in delete_message;
        DeleteMessageBatch in delete_message_batch;
        DeleteQueue in delete_queue;
        GetQueueAttributes in get_queue_attributes;
        GetQueueUrl in get_queue_url;
        ListDeadLetterSourceQueues in list_dead_letter_source_queues;
        ListMessageMoveTasks in list_message_move_tasks;
        ListQueueTags in list_queue_tags;
        ListQueues in list_queues;
        PurgeQueue in purge_queue;
        ReceiveMessage in receive_message;
        RemovePermission in remove_permission;
        SendMessage in send_message;
        SendMessageBatch in send_message_batch;
        SetQueueAttributes in set_queue_attributes;
        StartMessageMoveTask in start_message_move_task;
        TagQueue in tag_queue;
        UntagQueue in untag_queue;
    }
}

async fn run<O: Serve>(
    service: &Service,
    context: &mut Context,
    call: Call<'_>,
    style: Style,
    request_id: &str,
) -> Answered {
    let input = call.input::<O::Input>()?;
    check_url(service, context, O::queue(&input).or(context.request_url.as_deref()))?;
    let plan = service.faults().plan(|| faults::request::<O>(context, &input, service.clock().now()));
    let was_shut_down = service.is_shut_down();
    if !service.faults().delays().delay(plan.latency).await || service.is_shut_down() != was_shut_down {
        // The client does not retry this error.
        return Err(context.no_such_queue().into());
    }
    match plan.rejection {
        Some(Rejection::Error(failure)) => return Err(faults::error::<O>(failure, context, &input).into()),
        Some(Rejection::Status(status, body)) => return Err(NoOutput::Replaced(status, body)),
        Some(Rejection::Reset) => return Err(NoOutput::Lost),
        None => {}
    }
    let redelivery = Redelivery(plan.redeliver);
    context.redeliver = !redelivery.0.is_empty();
    let failing = plan.failing.into_iter().map(|failing| faults::entry::<O>(failing, context, &input));
    context.failing = failing.collect();
    let mut damage = plan.damage;
    let served = O::serve(service, context, input).await;
    if served.as_ref().is_ok_and(O::delivers) {
        redelivery.delivered();
    }
    let encoded = served.and_then(|mut output| {
        O::omit(&mut output, &plan.omitted);
        if damage == Some(Damage::Corrupted) && O::corrupt(&mut output) {
            damage = None;
        }
        style.output::<O>(&output, request_id)
    });
    match encoded {
        Ok(encoded) => Ok((encoded, damage)),
        Err(error) => Err(NoOutput::Refused(error, damage)),
    }
}

/// Faults that redeliver the messages of a receive. On drop, their hits are reverted: the receive was refused, aborted, or
/// found nothing.
struct Redelivery(Vec<Arc<Rule>>);

impl Redelivery {
    fn delivered(mut self) {
        self.0.clear();
    }
}

impl Drop for Redelivery {
    fn drop(&mut self) {
        self.0.iter().for_each(|rule| rule.take_back());
    }
}
