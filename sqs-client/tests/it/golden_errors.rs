//! Recorded refusals, `tests/golden/errors/`: status line, headers, an empty line, the body.

use http::{HeaderMap, HeaderName, HeaderValue};
use sqs_client::operation::send_message::SendMessage;
use sqs_client::protocol::{Protocol, ResponseError};
use sqs_client::service_error::ErrorCode;

const REQUEST_ID: Option<&str> = Some("e1c5a2f0-5b1c-5e0f-9d2e-f8d0c2f4a1b7");

/// Decodes a recorded answer in the protocol that its name begins with.
fn decode(name: &str) -> ResponseError {
    let path = format!("{}/tests/golden/errors/{name}.http", env!("CARGO_MANIFEST_DIR"));
    let recorded = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (head, body) = recorded.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: HeaderMap = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap()))
        .collect();
    let protocol = if name.starts_with("xml") { Protocol::Query } else { Protocol::AwsJson };
    protocol.decode_response::<SendMessage>(status, &headers, body.as_bytes()).unwrap_err()
}

#[track_caller]
fn assert_refusal(name: &str, code: &ErrorCode, message: Option<&str>, id: Option<&str>) {
    match decode(name) {
        ResponseError::Service { error, request_id } => {
            assert_eq!(&error.code, code, "{name}");
            assert_eq!(error.message.as_deref(), message, "{name}");
            assert_eq!(request_id.as_deref(), id, "{name}");
        }
        unreadable @ ResponseError::Unreadable { .. } => panic!("{name}: {unreadable:?}"),
    }
}

#[test]
fn the_header_and_the_type_of_aws_json_each_give_the_code() {
    let absent = "The specified queue does not exist.";
    assert_refusal("json-header-and-type", &ErrorCode::QueueDoesNotExist, Some(absent), REQUEST_ID);
    assert_refusal("json-type-only", &ErrorCode::RequestThrottled, Some("Request is throttled"), REQUEST_ID);
    let handle = "The input receipt handle \"x\" is not a valid receipt handle.";
    assert_refusal("json-header-only", &ErrorCode::ReceiptHandleIsInvalid, Some(handle), REQUEST_ID);
}

#[test]
fn errors_outside_the_model_are_known_by_their_coral_names() {
    let skew = "Signature expired: 20231121T010203Z is now earlier than 20231121T011203Z (20231121T011703Z - 5 min.)";
    assert_refusal("json-generic", &ErrorCode::SignatureDoesNotMatch, Some(skew), REQUEST_ID);
    assert_refusal("json-unknown-operation", &ErrorCode::UnknownOperation, None, REQUEST_ID);
}

#[test]
fn the_dialect_of_elasticmq_is_understood() {
    assert_refusal(
        "json-elasticmq",
        &ErrorCode::QueueDoesNotExist,
        Some("The specified queue does not exist."),
        None,
    );
}

#[test]
fn an_unknown_code_is_kept_as_the_header_has_it() {
    let code = ErrorCode::Other("AWS.SimpleQueueService.QueueIsAsleep".to_owned());
    assert_refusal("json-code-of-the-future", &code, None, REQUEST_ID);
}

#[test]
fn xml_refusals_are_read_with_and_without_namespace_and_white_space() {
    let purge = "Only one PurgeQueue operation on orders is allowed every 60 seconds.";
    assert_refusal("xml-detail", &ErrorCode::PurgeQueueInProgress, Some(purge), REQUEST_ID);
    let absent = "The specified queue does not exist for this wsdl version.";
    assert_refusal("xml-id-in-body", &ErrorCode::QueueDoesNotExist, Some(absent), REQUEST_ID);
    assert_refusal(
        "xml-without-namespace",
        &ErrorCode::InternalFailure,
        Some("We could not \"do\" it; try again."),
        REQUEST_ID,
    );
}

#[test]
fn a_code_as_the_only_element_is_a_refusal() {
    assert_refusal("xml-code-as-element", &ErrorCode::UnknownOperation, None, REQUEST_ID);
}

#[test]
fn what_a_proxy_says_is_not_a_refusal_of_the_service() {
    for (name, id) in [("proxy-page", None), ("empty", REQUEST_ID)] {
        match decode(name) {
            ResponseError::Unreadable { request_id, .. } => assert_eq!(request_id.as_deref(), id, "{name}"),
            service @ ResponseError::Service { .. } => panic!("{name}: {service:?}"),
        }
    }
}
