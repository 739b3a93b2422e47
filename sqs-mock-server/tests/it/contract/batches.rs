//! Section 5.4, and the sizes of batches in 5.3.

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;
use sqs_mock_server::{DeliveryMode, MockSqs};

use super::answers::output_of_xml;
use super::code::{
    BATCH_TOO_LONG, Code, EMPTY_BATCH, IDS_NOT_DISTINCT, INVALID_BATCH_ID, MISSING, PARAMETER,
    TOO_MANY_ENTRIES,
};
use super::form::escaped;
use crate::session::{BOTH, Session};

const ACTIONS: [&str; 3] = ["SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch"];

/// An entry with the members of all three actions.
fn entry(id: &str) -> Value {
    json!({ "Id": id, "MessageBody": "x", "ReceiptHandle": "h", "VisibilityTimeout": 1 })
}

async fn start(protocol: Protocol) -> (Session, String) {
    let mut s = Session::start(protocol).await;
    let url = s.queue("q", json!({})).await;
    (s, url)
}

async fn refused(s: &mut Session, entries: Value, code: Code, text: &str) {
    let url = s.server.queue_url("q");
    for action in ACTIONS {
        let refusal = s.refused(action, &json!({ "QueueUrl": url, "Entries": entries })).await;
        let text = text.replace("{Action}", action);
        refusal.says(action, code, &text);
    }
}

/// 5.4: "0 entries".
#[tokio::test]
async fn batch_without_entries_is_rejected() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol).await;
        let text = "There should be at least one {Action}RequestEntry in the request.";
        refused(&mut s, json!([]), EMPTY_BATCH, text).await;
        s.refused("SendMessageBatch", &json!({ "QueueUrl": url })).await.is("absent", EMPTY_BATCH);
    }
}

/// 5.4: an empty list in the Query protocol.
/// Not recorded: from logs of AWS.
#[tokio::test]
async fn empty_list_in_a_form_is_an_entry_without_an_id() {
    let (mut s, url) = start(Protocol::Query).await;
    for action in ACTIONS {
        let form = format!("Action={action}&QueueUrl={}", escaped(&url));
        let answer = s.wire.form("/", form.as_str()).await;
        output_of_xml(action, &answer).unwrap_err().is(action, EMPTY_BATCH);
        let second = format!("{action}RequestEntry.1.Id=a&{action}RequestEntry.7.ReceiptHandle=h");
        for (entries, number) in [(format!("{action}RequestEntry="), 1), (second, 2)] {
            let answer = s.wire.form("/", format!("{form}&{entries}")).await;
            let text = format!("The request must contain the parameter {action}RequestEntry.{number}.Id.");
            output_of_xml(action, &answer).unwrap_err().says(action, MISSING, &text);
        }
    }
}

/// 5.4: "> 10".
#[tokio::test]
async fn batch_has_at_most_ten_entries() {
    for protocol in BOTH {
        let (mut s, _) = start(protocol).await;
        let entries: Value = (0..11).map(|id| entry(&id.to_string())).collect();
        let text = "Maximum number of entries per request are 10. You have sent 11.";
        refused(&mut s, entries, TOO_MANY_ENTRIES, text).await;
    }
}

/// 5.4: "id not `^[A-Za-z0-9_-]{1,80}$`".
#[tokio::test]
async fn entry_id_has_up_to_80_letters_digits_hyphens_and_underscores() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol).await;
        let text = "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at \
                    most 80 letters long.";
        for bad in ["", "a b", "a.b", "ü", &"x".repeat(81)] {
            refused(&mut s, json!([entry("good"), entry(bad)]), INVALID_BATCH_ID, text).await;
        }
        let good = json!({ "QueueUrl": url, "Entries": [entry("aZ09_-"), entry(&"x".repeat(80))] });
        assert_eq!(s.done("SendMessageBatch", &good).await["Successful"].as_array().unwrap().len(), 2);
    }
}

/// 5.4: "repeated id", the first repeated one.
#[tokio::test]
async fn entry_ids_must_be_distinct() {
    for protocol in BOTH {
        let (mut s, _) = start(protocol).await;
        let entries: Value = ["a", "b", "c", "b", "a"].map(entry).to_vec().into();
        refused(&mut s, entries, IDS_NOT_DISTINCT, "Id b repeated.").await;
    }
}

