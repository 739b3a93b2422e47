//! The exact encoding of details that other implementations depend on.

use http::HeaderMap;
use serde_json::json;
use sqs_client::operation::delete_message::DeleteMessage;
use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::operation::send_message::{SendMessage, SendMessageInput};
use sqs_client::operation::send_message_batch::{
    SendMessageBatch, SendMessageBatchInput, SendMessageBatchOutput,
};
use sqs_client::operation::{Action, Input, Operation};
use sqs_client::wire::protocol::{Detected, Protocol, ResponseError};
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

fn form<I: Input>(value: serde_json::Value) -> String {
    let input: I = serde_json::from_value(value).unwrap();
    String::from_utf8(Protocol::Query.encode_request(&input).unwrap().body.into()).unwrap()
}

fn xml<O: Operation>(value: serde_json::Value) -> String {
    let output: O::Output = serde_json::from_value(value).unwrap();
    String::from_utf8(Protocol::Query.encode_response::<O>(&output, "id").unwrap().body.into()).unwrap()
}

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

#[test]
fn form_values_escape_all_but_unreserved_characters() {
    let body = "aZ09-_.~ +&=%*'()!/:\r\n\té😀";
    let expected = "aZ09-_.~%20%2B%26%3D%25%2A%27%28%29%21%2F%3A%0D%0A%09%C3%A9%F0%9F%98%80";
    assert_eq!(
        form::<SendMessageInput>(json!({"MessageBody": body})),
        format!("Action=SendMessage&Version=2012-11-05&MessageBody={expected}")
    );
}

#[test]
fn attribute_name_lists_of_a_receive_share_one_numbering() {
    let names = json!({"AttributeNames": ["All", "Policy"], "MessageSystemAttributeNames": ["SenderId"], "MessageAttributeNames": ["x"]});
    assert_eq!(
        form::<ReceiveMessageInput>(names),
        "Action=ReceiveMessage&Version=2012-11-05&AttributeName.1=All&AttributeName.2=Policy&AttributeName.3=SenderId\
         &MessageAttributeName.1=x"
    );
    assert!(
        form::<ReceiveMessageInput>(json!({"MessageSystemAttributeNames": ["All"]}))
            .ends_with("&AttributeName.1=All")
    );
}

#[test]
fn lists_of_each_batch_entry_are_numbered_from_one() {
    let entry = |id| json!({"Id": id, "MessageBody": "b", "MessageAttributes": {"n": {"DataType": "String", "StringListValues": ["x", "y"]}}});
    let text = form::<SendMessageBatchInput>(json!({"Entries": [entry("a"), entry("b")]}));
    for entry in 1..=2 {
        for value in 1..=2 {
            let name = format!(
                "&SendMessageBatchRequestEntry.{entry}.MessageAttribute.1.Value.StringListValue.{value}="
            );
            assert!(text.contains(&name), "{name} is not in {text}");
        }
    }
    assert_eq!(text.matches("StringListValue").count(), 4);
}

#[test]
fn xml_text_escapes_quotes_and_carriage_returns() {
    let text = xml::<SendMessage>(json!({"MessageId": "<a>&\"b'\r\n]]>"}));
    assert_eq!(
        text,
        "<?xml version=\"1.0\"?><SendMessageResponse xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\">\
         <SendMessageResult><MessageId>&lt;a&gt;&amp;&quot;b'&#xD;\n]]&gt;</MessageId></SendMessageResult>\
         <ResponseMetadata><RequestId>id</RequestId></ResponseMetadata></SendMessageResponse>"
    );
}

#[test]
fn xml_has_a_result_element_unless_the_action_has_no_output() {
    assert!(xml::<ReceiveMessage>(json!({})).contains("><ReceiveMessageResult/><ResponseMetadata>"));
    assert!(
        xml::<ReceiveMessage>(json!({"Messages": []})).contains("><ReceiveMessageResult/><ResponseMetadata>")
    );
    assert!(xml::<DeleteMessage>(json!({})).contains("/\"><ResponseMetadata>"));
}

#[test]
fn empty_json_output_is_an_empty_object_without_lists() {
    let receive =
        Protocol::AwsJson.encode_response::<ReceiveMessage>(&ReceiveMessageOutput::default(), "id").unwrap();
    assert_eq!(receive.body, "{}");
    let batch = Protocol::AwsJson
        .encode_response::<SendMessageBatch>(&SendMessageBatchOutput::default(), "id")
        .unwrap();
    assert_eq!(batch.body, "{}");
}

