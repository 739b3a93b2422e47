//! The table of operations for tests, and the information that the Query protocol loses.

use serde_json::{Map, Value};
use sqs_client::operation::Operation;

/// Calls `$test!` with the module and the type of all 23 operations.
macro_rules! for_each_operation {
    ($test:ident) => {
        $test! {
            add_permission AddPermission, cancel_message_move_task CancelMessageMoveTask,
            change_message_visibility ChangeMessageVisibility,
            change_message_visibility_batch ChangeMessageVisibilityBatch, create_queue CreateQueue,
            delete_message DeleteMessage, delete_message_batch DeleteMessageBatch, delete_queue DeleteQueue,
            get_queue_attributes GetQueueAttributes, get_queue_url GetQueueUrl,
            list_dead_letter_source_queues ListDeadLetterSourceQueues,
            list_message_move_tasks ListMessageMoveTasks, list_queue_tags ListQueueTags, list_queues ListQueues,
            purge_queue PurgeQueue, receive_message ReceiveMessage, remove_permission RemovePermission,
            send_message SendMessage, send_message_batch SendMessageBatch,
            set_queue_attributes SetQueueAttributes, start_message_move_task StartMessageMoveTask,
            tag_queue TagQueue, untag_queue UntagQueue,
        }
    };
}
pub(crate) use for_each_operation;

/// An input after encoding and decoding as a form. Empty lists and maps are absent, and the two lists of a receive that share
/// a name are merged.
pub(crate) fn through_form<O: Operation>(input: &O::Input) -> O::Input {
    let mut members = without_empty_members(serde_json::to_value(input).unwrap());
    if let Some(Value::Array(mut second)) = members.remove("MessageSystemAttributeNames") {
        let first = members.entry("AttributeNames").or_insert_with(|| Value::Array(Vec::new()));
        first.as_array_mut().unwrap().append(&mut second);
    }
    serde_json::from_value(members.into()).unwrap()
}

/// An output after encoding and decoding as XML. Empty lists and maps are absent.
pub(crate) fn through_xml<O: Operation>(output: &O::Output) -> O::Output {
    serde_json::from_value(without_empty_members(serde_json::to_value(output).unwrap()).into()).unwrap()
}

fn without_empty_members(shape: Value) -> Map<String, Value> {
    let Value::Object(members) = shape else { panic!("a shape is an object: {shape}") };
    let members = members.into_iter().map(|(name, member)| (name, within(member)));
    members.filter(|(_, member)| !is_empty_collection(member)).collect()
}

fn within(value: Value) -> Value {
    match value {
        Value::Object(_) => without_empty_members(value).into(),
        Value::Array(elements) => elements.into_iter().map(within).collect(),
        scalar => scalar,
    }
}

fn is_empty_collection(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

#[cfg(test)]
macro_rules! count {
    ($($module:ident $op:ident,)*) => {
        [ $( sqs_client::operation::$module::$op::ACTION, )* ]
    };
}

#[test]
fn test_table_has_every_operation() {
    assert_eq!(for_each_operation!(count), sqs_client::operation::Action::ALL);
}
