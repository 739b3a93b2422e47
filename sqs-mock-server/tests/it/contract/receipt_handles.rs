//! Section 5.6: what a receipt handle is good for.

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;

use super::code::{BAD_HANDLE, PARAMETER};
use crate::session::{BOTH, Session};

/// A queue of either kind with one message.
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

fn change(url: &str, handle: &str, seconds: u32) -> Value {
    json!({ "QueueUrl": url, "ReceiptHandle": handle, "VisibilityTimeout": seconds })
}

/// 5.6, row "unparsable".
#[tokio::test]
async fn text_that_is_no_handle_is_invalid() {
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
async fn deleted_message_is_gone_and_may_be_deleted_again() {
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
async fn expired_handle_deletes_on_a_standard_queue_and_not_on_a_fifo_queue() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, false).await;
        let handle = s.handle(&url).await;
        s.pass(31);
        s.delete(&url, &handle).await;
        assert_eq!(s.counts(&url).await, ["0", "0", "0"]);

        let (mut s, url) = start(protocol, true).await;
        let handle = s.handle(&url).await;
        s.pass(31);
        let text = format!(
            "Value {handle} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired."
        );
        let input = json!({ "QueueUrl": url, "ReceiptHandle": handle });
        s.refused("DeleteMessage", &input).await.says("expired", PARAMETER, &text);
        assert_eq!(s.bodies(&url).await, ["x"]);
    }
}

/// 5.6, row "delete after visibility was extended".
#[tokio::test]
async fn handle_deletes_after_the_visibility_was_extended() {
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
/// Not recorded: what becomes of the message. Here it survives, so that tests find who keeps old handles; on a FIFO
/// queue such a handle has expired.
#[tokio::test]
async fn older_handle_does_not_delete() {
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
        assert_eq!(s.bodies(&url).await, ["x"], "fifo: {fifo}");
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
#[tokio::test]
async fn latest_handle_hides_a_message_of_a_standard_queue_again() {
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

/// 5.6, the same row for FIFO.
/// Not recorded: 200 and no effect, as `LocalStack` has it.
#[tokio::test]
async fn expired_handle_does_not_hide_a_message_of_a_fifo_queue_again() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, true).await;
        let handle = s.handle(&url).await;
        s.pass(31);
        s.hide(&url, &handle, 10).await;
        assert_eq!(s.bodies(&url).await, ["x"]);
    }
}

/// 5.6, row "change visibility with older handle after re-receive".
/// Not recorded: FIFO.
#[tokio::test]
async fn older_handle_changes_the_visibility_too() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol, false).await;
        let older = s.handle(&url).await;
        s.pass(31);
        s.handle(&url).await;
        s.hide(&url, &older, 0).await;
        assert_eq!(s.bodies(&url).await, ["x"], "to 0 worked");

        let (mut s, url) = start(protocol, true).await;
        let older = s.handle(&url).await;
        s.pass(31);
        s.handle(&url).await;
        s.ask("ChangeMessageVisibility", &change(&url, &older, 0)).await.expect("no refusal");
    }
}
