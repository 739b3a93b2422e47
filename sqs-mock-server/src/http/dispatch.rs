//! From an action to its operation.

use sqs_client::operation::Action;
use sqs_client::protocol::{Answer, EncodedResponse};
use sqs_client::service_error::{ErrorCode, ServiceError};

use super::call::Call;
use crate::ops::{Context, Serve, Service};

/// One arm for each operation; a missing one does not compile.
macro_rules! by_action {
    ($action:expr, $run:ident $arguments:tt; $( $operation:ident in $module:ident; )*) => {
        match $action {
            $( Action::$operation => $run::<sqs_client::operation::$module::$operation> $arguments.await, )*
        }
    };
}

/// Decodes the input, runs the operation and encodes its output in the protocol of the request and the
/// form that it accepts.
pub(super) async fn dispatch(
    service: &Service,
    context: &Context,
    call: Call<'_>,
    answer: Answer,
    request_id: &str,
) -> Result<EncodedResponse, ServiceError> {
    by_action! { call.action(), run(service, context, call, answer, request_id);
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
    context: &Context,
    call: Call<'_>,
    answer: Answer,
    request_id: &str,
) -> Result<EncodedResponse, ServiceError> {
    let protocol = call.protocol();
    let input = call.input::<O::Input>()?;
    let output = O::serve(service, context, input).await?;
    let encoded = protocol.encode_response_as::<O>(answer, &output, request_id);
    encoded.map_err(|error| ServiceError::new(ErrorCode::InternalFailure, format!("{}: {error}", O::ACTION)))
}
