//! Section 5.1: quotas of access policies, which are the documented ones.

use serde_json::{Value, json};

use super::code::{ATTRIBUTE_VALUE, OVER_LIMIT};
use crate::session::{BOTH, Session};

fn statement(member: &str, value: Value) -> Value {
    let mut statement = json!({
        "Effect": "Allow", "Principal": { "AWS": "111122223333" }, "Action": "SQS:SendMessage", "Resource": "*",
    });
    statement[member] = value;
    statement
}

fn policy(statements: &[Value]) -> String {
    json!({ "Version": "2012-10-17", "Statement": statements }).to_string()
}

fn accounts(count: u64) -> Value {
    (0..count).map(|number| json!(format!("{number:012}"))).collect()
}

fn conditions(operators: u64, keys: u64) -> Value {
    let keys: Value =
        (0..keys).map(|key| (format!("aws:Key{key}"), json!("x"))).collect::<serde_json::Map<_, _>>().into();
    (0..operators)
        .map(|number| (format!("Operator{number}"), keys.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// A policy of this many bytes.
fn long(bytes: usize) -> String {
    let empty = json!({ "Id": "" }).to_string().len();
    json!({ "Id": "x".repeat(bytes - empty) }).to_string()
}

const ACTIONS: [&str; 8] = [
    "SQS:SendMessage",
    "SQS:ReceiveMessage",
    "SQS:DeleteMessage",
    "SQS:PurgeQueue",
    "SQS:GetQueueUrl",
    "SQS:GetQueueAttributes",
    "SQS:ChangeMessageVisibility",
    "SQS:ListDeadLetterSourceQueues",
];

/// 5.1: "8,192 bytes, 20 statements, 50 principals, 10 conditions, 7 actions per statement".
/// Not recorded: code and text of the refusals.
#[tokio::test]
async fn policies_have_quotas() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let principals = |count| policy(&[statement("Principal", json!({ "AWS": accounts(count) }))]);
        let spread = |count| {
            let half = statement("Principal", json!({ "AWS": accounts(25), "Service": "sns.amazonaws.com" }));
            policy(&[half, statement("Principal", json!({ "AWS": accounts(count) }))])
        };
        let condition = |operators, keys| policy(&[statement("Condition", conditions(operators, keys))]);
        for (row, most, too_many) in [
            ("bytes", long(8_192), long(8_193)),
            (
                "statements",
                policy(&vec![statement("Sid", json!("s")); 20]),
                policy(&vec![statement("Sid", json!("s")); 21]),
            ),
            ("principals", principals(50), principals(51)),
            ("principals of all statements", spread(24), spread(25)),
            ("conditions", condition(10, 1), condition(11, 1)),
            ("conditions of one operator", condition(1, 10), condition(1, 11)),
            (
                "actions",
                policy(&[statement("Action", json!(&ACTIONS[..7]))]),
                policy(&[statement("Action", json!(ACTIONS))]),
            ),
        ] {
            s.set(&url, json!({ "Policy": most })).await;
            assert_eq!(s.attributes(&url).await["Policy"], most, "{row}");
            let attributes = json!({ "Policy": too_many });
            let input = json!({ "QueueUrl": url, "Attributes": attributes });
            s.refused("SetQueueAttributes", &input).await.is(row, OVER_LIMIT);
            s.refused("CreateQueue", &json!({ "QueueName": "n", "Attributes": attributes }))
                .await
                .is(row, OVER_LIMIT);
            assert_eq!(s.attributes(&url).await["Policy"], most, "{row}: nothing changed");
        }
    }
}

/// 5.1: permissions fill the same policy.
/// Not recorded: the texts.
#[tokio::test]
async fn permissions_count_against_the_quotas() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        for label in 0..20 {
            let input = json!({
                "QueueUrl": url, "Label": label.to_string(), "AWSAccountIds": accounts(2), "Actions": ["*"],
            });
            s.done("AddPermission", &input).await;
        }
        let more = json!({ "QueueUrl": url, "Label": "l", "AWSAccountIds": accounts(1), "Actions": ["*"] });
        s.refused("AddPermission", &more).await.is("21 statements", OVER_LIMIT);
        s.done("RemovePermission", &json!({ "QueueUrl": url, "Label": "0" })).await;
        let many = json!({ "QueueUrl": url, "Label": "l", "AWSAccountIds": accounts(13), "Actions": ["*"] });
        s.refused("AddPermission", &many).await.is("51 principals", OVER_LIMIT);
        let most = json!({ "QueueUrl": url, "Label": "l", "AWSAccountIds": accounts(12), "Actions": ["*"] });
        s.done("AddPermission", &most).await;
    }
}

/// 2.4: a policy is a JSON document.
/// Not recorded: the text.
#[tokio::test]
async fn policy_is_an_object() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        for bad in ["x", "[]", "1", "\"\"", "{"] {
            let input = json!({ "QueueUrl": url, "Attributes": { "Policy": bad } });
            let message = "Invalid value for the parameter Policy.";
            s.refused("SetQueueAttributes", &input).await.says(bad, ATTRIBUTE_VALUE, message);
        }
    }
}
