//! Section 5.1: names of queues, tags, permissions.

use serde_json::{Value, json};

use super::ask::text;
use super::code::{ATTRIBUTE_NAME, ATTRIBUTE_VALUE, OVER_LIMIT, PARAMETER};
use crate::session::{BOTH, Session};

const ARN: &str = "arn:aws:sqs:us-east-1:000000000000:q";

/// 5.1: "Name 1..80 of `[A-Za-z0-9_-]`; FIFO ends in `.fifo`, suffix counted".
#[tokio::test]
async fn names_have_80_letters_digits_hyphens_and_underscores() {
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
async fn name_and_kind_of_a_queue_must_agree() {
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

/// 5.1: what only FIFO queues have, on create and on set.
#[tokio::test]
async fn attributes_of_fifo_queues_are_unknown_to_standard_ones() {
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
async fn kind_of_a_queue_cannot_be_changed() {
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
async fn bad_values_are_named() {
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

/// 5.1: "key 1..128, value 0..256 (empty value allowed), `aws:` prefix reserved".
/// Not recorded: code and text of the refusals.
#[tokio::test]
async fn tags_have_lengths_and_a_reserved_prefix() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let (key, value) = ("k".repeat(128), "v".repeat(256));
        let good = json!({ key.clone(): value, "empty": "", "Zürich": "€" });
        s.done("TagQueue", &json!({ "QueueUrl": url, "Tags": good })).await;
        assert_eq!(s.done("ListQueueTags", &json!({ "QueueUrl": url })).await["Tags"], good);
        for (bad, value) in [
            ("", "v".to_owned()),
            (&*format!("{key}k"), "v".to_owned()),
            ("k", format!("{value}v")),
            ("aws:k", "v".to_owned()),
        ] {
            let tags = json!({ bad: value });
            let input = json!({ "QueueUrl": url, "Tags": tags });
            s.refused("TagQueue", &input).await.is(&format!("{bad}={value}"), PARAMETER);
            s.refused("CreateQueue", &json!({ "QueueName": "n", "tags": tags })).await.is(bad, PARAMETER);
        }
    }
}

/// 5.1: "50 recommended max": more are taken.
/// Not recorded: where the end is. Here it is at 1,000 tags, so that nobody fills the memory with them.
#[tokio::test]
async fn fifty_tags_are_a_recommendation() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let tags = |from: u32, to: u32| -> Value {
            (from..to)
                .map(|number| (number.to_string(), json!("v")))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        for (from, to) in [(0, 50), (50, 51), (51, 1_000), (999, 1_000)] {
            s.done("TagQueue", &json!({ "QueueUrl": url, "Tags": tags(from, to) })).await;
        }
        let input = json!({ "QueueUrl": url, "Tags": tags(1_000, 1_001) });
        s.refused("TagQueue", &input).await.is("1,001", PARAMETER);
        let all = s.done("ListQueueTags", &json!({ "QueueUrl": url })).await;
        assert_eq!(all["Tags"].as_object().unwrap().len(), 1_000);
    }
}

fn permission(label: &str, accounts: &[&str], actions: &[&str]) -> Value {
    json!({ "QueueUrl": "/000000000000/q", "Label": label, "AWSAccountIds": accounts, "Actions": actions })
}

/// 5.1: "Resulting policy".
#[tokio::test]
async fn permissions_are_statements_of_a_policy() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        s.done("AddPermission", &permission("one", &["111122223333"], &["SendMessage"])).await;
        let two = permission("two", &["111122223333", "444455556666"], &["*", "ReceiveMessage"]);
        s.done("AddPermission", &two).await;
        let policy: Value = serde_json::from_str(&text(&s.attributes(&url).await["Policy"])).unwrap();
        let statement = |sid: &str, principals: Value, actions: Value| {
            json!({
                "Sid": sid, "Effect": "Allow", "Principal": { "AWS": principals }, "Action": actions, "Resource": ARN,
            })
        };
        let roots = ["arn:aws:iam::111122223333:root", "arn:aws:iam::444455556666:root"];
        let expected = json!({
            "Version": "2008-10-17",
            "Id": format!("{ARN}/SQSDefaultPolicy"),
            "Statement": [
                statement("one", json!(roots[0]), json!("SQS:SendMessage")),
                statement("two", json!(roots), json!(["SQS:*", "SQS:ReceiveMessage"])),
            ],
        });
        assert_eq!(policy, expected);
    }
}

/// 5.1: "label <= 80; action `*` or one of 7 per statement; >7 -> OverLimit"; "repeated label".
#[tokio::test]
async fn permissions_have_limits() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        s.queue("q", json!({})).await;
        let account = &["111122223333"];
        s.done("AddPermission", &permission(&"l".repeat(80), account, &["SendMessage"; 7])).await;
        s.done("AddPermission", &permission("l", account, &["*"])).await;
        let message = "Value l for parameter Label is invalid. Reason: Already exists.";
        s.refused("AddPermission", &permission("l", account, &["*"])).await.says("again", PARAMETER, message);
        let eight = permission("eight", account, &["SendMessage"; 8]);
        let message = "8 Actions were found, maximum allowed is 7.";
        s.refused("AddPermission", &eight).await.says("eight", OVER_LIMIT, message);
        let refusal = s.refused("AddPermission", &permission(&"l".repeat(81), account, &["*"])).await;
        refusal.is("label of 81", PARAMETER);
    }
}

/// 5.1: the other refusals of both actions.
/// Not recorded: the text about an unknown label, and the codes of the rest.
#[tokio::test]
async fn permissions_that_cannot_be_given_or_found() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        s.queue("q", json!({})).await;
        let input = json!({ "QueueUrl": "/000000000000/q", "Label": "none" });
        let message = "Value none for parameter Label is invalid. Reason: can't find label.";
        s.refused("RemovePermission", &input).await.says("unknown label", PARAMETER, message);
        for (row, input) in [
            ("unknown action", permission("l", &["111122223333"], &["MakeCoffee"])),
            ("action of the owner", permission("l", &["111122223333"], &["CreateQueue"])),
            ("no account", permission("l", &["someone"], &["*"])),
            ("label with a space", permission("a b", &["111122223333"], &["*"])),
        ] {
            s.refused("AddPermission", &input).await.is(row, PARAMETER);
        }
    }
}
