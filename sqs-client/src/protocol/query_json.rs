//! The JSON that the Query protocol answers with on request: made from the XML, member by member.
//!
//! Recorded of AWS are the two envelopes, `queueUrls`, `messages`, and `Attributes` as a list of `Name` and `Value`.
//! Everything else is inferred:
//!
//! - Single members have their XML names. Lists have the names of the model, and are arrays whatever their length;
//!   `TagKey` and the like do not occur in answers.
//! - Numbers, booleans and blobs are the text that they are in XML, so all leaves are JSON strings.
//! - What XML has no element for is left out: absent members, empty lists, the empty `Detail` of refusals.

use serde_json::{Map, Value, json};

use super::EncodeError;
use super::walk::{Sink, walk};
use crate::operation::Operation;
use crate::service_error::ServiceError;

/// The media type of answers. It is inferred from what the request accepts.
pub(super) const CONTENT_TYPE: &str = "application/json";

/// Encodes an answer; those of void actions have only metadata.
pub(super) fn encode<O: Operation>(output: &O::Output, request_id: &str) -> Result<Vec<u8>, EncodeError> {
    let action = O::ACTION;
    let mut members = Map::new();
    if !action.is_void() {
        let mut sink = JsonSink::default();
        walk(output, &mut sink).map_err(EncodeError::new)?;
        members.insert(format!("{action}Result"), Value::Object(sink.members));
    }
    members.insert("ResponseMetadata".to_owned(), json!({ "RequestId": request_id }));
    let body = json!({ (format!("{action}Response")): members });
    Ok(body.to_string().into_bytes())
}

/// Encodes a refusal. `Type` is inferred from the XML.
pub(super) fn encode_error(error: &ServiceError, request_id: &str) -> Vec<u8> {
    let mut members = Map::new();
    members.insert("Type".to_owned(), error.code.fault().as_str().into());
    members.insert("Code".to_owned(), error.code.query_code().into());
    if let Some(message) = &error.message {
        members.insert("Message".to_owned(), message.as_str().into());
    }
    json!({ "Error": members, "RequestId": request_id }).to_string().into_bytes()
}

/// The JSON name of a list whose elements have that XML name.
fn list_name(element: &str) -> &str {
    match element {
        // Recorded.
        "Attribute" => "Attributes",
        "Message" => "messages",
        "QueueUrl" => "queueUrls",
        // Inferred: the names of the model.
        "BatchResultErrorEntry" => "Failed",
        "BinaryListValue" => "BinaryListValues",
        "ChangeMessageVisibilityBatchResultEntry"
        | "DeleteMessageBatchResultEntry"
        | "SendMessageBatchResultEntry" => "Successful",
        "ListMessageMoveTasksResultEntry" => "Results",
        "MessageAttribute" => "MessageAttributes",
        "StringListValue" => "StringListValues",
        "Tag" => "Tags",
        other => other,
    }
}

/// Builds the object of a shape.
#[derive(Default)]
struct JsonSink {
    members: Map<String, Value>,
    /// Members that have begun and not ended, the innermost last.
    open: Vec<Open>,
}

#[derive(Default)]
struct Open {
    /// Whether it is an element of a list or an entry of a map.
    listed: bool,
    text: Option<String>,
    members: Map<String, Value>,
}

impl Sink for JsonSink {
    fn enter(&mut self, _: &str, index: Option<usize>) {
        self.open.push(Open { listed: index.is_some(), ..Open::default() });
    }

    fn text(&mut self, text: &str) {
        if let Some(open) = self.open.last_mut() {
            open.text = Some(text.to_owned());
        }
    }

    fn leave(&mut self, name: &str) {
        let Some(Open { listed, text, members }) = self.open.pop() else { return };
        let value = text.map_or(Value::Object(members), Value::String);
        let parent = self.open.last_mut().map_or(&mut self.members, |open| &mut open.members);
        if !listed {
            parent.insert(name.to_owned(), value);
        } else if let Value::Array(elements) = parent.entry(list_name(name)).or_insert_with(|| json!([])) {
            elements.push(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::operation::delete_queue::{DeleteQueue, DeleteQueueOutput};
    use crate::operation::get_queue_attributes::{GetQueueAttributes, GetQueueAttributesOutput};
    use crate::operation::list_queues::{ListQueues, ListQueuesOutput};
    use crate::operation::receive_message::{ReceiveMessage, ReceiveMessageOutput};
    use crate::service_error::ErrorCode;
    use crate::types::{Message, MessageAttributeValue, QueueAttributeName};

    fn answer<O: Operation>(output: &O::Output) -> Value {
        serde_json::from_slice(&encode::<O>(output, "id").unwrap()).unwrap()
    }

    fn metadata() -> Value {
        json!({ "RequestId": "id" })
    }

    #[test]
    fn recorded_list_of_queues_has_its_recorded_form() {
        let output = ListQueuesOutput::builder().queue_urls("http://h/1/a").build();
        let result = json!({ "queueUrls": ["http://h/1/a"] });
        let expected = json!({ "ListQueuesResult": result, "ResponseMetadata": metadata() });
        assert_eq!(answer::<ListQueues>(&output), json!({ "ListQueuesResponse": expected }));
    }

    #[test]
    fn recorded_attributes_are_a_list_of_names_and_values() {
        let attributes = HashMap::from([(QueueAttributeName::DelaySeconds, "0".to_owned())]);
        let output = GetQueueAttributesOutput::builder().set_attributes(Some(attributes)).build();
        let result =
            &answer::<GetQueueAttributes>(&output)["GetQueueAttributesResponse"]["GetQueueAttributesResult"];
        assert_eq!(*result, json!({ "Attributes": [{ "Name": "DelaySeconds", "Value": "0" }] }));
    }

    #[test]
    fn recorded_lower_case_messages_have_inferred_message_attributes() {
        let message =
            Message::builder().body("\"<&>\r\n").message_attributes("n", MessageAttributeValue::number("1"));
        let output = ReceiveMessageOutput::builder().messages(message.build()).build();
        let result = &answer::<ReceiveMessage>(&output)["ReceiveMessageResponse"]["ReceiveMessageResult"];
        let attribute = json!({ "Name": "n", "Value": { "DataType": "Number", "StringValue": "1" } });
        assert_eq!(
            *result,
            json!({ "messages": [{ "Body": "\"<&>\r\n", "MessageAttributes": [attribute] }] })
        );
    }

    #[test]
    fn void_answer_has_only_metadata_and_empty_answer_an_empty_result() {
        let void = answer::<DeleteQueue>(&DeleteQueueOutput::default());
        assert_eq!(void, json!({ "DeleteQueueResponse": { "ResponseMetadata": metadata() } }));
        let empty = json!({ "ListQueuesResult": {}, "ResponseMetadata": metadata() });
        assert_eq!(
            answer::<ListQueues>(&ListQueuesOutput::default()),
            json!({ "ListQueuesResponse": empty })
        );
    }

    #[test]
    fn refusal_has_recorded_code_message_and_id_and_inferred_type() {
        let body = encode_error(&ServiceError::new(ErrorCode::QueueDoesNotExist, "gone"), "id");
        let error = json!({
            "Type": "Sender", "Code": "AWS.SimpleQueueService.NonExistentQueue", "Message": "gone",
        });
        let expected = json!({ "Error": error, "RequestId": "id" });
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), expected);
    }
}
