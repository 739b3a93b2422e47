//! Section 5.3: limits of messages.

use serde_json::{Value, json};

use super::code::{CONTENTS, MISSING, PARAMETER};
use crate::session::{BOTH, Session};

pub(super) fn message(attributes: &Value) -> Value {
    json!({ "QueueUrl": "/000000000000/q", "MessageBody": "x", "MessageAttributes": attributes })
}

pub(super) fn text_attribute(name: &str, value: &str) -> Value {
    json!({ name: { "DataType": "String", "StringValue": value } })
}

pub(super) async fn start(protocol: sqs_client::wire::protocol::Protocol) -> Session {
    let mut s = Session::start(protocol).await;
    s.queue("q", json!({})).await;
    s
}

/// 5.3: "Characters allowed in body and String values".
#[tokio::test]
async fn bodies_and_string_values_accept_xml_characters() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        for good in
            ["\t", "\n", "\r", " ", "\u{7F}", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{10000}", "\u{10FFFF}"]
        {
            let mut input = message(&text_attribute("a", good));
            input["MessageBody"] = good.into();
            s.done("SendMessage", &input).await;
        }
        for bad in ["\0", "\u{1}", "\u{8}", "\u{B}", "\u{C}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"] {
            let row = format!("{bad:?}");
            let mut input = message(&json!({}));
            input["MessageBody"] = bad.into();
            s.refused("SendMessage", &input).await.is(&row, CONTENTS);
            let input = message(&text_attribute("a", bad));
            s.refused("SendMessage", &input).await.is(&row, PARAMETER);
        }
    }
}

/// 5.3: "Size of one message"; "Limit inclusive"; the error of a single send.
#[tokio::test]
async fn size_is_body_and_attributes_in_bytes() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        s.set("/000000000000/q", json!({ "MaximumMessageSize": "1024" })).await;
        let message = "One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.";
        for (row, rest, attributes) in [
            ("plain", 1_024, json!({})),
            ("text", 1_024 - (1 + 6 + 3), text_attribute("a", "€")),
            (
                "number",
                1_024 - (2 + 10 + 2),
                json!({ "nn": { "DataType": "Number.int", "StringValue": "42" } }),
            ),
            (
                "binary",
                1_024 - (1 + 6 + 4),
                json!({ "b": { "DataType": "Binary", "BinaryValue": "AAECAw==" } }),
            ),
        ] {
            let mut input = json!({ "QueueUrl": "/000000000000/q", "MessageAttributes": attributes });
            input["MessageBody"] = "x".repeat(rest).into();
            s.done("SendMessage", &input).await;
            input["MessageBody"] = "x".repeat(rest + 1).into();
            s.refused("SendMessage", &input).await.says(row, PARAMETER, message);
        }
        let umlauts = json!({ "QueueUrl": "/000000000000/q", "MessageBody": "ü".repeat(512) + "x" });
        s.refused("SendMessage", &umlauts).await.says("bytes, not characters", PARAMETER, message);
        let not_counted = json!({
            "QueueUrl": "/000000000000/q", "MessageBody": "x".repeat(1_024), "MessageGroupId": "g".repeat(128),
            "MessageSystemAttributes": { "AWSTraceHeader": { "DataType": "String", "StringValue": "Root=1" } },
        });
        s.done("SendMessage", &not_counted).await;
    }
}

/// 5.3: the maximum message size.
#[tokio::test]
async fn largest_message_has_1048576_bytes() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        let input = |bytes: usize| json!({ "QueueUrl": "/000000000000/q", "MessageBody": "x".repeat(bytes) });
        s.done("SendMessage", &input(1_048_576)).await;
        let message =
            "One or more parameters are invalid. Reason: Message must be shorter than 1048576 bytes.";
        s.refused("SendMessage", &input(1_048_577)).await.says("one more", PARAMETER, message);
    }
}

