//! Sections 7.1 and 7.2: the maximum number of messages in flight.

use bytes::Bytes;
use http::Request;
use serde_json::{Value, json};
use sqs_client::transport::Transport as _;
use sqs_client::wire::protocol::Protocol;
use sqs_mock_server::{InProcess, MockSqs};

use super::code::OVER_LIMIT;
use crate::session::Session;
use crate::wire::Wire;

const MOST: usize = 120_000;

/// Calls an action without a socket and without types, which is faster for many requests.
async fn ask(server: &InProcess, action: &str, input: Value) -> Value {
    let request = Request::post("http://mock/")
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", format!("AmazonSQS.{action}"))
        .body(Bytes::from(input.to_string()));
    let answer = server.send(request.expect("a request")).await.expect("an answer");
    serde_json::from_slice(answer.body()).expect("JSON")
}

/// A queue with the maximum number of messages in flight, and ten visible ones.
async fn full(name: &str) -> (MockSqs, String) {
    let server = MockSqs::builder().clock_frozen().journal(0).start().await.expect("a server");
    let (transport, url) = (server.transport(), server.queue_url(name));
    let fifo = name.ends_with(".fifo").then(|| json!({ "FifoQueue": "true" }));
    ask(&transport, "CreateQueue", json!({ "QueueName": name, "Attributes": fifo })).await;
    for batch in 0..=MOST / 10 {
        let entry = |place: usize| {
            let number = (batch * 10 + place).to_string();
            match fifo {
                None => json!({ "Id": number, "MessageBody": "x" }),
                Some(_) => json!({
                    "Id": number, "MessageBody": "x", "MessageGroupId": number, "MessageDeduplicationId": number,
                }),
            }
        };
        let entries: Vec<_> = (0..10).map(entry).collect();
        ask(&transport, "SendMessageBatch", json!({ "QueueUrl": url, "Entries": entries })).await;
        if batch < MOST / 10 {
            let receive = json!({ "QueueUrl": url, "MaxNumberOfMessages": 10, "VisibilityTimeout": 600 });
            let received = ask(&transport, "ReceiveMessage", receive).await;
            assert_eq!(received["Messages"].as_array().map(Vec::len), Some(10));
        }
    }
    (server, url)
}

/// A session with an existing server.
async fn session(server: MockSqs, protocol: Protocol) -> Session {
    let wire = Wire::connect(&server).await;
    Session { server, wire, protocol }
}

/// 7.1: "about 120,000; then `OverLimit` 403 on short polls, long polls just return nothing".
///
/// Not recorded: a log of AWS shows the beginning of the text.
#[tokio::test]
#[ignore = "120,000 messages; .ci/run runs it"]
async fn standard_queue_with_120_000_messages_in_flight_rejects_short_polls() {
    let (server, url) = full("q").await;
    let mut s = session(server, Protocol::AwsJson).await;
    for protocol in [Protocol::AwsJson, Protocol::Query] {
        s.protocol = protocol;
        let short = json!({ "QueueUrl": url, "WaitTimeSeconds": 0 });
        let text = "Too many messages have been received without being deleted.";
        s.refused("ReceiveMessage", &short).await.says("7.1", OVER_LIMIT, text);
        let (received, waited) = s.take_while_time_passes(&url, json!({ "WaitTimeSeconds": 2 })).await;
        assert!(received.is_empty() && waited >= 2, "{waited} s");
    }
}

/// 7.2: "with 120,000 in flight receive is empty, no error".
#[tokio::test]
#[ignore = "120,000 messages; .ci/run runs it"]
async fn fifo_queue_with_120_000_messages_in_flight_returns_no_messages() {
    let (server, url) = full("q.fifo").await;
    let mut s = session(server, Protocol::AwsJson).await;
    for protocol in [Protocol::AwsJson, Protocol::Query] {
        s.protocol = protocol;
        assert!(s.take(&url, json!({ "WaitTimeSeconds": 0 })).await.is_empty());
    }
}
