//! Section 5.1: queue names, and the attributes of each queue type.

use serde_json::json;

use super::code::{ATTRIBUTE_NAME, ATTRIBUTE_VALUE, PARAMETER};
use crate::session::{BOTH, Session};

/// 5.1: "Name 1..80 of `[A-Za-z0-9_-]`; FIFO ends in `.fifo`, suffix counted".
#[tokio::test]
async fn queue_name_has_up_to_80_letters_digits_hyphens_and_underscores() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        for good in ["a", "aZ09_-", &"x".repeat(80)] {
            s.queue(good, json!({})).await;
        }
        s.fifo(&format!("{}.fifo", "x".repeat(75)), json!({})).await;
        let message = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length";
        for bad in ["a b", "a.b", "ü", "a/b", "a.fifo.b", &"x".repeat(81)] {
            s.refused("CreateQueue", &json!({ "QueueName": bad })).await.says(bad, PARAMETER, message);
        }
        for bad in [".fifo", &format!("{}.fifo", "x".repeat(76))] {
            let input = json!({ "QueueName": bad, "Attributes": { "FifoQueue": "true" } });
            s.refused("CreateQueue", &input).await.says(bad, PARAMETER, message);
        }
    }
}

/// 5.1: `FifoQueue` and the name must agree.
#[tokio::test]
async fn name_and_type_of_a_queue_must_match() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        for (name, attributes) in [
            ("q", json!({ "FifoQueue": "true" })),
            ("q.fifo", json!({})),
            ("q.fifo", json!({ "FifoQueue": "false" })),
        ] {
            let input = json!({ "QueueName": name, "Attributes": attributes });
            s.refused("CreateQueue", &input).await.is(&input.to_string(), PARAMETER);
        }
    }
}

/// 5.1: attributes of FIFO queues, on create and on set.
#[tokio::test]
async fn standard_queue_rejects_attributes_of_fifo_queues() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let only = |name: &str| format!("You can specify the {name} only when FifoQueue is set to true.");
        for (name, value, message) in [
            ("FifoQueue", "false", "Unknown Attribute FifoQueue.".to_owned()),
            ("ContentBasedDeduplication", "true", "Unknown Attribute ContentBasedDeduplication.".to_owned()),
            ("ContentBasedDeduplication", "false", "Unknown Attribute ContentBasedDeduplication.".to_owned()),
            ("DeduplicationScope", "queue", only("DeduplicationScope")),
            ("FifoThroughputLimit", "perQueue", only("FifoThroughputLimit")),
        ] {
            let input = json!({ "QueueUrl": url, "Attributes": { name: value } });
            s.refused("SetQueueAttributes", &input).await.says(name, ATTRIBUTE_NAME, &message);
            let input = json!({ "QueueName": "n", "Attributes": { name: value } });
            s.refused("CreateQueue", &input).await.says(name, ATTRIBUTE_NAME, &message);
        }
        let input = json!({ "QueueUrl": url, "Attributes": { "FifoQueue": "true" } });
        let message = "Unknown Attribute FifoQueue.";
        s.refused("SetQueueAttributes", &input).await.says("set true", ATTRIBUTE_NAME, message);
    }
}

/// 5.1: `FifoQueue` on a FIFO queue.
#[tokio::test]
async fn type_of_a_queue_cannot_be_changed() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.fifo("q.fifo", json!({})).await;
        s.set(&url, json!({ "FifoQueue": "true" })).await;
        let input = json!({ "QueueUrl": url, "Attributes": { "FifoQueue": "false" } });
        let message =
            "Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.";
        s.refused("SetQueueAttributes", &input).await.says("set false", ATTRIBUTE_VALUE, message);
    }
}

/// 5.1: "Other bad values".
/// Not recorded: the text.
#[tokio::test]
async fn error_names_the_invalid_value() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        for name in ["DelaySeconds", "SqsManagedSseEnabled", "Policy"] {
            let input = json!({ "QueueUrl": url, "Attributes": { name: "x" } });
            let message = format!("Invalid value for the parameter {name}.");
            s.refused("SetQueueAttributes", &input).await.says(name, ATTRIBUTE_VALUE, &message);
        }
    }
}
