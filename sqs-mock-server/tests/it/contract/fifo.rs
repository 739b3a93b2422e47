//! Section 7.2: delivery of FIFO queues.

use std::time::Duration;

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;

use super::answers::text;
use super::code::PARAMETER;
use crate::session::{BOTH, Session};
use crate::wire::Wire;

async fn start(protocol: Protocol, messages: &[(&str, &str)]) -> (Session, String) {
    let mut s = Session::frozen(protocol).await;
    let url = s.fifo("q.fifo", json!({})).await;
    for (group, body) in messages {
        s.put_in(&url, group, body).await;
    }
    (s, url)
}

fn handle(message: &Value) -> String {
    text(&message["ReceiptHandle"])
}

fn bodies(messages: &[Value]) -> Vec<String> {
    messages.iter().map(|message| text(&message["Body"])).collect()
}

/// 7.2: "Group lock"; "Deleting all in-flight of G unlocks at once; deleting part keeps it locked".
#[tokio::test]
async fn group_is_locked_while_one_of_its_messages_is_in_flight() {
    for protocol in BOTH {
        let (mut s, url) =
            start(protocol, &[("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("b", "b2")]).await;
        let first = s.take(&url, json!({ "MaxNumberOfMessages": 2 })).await;
        assert_eq!(bodies(&first), ["a1", "a2"], "several of one group, in order");
        assert_eq!(s.bodies(&url).await, ["b1", "b2"], "other groups are delivered");
        s.delete(&url, &handle(&first[0])).await;
        assert!(s.bodies(&url).await.is_empty(), "the group is still locked");
        s.delete(&url, &handle(&first[1])).await;
        assert_eq!(s.bodies(&url).await, ["a3"]);
    }
}

/// 7.2: "prefers filling from one group before the next".
#[tokio::test]
async fn receive_fills_from_one_group_before_the_next() {
    for protocol in BOTH {
        let (mut s, url) =
            start(protocol, &[("a", "a1"), ("b", "b1"), ("a", "a2"), ("b", "b2"), ("a", "a3")]).await;
        assert_eq!(
            bodies(&s.take(&url, json!({ "MaxNumberOfMessages": 4 })).await),
            ["a1", "a2", "a3", "b1"]
        );
    }
}

/// 7.2: "also wakes a waiting long poll".
#[tokio::test]
async fn unlocked_group_wakes_a_long_poll() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, &[("a", "a1"), ("a", "a2")]).await;
        let first = s.handle(&url).await;
        let mut second = Wire::connect(&s.server).await;
        let delete = json!({ "QueueUrl": url, "ReceiptHandle": first }).to_string();
        let deletes = async {
            while !second.get("/metrics").await.text().contains("\nsqs_mock_parked_receives 1\n") {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            second.json("DeleteMessage", delete).await
        };
        let (received, deleted) = tokio::join!(s.take(&url, json!({ "WaitTimeSeconds": 20 })), deletes);
        assert_eq!((bodies(&received), deleted.status), (vec!["a2".to_owned()], 200), "the clock is frozen");
    }
}

/// 7.2: "New sends into a locked group do not unlock it".
#[tokio::test]
async fn new_message_waits_behind_the_lock() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, &[("a", "a1")]).await;
        s.handle(&url).await;
        s.put_in(&url, "a", "a2").await;
        assert!(s.bodies(&url).await.is_empty());
        assert_eq!(s.counts(&url).await, ["1", "1", "0"], "locked messages are not in flight");
    }
}

/// 7.2: "Visibility run-out or change to 0 returns messages at the head in original order".
#[tokio::test]
async fn messages_return_in_their_original_order() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, &[("a", "a1"), ("a", "a2"), ("a", "a3")]).await;
        s.take(&url, json!({ "MaxNumberOfMessages": 2 })).await;
        s.pass(30);
        let again = s.take(&url, json!({ "MaxNumberOfMessages": 2 })).await;
        assert_eq!(bodies(&again), ["a1", "a2"]);
        for message in again.iter().rev() {
            s.hide(&url, &handle(message), 0).await;
        }
        assert_eq!(s.bodies(&url).await, ["a1", "a2", "a3"]);
    }
}

