//! Sections 3.7 and 6: deliveries that the policies of queues allow or deny.

use serde_json::{Value, json};
use sqs_mock_server::Policies;
use sqs_mock_server::inspect::FindingKind;

use super::*;

const NO_POLICY: &str = "there is no policy that allows it";

async fn with(policies: Policies) -> Sns {
    Sns::with(MockSqs::builder().policies(policies)).await
}

/// The statement of 6.1 that allows deliveries from a topic to a queue.
fn allow(topic: &str, queue: &str) -> Value {
    json!({
        "Effect": "Allow",
        "Principal": { "Service": "sns.amazonaws.com" },
        "Action": "sqs:SendMessage",
        "Resource": queue_arn(queue),
        "Condition": { "ArnEquals": { "aws:SourceArn": topic_arn(topic) } },
    })
}

/// A statement with other members.
fn changed(mut statement: Value, members: Value) -> Value {
    let Value::Object(members) = members else { panic!("not an object: {members}") };
    for (name, value) in members {
        statement[name] = value;
    }
    statement
}

/// Why AWS denies deliveries from the topic `a`.
fn denied(reason: &str) -> String {
    format!("sns.amazonaws.com for {} may not call sqs:SendMessage: {reason}", topic_arn("a"))
}

fn delivered_anyway(queue: &str) -> String {
    format!("delivered to {}, but AWS denies it: {}", queue_arn(queue), denied(NO_POLICY))
}

impl Sns {
    async fn set_policy(&self, queue: &str, statements: Value) {
        let policy = json!({ "Version": "2012-10-17", "Statement": statements }).to_string();
        let set = self.server.client().set_queue_attributes().queue_url(self.server.queue_url(queue));
        set.attributes(QueueAttributeName::Policy, policy).send().await.expect("a valid policy");
    }

    /// A topic that delivers to the queue `q` as is, with a dead-letter queue if it has a name.
    async fn topic_to_q(&mut self, dead_letter_queue: Option<&str>) -> String {
        let topic = self.topic("a", &[]).await;
        let redrive = dead_letter_queue.map(|name| json!({ "deadLetterTargetArn": queue_arn(name) }));
        let redrive = redrive.map(|policy| policy.to_string());
        let redrive = redrive.as_deref().map(|policy| ("RedrivePolicy", policy));
        let attributes: Vec<_> = [RAW].into_iter().chain(redrive).collect();
        self.subscribe_queue(&topic, "q", &attributes).await;
        topic
    }

    fn findings(&self) -> Vec<(FindingKind, String)> {
        self.server.findings().iter().map(|finding| (finding.kind, finding.text.clone())).collect()
    }
}

/// 6.1, also "`Version` may be absent" and the common `Deny` of 6.3.
#[tokio::test]
async fn statements_for_sns_allow_enforced_deliveries() {
    let mut sns = with(Policies::Enforce).await;
    let topic = sns.topic_to_q(None).await;
    let of_sns = allow("a", "q");
    let old = |principal: Value, condition: Value| {
        let members = json!({ "Principal": principal, "Action": "SQS:SendMessage", "Condition": condition });
        changed(allow("a", "q"), members)
    };
    let insecure = json!({
        "Effect": "Deny",
        "Principal": "*",
        "Action": "sqs:*",
        "Resource": queue_arn("q"),
        "Condition": { "Bool": { "aws:SecureTransport": "false" } },
    });
    for statements in [
        of_sns.clone(),
        old(json!("*"), json!({ "ArnEquals": { "aws:SourceArn": topic } })),
        old(json!({ "AWS": "*" }), json!({ "ArnLike": { "aws:SourceArn": "arn:aws:sns:*:*:a" } })),
        old(json!("*"), json!({ "StringEquals": { "aws:SourceArn": topic } })),
        old(json!("*"), json!({ "StringLike": { "aws:SourceArn": "arn:aws:sns:*" } })),
        old(json!("*"), json!({ "StringEquals": { "aws:SourceAccount": ACCOUNT } })),
        json!([insecure, of_sns]),
    ] {
        sns.set_policy("q", statements.clone()).await;
        sns.publish(&topic, "tea").await;
        assert_eq!(sns.notes("Publish").await, [""; 0], "{statements}");
        assert_eq!(sns.bodies("q").await, ["tea"], "{statements}");
    }
    let without_version = json!({ "Statement": [of_sns] }).to_string();
    let set = sns.server.client().set_queue_attributes().queue_url(sns.server.queue_url("q"));
    set.attributes(QueueAttributeName::Policy, without_version).send().await.expect("a valid policy");
    sns.publish(&topic, "tea").await;
    assert_eq!(sns.bodies("q").await, ["tea"]);
}

