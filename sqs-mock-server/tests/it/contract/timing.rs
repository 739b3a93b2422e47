//! Section 5.2: create, delete and purge, and the waiting times between them.

use serde_json::json;

use super::code::{DELETED_RECENTLY, NO_QUEUE, PURGE_IN_PROGRESS, QUEUE_EXISTS};
use crate::session::{BOTH, Session};

/// 5.2: "Create on an existing name".
#[tokio::test]
async fn create_with_the_same_attributes_returns_the_existing_queue() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({ "DelaySeconds": "1" })).await;
        s.set(&url, json!({ "VisibilityTimeout": "77" })).await;
        for same in [
            json!({}),
            json!({ "DelaySeconds": "1" }),
            json!({ "VisibilityTimeout": "77" }),
            json!({ "MaximumMessageSize": "1048576" }),
            json!({ "DelaySeconds": "1", "VisibilityTimeout": "77" }),
        ] {
            assert_eq!(s.queue("q", same).await, url);
        }
        for (name, value) in
            [("DelaySeconds", "2"), ("VisibilityTimeout", "30"), ("MessageRetentionPeriod", "60")]
        {
            let message = format!(
                "A queue already exists with the same name and a different value for attribute {name}"
            );
            let input = json!({ "QueueName": "q", "Attributes": { name: value } });
            s.refused("CreateQueue", &input).await.says(name, QUEUE_EXISTS, &message);
        }
        let fifo = s.fifo("q.fifo", json!({})).await;
        assert_eq!(s.fifo("q.fifo", json!({ "ContentBasedDeduplication": "false" })).await, fifo);
        let input = json!({
            "QueueName": "q.fifo", "Attributes": { "FifoQueue": "true", "ContentBasedDeduplication": "true" },
        });
        s.refused("CreateQueue", &input).await.is("ContentBasedDeduplication", QUEUE_EXISTS);
    }
}

/// 5.2: "Create within 60 s of delete".
#[tokio::test]
async fn deleted_queue_can_be_recreated_after_60_seconds() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({})).await;
        s.put(&url, "x").await;
        s.done("DeleteQueue", &json!({ "QueueUrl": url })).await;
        s.refused("ReceiveMessage", &json!({ "QueueUrl": url })).await.is("deleted", NO_QUEUE);
        let again = json!({ "QueueName": "q" });
        let message = "You must wait 60 seconds after deleting a queue before you can create another with the same name.";
        for seconds in [0, 30, 29] {
            s.pass(seconds);
            s.refused("CreateQueue", &again).await.says("too early", DELETED_RECENTLY, message);
        }
        s.pass(1);
        assert_eq!(s.done("CreateQueue", &again).await["QueueUrl"], url);
        assert!(s.bodies(&url).await.is_empty(), "the new queue is empty");
    }
}

/// 5.2: "Purge twice in 60 s".
#[tokio::test]
async fn second_purge_within_60_seconds_is_rejected() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let input = json!({ "QueueUrl": s.queue("orders", json!({})).await });
        s.done("PurgeQueue", &input).await;
        let message = "Only one PurgeQueue operation on orders is allowed every 60 seconds.";
        for seconds in [0, 59] {
            s.pass(seconds);
            s.refused("PurgeQueue", &input).await.says("too early", PURGE_IN_PROGRESS, message);
        }
        s.pass(1);
        s.done("PurgeQueue", &input).await;
    }
}

/// 5.2: "Purge drops visible, delayed and in-flight messages and lets FIFO dedup ids be used again".
#[tokio::test]
async fn purge_removes_all_messages_and_deduplication_ids() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({})).await;
        for body in ["in flight", "visible"] {
            s.put(&url, body).await;
        }
        s.done("SendMessage", &json!({ "QueueUrl": url, "MessageBody": "delayed", "DelaySeconds": 9 })).await;
        let handle = s.handle(&url).await;
        assert_eq!(s.counts(&url).await, ["1", "1", "1"]);
        s.done("PurgeQueue", &json!({ "QueueUrl": url })).await;
        assert_eq!(s.counts(&url).await, ["0", "0", "0"]);
        s.delete(&url, &handle).await;
        s.pass(60);
        assert!(s.bodies(&url).await.is_empty());

        let fifo = s.fifo("q.fifo", json!({})).await;
        s.put_in(&fifo, "g", "once").await;
        s.handle(&fifo).await;
        s.done("PurgeQueue", &json!({ "QueueUrl": fifo })).await;
        s.put_in(&fifo, "g", "once").await;
        assert_eq!(s.bodies(&fifo).await, ["once"], "the deduplication id and the group are free");
    }
}