/// 5.3: "sum of entry sizes <= 1,048,576 whatever the queue's limit".
#[tokio::test]
async fn batch_has_at_most_1048576_bytes() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol).await;
        let sized = |id: &str, bytes: usize| {
            let attributes = json!({ "a": { "DataType": "String", "StringValue": "bcd" } });
            json!({ "Id": id, "MessageBody": "x".repeat(bytes - 10), "MessageAttributes": attributes })
        };
        let most = json!({ "QueueUrl": url, "Entries": [sized("a", 524_288), sized("b", 524_288)] });
        assert_eq!(s.done("SendMessageBatch", &most).await.get("Failed"), None);
        let more = json!({ "QueueUrl": url, "Entries": [sized("a", 524_288), sized("b", 524_289)] });
        let text = "Batch requests cannot be longer than 1048576 bytes. You have sent 1048577 bytes.";
        s.refused("SendMessageBatch", &more).await.says("one byte more", BATCH_TOO_LONG, text);
        s.set(&url, json!({ "MaximumMessageSize": "1024" })).await;
        let refusal = s.refused("SendMessageBatch", &more).await;
        refusal.says("on a queue with a lower limit", BATCH_TOO_LONG, text);
    }
}

/// 5.3: "An entry over the queue's own `MaximumMessageSize` is a Failed entry"; 5.4: "Per-entry failures".
#[tokio::test]
async fn entries_fail_one_by_one() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol).await;
        s.set(&url, json!({ "MaximumMessageSize": "1024" })).await;
        let entries = json!([
            { "Id": "long", "MessageBody": "x".repeat(1_025) },
            { "Id": "good", "MessageBody": "x".repeat(1_024) },
            { "Id": "control", "MessageBody": "\u{1}" },
        ]);
        let output = s.done("SendMessageBatch", &json!({ "QueueUrl": url, "Entries": entries })).await;
        assert_eq!(output["Successful"].as_array().unwrap().len(), 1);
        let failed = &output["Failed"];
        let too_long = json!({
            "Id": "long", "SenderFault": true, "Code": "InvalidParameterValue",
            "Message": "One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes.",
        });
        assert_eq!(failed[0], too_long);
        let control = ["Id", "SenderFault", "Code"].map(|member| &failed[1][member]);
        assert_eq!(control, [&json!("control"), &json!(true), &json!("InvalidMessageContents")]);

        for action in ["DeleteMessageBatch", "ChangeMessageVisibilityBatch"] {
            let output = s.done(action, &json!({ "QueueUrl": url, "Entries": [entry("a")] })).await;
            let failed = &output["Failed"][0];
            assert_eq!(
                (&failed["Code"], &failed["SenderFault"]),
                (&json!("ReceiptHandleIsInvalid"), &json!(true))
            );
        }
    }
}

fn failed(code: &str, text: &str) -> Value {
    json!([{ "Id": "a", "SenderFault": true, "Code": code, "Message": text }])
}

/// 5.4 and 5.6: entries have their own codes and texts. Not recorded, except for the change of a deleted message: from
/// logs of AWS. FIFO queues are inferred from each other.
#[tokio::test]
async fn failed_entry_has_another_text_than_a_single_request() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({})).await;
        let fifo = s.fifo("q.fifo", json!({})).await;
        s.put(&url, "x").await;
        s.put_in(&fifo, "g", "x").await;
        let (deleted, expired) = (s.handle(&url).await, s.handle(&fifo).await);
        s.delete(&url, &deleted).await;
        s.pass(31);
        let gone = "Message does not exist or is not available for visibility timeout change";
        let too_late = "The receipt handle has expired";
        let wrong_type = "The request include parameter that is not valid for this queue type";
        let entry = |handle: &str| json!({ "Id": "a", "ReceiptHandle": handle, "VisibilityTimeout": 1 });
        let sent = json!({
            "Id": "a", "MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "d", "DelaySeconds": 2,
        });
        for (action, url, entry, expected) in [
            ("ChangeMessageVisibilityBatch", &url, entry(&deleted), failed("ReceiptHandleIsInvalid", gone)),
            (
                "ChangeMessageVisibilityBatch",
                &fifo,
                entry(&expired),
                failed("ReceiptHandleIsInvalid", too_late),
            ),
            ("DeleteMessageBatch", &fifo, entry(&expired), failed("ReceiptHandleIsInvalid", too_late)),
            ("SendMessageBatch", &fifo, sent.clone(), failed("InvalidParameterValue", wrong_type)),
            ("SendMessageBatch", &url, sent, failed("InvalidParameterValue", wrong_type)),
        ] {
            let output = s.done(action, &json!({ "QueueUrl": url, "Entries": [entry] })).await;
            assert_eq!(output["Failed"], expected, "{protocol:?} {action}");
        }
    }
}