/// 7.2: "When visibility of messages in a group differs".
#[tokio::test]
async fn receive_stops_at_the_first_message_that_is_still_hidden() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, &[("a", "a1"), ("a", "a2"), ("a", "a3")]).await;
        let all = s.take(&url, json!({ "MaxNumberOfMessages": 3 })).await;
        s.hide(&url, &handle(&all[1]), 100).await;
        s.pass(30);
        assert_eq!(
            s.bodies(&url).await,
            ["a1"],
            "a message with an extended timeout blocks itself and later ones"
        );

        let (mut s, url) = start(protocol, &[("a", "a1"), ("a", "a2")]).await;
        let all = s.take(&url, json!({ "MaxNumberOfMessages": 2 })).await;
        s.hide(&url, &handle(&all[0]), 0).await;
        assert_eq!(s.bodies(&url).await, ["a1"], "one made visible before others is returned");
    }
}

/// 7.2: "VisibilityTimeout=0 receives walk round the groups".
#[tokio::test]
async fn receives_with_timeout_zero_rotate_through_the_groups() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, &[("a", "a1"), ("b", "b1"), ("c", "c1")]).await;
        let mut seen = Vec::new();
        for _ in 0..6 {
            seen.extend(bodies(&s.take(&url, json!({ "VisibilityTimeout": 0 })).await));
        }
        assert_eq!(seen, ["a1", "b1", "c1", "a1", "b1", "c1"]);
    }
}

/// 7.2: "Queue delay applies to the whole queue".
#[tokio::test]
async fn delay_of_the_queue_applies_to_every_message() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.fifo("q.fifo", json!({ "DelaySeconds": "10" })).await;
        for body in ["a1", "a2"] {
            s.put_in(&url, "a", body).await;
        }
        assert_eq!(s.counts(&url).await, ["0", "0", "2"]);
        s.pass(10);
        assert_eq!(s.bodies(&url).await, ["a1", "a2"]);
    }
}

/// 7.2: `ReceiveRequestAttemptId`.
/// Not recorded: the details of a replay; the rules are the documented ones.
#[tokio::test]
async fn attempt_is_repeated_with_the_same_messages_and_handles() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, &[("a", "a1"), ("b", "b1")]).await;
        let attempt = |id: &str| json!({ "ReceiveRequestAttemptId": id, "VisibilityTimeout": 60 });
        let first = s.take(&url, attempt("one")).await;
        s.pass(50);
        let replay = s.take(&url, attempt("one")).await;
        let shown = |message: &Value| (text(&message["Body"]), handle(message));
        assert_eq!(replay.iter().map(shown).collect::<Vec<_>>(), first.iter().map(shown).collect::<Vec<_>>());
        assert_eq!(bodies(&s.take(&url, attempt("two")).await), ["b1"], "another attempt does not get them");
        s.pass(50);
        assert_eq!(s.counts(&url).await[1], "2", "the visibility timeout was restarted");
    }
}

/// 7.2: "fails to replay once any of them was deleted or changed visibility".
/// Not recorded: code and text are from a log of AWS.
#[tokio::test]
async fn attempt_is_rejected_after_a_delete_or_a_change_of_visibility() {
    for (protocol, hides) in BOTH.into_iter().flat_map(|protocol| [(protocol, false), (protocol, true)]) {
        let (mut s, url) = start(protocol, &[("a", "a1"), ("b", "b1")]).await;
        let attempt = json!({ "ReceiveRequestAttemptId": "one" });
        let first = s.take(&url, attempt.clone()).await;
        if hides {
            s.hide(&url, &handle(&first[0]), 60).await;
        } else {
            s.delete(&url, &handle(&first[0])).await;
        }
        let input = json!({ "QueueUrl": url, "ReceiveRequestAttemptId": "one" });
        s.refused("ReceiveMessage", &input).await.says(
            "not repeatable",
            PARAMETER,
            "Value one for parameter ReceiveRequestAttemptId is invalid. Reason: The receiveRequestAttemptId is not \
             valid anymore since the receive call is not retryable.",
        );
        assert_eq!(s.bodies(&url).await, ["b1"], "other receives succeed");
    }
}

/// 7.2: an attempt is remembered for 5 minutes.
/// Not recorded.
#[tokio::test]
async fn attempt_expires_after_five_minutes() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, &[("a", "a1")]).await;
        let attempt = json!({ "ReceiveRequestAttemptId": "one", "VisibilityTimeout": 600 });
        assert_eq!(s.take(&url, attempt.clone()).await.len(), 1);
        s.pass(299);
        assert_eq!(s.take(&url, attempt.clone()).await.len(), 1);
        s.pass(2);
        assert!(s.take(&url, attempt).await.is_empty(), "5 minutes from the first receive");
    }
}
