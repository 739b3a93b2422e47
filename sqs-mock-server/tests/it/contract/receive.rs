//! Section 2.1: parameters of a receive.

use std::time::Duration;

use serde_json::json;

use super::answers::text;
use super::code::PARAMETER;
use crate::session::{BOTH, Session};

/// 2.1: `MaxNumberOfMessages`.
#[tokio::test]
async fn receive_returns_one_message_by_default_and_up_to_ten() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({ "VisibilityTimeout": "0" })).await;
        for number in 0..12 {
            s.put(&url, &number.to_string()).await;
        }
        assert_eq!(s.take(&url, json!({})).await.len(), 1);
        for most in [1, 3, 10] {
            let received = s.take(&url, json!({ "MaxNumberOfMessages": most })).await;
            assert_eq!(received.len(), usize::try_from(most).unwrap());
        }
    }
}

/// 2.1: `VisibilityTimeout`, absent, given, and 0.
#[tokio::test]
async fn visibility_timeout_of_the_receive_overrides_the_queue() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({ "VisibilityTimeout": "10" })).await;
        s.put(&url, "x").await;
        let at_once = json!({ "VisibilityTimeout": 0 });
        let first = text(&s.take(&url, at_once.clone()).await[0]["ReceiptHandle"]);
        let second = text(&s.take(&url, at_once).await[0]["ReceiptHandle"]);
        assert_ne!(first, second, "each receive returns a new handle");
        assert_eq!(s.take(&url, json!({ "VisibilityTimeout": 3 })).await.len(), 1);
        s.pass(2);
        assert!(s.bodies(&url).await.is_empty());
        s.pass(1);
        assert_eq!(s.bodies(&url).await, ["x"], "this receive uses the timeout of the queue");
        s.pass(9);
        assert!(s.bodies(&url).await.is_empty());
        s.pass(1);
        assert_eq!(s.bodies(&url).await, ["x"]);
    }
}

/// 2.1: the default of `WaitTimeSeconds` is that of the queue; an explicit 0 is a short poll.
#[tokio::test]
async fn wait_time_of_zero_overrides_the_queue() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({ "ReceiveMessageWaitTimeSeconds": "20" })).await;
        // The clock is frozen, so a long poll would wait forever.
        let short =
            tokio::time::timeout(Duration::from_secs(20), s.take(&url, json!({ "WaitTimeSeconds": 0 })));
        assert!(short.await.expect("a response without delay").is_empty());
        let (received, waited) = s.take_while_time_passes(&url, json!({})).await;
        assert!(received.is_empty() && waited >= 20, "{waited} s");
    }
}

/// 2.1: `ReceiveRequestAttemptId` is 1 to 128 characters.
#[tokio::test]
async fn attempt_id_has_1_to_128_characters() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.fifo("q.fifo", json!({})).await;
        let longest = "x".repeat(128);
        assert!(s.take(&url, json!({ "ReceiveRequestAttemptId": longest })).await.is_empty());
        for bad in [String::new(), format!("{longest}x"), "a b".to_owned()] {
            let input = json!({ "QueueUrl": url, "ReceiveRequestAttemptId": bad });
            s.refused("ReceiveMessage", &input).await.is(&bad, PARAMETER);
        }
    }
}

/// 2.1: attempts are for FIFO queues.
/// Not recorded: maintainers of a client found that AWS accepts it on a standard queue.
#[tokio::test]
async fn attempt_id_has_no_effect_on_a_standard_queue() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({})).await;
        s.put(&url, "x").await;
        let attempt = json!({ "ReceiveRequestAttemptId": "a" });
        assert_eq!(s.take(&url, attempt.clone()).await.len(), 1);
        assert!(s.take(&url, attempt).await.is_empty());
    }
}