/// 5.4: "Order of checks".
/// Not recorded: two errors at once. This is the order of one emulator: empty, count, then entry by entry the id,
/// the requirements of FIFO queues and a repeated id, then the total size.
#[tokio::test]
async fn checks_run_in_this_order() {
    for protocol in BOTH {
        let (mut s, _) = start(protocol).await;
        let url = s.fifo("q.fifo", json!({})).await;
        let fifo = |id: &str, body: &str| json!({ "Id": id, "MessageBody": body, "MessageGroupId": "g", "MessageDeduplicationId": "d" });
        let huge = "x".repeat(1_048_577);
        for (row, entries, code) in [
            ("count before id", (0..11).map(|_| fifo("?", "x")).collect::<Value>(), TOO_MANY_ENTRIES),
            ("id before what the queue requires", json!([entry("?")]), INVALID_BATCH_ID),
            ("first entry before the second", json!([entry("a"), fifo("?", "x")]), PARAMETER),
            ("what the queue requires before a repeated id", json!([fifo("a", "x"), entry("a")]), PARAMETER),
            ("repeated id before size", json!([fifo("a", &huge), fifo("a", "x")]), IDS_NOT_DISTINCT),
        ] {
            let input = json!({ "QueueUrl": url, "Entries": entries });
            s.refused("SendMessageBatch", &input).await.is(row, code);
        }
    }
}

/// 2: an absent `VisibilityTimeout` of an entry.
/// Source: <https://github.com/aws/aws-sdk-go-v2/issues/2250>
#[tokio::test]
async fn entry_without_a_visibility_timeout_fails() {
    for protocol in BOTH {
        let (mut s, url) = start(protocol).await;
        s.put(&url, "x").await;
        let entries = json!([{ "Id": "a", "ReceiptHandle": s.handle(&url).await }]);
        let input = json!({ "QueueUrl": url, "Entries": entries });
        let output = s.done("ChangeMessageVisibilityBatch", &input).await;
        assert_eq!(output["Failed"][0]["Code"], "MissingParameter");
        let message = "The request must contain the parameter ChangeMessageVisibilityBatchRequestEntry.1.VisibilityTimeout.";
        assert_eq!(output["Failed"][0]["Message"], message);
    }
}

/// Deletes a batch of ten entries, of which the first five fail. Returns the ids of successful and failed entries.
async fn delete_ten(s: &mut Session, url: &str) -> [Vec<String>; 2] {
    let mut entries = Vec::new();
    for id in 0..10 {
        s.put(url, "x").await;
        let taken = s.take(url, json!({ "WaitTimeSeconds": 1 })).await;
        let handle = if id < 5 { json!("garbage") } else { taken[0]["ReceiptHandle"].clone() };
        entries.push(json!({ "Id": id.to_string(), "ReceiptHandle": handle }));
    }
    let output = s.done("DeleteMessageBatch", &json!({ "QueueUrl": url, "Entries": entries })).await;
    ["Successful", "Failed"].map(|list| {
        let ids = output[list].as_array().expect("a list").iter();
        ids.map(|entry| entry["Id"].as_str().expect("an id").to_owned()).collect()
    })
}

/// 5.4: entries of responses, as recorded from AWS. This server randomizes the order of failed entries and of
/// batch deletes.
#[tokio::test]
async fn aws_like_delivery_returns_results_of_batch_deletes_in_any_order() {
    for protocol in BOTH {
        let mut s = Session::with(MockSqs::builder().delivery(DeliveryMode::AwsLike).seed(7), protocol).await;
        let url = s.queue("q", json!({})).await;
        let answers = [delete_ten(&mut s, &url).await, delete_ten(&mut s, &url).await];
        for list in 0..2 {
            assert!(answers.iter().any(|answer| !answer[list].is_sorted()), "{answers:?}");
        }
        let (mut s, url) = start(protocol).await;
        let in_order = delete_ten(&mut s, &url).await;
        assert!(in_order.iter().all(|ids| ids.len() == 5 && ids.is_sorted()), "{in_order:?}");
    }
}
