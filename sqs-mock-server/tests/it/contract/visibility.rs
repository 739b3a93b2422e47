//! Section 5.5: receives and changes of the visibility timeout.

use serde_json::json;

use super::code::PARAMETER;
use crate::session::{BOTH, Session};

/// 5.5: `MaxNumberOfMessages` and `WaitTimeSeconds`.
#[tokio::test]
async fn numeric_parameters_of_a_receive_have_ranges() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        for (parameter, bad, reason) in [
            ("MaxNumberOfMessages", [0, 11], "Must be between 1 and 10, if provided."),
            ("WaitTimeSeconds", [-1, 21], "Must be >= 0 and <= 20, if provided."),
        ] {
            for bad in bad {
                let text = format!("Value {bad} for parameter {parameter} is invalid. Reason: {reason}");
                let input = json!({ "QueueUrl": url, parameter: bad });
                s.refused("ReceiveMessage", &input).await.says(parameter, PARAMETER, &text);
            }
        }
    }
}

/// 5.5: `VisibilityTimeout` of a receive and of a change.
/// Not recorded: the texts.
#[tokio::test]
async fn visibility_timeout_is_at_most_43200_seconds() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({})).await;
        s.put(&url, "x").await;
        let handle = s.handle(&url).await;
        for bad in [-1, 43_201] {
            let value = format!("Value {bad} for parameter VisibilityTimeout is invalid. Reason: Must be ");
            let input = json!({ "QueueUrl": url, "VisibilityTimeout": bad });
            let text = format!("{value}>= 0 and <= 43200, if provided.");
            s.refused("ReceiveMessage", &input).await.says("receive", PARAMETER, &text);
            let input = json!({ "QueueUrl": url, "ReceiptHandle": handle, "VisibilityTimeout": bad });
            let text = format!("{value}between 0 and 43200.");
            s.refused("ChangeMessageVisibility", &input).await.says("change", PARAMETER, &text);
        }
        // A change to 43,200 succeeds only because the clock is frozen: see the 12 hours below.
        for good in [43_200, 0] {
            s.hide(&url, &handle, good).await;
        }
        assert_eq!(s.take(&url, json!({ "VisibilityTimeout": 43_200 })).await.len(), 1);
    }
}

/// 5.5: "12 h cap counts from the receive".
#[tokio::test]
async fn message_stays_hidden_for_at_most_12_hours_from_its_receive() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({ "VisibilityTimeout": "600" })).await;
        s.put(&url, "x").await;
        let handle = s.handle(&url).await;
        s.pass(100);
        for bad in [43_200, 43_101] {
            let text = format!(
                "Value {bad} for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the \
                 message is beyond the limit [43200 seconds]"
            );
            let input = json!({ "QueueUrl": url, "ReceiptHandle": handle, "VisibilityTimeout": bad });
            s.refused("ChangeMessageVisibility", &input).await.says("beyond", PARAMETER, &text);
        }
        s.hide(&url, &handle, 43_100).await;
    }
}

/// 5.5: "Change is a set, not an addition; not remembered for later receives".
#[tokio::test]
async fn visibility_change_replaces_the_remaining_time_and_applies_once() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({ "VisibilityTimeout": "30" })).await;
        s.put(&url, "x").await;
        let handle = s.handle(&url).await;
        s.pass(20);
        s.hide(&url, &handle, 5).await;
        s.pass(4);
        assert!(s.bodies(&url).await.is_empty());
        s.pass(1);
        assert_eq!(s.bodies(&url).await, ["x"], "5 seconds from the change");
        s.pass(29);
        assert!(s.bodies(&url).await.is_empty(), "30 seconds again, the timeout of the queue");
        s.pass(1);
        let handle = s.handle(&url).await;
        s.hide(&url, &handle, 0).await;
        assert_eq!(s.bodies(&url).await, ["x"], "immediately");
    }
}
