//! Section 7.4: dead letters.

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;

use super::answers::text;
use crate::session::{BOTH, Session};

/// A source queue with this `maxReceiveCount`, and its dead-letter queue.
async fn start(protocol: Protocol, suffix: &str, count: u32) -> (Session, String, String) {
    let mut s = Session::frozen(protocol).await;
    let mut attributes = json!({ "VisibilityTimeout": "0" });
    if !suffix.is_empty() {
        attributes["FifoQueue"] = "true".into();
    }
    let dead = s.queue(&format!("dead{suffix}"), attributes.clone()).await;
    let arn = s.attributes(&dead).await["QueueArn"].clone();
    attributes["RedrivePolicy"] =
        json!({ "deadLetterTargetArn": arn, "maxReceiveCount": count }).to_string().into();
    let source = s.queue(&format!("source{suffix}"), attributes).await;
    (s, source, dead)
}

/// 7.4: "On a receive that would make `ApproximateReceiveCount` > maxReceiveCount the message moves instead".
#[tokio::test]
async fn message_moves_when_a_receive_exceeds_the_count() {
    for protocol in BOTH {
        for count in [1, 3] {
            let (mut s, source, dead) = start(protocol, "", count).await;
            s.put(&source, "x").await;
            for receive in 1..=count {
                let message = s.with_attributes(&source).await;
                assert_eq!(message["Attributes"]["ApproximateReceiveCount"], receive.to_string());
            }
            assert_eq!(s.counts(&source).await[0], "1", "the move is lazy");
            s.pass(600);
            assert_eq!(s.counts(&dead).await[0], "0", "no receive, no move");
            assert!(s.bodies(&source).await.is_empty());
            assert_eq!((s.counts(&source).await[0].as_str(), s.counts(&dead).await[0].as_str()), ("0", "1"));
        }
    }
}

/// 7.4: attributes that a message keeps in the dead-letter queue.
#[tokio::test]
async fn dead_letter_keeps_id_body_and_attributes() {
    for protocol in BOTH {
        let (mut s, source, dead) = start(protocol, "", 1).await;
        let attributes = json!({ "a": { "DataType": "String", "StringValue": "b" } });
        let input = json!({ "QueueUrl": source, "MessageBody": "x", "MessageAttributes": attributes });
        s.done("SendMessage", &input).await;
        let all = json!({ "AttributeNames": ["All"], "MessageAttributeNames": ["All"] });
        let before = s.take(&source, all.clone()).await.remove(0);
        s.pass(10);
        assert!(s.bodies(&source).await.is_empty());
        let after = s.take(&dead, all).await.remove(0);
        for member in ["MessageId", "Body", "MD5OfBody", "MessageAttributes", "MD5OfMessageAttributes"] {
            assert_eq!(after[member], before[member], "{member}");
        }
        let (before, after) = (&before["Attributes"], &after["Attributes"]);
        assert_eq!(after["SentTimestamp"], before["SentTimestamp"]);
        assert_eq!(after["ApproximateReceiveCount"], "2", "the count continues");
        assert_eq!(after["DeadLetterQueueSourceArn"], "arn:aws:sqs:us-east-1:000000000000:source");
        assert_eq!(before.get("DeadLetterQueueSourceArn"), None);
    }
}

/// 7.4: "FIFO: group kept; dedup id replaced by the original message id".
/// Not recorded: documented.
#[tokio::test]
async fn dead_letter_of_a_fifo_queue_keeps_its_group() {
    for protocol in BOTH {
        let (mut s, source, dead) = start(protocol, ".fifo", 1).await;
        s.put_in(&source, "g", "x").await;
        let before = s.with_attributes(&source).await;
        assert!(s.bodies(&source).await.is_empty());
        let after = s.with_attributes(&dead).await;
        assert_eq!(after["MessageId"], before["MessageId"]);
        assert_eq!(after["Attributes"]["MessageGroupId"], "g");
        assert_eq!(after["Attributes"]["MessageDeduplicationId"], before["MessageId"]);
    }
}

/// 7.4: "Retention in the DLQ: standard keeps the original enqueue time; FIFO starts anew on the move".
/// Not recorded: documented.
#[tokio::test]
async fn move_restarts_the_retention_only_in_fifo_queues() {
    for protocol in BOTH {
        for (suffix, survives) in [("", false), (".fifo", true)] {
            let (mut s, source, dead) = start(protocol, suffix, 1).await;
            s.set(&dead, json!({ "MessageRetentionPeriod": "100" })).await;
            let mut input = json!({ "QueueUrl": source, "MessageBody": "x" });
            if survives {
                input["MessageGroupId"] = "g".into();
                input["MessageDeduplicationId"] = "d".into();
            }
            s.done("SendMessage", &input).await;
            s.bodies(&source).await;
            s.pass(60);
            assert!(s.bodies(&source).await.is_empty());
            assert_eq!(s.counts(&dead).await[0], "1");
            s.pass(60);
            assert_eq!(s.counts(&dead).await[0], if survives { "1" } else { "0" }, "{suffix}");
        }
    }
}

/// 7.4: "Deleting the DLQ leaves the policy in place; messages then stay in the source".
#[tokio::test]
async fn messages_stay_if_the_dead_letter_queue_is_deleted() {
    for protocol in BOTH {
        let (mut s, source, dead) = start(protocol, "", 1).await;
        s.put(&source, "x").await;
        s.done("DeleteQueue", &json!({ "QueueUrl": dead })).await;
        assert!(text(&s.attributes(&source).await["RedrivePolicy"]).contains(":dead"));
        for receive in 1..=3 {
            let message = s.with_attributes(&source).await;
            assert_eq!(message["Attributes"]["ApproximateReceiveCount"], receive.to_string());
        }
    }
}

/// 7.4: `ListDeadLetterSourceQueues`, which is exact here.
#[tokio::test]
async fn sources_are_the_queues_with_a_policy() {
    for protocol in BOTH {
        let (mut s, source, dead) = start(protocol, "", 1).await;
        let sources = json!({ "QueueUrl": dead });
        assert_eq!(s.done("ListDeadLetterSourceQueues", &sources).await, json!({ "queueUrls": [source] }));
        s.set(&source, json!({ "RedrivePolicy": "" })).await;
        assert_eq!(s.done("ListDeadLetterSourceQueues", &sources).await, json!({}));
        let list = json!({ "QueueUrl": source });
        assert_eq!(s.done("ListDeadLetterSourceQueues", &list).await, Value::Object(serde_json::Map::new()));
    }
}
