//! From an action to its operation.

use sqs_client::operation::Action;
use sqs_client::wire::protocol::EncodedResponse;
use sqs_client::wire::service_error::ServiceError;

use super::call::Call;
use super::respond::Style;
use crate::service::faults::{Ending, Plan, Target, Unapplied};
use crate::sqs::ops::{Context, Serve, Service};

/// One arm for each operation; a missing one does not compile.
macro_rules! by_action {
    ($action:expr, $run:ident $arguments:tt; $( $operation:ident in $module:ident; )*) => {
        match $action {
            $( Action::$operation => $run::<sqs_client::operation::$module::$operation> $arguments.await, )*
        }
    };
}

/// What came of a call.
#[derive(Debug)]
pub(super) enum Dispatched {
    /// An output or a refusal, and what becomes of it on its way back.
    Answered(Result<EncodedResponse, ServiceError>, Ending),
    /// A fault decided otherwise.
    Struck(Unapplied),
}

/// Decodes the input, runs the operation and encodes its output in the protocol of the request and the
/// form that it accepts, unless a fault comes between.
pub(super) async fn dispatch(
    service: &Service,
    context: &mut Context,
    call: Call<'_>,
    style: Style,
    request_id: &str,
) -> Dispatched {
    by_action! { call.action(), run(service, context, call, style, request_id);
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

async fn run<O: Serve + Target>(
    service: &Service,
    context: &mut Context,
    call: Call<'_>,
    style: Style,
    request_id: &str,
) -> Dispatched {
    let input = match call.input::<O::Input>() {
        Ok(input) => input,
        Err(error) => return Dispatched::Answered(Err(error), Ending::Whole),
    };
    let faults = service.faults();
    let plan = if faults.is_empty() {
        Plan::default()
    } else {
        faults.plan(&context.request::<O>(&input, service.clock().now()))
    };
    if !plan.latency.is_zero() {
        let generation = service.generation();
        tokio::time::sleep(plan.latency).await;
        if service.generation() != generation {
            // What began before a reset or the end must not reach what comes after it, by no second attempt either.
            return Dispatched::Struck(Unapplied::Refused(context.no_such_queue()));
        }
    }
    if let Some(unapplied) = plan.unapplied {
        return Dispatched::Struck(unapplied);
    }
    context.redeliver = !plan.redeliver.is_empty();
    context.failing = plan.failing;
    let mut ending = plan.ending;
    let served = O::serve(service, context, input).await;
    if !served.as_ref().is_ok_and(O::delivers) {
        plan.redeliver.iter().for_each(|rule| rule.take_back());
    }
    let result = served.and_then(|mut output| {
        O::omit(&mut output, &plan.omitted);
        if ending == Ending::Corrupt && O::corrupt(&mut output) {
            ending = Ending::Whole;
        }
        style.output::<O>(&output, request_id)
    });
    Dispatched::Answered(result, ending)
}