/// 6.1: "also inside one account". 3.7: "dropped; Publish still 200".
#[tokio::test]
async fn enforced_delivery_without_a_statement_that_allows_it_is_dropped() {
    let mut sns = with(Policies::Enforce).await;
    let topic = sns.topic_to_q(None).await;
    let none = "no statement of the policy allows it; the closest, statement 1,";
    let of_s3 = changed(allow("a", "q"), json!({ "Principal": { "Service": "s3.amazonaws.com" } }));
    let of_owner = changed(allow("a", "q"), json!({ "Principal": { "AWS": ACCOUNT } }));
    let deny = json!({
        "Sid": "lock",
        "Effect": "Deny",
        "Principal": { "Service": "sns.amazonaws.com" },
        "Action": "sqs:SendMessage",
        "Resource": queue_arn("q"),
    });
    let refusals = [
        (None, NO_POLICY.to_owned()),
        (
            Some(allow("b", "q")),
            format!(
                "{none} requires ArnEquals aws:SourceArn {:?}, but aws:SourceArn is {topic:?}",
                topic_arn("b")
            ),
        ),
        (Some(of_s3), format!("{none} is for another principal")),
        (Some(of_owner), format!("{none} is for another principal")),
        (
            Some(changed(allow("a", "q"), json!({ "Action": "sqs:ReceiveMessage" }))),
            format!("{none} is for another action"),
        ),
        (Some(allow("a", "other")), format!("{none} is for another resource")),
        (Some(json!([allow("a", "q"), deny])), "statement \"lock\" of the policy denies it".to_owned()),
    ];
    for (statements, reason) in refusals {
        if let Some(statements) = statements {
            sns.set_policy("q", statements).await;
        }
        sns.publish(&topic, "tea").await;
        let note = format!("dropped for {}: {}", queue_arn("q"), denied(&reason));
        assert_eq!(sns.notes("Publish").await, [note]);
        assert_eq!(sns.bodies("q").await, [""; 0], "{reason}");
        let why = format!("the queue has no messages: {}", denied(&reason));
        assert_eq!(sns.server.queue("q").why_empty().to_string(), why);
    }
}

/// 3.7: "its policy must allow `sns.amazonaws.com`".
#[tokio::test]
async fn denied_message_is_in_the_dead_letter_queue_if_that_queue_allows_it() {
    let mut sns = with(Policies::Enforce).await;
    sns.queue("dead").await;
    let topic = sns.topic_to_q(Some("dead")).await;
    let (q, dead, reason) = (queue_arn("q"), queue_arn("dead"), denied(NO_POLICY));
    sns.publish(&topic, "lost").await;
    let dropped = format!("dropped for {q}: {reason}; dead-letter queue {dead}: {reason}");
    assert_eq!(sns.notes("Publish").await, [dropped]);
    sns.set_policy("dead", allow("a", "dead")).await;
    sns.publish(&topic, "kept").await;
    let moved = format!("moved from {q} to the dead-letter queue {dead}: {reason}");
    assert_eq!(sns.notes("Publish").await, [moved]);
    assert_eq!((sns.bodies("q").await, sns.bodies("dead").await), (Vec::new(), vec!["kept".to_owned()]));
}

