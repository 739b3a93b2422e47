//! Section 3.3: errors of AWS JSON. Both tables of codes are in `code.rs`; all other files use them.

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;
use sqs_mock_server::MockSqs;

use super::answers::{output_of_json, output_of_xml};
use super::code::{ACTION, DENIED, INCOMPLETE, MALFORMED, SIGNATURE, UNKNOWN_KEY};
use crate::session::{BOTH, Session};
use crate::wire::{FORM, JSON};

/// 3.3: "Key is lower-case `message`", `__type` with its namespace, the header with code and fault.
#[tokio::test]
async fn error_has_a_type_a_message_and_a_header() {
    let mut s = Session::start(Protocol::AwsJson).await;
    let answer = s.wire.json("PurgeQueue", r#"{"QueueUrl":"none"}"#).await;
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    let expected = json!({
        "__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "The specified queue does not exist.",
    });
    assert_eq!(body, expected);
    let header = "AWS.SimpleQueueService.NonExistentQueue;Sender";
    assert_eq!((answer.status, answer.header("x-amzn-query-error")), (400, header));
}

/// 3.3: "unknown action / bad target", without a message.
#[tokio::test]
async fn unknown_action_is_an_unknown_operation() {
    let mut s = Session::start(Protocol::AwsJson).await;
    for target in ["AmazonSQS.MakeCoffee", "SendMessage", "AmazonSQS."] {
        let headers = format!("{JSON}x-amz-target: {target}\r\n");
        let answer = s.wire.exchange("POST /", &headers, b"{}").await;
        output_of_json(target, &answer).unwrap_err().is(target, ACTION);
        assert_eq!(answer.text(), r#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#);
    }
}

/// 3.3: "malformed JSON, non-object JSON, wrong member type".
#[tokio::test]
async fn invalid_input_is_a_serialization_error() {
    let mut s = Session::start(Protocol::AwsJson).await;
    let attribute =
        |value: &str| format!(r#"{{"QueueUrl":"q","MessageBody":"x","MessageAttributes":{{"a":{value}}}}}"#);
    for (action, body) in [
        ("SendMessage", "{".to_owned()),
        ("SendMessage", "[]".to_owned()),
        ("SendMessage", "null".to_owned()),
        ("SendMessage", "\"x\"".to_owned()),
        ("SendMessage", r#"["q","x"]"#.to_owned()),
        ("SendMessage", r#"{"MessageBody":1}"#.to_owned()),
        ("SendMessage", r#"{"MessageBody":{}}"#.to_owned()),
        ("SendMessage", r#"{"DelaySeconds":"5"}"#.to_owned()),
        ("SendMessage", r#"{"DelaySeconds":1.5}"#.to_owned()),
        ("SendMessage", r#"{"DelaySeconds":true}"#.to_owned()),
        ("SendMessage", r#"{"MessageAttributes":[]}"#.to_owned()),
        ("SendMessage", attribute("\"b\"")),
        ("SendMessage", attribute(r#"{"DataType":"Binary","BinaryValue":"?"}"#)),
        ("SendMessageBatch", r#"{"QueueUrl":"q","Entries":{}}"#.to_owned()),
        ("SendMessageBatch", r#"{"QueueUrl":"q","Entries":["a"]}"#.to_owned()),
        ("ReceiveMessage", r#"{"QueueUrl":"q","AttributeNames":"All"}"#.to_owned()),
        ("ReceiveMessage", r#"{"QueueUrl":"q","AttributeNames":[1]}"#.to_owned()),
        ("TagQueue", r#"{"QueueUrl":"q","Tags":{"a":1}}"#.to_owned()),
        ("CreateQueue", r#"{"QueueName":"n","Attributes":{"DelaySeconds":5}}"#.to_owned()),
    ] {
        let answer = s.wire.json(action, &body).await;
        let refusal = output_of_json(action, &answer).expect_err(&body);
        refusal.is(&format!("{action} {body}"), MALFORMED);
    }
}

const DATE: &str = "x-amz-date: 20260102T030405Z\r\n";

/// 3.3: "no credentials", "unknown access key", "wrong signature, clock skew", "malformed Authorization"; 4.3: "No
/// access: 403 `AccessDenied`, text names `https://sqs.<region>.amazonaws.com/`".
#[tokio::test]
async fn callers_without_a_valid_signature_are_rejected() {
    let builder = MockSqs::builder().require_signatures([("AKID", "secret")]);
    for protocol in BOTH {
        let mut s = Session::with(builder.clone(), protocol).await;
        let signed = |key: &str| {
            format!(
                "{DATE}authorization: AWS4-HMAC-SHA256 Credential={key}/20260102/us-east-1/sqs/aws4_request, \
                 SignedHeaders=host, Signature=00\r\n"
            )
        };
        for (row, headers, code) in [
            ("no credentials", String::new(), DENIED),
            ("unknown access key", signed("NOBODY"), UNKNOWN_KEY),
            ("clock skew", signed("AKID"), SIGNATURE),
            ("another scheme", "authorization: Basic dGVzdA==\r\n".to_owned(), INCOMPLETE),
            ("no fields", format!("{DATE}authorization: AWS4-HMAC-SHA256 x\r\n"), INCOMPLETE),
            ("no date", signed("AKID").replace(DATE, ""), INCOMPLETE),
        ] {
            let refusal = if protocol == Protocol::AwsJson {
                let headers = format!("{JSON}x-amz-target: AmazonSQS.ListQueues\r\n{headers}");
                output_of_json("ListQueues", &s.wire.exchange("POST /", &headers, b"{}").await)
            } else {
                let headers = format!("{FORM}{headers}");
                output_of_xml("ListQueues", &s.wire.exchange("POST /", &headers, b"Action=ListQueues").await)
            };
            let refusal = refusal.expect_err(row);
            refusal.is(row, code);
            if code == DENIED {
                assert!(refusal.message.contains("https://sqs.us-east-1.amazonaws.com/"), "{refusal:?}");
            }
        }
    }
}
