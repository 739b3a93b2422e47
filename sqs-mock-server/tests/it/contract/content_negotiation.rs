//! Section 4.3: GET on queue URLs, and Query requests that accept JSON.

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;

use super::answers::{output_of_xml, text};
use super::code::ACTION;
use crate::session::Session;
use crate::wire::Answer;

const PATH: &str = "/000000000000/q";
const ACCEPT: &str = "accept: application/json\r\n";

async fn start() -> (Session, String) {
    let mut s = Session::start(Protocol::Query).await;
    let url = s.queue("q", json!({})).await;
    (s, url)
}

/// 4.3: "No Action on a queue URL: 404 with body `<UnknownOperationException/>`".
#[tokio::test]
async fn get_without_an_action_is_an_unknown_operation() {
    let (mut s, _) = start().await;
    for target in [PATH, "/000000000000/none", "/000000000000/q?x=y"] {
        let answer = s.wire.get(target).await;
        assert_eq!(
            (answer.status, answer.text().trim_end()),
            (404, "<UnknownOperationException/>"),
            "{target}"
        );
    }
}

/// 4.3: "Unknown Action: 400 `InvalidAction`"; "ListQueues/CreateQueue on a queue URL: `InvalidAction`".
#[tokio::test]
async fn unsupported_action_is_invalid() {
    let (mut s, _) = start().await;
    for (target, action) in
        [("/", "MakeCoffee"), (PATH, "MakeCoffee"), (PATH, "ListQueues"), (PATH, "CreateQueue")]
    {
        let answer = s.wire.get(&format!("{target}?Action={action}&QueueName=n")).await;
        let message = format!("The action {action} is not valid for this endpoint.");
        output_of_xml(action, &answer).unwrap_err().says(action, ACTION, &message);
    }
}

/// 4.3: "`GetQueueUrl` on one works, for any queue".
#[tokio::test]
async fn get_queue_url_on_a_queue_url_works_for_any_queue() {
    let (mut s, url) = start().await;
    for path in [PATH, "/000000000000/other"] {
        let answer = s.wire.get(&format!("{path}?Action=GetQueueUrl&QueueName=q")).await;
        assert_eq!(output_of_xml("GetQueueUrl", &answer).unwrap()["QueueUrl"], url);
    }
}

fn body(answer: &Answer) -> Value {
    assert_eq!(answer.header("content-type"), "application/json");
    serde_json::from_slice(&answer.body).expect("JSON was accepted")
}

/// 4.3: "Query with `Accept: application/json` answers JSON made from the XML".
#[tokio::test]
async fn query_request_that_accepts_json_gets_json() {
    let (mut s, url) = start().await;
    s.put(&url, "x").await;
    let list = s.wire.exchange("GET /?Action=ListQueues", ACCEPT, b"").await;
    let id = list.header("x-amzn-requestid");
    let expected = json!({
        "ListQueuesResponse": {
            "ListQueuesResult": { "queueUrls": [url] },
            "ResponseMetadata": { "RequestId": id },
        },
    });
    assert_eq!(body(&list), expected);
    let target = format!("GET {PATH}?Action=GetQueueAttributes&AttributeName.1=DelaySeconds");
    let attributes = body(&s.wire.exchange(&target, ACCEPT, b"").await);
    let result = &attributes["GetQueueAttributesResponse"]["GetQueueAttributesResult"];
    assert_eq!(result["Attributes"], json!([{ "Name": "DelaySeconds", "Value": "0" }]));
    let received = body(&s.wire.exchange(&format!("GET {PATH}?Action=ReceiveMessage"), ACCEPT, b"").await);
    let messages = &received["ReceiveMessageResponse"]["ReceiveMessageResult"]["messages"];
    assert_eq!(text(&messages[0]["Body"]), "x");
    let refused = s.wire.exchange("GET /000000000000/none?Action=PurgeQueue", ACCEPT, b"").await;
    let error = body(&refused);
    assert_eq!(error["Error"]["Code"], "AWS.SimpleQueueService.NonExistentQueue");
    assert!(error["Error"]["Message"].is_string());
    assert_eq!((refused.status, &error["RequestId"]), (400, &json!(refused.header("x-amzn-requestid"))));
}