#[test]
fn nine_actions_have_no_output() {
    assert_eq!(Action::ALL.into_iter().filter(|action| action.is_void()).count(), 9);
}

#[test]
fn aws_json_error_has_type_and_query_error_header() {
    let error = ServiceError::new(ErrorCode::QueueDoesNotExist, "Gone.");
    let encoded = Protocol::AwsJson.encode_error(&error, "id");
    assert_eq!(encoded.status, 400);
    assert_eq!(encoded.headers["x-amzn-query-error"], "AWS.SimpleQueueService.NonExistentQueue;Sender");
    assert_eq!(encoded.headers["x-amzn-requestid"], "id");
    assert_eq!(encoded.body, r#"{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"Gone."}"#);

    let encoded = Protocol::AwsJson.encode_error(&ServiceError::bare(ErrorCode::UnknownOperation), "id");
    assert_eq!(encoded.body, r#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#);
}

/// As in logs of AWS clients from 2026.
#[test]
fn denial_in_aws_json_capitalizes_message() {
    let encoded = Protocol::AwsJson.encode_error(&ServiceError::new(ErrorCode::AccessDenied, "No."), "id");
    assert_eq!(
        encoded.body,
        r#"{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"No."}"#
    );
}

#[test]
fn xml_error_has_type_code_message_and_detail() {
    let error = ServiceError::new(ErrorCode::InternalFailure, "Try \"again\".");
    let encoded = Protocol::Query.encode_error(&error, "id");
    assert_eq!(encoded.status, 500);
    assert!(!encoded.headers.contains_key("x-amzn-query-error"));
    assert_eq!(
        encoded.body,
        "<?xml version=\"1.0\"?><ErrorResponse xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\"><Error><Type>Receiver</Type>\
         <Code>InternalFailure</Code><Message>Try &quot;again&quot;.</Message><Detail/></Error><RequestId>id</RequestId></ErrorResponse>"
    );
}

#[test]
fn invalid_header_characters_are_replaced() {
    let error = ServiceError::bare(ErrorCode::from_name("Line\r\nX-Injected: 1"));
    let encoded = Protocol::AwsJson.encode_error(&error, "id\r\n");
    assert_eq!(encoded.headers["x-amzn-query-error"], "?");
    assert_eq!(encoded.headers["x-amzn-requestid"], "?");
}

#[test]
fn header_code_takes_precedence_unless_only_the_type_is_known() {
    let decode = |header, body: &str| {
        let headers = headers(&[("x-amzn-query-error", header)]);
        match Protocol::AwsJson.decode_response::<SendMessage>(400, &headers, body.as_bytes()) {
            Err(ResponseError::Service { error, .. }) => error.code,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(decode("OverLimit;Sender", r#"{"__type":"x#InvalidAddress"}"#), ErrorCode::OverLimit);
    assert_eq!(decode("Odd;Sender", r#"{"__type":"x#InvalidAddress"}"#), ErrorCode::InvalidAddress);
    assert_eq!(decode("Odd;Sender", r#"{"__type":"x#Strange"}"#), ErrorCode::from_name("Odd"));
    assert_eq!(decode("", r#"{"__type":"OverLimit:http://internal.amazon.com/"}"#), ErrorCode::OverLimit);
    // A malformed message or body does not hide the code.
    assert_eq!(decode("", r#"{"__type":"OverLimit","message":{"a":1}}"#), ErrorCode::OverLimit);
    assert_eq!(decode("OverLimit", "<html>"), ErrorCode::OverLimit);
}

#[test]
fn protocol_is_detected_from_request_headers() {
    let detect = |name, value| Detected::from_headers(&headers(&[(name, value)]));
    let target = |target| detect("x-amz-target", target);
    assert_eq!(target("AmazonSQS.SendMessage"), Detected::AwsJson(Ok(Action::SendMessage)));
    for unknown in
        ["AmazonSQS.Fly", "AmazonSQS.sendmessage", "AmazonSQS.", "AmazonSNS.SendMessage", "SendMessage", ""]
    {
        assert_eq!(target(unknown), Detected::AwsJson(Err(unknown.to_owned())));
    }
    for media in ["application/x-amz-json-1.0", "application/X-Amz-Json-1.1; charset=utf-8"] {
        assert_eq!(detect("content-type", media), Detected::AwsJson(Err(String::new())));
    }
    for media in ["application/x-www-form-urlencoded; charset=utf-8", "application/json", "x"] {
        assert_eq!(detect("content-type", media), Detected::Query);
    }
    assert_eq!(Detected::from_headers(&HeaderMap::new()), Detected::Query);
}
