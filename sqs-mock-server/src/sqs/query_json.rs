//! JSON responses of the Query protocol, for requests that accept `application/json`.
//!
//! Recorded from AWS: the two envelopes, `queueUrls`, `messages`, and `Attributes` as a list of `Name` and `Value`. The
//! rest is inferred: other members keep their names, all maps are lists of pairs, and all leaves are strings as in XML.
//! Absent members and empty lists are omitted.

use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};
use sqs_client::operation::Operation;
use sqs_client::wire::protocol::EncodedResponse;
use sqs_client::wire::service_error::ServiceError;

const MEDIA_TYPE: &str = "application/json";

/// Whether a request accepts JSON: it lists `application/json`, and no XML media type with the same or a higher
/// quality.
/// Wildcards do not count, since almost every HTTP client sends them.
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    let (mut json, mut xml) = (0.0_f32, 0.0_f32);
    let values = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    for range in values.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default().to_ascii_lowercase();
        let quality = parts.find_map(quality).unwrap_or(1.0);
        match media.as_str() {
            MEDIA_TYPE => json = json.max(quality),
            "text/xml" | "application/xml" => xml = xml.max(quality),
            _ => {}
        }
    }
    json > xml
}

/// The value of a parameter `q`; an invalid number counts as 0.
fn quality(parameter: &str) -> Option<f32> {
    let (name, value) = parameter.split_once('=')?;
    name.trim().eq_ignore_ascii_case("q").then(|| value.trim().parse().unwrap_or(0.0))
}

/// Encodes an output. Actions without an output have only metadata.
pub(crate) fn encode<O: Operation>(
    output: &O::Output,
    request_id: &str,
) -> Result<EncodedResponse, serde_json::Error> {
    let action = O::ACTION;
    let mut members = Map::new();
    if !action.is_void() {
        members.insert(format!("{action}Result"), leaf_or_node(serde_json::to_value(output)?));
    }
    members.insert("ResponseMetadata".to_owned(), json!({ "RequestId": request_id }));
    Ok(response(200, &json!({ (format!("{action}Response")): members }), request_id))
}

/// Encodes an error. `Type` is inferred from the XML.
pub(crate) fn encode_error(error: &ServiceError, request_id: &str) -> EncodedResponse {
    let mut members = Map::new();
    members.insert("Type".to_owned(), error.code.fault().as_str().into());
    members.insert("Code".to_owned(), error.code.query_code().into());
    if let Some(message) = &error.message {
        members.insert("Message".to_owned(), message.as_str().into());
    }
    response(error.code.status(), &json!({ "Error": members, "RequestId": request_id }), request_id)
}

fn response(status: u16, body: &Value, request_id: &str) -> EncodedResponse {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    if let Ok(request_id) = HeaderValue::from_str(request_id) {
        headers.insert("x-amzn-requestid", request_id);
    }
    EncodedResponse { status, headers, body: body.to_string().into() }
}

fn leaf_or_node(value: Value) -> Value {
    match value {
        Value::Object(members) => members.into_iter().filter_map(member).collect(),
        Value::Array(elements) => elements.into_iter().map(leaf_or_node).collect(),
        Value::String(text) => Value::String(text),
        other => Value::String(other.to_string()),
    }
}

fn member((name, value): (String, Value)) -> Option<(String, Value)> {
    let value = match (name.as_str(), value) {
        (_, Value::Array(list)) if list.is_empty() => return None,
        ("Attributes" | "MessageAttributes" | "Tags", Value::Object(map)) if map.is_empty() => return None,
        ("Attributes" | "MessageAttributes", Value::Object(map)) => pairs(map, "Name"),
        ("Tags", Value::Object(map)) => pairs(map, "Key"),
        (_, value) => leaf_or_node(value),
    };
    let name = match name.as_str() {
        "Messages" => "messages".to_owned(),
        "QueueUrls" => "queueUrls".to_owned(),
        _ => name,
    };
    Some((name, value))
}

fn pairs(map: Map<String, Value>, key: &str) -> Value {
    map.into_iter().map(|(name, value)| json!({ key: name, "Value": leaf_or_node(value) })).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use sqs_client::operation::delete_queue::{DeleteQueue, DeleteQueueOutput};
    use sqs_client::operation::get_queue_attributes::{GetQueueAttributes, GetQueueAttributesOutput};
    use sqs_client::operation::list_queues::{ListQueues, ListQueuesOutput};
    use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageOutput};
    use sqs_client::types::{Message, MessageAttributeValue, QueueAttributeName};
    use sqs_client::wire::service_error::ErrorCode;

    use super::*;

    fn answer<O: Operation>(output: &O::Output) -> Value {
        serde_json::from_slice(&encode::<O>(output, "id").unwrap().body).unwrap()
    }

    fn metadata() -> Value {
        json!({ "RequestId": "id" })
    }

    fn is_chosen(values: &[&'static str]) -> bool {
        let values = values.iter().map(|value| (ACCEPT, HeaderValue::from_static(value)));
        is_accepted(&values.collect())
    }

    #[test]
    fn json_is_selected_if_it_is_listed() {
        for value in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json, text/plain, */*",
            "text/html, application/json;q=0.1",
            "application/xml;q=0.8 , application/json ; Q = 0.9",
        ] {
            assert!(is_chosen(&[value]), "{value}");
        }
        assert!(is_chosen(&["text/plain", "application/json"]));
    }

    #[test]
    fn all_other_requests_get_xml() {
        assert!(!is_chosen(&[]));
        for value in [
            "",
            "*/*",
            "application/*",
            "text/xml",
            "application/x-amz-json-1.0",
            "application/json-seq",
            "application/json;q=0",
            "application/json;q=",
            "application/json;q=NaN",
            "application/json, text/xml",
            ";;q=,,=",
        ] {
            assert!(!is_chosen(&[value]), "{value}");
        }
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
    fn void_response_has_only_metadata_and_empty_response_an_empty_result() {
        let void = answer::<DeleteQueue>(&DeleteQueueOutput::default());
        assert_eq!(void, json!({ "DeleteQueueResponse": { "ResponseMetadata": metadata() } }));
        let empty = json!({ "ListQueuesResult": {}, "ResponseMetadata": metadata() });
        let output = ListQueuesOutput::builder().set_queue_urls(Some(Vec::new())).build();
        for output in [ListQueuesOutput::default(), output] {
            assert_eq!(answer::<ListQueues>(&output), json!({ "ListQueuesResponse": empty }));
        }
    }

    #[test]
    fn error_has_recorded_code_message_and_id_and_inferred_type() {
        let encoded = encode_error(&ServiceError::new(ErrorCode::QueueDoesNotExist, "gone"), "id");
        let error = json!({
            "Type": "Sender", "Code": "AWS.SimpleQueueService.NonExistentQueue", "Message": "gone",
        });
        let expected = json!({ "Error": error, "RequestId": "id" });
        assert_eq!(serde_json::from_slice::<Value>(&encoded.body).unwrap(), expected);
    }
}
