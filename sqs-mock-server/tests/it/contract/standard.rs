//! Section 7.1: standard queues.

use serde_json::json;

use crate::session::{BOTH, Session};

/// 7.1: "At least once"; "Unlimited backlog". Here each receive round delivers each message once.
#[tokio::test]
async fn every_message_is_delivered_until_it_is_deleted() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({})).await;
        let sent: Vec<_> = (0..50).map(|number| number.to_string()).collect();
        for body in &sent {
            s.put(&url, body).await;
        }
        for _ in 0..2 {
            let mut received = Vec::new();
            loop {
                let bodies = s.bodies(&url).await;
                if bodies.is_empty() {
                    break;
                }
                received.extend(bodies);
            }
            assert_eq!(received, sent);
            s.pass(30);
        }
    }
}

/// 7.1: "the older one comes first", as `test_inflight_message_requeue` of `LocalStack` recorded it.
#[tokio::test]
async fn message_that_timed_out_is_received_before_later_ones() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({})).await;
        s.put(&url, "older").await;
        s.handle(&url).await;
        s.pass(15);
        s.put(&url, "newer").await;
        s.pass(15);
        assert_eq!(s.bodies(&url).await, ["older", "newer"]);
    }
}

/// 7.1: "long poll asks all and answers as soon as something is there; it does not wait to fill the batch".
#[tokio::test]
async fn long_poll_returns_the_first_message_without_waiting_for_more() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({})).await;
        s.put(&url, "there").await;
        let ten = json!({ "MaxNumberOfMessages": 10, "WaitTimeSeconds": 20 });
        assert_eq!(s.take(&url, ten.clone()).await.len(), 1, "although the clock is frozen");
        s.done("SendMessage", &json!({ "QueueUrl": url, "MessageBody": "late", "DelaySeconds": 7 })).await;
        let (received, waited) = s.take_while_time_passes(&url, ten.clone()).await;
        assert_eq!(received[0]["Body"], "late");
        assert!((7..20).contains(&waited), "{waited} s");
        let (received, waited) = s.take_while_time_passes(&url, json!({ "WaitTimeSeconds": 5 })).await;
        assert!(received.is_empty() && waited >= 5, "{waited} s");
    }
}

/// 7.1: "`NotVisible` = received and not deleted"; the counts are exact here.
#[tokio::test]
async fn counts_distinguish_visible_in_flight_and_delayed_messages() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({})).await;
        for body in ["a", "b", "c"] {
            s.put(&url, body).await;
        }
        s.done("SendMessage", &json!({ "QueueUrl": url, "MessageBody": "d", "DelaySeconds": 9 })).await;
        let handle = s.handle(&url).await;
        assert_eq!(s.counts(&url).await, ["2", "1", "1"]);
        s.delete(&url, &handle).await;
        s.pass(9);
        assert_eq!(s.counts(&url).await, ["3", "0", "0"]);
    }
}

/// 7.1: "Retention counts from the send; expiry removes also in-flight messages. Deletion afterwards is 200."
#[tokio::test]
async fn retention_removes_every_message() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({ "MessageRetentionPeriod": "60", "VisibilityTimeout": "600" })).await;
        s.put(&url, "in flight").await;
        let handle = s.handle(&url).await;
        s.pass(30);
        s.put(&url, "later").await;
        s.pass(30);
        assert_eq!(s.counts(&url).await, ["1", "0", "0"]);
        s.delete(&url, &handle).await;
        s.pass(29);
        assert_eq!(s.counts(&url).await, ["1", "0", "0"]);
        s.pass(1);
        assert!(s.bodies(&url).await.is_empty());
    }
}

/// 7.1: "Fair queue (`MessageGroupId` on standard): no per-group lock or order", quiet groups come first.
/// Not recorded: the thresholds for a noisy tenant are documented.
#[tokio::test]
async fn quiet_tenants_do_not_wait_for_a_noisy_one() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({})).await;
        let send = |group: &str, body: String| json!({ "QueueUrl": url, "MessageBody": body, "MessageGroupId": group });
        for number in 0..100 {
            s.done("SendMessage", &send("noisy", format!("noisy {number}"))).await;
        }
        for _ in 0..5 {
            assert_eq!(s.bodies(&url).await.len(), 10, "a single tenant is neither delayed nor locked");
        }
        s.done("SendMessage", &send("quiet", "quiet".to_owned())).await;
        let next = s.take(&url, json!({ "AttributeNames": ["MessageGroupId"] })).await.remove(0);
        assert_eq!(
            (&next["Body"], &next["Attributes"]["MessageGroupId"]),
            (&json!("quiet"), &json!("quiet"))
        );
    }
}
