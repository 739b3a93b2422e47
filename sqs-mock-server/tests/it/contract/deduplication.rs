//! Section 7.3: deduplication, and sequence numbers.

use serde_json::{Value, json};

use super::answers::text;
use crate::session::{BOTH, Session};

fn message(url: &str, group: &str, id: &str, body: &str) -> Value {
    json!({ "QueueUrl": url, "MessageBody": body, "MessageGroupId": group, "MessageDeduplicationId": id })
}

/// 7.3: "Window 5 min from the FIRST accepted send, not extended by duplicates, independent of receive/delete".
#[tokio::test]
async fn id_is_deduplicated_for_five_minutes_from_the_first_send() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.fifo("q.fifo", json!({})).await;
        let first = s.done("SendMessage", &message(&url, "g", "d", "x")).await;
        let handle = s.handle(&url).await;
        s.delete(&url, &handle).await;
        for seconds in [200, 99] {
            s.pass(seconds);
            assert_eq!(s.done("SendMessage", &message(&url, "g", "d", "x")).await, first);
        }
        assert!(s.bodies(&url).await.is_empty());
        s.pass(1);
        let second = s.done("SendMessage", &message(&url, "g", "d", "x")).await;
        assert_ne!(second["MessageId"], first["MessageId"]);
        assert_eq!(s.bodies(&url).await, ["x"]);
    }
}

/// 7.3: "A duplicate is a 200 with the original `MessageId` (and `SequenceNumber`), nothing enqueued. Body may differ".
#[tokio::test]
async fn duplicate_gets_the_response_of_the_first_send() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.fifo("q.fifo", json!({})).await;
        let first = s.done("SendMessage", &message(&url, "g", "d", "first")).await;
        let second = s.done("SendMessage", &message(&url, "g", "d", "second")).await;
        for member in ["MessageId", "SequenceNumber"] {
            assert_eq!(second[member], first[member], "{member}");
        }
        let entries = json!([{ "Id": "a", "MessageBody": "third", "MessageGroupId": "g", "MessageDeduplicationId": "d" }]);
        let batch = s.done("SendMessageBatch", &json!({ "QueueUrl": url, "Entries": entries })).await;
        assert_eq!(batch["Successful"][0]["MessageId"], first["MessageId"]);
        assert_eq!(s.bodies(&url).await, ["first"]);
    }
}

/// 7.3: "Explicit id beats content hash".
#[tokio::test]
async fn explicit_id_overrides_the_content_hash() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.fifo("q.fifo", json!({ "ContentBasedDeduplication": "true" })).await;
        for id in ["one", "two"] {
            s.done("SendMessage", &message(&url, "g", id, "same")).await;
        }
        assert_eq!(s.bodies(&url).await, ["same", "same"]);
    }
}

/// 7.3: "Scope `queue` ignores the group; scope `messageGroup` keys on (group, id), whatever the throughput attribute
/// says".
#[tokio::test]
async fn scope_determines_whether_groups_have_separate_ids() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        for (name, attributes, expected) in [
            ("queue.fifo", json!({ "DeduplicationScope": "queue" }), 1),
            ("group.fifo", json!({ "DeduplicationScope": "messageGroup" }), 2),
            (
                "both.fifo",
                json!({ "DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId" }),
                2,
            ),
        ] {
            let url = s.fifo(name, attributes).await;
            for group in ["a", "b", "a"] {
                s.done("SendMessage", &message(&url, group, "d", "x")).await;
            }
            assert_eq!(s.bodies(&url).await.len(), expected, "{name}");
        }
    }
}

/// 7.3: "Changing `DeduplicationScope` on a live queue did not alter dedup behaviour in the recording".
#[tokio::test]
async fn change_of_scope_does_not_affect_an_existing_queue() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        for (name, from, to, expected) in
            [("a.fifo", "queue", "messageGroup", 1), ("b.fifo", "messageGroup", "queue", 2)]
        {
            let url = s.fifo(name, json!({ "DeduplicationScope": from })).await;
            s.set(&url, json!({ "DeduplicationScope": to })).await;
            assert_eq!(s.attributes(&url).await["DeduplicationScope"], to);
            for group in ["a", "b"] {
                s.done("SendMessage", &message(&url, group, "d", "x")).await;
            }
            assert_eq!(s.bodies(&url).await.len(), expected, "{name}");
        }
    }
}

/// 7.3: "`SequenceNumber`: 20-digit decimal string, increasing per group; step a multiple of 256".
#[tokio::test]
async fn sequence_numbers_have_20_digits_and_increase() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.fifo("q.fifo", json!({})).await;
        let mut last: Option<u128> = None;
        for number in 0..5 {
            let sent = s.put_in(&url, "g", &number.to_string()).await;
            let sequence = text(&sent["SequenceNumber"]);
            assert_eq!(sequence.len(), 20, "{sequence}");
            let sequence: u128 = sequence.parse().unwrap();
            if let Some(last) = last {
                assert!(sequence > last && (sequence - last).is_multiple_of(256), "{last} {sequence}");
            }
            last = Some(sequence);
        }
    }
}
