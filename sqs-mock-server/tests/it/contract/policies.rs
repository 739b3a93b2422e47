//! Section 5.1: access policies, their normalized form, and their documented quotas.

use serde_json::{Value, json};

use super::answers::text;
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

const OPERATORS: [&str; 11] = [
    "StringEquals",
    "StringNotEquals",
    "StringLike",
    "StringNotLike",
    "ArnEquals",
    "ArnNotEquals",
    "ArnLike",
    "ArnNotLike",
    "Bool",
    "Null",
    "IpAddress",
];

fn conditions(operators: usize, keys: u64) -> Value {
    let keys: Value =
        (0..keys).map(|key| (format!("aws:Key{key}"), json!("x"))).collect::<serde_json::Map<_, _>>().into();
    let operators = OPERATORS.iter().take(operators);
    operators.map(|name| ((*name).to_owned(), keys.clone())).collect::<serde_json::Map<_, _>>().into()
}

/// This many statements with unique ids.
fn statements(count: u64) -> String {
    policy(&(0..count).map(|number| statement("Sid", json!(format!("s{number}")))).collect::<Vec<_>>())
}

/// A policy of this many bytes.
fn long(bytes: usize) -> String {
    let with_id = |id: &str| json!({ "Version": "2012-10-17", "Id": id, "Statement": [] }).to_string();
    with_id(&"x".repeat(bytes - with_id("").len()))
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

/// 5.1: "8,192 bytes, 20 statements, 50 principals, 10 conditions, 7 actions per statement". Not recorded: the texts
/// about statements, principals and conditions. Texts about bytes and actions are from users' logs.
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
        let counted = |what: &str, found: u64, allowed: u64| {
            format!("{found} {what} submitted policy, max allowed is {allowed}")
        };
        for (message, most, too_many) in [
            ("Submitted policy is over max allowed size.".to_owned(), long(8_192), long(8_193)),
            (counted("statements were found in the", 21, 20), statements(20), statements(21)),
            (counted("principals were found in the", 51, 50), principals(50), principals(51)),
            (counted("principals were found in the", 51, 50), spread(24), spread(25)),
            (counted("conditions were found in the", 11, 10), condition(10, 1), condition(11, 1)),
            (counted("conditions were found in the", 11, 10), condition(1, 10), condition(1, 11)),
            (
                counted("actions were found in a statement from the", 8, 7),
                policy(&[statement("Action", json!(&ACTIONS[..7]))]),
                policy(&[statement("Action", json!(ACTIONS))]),
            ),
        ] {
            s.set(&url, json!({ "Policy": most })).await;
            assert_eq!(shown(&mut s, &url).await, parsed(&most), "{message}");
            let attributes = json!({ "Policy": too_many });
            let input = json!({ "QueueUrl": url, "Attributes": attributes });
            s.refused("SetQueueAttributes", &input).await.says(&message, OVER_LIMIT, &message);
            s.refused("CreateQueue", &json!({ "QueueName": "n", "Attributes": attributes }))
                .await
                .says(&message, OVER_LIMIT, &message);
            assert_eq!(shown(&mut s, &url).await, parsed(&most), "{message}: nothing changed");
        }
    }
}

fn parsed(policy: &str) -> Value {
    serde_json::from_str(policy).expect("policies are JSON")
}

async fn shown(s: &mut Session, url: &str) -> Value {
    parsed(&text(&s.attributes(url).await["Policy"]))
}

/// 5.1: policies are returned compact and in a fixed order; a list of one action becomes that action; `Version` is
/// added; a policy without `Id` gets an empty one when a permission is removed.
/// Not recorded: lists of one principal or resource, and which version is added.
#[tokio::test]
async fn policy_is_returned_in_the_form_of_sqs() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let given = r#"{ "Statement": [ { "Resource": "*", "Action": [ "sqs:SendMessage" ], "Effect": "Allow",
            "Principal": { "AWS": "111122223333" }, "Sid": "own" } ] }"#;
        s.set(&url, json!({ "Policy": given })).await;
        let statement = concat!(
            r#"{"Sid":"own","Effect":"Allow","Principal":{"AWS":"111122223333"},"#,
            r#""Action":"sqs:SendMessage","Resource":"*"}"#
        );
        let expected = format!(r#"{{"Version":"2008-10-17","Statement":[{statement}]}}"#);
        assert_eq!(s.attributes(&url).await["Policy"], expected);
        let permission =
            json!({ "QueueUrl": url, "Label": "l", "AWSAccountIds": accounts(1), "Actions": ["*"] });
        s.done("AddPermission", &permission).await;
        s.done("RemovePermission", &json!({ "QueueUrl": url, "Label": "l" })).await;
        let expected = format!(r#"{{"Version":"2008-10-17","Id":"","Statement":[{statement}]}}"#);
        assert_eq!(s.attributes(&url).await["Policy"], expected);
    }
}

/// 5.1: permissions are part of the policy.
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

/// 5.1: principals, actions and statements are validated.
/// Not recorded: unknown members, and the form of service names.
#[tokio::test]
async fn invalid_policy_is_rejected() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        for bad in [
            "x".to_owned(),
            "[]".to_owned(),
            "1".to_owned(),
            "\"\"".to_owned(),
            "{".to_owned(),
            "{}".to_owned(),
            json!({ "Id": "no statement" }).to_string(),
            policy(&[json!({})]),
            policy(&[statement("Principal", json!({ "AWS": "someone" }))]),
            policy(&[statement("Principal", json!("111122223333"))]),
            policy(&[statement("Action", json!("sqs:MakeCoffee"))]),
            policy(&[statement("Action", json!("sns:Publish"))]),
            policy(&[statement("Effect", json!("Perhaps"))]),
            policy(&[statement("Colour", json!("red"))]),
        ] {
            let input = json!({ "QueueUrl": url, "Attributes": { "Policy": bad } });
            let message = "Invalid value for the parameter Policy.";
            s.refused("SetQueueAttributes", &input).await.says(&bad, ATTRIBUTE_VALUE, message);
        }
    }
}
