//! Section 2.2: parameters of a send.

use serde_json::json;
use sqs_client::wire::protocol::Protocol;

use super::code::{MISSING, PARAMETER, UNSUPPORTED};
use crate::session::{BOTH, Session};
use crate::wire::JSON;

/// 2.2: `MessageBody`.
#[tokio::test]
async fn empty_body_is_a_missing_parameter() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        for input in [json!({ "QueueUrl": url }), json!({ "QueueUrl": url, "MessageBody": "" })] {
            let message = "The request must contain the parameter MessageBody.";
            s.refused("SendMessage", &input).await.says("empty body", MISSING, message);
        }
        s.put(&url, " ").await;
        assert_eq!(s.bodies(&url).await, [" "]);
    }
}

/// 2.2: `DelaySeconds` from 0 to 900, by default that of the queue.
#[tokio::test]
async fn delay_of_the_message_overrides_the_queue() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({ "DelaySeconds": "5" })).await;
        for (body, delay) in [("now", 0), ("late", 900)] {
            s.done("SendMessage", &json!({ "QueueUrl": url, "MessageBody": body, "DelaySeconds": delay }))
                .await;
        }
        s.put(&url, "default").await;
        assert_eq!(s.bodies(&url).await, ["now"]);
        s.pass(4);
        assert!(s.bodies(&url).await.is_empty());
        s.pass(1);
        assert_eq!(s.bodies(&url).await, ["default"]);
        assert_eq!(s.counts(&url).await[2], "1");
        s.pass(895);
        assert!(s.bodies(&url).await.contains(&"late".to_owned()));
    }
}

/// 2.2: on a FIFO queue 0 means the delay of the queue.
#[tokio::test]
async fn delay_of_zero_on_a_fifo_queue_means_the_delay_of_the_queue() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.fifo("q.fifo", json!({ "DelaySeconds": "5", "ContentBasedDeduplication": "true" })).await;
        let input = json!({ "QueueUrl": url, "MessageBody": "x", "MessageGroupId": "g", "DelaySeconds": 0 });
        s.done("SendMessage", &input).await;
        assert!(s.bodies(&url).await.is_empty());
        s.pass(5);
        assert_eq!(s.bodies(&url).await, ["x"]);
    }
}

/// 2.2: list values.
#[tokio::test]
async fn list_values_are_unsupported() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        for value in [
            json!({ "DataType": "String", "StringListValues": ["a"] }),
            json!({ "DataType": "Binary", "BinaryListValues": ["AA=="] }),
            json!({ "DataType": "String", "StringValue": "x", "StringListValues": [] }),
        ] {
            // The Query protocol has no empty lists.
            if protocol == Protocol::Query && value.to_string().contains("[]") {
                continue;
            }
            let input = json!({ "QueueUrl": url, "MessageBody": "x", "MessageAttributes": { "a": value } });
            let message = |operation: &str| {
                format!("Message attribute list values in {operation} operation are not supported.")
            };
            s.refused("SendMessage", &input).await.says(
                &value.to_string(),
                UNSUPPORTED,
                &message("SendMessage"),
            );
            // One such entry rejects the whole batch.
            let entries = json!([
                { "Id": "good", "MessageBody": "x" },
                { "Id": "list", "MessageBody": "x", "MessageAttributes": { "a": value } },
            ]);
            let input = json!({ "QueueUrl": url, "Entries": entries });
            let refused = s.refused("SendMessageBatch", &input).await;
            refused.says(&value.to_string(), UNSUPPORTED, &message("SendMessageBatch"));
        }
    }
}

/// 2.2: `MessageSystemAttributes` accepts only the trace header, which does not count for the message size.
#[tokio::test]
async fn trace_header_is_the_only_system_attribute() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({ "MaximumMessageSize": "1024" })).await;
        let value = |kind: &str, value: &str| json!({ "DataType": kind, kind.to_owned() + "Value": value });
        for (name, value) in [("Other", value("String", "x")), ("AWSTraceHeader", value("Binary", "AA=="))] {
            let system = json!({ name: value });
            let input = json!({ "QueueUrl": url, "MessageBody": "x", "MessageSystemAttributes": system });
            s.refused("SendMessage", &input).await.is(name, PARAMETER);
        }
        let system = json!({ "AWSTraceHeader": value("String", "Root=1-2-3") });
        let body = "x".repeat(1_024);
        let sent = json!({ "QueueUrl": url, "MessageBody": body, "MessageSystemAttributes": system });
        let sent = s.done("SendMessage", &sent).await;
        assert!(sent["MD5OfMessageSystemAttributes"].is_string(), "{sent}");
        assert_eq!(s.with_attributes(&url).await["Attributes"]["AWSTraceHeader"], "Root=1-2-3");
    }
}

/// 2.2: "HTTP header X-Amzn-Trace-Id also fills it".
#[tokio::test]
async fn request_header_sets_the_trace_header() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let headers = format!("{JSON}x-amz-target: AmazonSQS.SendMessage\r\nx-amzn-trace-id: Root=1-9\r\n");
        let body = json!({ "QueueUrl": url, "MessageBody": "x" }).to_string();
        assert_eq!(s.wire.exchange("POST /", &headers, body.as_bytes()).await.status, 200);
        assert_eq!(s.with_attributes(&url).await["Attributes"]["AWSTraceHeader"], "Root=1-9");
    }
}

/// 2.2: `MessageGroupId` is the tenant on standard queues; `MessageDeduplicationId` is for FIFO queues.
#[tokio::test]
async fn standard_queue_accepts_a_group_but_no_deduplication_id() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let input = json!({ "QueueUrl": url, "MessageBody": "x", "MessageGroupId": "tenant" });
        let sent = s.done("SendMessage", &input).await;
        assert_eq!(sent.get("SequenceNumber"), None);
        assert_eq!(s.with_attributes(&url).await["Attributes"]["MessageGroupId"], "tenant");
        let input = json!({ "QueueUrl": url, "MessageBody": "x", "MessageDeduplicationId": "d" });
        s.refused("SendMessage", &input).await.is("deduplication id", PARAMETER);
    }
}