/// 5.3: "Group and dedup ids", "on both queue types" and the empty string included.
#[tokio::test]
async fn ids_accept_letters_digits_and_punctuation() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        s.fifo("q.fifo", json!({ "ContentBasedDeduplication": "true" })).await;
        let input = |queue: &str, parameter: &str, id: &str| {
            let mut input = json!({ "QueueUrl": format!("/000000000000/{queue}"), "MessageBody": "x" });
            input["MessageGroupId"] = "g".into();
            input[parameter] = id.into();
            input
        };
        let all = "azAZ09!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
        for (queue, parameter) in
            [("q", "MessageGroupId"), ("q.fifo", "MessageGroupId"), ("q.fifo", "MessageDeduplicationId")]
        {
            for good in [all, &"x".repeat(128)] {
                s.done("SendMessage", &input(queue, parameter, good)).await;
            }
            for bad in ["", "a b", "ü", "\n", &"x".repeat(129)] {
                let text = format!(
                    "Value {bad} for parameter {parameter} is invalid. Reason: {parameter} can only include \
                     alphanumeric and punctuation characters. 1 to 128 in length."
                );
                let refusal = s.refused("SendMessage", &input(queue, parameter, bad)).await;
                refusal.says(&format!("{queue} {parameter} {bad:?}"), PARAMETER, &text);
            }
        }
    }
}

/// 5.3: "FIFO single send".
#[tokio::test]
async fn fifo_message_requires_a_group_and_an_id() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        let url = s.fifo("q.fifo", json!({})).await;
        let input = json!({ "QueueUrl": url, "MessageBody": "x", "MessageDeduplicationId": "d" });
        let text = "The request must contain the parameter MessageGroupId.";
        s.refused("SendMessage", &input).await.says("no group", MISSING, text);
        let input = json!({ "QueueUrl": url, "MessageBody": "x", "MessageGroupId": "g" });
        let text = "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId \
                    provided explicitly";
        s.refused("SendMessage", &input).await.says("no id", PARAMETER, text);
    }
}

/// 5.3: "FIFO batch: either fault in ONE entry fails the WHOLE request, both as `InvalidParameterValue`".
#[tokio::test]
async fn entry_without_a_group_or_an_id_fails_the_whole_fifo_batch() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        let url = s.fifo("q.fifo", json!({})).await;
        let good =
            json!({ "Id": "good", "MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "d" });
        for (row, bad) in [
            ("no group", json!({ "Id": "bad", "MessageBody": "x", "MessageDeduplicationId": "e" })),
            ("no id", json!({ "Id": "bad", "MessageBody": "x", "MessageGroupId": "g" })),
        ] {
            let input = json!({ "QueueUrl": url, "Entries": [good, bad] });
            s.refused("SendMessageBatch", &input).await.is(row, PARAMETER);
            assert_eq!(s.counts(&url).await[0], "0", "{row}: nothing was sent");
        }
    }
}

/// 5.3: "FIFO `DelaySeconds` > 0".
#[tokio::test]
async fn fifo_message_cannot_have_its_own_delay() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        let url = s.fifo("q.fifo", json!({ "ContentBasedDeduplication": "true" })).await;
        let input = json!({ "QueueUrl": url, "MessageBody": "x", "MessageGroupId": "g", "DelaySeconds": 2 });
        let text = "Value 2 for parameter DelaySeconds is invalid. Reason: The request include parameter that is not \
                    valid for this queue type.";
        s.refused("SendMessage", &input).await.says("delay", PARAMETER, text);
    }
}

/// 5.3: delays out of range.
/// Not recorded: the text.
#[tokio::test]
async fn delay_is_at_most_900_seconds() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        for bad in [-1, 901] {
            let mut input = message(&json!({}));
            input["DelaySeconds"] = bad.into();
            let text = format!(
                "Value {bad} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900."
            );
            s.refused("SendMessage", &input).await.says("delay", PARAMETER, &text);
        }
    }
}
