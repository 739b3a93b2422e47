//! Section 5.6: validity of receipt handles.

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;

use super::code::{BAD_HANDLE, PARAMETER};
use crate::session::{BOTH, Session};

/// A standard or FIFO queue with one message.
async fn start(protocol: Protocol, fifo: bool) -> (Session, String) {
    let mut s = Session::frozen(protocol).await;
    let url = if fifo {
        let url = s.fifo("q.fifo", json!({})).await;
        s.put_in(&url, "g", "x").await;
        url
    } else {
        let url = s.queue("q", json!({})).await;
        s.put(&url, "x").await;
        url
    };
    (s, url)
}

fn expired(handle: &str) -> String {
    format!("Value {handle} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.")
}

fn change(url: &str, handle: &str, seconds: u32) -> Value {
    json!({ "QueueUrl": url, "ReceiptHandle": handle, "VisibilityTimeout": seconds })
}

/// 5.6, row "unparsable".
#[tokio::test]
async fn malformed_handle_is_invalid() {
    for (protocol, fifo) in BOTH.into_iter().flat_map(|protocol| [(protocol, false), (protocol, true)]) {
        let (mut s, url) = start(protocol, fifo).await;
        for bad in ["x", "garbage with spaces", "AQEB", "é"] {
            let text = format!("The input receipt handle \"{bad}\" is not a valid receipt handle.");
            s.refused("DeleteMessage", &json!({ "QueueUrl": url, "ReceiptHandle": bad }))
                .await
                .says(bad, BAD_HANDLE, &text);
            s.refused("ChangeMessageVisibility", &change(&url, bad, 1)).await.says(bad, BAD_HANDLE, &text);
        }
    }
}

/// 5.6, rows "delete, in flight" and "delete again / message gone".
/// Not recorded: deleting again on a FIFO queue.
#[tokio::test]
async fn second_delete_of_a_message_succeeds() {
    for (protocol, fifo) in BOTH.into_iter().flat_map(|protocol| [(protocol, false), (protocol, true)]) {
        let (mut s, url) = start(protocol, fifo).await;
        let handle = s.handle(&url).await;
        s.delete(&url, &handle).await;
        s.delete(&url, &handle).await;
        assert_eq!(s.counts(&url).await, ["0", "0", "0"]);
        s.pass(60);
        s.delete(&url, &handle).await;
        assert!(s.bodies(&url).await.is_empty());
    }
}

/// 5.6, row "delete, in flight" of FIFO: "group unlocks when none left".
#[tokio::test]
async fn deleting_the_last_message_in_flight_unlocks_its_group() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, true).await;
        s.put_in(&url, "g", "y").await;
        let handle = s.handle(&url).await;
        assert!(s.bodies(&url).await.is_empty(), "the group is locked");
        s.delete(&url, &handle).await;
        assert_eq!(s.bodies(&url).await, ["y"]);
    }
}

/// 5.6, row "delete after visibility ran out, not re-received".
#[tokio::test]
async fn expired_handle_deletes_on_a_standard_queue_but_not_on_a_fifo_queue() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, false).await;
        let handle = s.handle(&url).await;
        s.pass(31);
        s.delete(&url, &handle).await;
        assert_eq!(s.counts(&url).await, ["0", "0", "0"]);

        let (mut s, url) = start(protocol, true).await;
        let handle = s.handle(&url).await;
        s.pass(31);
        let text = expired(&handle);
        let input = json!({ "QueueUrl": url, "ReceiptHandle": handle });
        s.refused("DeleteMessage", &input).await.says("expired", PARAMETER, &text);
        assert_eq!(s.bodies(&url).await, ["x"]);
    }
}

/// 5.6, row "delete after visibility was extended".
#[tokio::test]
async fn handle_deletes_after_an_extension_of_the_visibility_timeout() {
    for (protocol, fifo) in BOTH.into_iter().flat_map(|protocol| [(protocol, false), (protocol, true)]) {
        let (mut s, url) = start(protocol, fifo).await;
        let handle = s.handle(&url).await;
        s.pass(20);
        s.hide(&url, &handle, 60).await;
        s.pass(40);
        s.delete(&url, &handle).await;
        s.pass(60);
        assert!(s.bodies(&url).await.is_empty());
    }
}

/// 5.6, row "delete with handle older than a later receive".
/// Not recorded: a maintainer of a client verified it on AWS for standard queues; on a FIFO queue it is inferred.
#[tokio::test]
async fn older_handle_deletes_on_a_standard_queue_but_not_on_a_fifo_queue() {
    for (protocol, fifo) in BOTH.into_iter().flat_map(|protocol| [(protocol, false), (protocol, true)]) {
        let (mut s, url) = start(protocol, fifo).await;
        let older = s.handle(&url).await;
        s.pass(31);
        let newer = s.handle(&url).await;
        assert_ne!(older, newer, "new handle on each receive");
        let input = json!({ "QueueUrl": url, "ReceiptHandle": older });
        if fifo {
            s.refused("DeleteMessage", &input).await.is("older", PARAMETER);
        } else {
            s.done("DeleteMessage", &input).await;
        }
        s.pass(31);
        assert_eq!(s.bodies(&url).await.len(), usize::from(fifo), "fifo: {fifo}");
    }
}

