//! Section 5.1: redrive policies and redrive allow policies.

use serde_json::{Value, json};

use super::code::PARAMETER;
use crate::session::{BOTH, Session};

const ARN: &str = "arn:aws:sqs:us-east-1:000000000000:";

/// Sets a redrive policy on a new and on an existing queue; both must fail with the same error.
async fn refused(s: &mut Session, queue: &str, attribute: &str, value: &str, code_of: &str) -> String {
    let url = s.server.queue_url(queue);
    let input = json!({ "QueueUrl": url, "Attributes": { attribute: value } });
    let refusal = s.refused("SetQueueAttributes", &input).await;
    refusal.is(code_of, PARAMETER);
    let (name, mut attributes) = (format!("new-{queue}"), json!({ attribute: value }));
    if queue.ends_with(".fifo") {
        attributes["FifoQueue"] = "true".into();
    }
    let input = json!({ "QueueName": name, "Attributes": attributes });
    s.refused("CreateQueue", &input).await.is(code_of, PARAMETER);
    refusal.message
}

async fn start(protocol: sqs_client::wire::protocol::Protocol) -> Session {
    let mut s = Session::start(protocol).await;
    for name in ["q", "dead"] {
        s.queue(name, json!({})).await;
    }
    for name in ["q.fifo", "dead.fifo"] {
        s.fifo(name, json!({})).await;
    }
    s
}

fn policy(target: &str, count: impl Into<Value>) -> Value {
    json!({ "deadLetterTargetArn": format!("{ARN}{target}"), "maxReceiveCount": count.into() })
}

/// 5.1: the failures of `RedrivePolicy`.
/// Not recorded: the texts; the codes are.
#[tokio::test]
async fn invalid_redrive_policies_are_rejected() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        let count = |shown: &str| {
            format!(
                "Invalid value for maxReceiveCount: {shown}, valid values are from 1 to 1000 both inclusive."
            )
        };
        let missing = |name: &str| format!("Redrive policy does not contain mandatory attribute: {name}.");
        let type_differs = "Dead-letter queue must be same type of queue as the source..";
        let mut more = policy("dead", 1);
        more["other"] = 1.into();
        let mut abroad = policy("dead", 1);
        abroad["deadLetterTargetArn"] = "arn:aws:sqs:eu-west-1:000000000000:dead".into();
        for (queue, policy, reason) in [
            ("q", policy("none", 1), "Dead letter target does not exist.".to_owned()),
            ("q", abroad, "Dead letter target does not exist.".to_owned()),
            ("q", policy("dead.fifo", 1), type_differs.to_owned()),
            ("q.fifo", policy("dead", 1), type_differs.to_owned()),
            ("q", policy("dead", 0), count("0")),
            ("q", policy("dead", 1_001), count("1001")),
            ("q", policy("dead", "0"), count("0")),
            ("q", policy("dead", "many"), count("many")),
            ("q", json!({}), missing("maxReceiveCount")),
            ("q", json!({ "deadLetterTargetArn": format!("{ARN}dead") }), missing("maxReceiveCount")),
            ("q", json!({ "maxReceiveCount": 1 }), missing("deadLetterTargetArn")),
            (
                "q",
                more,
                "Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn].".to_owned(),
            ),
        ] {
            let message = refused(&mut s, queue, "RedrivePolicy", &policy.to_string(), &reason).await;
            assert!(message.starts_with("Value {"), "{message}");
            let ending = format!("}} for parameter RedrivePolicy is invalid. Reason: {reason}");
            assert!(message.ends_with(&ending), "{message} does not end with {ending}");
        }
        for text in ["x", "[]", "1"] {
            refused(&mut s, "q", "RedrivePolicy", text, text).await;
        }
    }
}

/// 5.1: "Self-redrive accepted"; counts from 1 to 1000.
#[tokio::test]
async fn valid_redrive_policies_are_accepted() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        for (queue, policy) in [
            ("q", policy("q", 1)),
            ("q", policy("dead", 1)),
            ("q", policy("dead", 1_000)),
            ("q", policy("dead", "1000")),
            ("q.fifo", policy("dead.fifo", 5)),
        ] {
            let url = s.server.queue_url(queue);
            s.set(&url, json!({ "RedrivePolicy": policy.to_string() })).await;
        }
        s.queue("itself", json!({ "RedrivePolicy": policy("itself", 3).to_string() })).await;
    }
}

/// 5.1: "Denied by `RedriveAllowPolicy`: same code".
#[tokio::test]
async fn allow_policy_determines_the_allowed_sources() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        s.queue("friend", json!({})).await;
        let dead = s.server.queue_url("dead");
        let redrive = policy("dead", 1).to_string();
        for (allow, friend, other) in [
            (json!({ "redrivePermission": "allowAll" }), true, true),
            (json!({ "redrivePermission": "denyAll" }), false, false),
            (
                json!({ "redrivePermission": "byQueue", "sourceQueueArns": [format!("{ARN}friend")] }),
                true,
                false,
            ),
        ] {
            s.set(&dead, json!({ "RedriveAllowPolicy": allow.to_string() })).await;
            for (name, allowed) in [("friend", friend), ("q", other)] {
                let input = json!({ "QueueUrl": s.server.queue_url(name), "Attributes": { "RedrivePolicy": redrive } });
                match s.ask("SetQueueAttributes", &input).await {
                    Ok(_) => assert!(allowed, "{allow}: {name}"),
                    Err(refusal) => {
                        assert!(!allowed, "{allow}: {name}");
                        refusal.is(name, PARAMETER);
                    }
                }
            }
        }
    }
}

/// 5.1: "byQueue without sourceQueueArns, or allowAll/denyAll with them, or >10".
/// Not recorded: the texts; the codes are.
#[tokio::test]
async fn invalid_allow_policies_are_rejected() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        let arns =
            |count: u32| -> Value { (0..count).map(|number| json!(format!("{ARN}q{number}"))).collect() };
        for bad in [
            json!({ "redrivePermission": "byQueue" }),
            json!({ "redrivePermission": "byQueue", "sourceQueueArns": [] }),
            json!({ "redrivePermission": "byQueue", "sourceQueueArns": arns(11) }),
            json!({ "redrivePermission": "byQueue", "sourceQueueArns": ["q"] }),
            json!({ "redrivePermission": "allowAll", "sourceQueueArns": arns(1) }),
            json!({ "redrivePermission": "denyAll", "sourceQueueArns": arns(1) }),
            json!({ "redrivePermission": "allowSome" }),
            json!({}),
            json!([]),
        ] {
            refused(&mut s, "dead", "RedriveAllowPolicy", &bad.to_string(), &bad.to_string()).await;
        }
        let most = json!({ "redrivePermission": "byQueue", "sourceQueueArns": arns(10) }).to_string();
        let dead = s.server.queue_url("dead");
        s.set(&dead, json!({ "RedriveAllowPolicy": most })).await;
        assert_eq!(s.attributes(&dead).await["RedriveAllowPolicy"], most);
    }
}
