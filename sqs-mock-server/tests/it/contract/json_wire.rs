//! Sections 3.1 and 3.2: AWS JSON as bytes.

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;

use super::answers::{output_of_json, text};
use crate::session::Session;
use crate::wire::JSON;

async fn start() -> (Session, String) {
    let mut s = Session::start(Protocol::AwsJson).await;
    let url = s.queue("q", json!({})).await;
    (s, url)
}

/// 3.1: "`POST /` (path of a queue URL also accepted)".
#[tokio::test]
async fn any_path_is_accepted() {
    let (mut s, url) = start().await;
    let headers = format!("{JSON}x-amz-target: AmazonSQS.GetQueueUrl\r\n");
    for path in ["/", "/000000000000/q"] {
        let answer = s.wire.exchange(&format!("POST {path}"), &headers, br#"{"QueueName":"q"}"#).await;
        assert_eq!(answer.text(), format!(r#"{{"QueueUrl":"{url}"}}"#), "{path}");
    }
}

/// 3.1: "A bare queue name in `QueueUrl` resolves in the caller's account".
#[tokio::test]
async fn queue_name_instead_of_a_url_is_a_queue_of_the_caller() {
    let (mut s, url) = start().await;
    s.put("q", "x").await;
    assert_eq!(s.bodies(&url).await, ["x"]);
}

/// 3.1: further headers of clients.
#[tokio::test]
async fn headers_of_real_clients_are_accepted() {
    let (mut s, _) = start().await;
    let headers = "content-type: application/x-amz-json-1.0\r\nx-amz-target: AmazonSQS.ListQueues\r\n\
        x-amz-date: 20260102T030405Z\r\nx-amz-security-token: token\r\nx-amzn-query-mode: true\r\n\
        amz-sdk-invocation-id: 4a4b8c4e-0000-4000-8000-000000000000\r\namz-sdk-request: attempt=1; max=3\r\n\
        authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/sqs/aws4_request, \
        SignedHeaders=content-type;host;x-amz-date;x-amz-target;x-amzn-query-mode, Signature=00\r\n";
    let answer = s.wire.exchange("POST /", headers, b"{}").await;
    assert!(output_of_json("ListQueues", &answer).unwrap()["QueueUrls"].is_array());
    let newer = headers.replace("json-1.0", "json-1.1");
    assert_eq!(s.wire.exchange("POST /", &newer, b"{}").await.status, 200);
}

/// 3.1: "Blobs are standard base64; integers are JSON numbers"; absent members are omitted, and `null` is taken as
/// absent.
#[tokio::test]
async fn blobs_are_base64_numbers_are_json_and_null_is_absent() {
    let (mut s, url) = start().await;
    let attributes = r#"{"b":{"DataType":"Binary","BinaryValue":"AQL+/w==","StringValue":null}}"#;
    let body = format!(
        r#"{{"QueueUrl":"{url}","MessageBody":"x","DelaySeconds":0,"MessageAttributes":{attributes}}}"#
    );
    let answer = s.wire.json("SendMessage", body).await;
    output_of_json("SendMessage", &answer).unwrap();
    let all = json!({ "QueueUrl": url, "MessageAttributeNames": ["All"] });
    let received = s.wire.json("ReceiveMessage", all.to_string()).await;
    let message: Value = serde_json::from_slice(&received.body).unwrap();
    let attribute = &message["Messages"][0]["MessageAttributes"];
    assert_eq!(*attribute, json!({ "b": { "BinaryValue": "AQL+/w==", "DataType": "Binary" } }));
    assert!(!received.text().contains("null"), "{}", received.text());
}

/// 3.2: 200, content type, request id; `{}` for empty outputs.
#[tokio::test]
async fn actions_with_an_empty_output_return_an_empty_object() {
    let (mut s, url) = start().await;
    for (action, input) in [
        ("ReceiveMessage", json!({ "QueueUrl": url })),
        ("ListQueueTags", json!({ "QueueUrl": url })),
        ("ListDeadLetterSourceQueues", json!({ "QueueUrl": url })),
        ("ListQueues", json!({ "QueueNamePrefix": "none" })),
        ("GetQueueAttributes", json!({ "QueueUrl": url })),
        ("ListMessageMoveTasks", json!({ "SourceArn": "arn:aws:sqs:us-east-1:000000000000:q" })),
    ] {
        let answer = s.wire.json(action, input.to_string()).await;
        assert_eq!((answer.status, answer.text()), (200, "{}"), "{action}");
        assert_eq!(answer.header("content-type"), "application/x-amz-json-1.0", "{action}");
        assert_eq!(answer.header("x-amzn-requestid").len(), 36, "{action}");
    }
}

/// 3.2: the 9 void actions.
#[tokio::test]
async fn void_actions_return_zero_bytes() {
    let (mut s, url) = start().await;
    s.put(&url, "x").await;
    let handle = s.handle(&url).await;
    for (action, mut input) in [
        ("AddPermission", json!({ "Label": "l", "AWSAccountIds": ["123456789012"], "Actions": ["*"] })),
        ("RemovePermission", json!({ "Label": "l" })),
        ("ChangeMessageVisibility", json!({ "ReceiptHandle": handle, "VisibilityTimeout": 9 })),
        ("DeleteMessage", json!({ "ReceiptHandle": handle })),
        ("TagQueue", json!({ "Tags": { "a": "b" } })),
        ("UntagQueue", json!({ "TagKeys": ["a"] })),
        ("SetQueueAttributes", json!({ "Attributes": { "DelaySeconds": "1" } })),
        ("PurgeQueue", json!({})),
        ("DeleteQueue", json!({})),
    ] {
        input["QueueUrl"] = url.as_str().into();
        let answer = s.wire.json(action, input.to_string()).await;
        assert_eq!((answer.status, answer.body.len()), (200, 0), "{action}: {answer:?}");
        assert_eq!(answer.header("content-length"), "0", "{action}");
    }
}

/// 3.2: "Empty lists are OMITTED".
#[tokio::test]
async fn batch_response_omits_the_empty_list() {
    let (mut s, url) = start().await;
    for (body, present) in [("x", "Successful"), ("\u{1}", "Failed")] {
        let input = json!({ "QueueUrl": url, "Entries": [{ "Id": "a", "MessageBody": body }] });
        let output = s.done("SendMessageBatch", &input).await;
        let keys: Vec<_> = output.as_object().unwrap().keys().collect();
        assert_eq!(keys, [present]);
    }
}

/// 2: `tags` of `CreateQueue` and `queueUrls` of `ListDeadLetterSourceQueues` are written in lower case.
#[tokio::test]
async fn two_members_have_lower_case_names() {
    let (mut s, _) = start().await;
    let policy =
        json!({ "deadLetterTargetArn": "arn:aws:sqs:us-east-1:000000000000:q", "maxReceiveCount": 1 });
    let attributes = json!({ "RedrivePolicy": policy.to_string() });
    let input = json!({ "QueueName": "source", "Attributes": attributes, "tags": { "a": "b" } });
    let source = text(&s.done("CreateQueue", &input).await["QueueUrl"]);
    assert_eq!(
        s.done("ListQueueTags", &json!({ "QueueUrl": source })).await,
        json!({ "Tags": { "a": "b" } })
    );
    let sources = s.done("ListDeadLetterSourceQueues", &json!({ "QueueUrl": "q" })).await;
    assert_eq!(sources, json!({ "queueUrls": [source] }));
}
