//! Section 5.1: permissions.

use serde_json::{Value, json};

use super::answers::text;
use super::code::{OVER_LIMIT, PARAMETER};
use crate::session::{BOTH, Session};

const ARN: &str = "arn:aws:sqs:us-east-1:000000000000:q";

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

/// 5.1: "label <= 80; action `*` or one of 7 per statement; >7 -> `OverLimit`"; "repeated label".
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

/// 5.1: other errors of both actions.
/// Not recorded: the text about an unknown label, and the codes of the rest.
#[tokio::test]
async fn invalid_and_unknown_permissions_are_rejected() {
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