/// 5.6, row "of a receive 12 hours ago".
/// Not recorded: a log of AWS says "The receipt handle has expired" after 55,000 seconds; the 12 hours are inferred.
#[tokio::test]
async fn handle_of_a_standard_queue_expires_after_12_hours() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, false).await;
        let handle = s.handle(&url).await;
        s.pass(43_200);
        let text = expired(&handle);
        let input = json!({ "QueueUrl": url, "ReceiptHandle": handle });
        s.refused("DeleteMessage", &input).await.says("delete", PARAMETER, &text);
        s.refused("ChangeMessageVisibility", &change(&url, &handle, 0)).await.says("hide", PARAMETER, &text);
        assert_eq!(s.bodies(&url).await, ["x"]);
    }
}

/// 5.6, row "handle of another queue".
/// Not recorded: the text is from a log of AWS.
#[tokio::test]
async fn handle_of_another_queue_is_not_valid() {
    for (protocol, fifo) in BOTH.into_iter().flat_map(|protocol| [(protocol, false), (protocol, true)]) {
        let (mut s, url) = start(protocol, fifo).await;
        let handle = s.handle(&url).await;
        let other = s.queue("other", json!({})).await;
        let text = format!("The receipt handle \"{handle}\" is not valid for this queue.");
        let input = json!({ "QueueUrl": other, "ReceiptHandle": handle });
        s.refused("DeleteMessage", &input).await.says("delete", BAD_HANDLE, &text);
        s.refused("ChangeMessageVisibility", &change(&other, &handle, 0))
            .await
            .says("hide", BAD_HANDLE, &text);
    }
}

/// 5.6: "412 to 476 characters, FIFO 324".
#[tokio::test]
async fn handles_have_the_length_of_aws_handles() {
    for protocol in BOTH {
        for (fifo, lengths) in [(false, 412..=476), (true, 324..=324)] {
            let (mut s, url) = start(protocol, fifo).await;
            let handle = s.handle(&url).await;
            assert!(lengths.contains(&handle.len()), "{handle}");
            assert!(!handle.contains('-'), "{handle}");
        }
    }
}

/// 5.6, row "change visibility, message deleted".
#[tokio::test]
async fn visibility_of_a_deleted_message_cannot_be_changed() {
    for (protocol, fifo) in BOTH.into_iter().flat_map(|protocol| [(protocol, false), (protocol, true)]) {
        let (mut s, url) = start(protocol, fifo).await;
        let handle = s.handle(&url).await;
        s.delete(&url, &handle).await;
        let text = format!(
            "Value {handle} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available \
             for visibility timeout change."
        );
        s.refused("ChangeMessageVisibility", &change(&url, &handle, 9))
            .await
            .says("deleted", PARAMETER, &text);
    }
}

/// 5.6, row "change visibility after run-out, latest handle".
/// Not recorded: that the message is hidden again. The 200 is recorded.
#[tokio::test]
async fn latest_handle_hides_a_standard_message_again() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, false).await;
        let handle = s.handle(&url).await;
        s.pass(31);
        s.hide(&url, &handle, 10).await;
        assert!(s.bodies(&url).await.is_empty());
        s.pass(10);
        assert_eq!(s.bodies(&url).await, ["x"]);
    }
}

/// 5.6, the same row for FIFO, and the row for older handles.
/// Not recorded: the text is from a log of AWS, for a handle whose visibility ran out.
#[tokio::test]
async fn visibility_change_with_an_expired_fifo_handle_is_rejected() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, true).await;
        let handle = s.handle(&url).await;
        s.pass(31);
        let text = expired(&handle);
        s.refused("ChangeMessageVisibility", &change(&url, &handle, 10)).await.says("late", PARAMETER, &text);
        s.handle(&url).await;
        s.refused("ChangeMessageVisibility", &change(&url, &handle, 0)).await.says("older", PARAMETER, &text);
        assert!(s.bodies(&url).await.is_empty(), "the later receive is not affected");
    }
}

/// 5.6, row "change visibility with older handle after re-receive".
#[tokio::test]
async fn older_handle_changes_the_visibility_of_a_standard_message() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, false).await;
        let older = s.handle(&url).await;
        s.pass(31);
        s.handle(&url).await;
        s.hide(&url, &older, 0).await;
        assert_eq!(s.bodies(&url).await, ["x"], "the change to 0 applied");
    }
}
