//! Query requests that accept JSON (contract, section 4.3).
//!
//! Recorded are the envelopes, `queueUrls`, `messages` and `Attributes`; the other names below are inferred.

use serde_json::{Value, json};
use sqs_client::operation::Action;
use sqs_mock_server::MockSqs;

use crate::wire::{Answer, FORM, JSON, Wire};

const ACCEPT: &str = "accept: application/json\r\n";
const QUEUE: &str = "/000000000000/q";

async fn start() -> (MockSqs, Wire) {
    let server = MockSqs::start().await;
    let mut wire = Wire::connect(&server).await;
    assert_eq!(wire.json("CreateQueue", r#"{"QueueName":"q"}"#).await.status, 200);
    (server, wire)
}

fn body(answer: &Answer) -> Value {
    assert_eq!(answer.header("content-type"), "application/json", "{}", answer.text());
    serde_json::from_slice(&answer.body).expect("a JSON response")
}

/// Posts a form that accepts JSON and returns the result, `null` for void actions.
async fn result(wire: &mut Wire, path: &str, form: &str) -> Value {
    let answer = wire.exchange(&format!("POST {path}"), &format!("{FORM}{ACCEPT}"), form.as_bytes()).await;
    assert_eq!(answer.status, 200, "{form}: {}", answer.text());
    let action = form.split('&').next().unwrap().trim_start_matches("Action=");
    let response = &body(&answer)[format!("{action}Response")];
    assert_eq!(response["ResponseMetadata"], json!({ "RequestId": answer.header("x-amzn-requestid") }));
    let result = response[format!("{action}Result")].clone();
    let is_void = Action::from_name(action).expect("an action").is_void();
    assert_eq!(result.is_null(), is_void, "{action}");
    result
}

#[tokio::test]
async fn queue_actions_return_json() {
    let (server, mut wire) = start().await;
    let url = server.queue_url("q");
    assert_eq!(result(&mut wire, "/", "Action=ListQueues").await, json!({ "queueUrls": [url] }));
    for form in ["Action=CreateQueue&QueueName=q", "Action=GetQueueUrl&QueueName=q"] {
        assert_eq!(result(&mut wire, "/", form).await, json!({ "QueueUrl": url }));
    }
    for form in [
        "Action=SetQueueAttributes&Attribute.1.Name=DelaySeconds&Attribute.1.Value=0",
        "Action=TagQueue&Tag.1.Key=a&Tag.1.Value=b&Tag.2.Key=c&Tag.2.Value=d",
        "Action=UntagQueue&TagKey.1=c",
        "Action=AddPermission&Label=l&AWSAccountId.1=123456789012&ActionName.1=SendMessage",
        "Action=RemovePermission&Label=l",
        "Action=PurgeQueue",
    ] {
        result(&mut wire, QUEUE, form).await;
    }
    let attributes = result(&mut wire, QUEUE, "Action=GetQueueAttributes&AttributeName.1=DelaySeconds").await;
    assert_eq!(attributes, json!({ "Attributes": [{ "Name": "DelaySeconds", "Value": "0" }] }));
    let tags = result(&mut wire, QUEUE, "Action=ListQueueTags").await;
    assert_eq!(tags, json!({ "Tags": [{ "Key": "a", "Value": "b" }] }));
    result(&mut wire, QUEUE, "Action=DeleteQueue").await;
}

#[tokio::test]
async fn message_actions_return_json() {
    let (_server, mut wire) = start().await;
    assert_eq!(result(&mut wire, QUEUE, "Action=ReceiveMessage").await, json!({}));
    let attribute = "MessageAttribute.1.Name=n&MessageAttribute.1.Value.DataType=Binary\
                     &MessageAttribute.1.Value.BinaryValue=AAE%3D";
    let send = format!("Action=SendMessage&MessageBody=%3Ca%3E%0D&{attribute}");
    let sent = result(&mut wire, QUEUE, &send).await;
    let receive = "Action=ReceiveMessage&MessageAttributeName.1=All&AttributeName.1=ApproximateReceiveCount";
    let received = result(&mut wire, QUEUE, receive).await;
    let [message] = received["messages"].as_array().expect("a list").as_slice() else {
        panic!("one message, not {received}");
    };
    assert_eq!((&message["MessageId"], &message["Body"]), (&sent["MessageId"], &json!("<a>\r")));
    assert_eq!(message["MD5OfBody"], sent["MD5OfMessageBody"]);
    assert_eq!(message["Attributes"], json!([{ "Name": "ApproximateReceiveCount", "Value": "1" }]));
    let value = json!({ "BinaryValue": "AAE=", "DataType": "Binary" });
    assert_eq!(message["MessageAttributes"], json!([{ "Name": "n", "Value": value }]));
    let handle = message["ReceiptHandle"].as_str().expect("a handle");
    // The only base64 character with a special meaning in forms.
    let handle = handle.replace('+', "%2B");
    for (action, rest) in [("ChangeMessageVisibility", "&VisibilityTimeout=9"), ("DeleteMessage", "")] {
        let form = format!("Action={action}&ReceiptHandle={handle}{rest}");
        result(&mut wire, QUEUE, &form).await;
    }
}

#[tokio::test]
async fn batch_results_are_lists_even_with_one_entry() {
    let (_server, mut wire) = start().await;
    let entry = "SendMessageBatchRequestEntry";
    let form = format!(
        "Action=SendMessageBatch&{entry}.1.Id=a&{entry}.1.MessageBody=x&{entry}.2.Id=b&{entry}.2.MessageBody=%01"
    );
    let sent = result(&mut wire, QUEUE, &form).await;
    assert_eq!(sent["Successful"].as_array().map(Vec::len), Some(1), "{sent}");
    assert_eq!((&sent["Successful"][0]["Id"], &sent["Failed"][0]["Id"]), (&json!("a"), &json!("b")));
    // Booleans are strings, as in XML.
    assert_eq!(sent["Failed"][0]["SenderFault"], "true");
    for (action, rest) in
        [("ChangeMessageVisibilityBatch", "VisibilityTimeout=9"), ("DeleteMessageBatch", "")]
    {
        let entry = format!("{action}RequestEntry.1");
        let rest = if rest.is_empty() { String::new() } else { format!("&{entry}.{rest}") };
        let form = format!("Action={action}&{entry}.Id=c&{entry}.ReceiptHandle=none{rest}");
        let failed = result(&mut wire, QUEUE, &form).await;
        assert_eq!(failed["Failed"][0]["Code"], "ReceiptHandleIsInvalid", "{failed}");
        assert_eq!(failed.get("Successful"), None, "empty lists are omitted as in XML");
    }
}

#[tokio::test]
async fn dead_letter_actions_return_json() {
    let (server, mut wire) = start().await;
    let arn = "arn:aws:sqs:us-east-1:000000000000:q";
    let policy = format!("%7B%22deadLetterTargetArn%22:%22{arn}%22,%22maxReceiveCount%22:1%7D");
    let form =
        format!("Action=CreateQueue&QueueName=s&Attribute.1.Name=RedrivePolicy&Attribute.1.Value={policy}");
    result(&mut wire, "/", &form).await;
    let sources = result(&mut wire, QUEUE, "Action=ListDeadLetterSourceQueues").await;
    assert_eq!(sources, json!({ "queueUrls": [server.queue_url("s")] }));
    result(&mut wire, QUEUE, "Action=SendMessage&MessageBody=x").await;
    result(&mut wire, QUEUE, "Action=SendMessage&MessageBody=y").await;
    let pace = "MaxNumberOfMessagesPerSecond=1";
    let destination = "arn:aws:sqs:us-east-1:000000000000:s";
    let form = format!("Action=StartMessageMoveTask&SourceArn={arn}&DestinationArn={destination}&{pace}");
    let task = result(&mut wire, "/", &form).await;
    let handle = task["TaskHandle"].as_str().expect("a handle");
    let tasks = result(&mut wire, "/", &format!("Action=ListMessageMoveTasks&SourceArn={arn}")).await;
    assert_eq!(tasks["Results"][0]["SourceArn"], arn, "{tasks}");
    assert_eq!(tasks["Results"][0]["MaxNumberOfMessagesPerSecond"], "1", "numbers are strings, as in XML");
    let handle = handle.replace('+', "%2B");
    let cancelled =
        result(&mut wire, "/", &format!("Action=CancelMessageMoveTask&TaskHandle={handle}")).await;
    assert!(cancelled["ApproximateNumberOfMessagesMoved"].is_string(), "{cancelled}");
}

#[tokio::test]
async fn errors_are_json_too() {
    let (_server, mut wire) = start().await;
    let unknown = "AWS.SimpleQueueService.NonExistentQueue";
    for (line, status, code) in [
        ("GET /000000000000/none?Action=PurgeQueue", 400, unknown),
        ("GET /?Action=MakeCoffee", 400, "InvalidAction"),
        ("PUT /?Action=ListQueues", 405, "MethodNotAllowed"),
    ] {
        let answer = wire.exchange(line, ACCEPT, b"").await;
        let body = body(&answer);
        assert_eq!((answer.status, &body["Error"]["Code"]), (status, &json!(code)));
        assert_eq!((&body["Error"]["Type"], body["Error"]["Message"].is_string()), (&json!("Sender"), true));
        assert_eq!(body["RequestId"], answer.header("x-amzn-requestid"));
    }
}

#[tokio::test]
async fn other_requests_get_xml_or_aws_json() {
    let (_server, mut wire) = start().await;
    for accept in ["", "accept: */*\r\n", "accept: text/xml, application/json\r\n"] {
        let answer = wire.exchange("GET /?Action=ListQueues", accept, b"").await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "text/xml"), "{accept}");
    }
    let headers = format!("{JSON}{ACCEPT}x-amz-target: AmazonSQS.ListQueues\r\n");
    let answer = wire.exchange("POST /", &headers, b"{}").await;
    assert_eq!(answer.header("content-type"), "application/x-amz-json-1.0");
    assert!(answer.text().starts_with(r#"{"QueueUrls":["#), "{}", answer.text());
    let visit = wire.exchange(&format!("GET {QUEUE}"), ACCEPT, b"").await;
    assert_eq!((visit.status, visit.text().trim_end()), (404, "<UnknownOperationException/>"));
}