#[tokio::test]
async fn denied_delivery_succeeds_with_a_note_by_default() {
    let mut sns = Sns::start().await;
    sns.queue("dead").await;
    let topic = sns.topic_to_q(Some("dead")).await;
    for _ in 0..2 {
        sns.publish(&topic, "tea").await;
        assert_eq!(sns.notes("Publish").await, [delivered_anyway("q")]);
    }
    assert_eq!(sns.bodies("q").await, ["tea", "tea"]);
    assert_eq!(sns.server.findings().len(), 1, "one for the pair of topic and queue");

    let delete = sns.server.client().delete_queue().queue_url(sns.server.queue_url("q"));
    delete.send().await.expect("a queue");
    sns.publish(&topic, "tea").await;
    let moved = format!(
        "moved from {} to the dead-letter queue {}: the queue does not exist; {}",
        queue_arn("q"),
        queue_arn("dead"),
        delivered_anyway("dead")
    );
    assert_eq!(sns.notes("Publish").await, [moved]);
    assert_eq!(sns.bodies("dead").await, ["tea"]);
}

#[tokio::test]
async fn policies_that_are_off_deny_no_delivery() {
    let mut sns = Sns::with(MockSqs::builder().strict().policies(Policies::Off)).await;
    let topic = sns.topic_to_q(None).await;
    sns.set_policy("q", changed(allow("a", "q"), json!({ "Effect": "Deny" }))).await;
    sns.publish(&topic, "tea").await;
    assert_eq!((sns.notes("Publish").await, sns.findings()), (Vec::new(), Vec::new()));
    assert_eq!(sns.bodies("q").await, ["tea"]);
}

#[tokio::test]
async fn strict_mode_has_one_finding_for_each_topic_and_queue_that_aws_denies() {
    for policies in [Policies::Warn, Policies::Enforce] {
        let mut sns = Sns::with(MockSqs::builder().strict().policies(policies)).await;
        let topic = sns.topic_to_q(None).await;
        sns.subscribe_queue(&topic, "r", &[RAW]).await;
        sns.queue("allowed").await;
        sns.set_policy("allowed", allow("a", "allowed")).await;
        sns.subscribe(&topic, ("sqs", &queue_arn("allowed")), &[RAW]).await;
        let result = match policies {
            Policies::Enforce => "the delivery failed",
            _ => "AWS denies the delivery, this server does not",
        };
        let finding = (FindingKind::AccessDenied, format!("{}; {result}", denied(NO_POLICY)));
        for _ in 0..3 {
            sns.publish(&topic, "tea").await;
        }
        assert_eq!(sns.findings(), [finding.clone(), finding.clone()]);
        let mut queues: Vec<_> =
            sns.server.findings().iter().map(|finding| finding.queue.name.to_string()).collect();
        queues.sort();
        assert_eq!(queues, ["q", "r"]);

        sns.wire.exchange("DELETE /_mock/findings", "", b"").await.content(200);
        assert!(sns.findings().is_empty());
        sns.publish(&topic, "tea").await;
        assert_eq!(sns.findings(), [finding.clone(), finding], "forgotten findings are reported again");
    }
}

#[tokio::test]
async fn request_for_confirmation_needs_a_permission_too() {
    let foreign = "arn:aws:sqs:us-east-1:111122223333:q";
    let headers = format!("{FORM}{}", scope("sqs", "us-east-1").replace("test/", "111122223333/"));
    let reason = denied(NO_POLICY);
    for (policies, note) in [
        (Policies::Enforce, format!("dropped for {foreign}: {reason}")),
        (Policies::Warn, format!("delivered to {foreign}, but AWS denies it: {reason}")),
    ] {
        let mut sns = with(policies).await;
        let topic = sns.topic("a", &[]).await;
        sns.wire.exchange("POST /", &headers, b"Action=CreateQueue&QueueName=q").await;
        assert_eq!(sns.subscribe(&topic, ("sqs", foreign), &[]).await, "pending confirmation");
        let notes = sns.notes("Subscribe").await;
        assert_eq!(notes.first(), Some(&note));
        assert!(notes[1].contains("confirm it with http"), "{notes:?}");
    }
}
