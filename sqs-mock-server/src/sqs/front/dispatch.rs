//! Dispatches an action to its operation.

use std::sync::Arc;

use sqs_client::operation::Action;
use sqs_client::wire::protocol::EncodedResponse;
use sqs_client::wire::service_error::ServiceError;

use super::call::{Call, Ended};
use super::faults;
use super::foreign;
use super::respond::Style;
use crate::service::faults::{Damage, Rejection, Rule};
use crate::sqs::ops::{Context, Serve, Service};

/// Has one arm for each operation; a missing one is a compile error.
macro_rules! by_action {
    ($action:expr, $run:ident $arguments:tt; $( $operation:ident in $module:ident; )*) => {
        match $action {
            $( Action::$operation => $run::<sqs_client::operation::$module::$operation> $arguments.await, )*
        }
    };
}

/// An output or an error, with the damage of a fault to the response.
pub(super) type Answered = (Result<EncodedResponse, ServiceError>, Option<Damage>);

/// Decodes the input, runs the operation and encodes its output in the protocol of the request and the form that it
/// accepts. Faults may reject the request or damage the response.
pub(super) async fn dispatch(
    service: &Service,
    context: &mut Context,
    call: Call<'_>,
    style: Style,
    request_id: &str,
) -> Result<Answered, Ended> {
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
) -> Result<Answered, Ended> {
    let input = call.input::<O::Input>()?;
    foreign::check(service, context, O::queue(&input).or(context.request_url.as_deref()))?;
    let plan = service.faults().plan(|| faults::request::<O>(context, &input, service.clock().now()));
    let was_shut_down = service.is_shut_down();
    if !service.faults().delays().delay(plan.latency).await || service.is_shut_down() != was_shut_down {
        // The client does not retry this error.
        return Err(context.no_such_queue().into());
    }
    match plan.rejection {
        Some(Rejection::Error(failure)) => return Err(faults::error::<O>(failure, context, &input).into()),
        Some(Rejection::Status(status, body)) => return Err(Ended::Foreign(status, body)),
        Some(Rejection::Reset) => return Err(Ended::Lost),
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
    let result = served.and_then(|mut output| {
        O::omit(&mut output, &plan.omitted);
        if damage == Some(Damage::Corrupted) && O::corrupt(&mut output) {
            damage = None;
        }
        style.output::<O>(&output, request_id)
    });
    Ok((result, damage))
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
