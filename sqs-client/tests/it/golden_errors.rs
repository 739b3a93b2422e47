//! Recorded error responses in `tests/golden/errors/`: status line, headers, an empty line and the body.

use http::{HeaderMap, HeaderName, HeaderValue};
use sqs_client::operation::send_message::SendMessage;
use sqs_client::wire::protocol::{Protocol, ResponseError};
use sqs_client::wire::service_error::ErrorCode;

const REQUEST_ID: Option<&str> = Some("e1c5a2f0-5b1c-5e0f-9d2e-f8d0c2f4a1b7");

/// Decodes a recorded response. The prefix of its name is the protocol.
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
fn assert_service_error(name: &str, code: &ErrorCode, message: Option<&str>, id: Option<&str>) {
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
fn aws_json_error_code_comes_from_header_or_type() {
    let absent = "The specified queue does not exist.";
    assert_service_error("json-header-and-type", &ErrorCode::QueueDoesNotExist, Some(absent), REQUEST_ID);
    assert_service_error(
        "json-type-only",
        &ErrorCode::RequestThrottled,
        Some("Request is throttled"),
        REQUEST_ID,
    );
    let handle = "The input receipt handle \"x\" is not a valid receipt handle.";
    assert_service_error("json-header-only", &ErrorCode::ReceiptHandleIsInvalid, Some(handle), REQUEST_ID);
}

#[test]
fn errors_outside_the_service_model_are_recognized_by_their_coral_names() {
    let skew = "Signature expired: 20231121T010203Z is now earlier than 20231121T011203Z (20231121T011703Z - 5 min.)";
    assert_service_error("json-generic", &ErrorCode::SignatureDoesNotMatch, Some(skew), REQUEST_ID);
    assert_service_error("json-unknown-operation", &ErrorCode::UnknownOperation, None, REQUEST_ID);
}

#[test]
fn error_of_elasticmq_is_recognized() {
    assert_service_error(
        "json-elasticmq",
        &ErrorCode::QueueDoesNotExist,
        Some("The specified queue does not exist."),
        None,
    );
}

#[test]
fn unknown_error_code_of_the_header_is_kept() {
    let code = ErrorCode::Other("AWS.SimpleQueueService.QueueIsAsleep".to_owned());
    assert_service_error("json-code-of-the-future", &code, None, REQUEST_ID);
}

#[test]
fn xml_errors_are_read_with_and_without_namespace_and_white_space() {
    let purge = "Only one PurgeQueue operation on orders is allowed every 60 seconds.";
    assert_service_error("xml-detail", &ErrorCode::PurgeQueueInProgress, Some(purge), REQUEST_ID);
    let absent = "The specified queue does not exist for this wsdl version.";
    assert_service_error("xml-id-in-body", &ErrorCode::QueueDoesNotExist, Some(absent), REQUEST_ID);
    assert_service_error(
        "xml-without-namespace",
        &ErrorCode::InternalFailure,
        Some("We could not \"do\" it; try again."),
        REQUEST_ID,
    );
}

#[test]
fn error_code_as_root_element_is_a_service_error() {
    assert_service_error("xml-code-as-element", &ErrorCode::UnknownOperation, None, REQUEST_ID);
}

#[test]
fn error_page_of_a_proxy_is_unreadable() {
    for (name, id) in [("proxy-page", None), ("empty", REQUEST_ID)] {
        match decode(name) {
            ResponseError::Unreadable { request_id, .. } => assert_eq!(request_id.as_deref(), id, "{name}"),
            service @ ResponseError::Service { .. } => panic!("{name}: {service:?}"),
        }
    }
}
