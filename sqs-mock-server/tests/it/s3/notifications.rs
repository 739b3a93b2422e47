//! Notification configurations of buckets (sections 5.1, 5.2 and 6.1 of the contract with S3).

use std::fs;

use serde_json::{Value, json};
use sqs_client::types::QueueAttributeName;
use sqs_mock_server::s3::S3;
use sqs_mock_server::{MockSqs, MockSqsBuilder, Policies};

use super::{BUCKET, server};
use crate::wire::{Wire, ask};

/// All changes that this server announces.
pub(super) const EVERYTHING: &[&str] = &["s3:ObjectCreated:*", "s3:ObjectRemoved:*", "s3:ObjectTagging:*"];
const CREATED: &[&str] = &["s3:ObjectCreated:*"];
const UNABLE: &str = "Unable to validate the following destination configurations";
const SKIP: &str = "x-amz-skip-destination-validation: true\r\n";

pub(super) fn queue_arn(name: &str) -> String {
    format!("arn:aws:sqs:us-east-1:000000000000:{name}")
}

/// A rule with the id `mine`. `kind` is `Queue`, `Topic` or `CloudFunction`.
pub(super) fn rule(kind: &str, arn: &str, events: &[&str], filter: &str) -> String {
    let events: Vec<_> = events.iter().map(|event| format!("<Event>{event}</Event>")).collect();
    let events = events.concat();
    format!("<{kind}Configuration><Id>mine</Id><{kind}>{arn}</{kind}>{events}{filter}</{kind}Configuration>")
}

/// Sends a request on a connection of its own, and returns the whole answer.
pub(super) async fn exchange(endpoint: &str, line: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    let head =
        format!("{line} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: {length}\r\n");
    let (endpoint, request) = (endpoint.to_owned(), format!("{head}{headers}\r\n{body}"));
    tokio::task::spawn_blocking(move || ask(&endpoint, &request)).await.unwrap()
}

/// The same rule with another id.
fn other_id(rule: &str) -> String {
    rule.replace("<Id>mine</Id>", "<Id>other</Id>")
}

/// Puts the rules of the bucket.
pub(super) async fn configure(server: &MockSqs, rules: &str, headers: &str) -> String {
    let namespace = "http://s3.amazonaws.com/doc/2006-03-01/";
    let body =
        format!("<NotificationConfiguration xmlns=\"{namespace}\">{rules}</NotificationConfiguration>");
    exchange(server.s3().endpoint_url(), "PUT /payloads?notification", headers, &body).await
}

async fn shown(server: &MockSqs) -> String {
    let answer = exchange(server.s3().endpoint_url(), "GET /payloads?notification", "", "").await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    body.to_owned()
}

/// A server with the queue `events`.
async fn with_queue(policies: Policies) -> MockSqs {
    let builder = MockSqs::builder().policies(policies).s3(S3::temporary());
    let server = builder.start().await.unwrap();
    server.client().create_queue().queue_name("events").send().await.unwrap();
    server
}

/// Asserts an error with these elements.
fn assert_refused(answer: &str, code: &str, message: &str, elements: &[(&str, &str)]) {
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let elements: Vec<_> = elements.iter().map(|(name, text)| format!("<{name}>{text}</{name}>")).collect();
    let elements = elements.concat();
    let start = format!("<Error><Code>{code}</Code><Message>{message}</Message>{elements}<RequestId>");
    assert!(answer.contains(&start) && answer.ends_with("</HostId></Error>"), "{start}\n{answer}");
}

fn filter(rules: &[(&str, &str)]) -> String {
    let rule = |(name, value): &(&str, &str)| {
        format!("<FilterRule><Name>{name}</Name><Value>{value}</Value></FilterRule>")
    };
    format!("<Filter><S3Key>{}</S3Key></Filter>", rules.iter().map(rule).collect::<String>())
}

/// The rows of 5.1 about form, which hold with `x-amz-skip-destination-validation`, too.
#[tokio::test]
async fn faulty_rules_are_refused_with_the_texts_of_s3() {
    let server = with_queue(Policies::Warn).await;
    let queue = queue_arn("events");
    let to_queue = |events, filter: &str| rule("Queue", &queue, events, filter);
    let parsed = "The ARN could not be parsed";
    let overlap = "Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the prefixes \
                   are overlapping for the same event type.";
    let malformed =
        "The XML you provided was not well-formed or did not validate against our published schema";
    let argument = |name, value| vec![("ArgumentName", name), ("ArgumentValue", value)];
    for (rules, code, message, elements) in [
        (rule("Queue", "a&lt;b", CREATED, ""), "InvalidArgument", parsed, argument("Queue", "a&lt;b")),
        (rule("Topic", &queue, CREATED, ""), "InvalidArgument", parsed, argument("Topic", &queue)),
        (rule("CloudFunction", "f", CREATED, ""), "InvalidArgument", parsed, argument("CloudFunction", "f")),
        (
            to_queue(CREATED, &filter(&[("colour", "red")])),
            "InvalidArgument",
            "filter rule name must be either prefix or suffix",
            argument("FilterRule.Name", "colour"),
        ),
        (
            to_queue(CREATED, "<Filter><S3Key><FilterRule><Name>prefix</Name></FilterRule></S3Key></Filter>"),
            "MalformedXML",
            malformed,
            vec![],
        ),
        (to_queue(&[], ""), "MalformedXML", malformed, vec![]),
        ("<QueueConfiguration><Event>".to_owned(), "MalformedXML", malformed, vec![]),
        (to_queue(CREATED, "") + &other_id(&to_queue(EVERYTHING, "")), "InvalidArgument", overlap, vec![]),
        (
            to_queue(CREATED, "") + &to_queue(&["s3:ObjectTagging:*"], ""),
            "InvalidArgument",
            "Same ID used for multiple configurations. IDs must be unique",
            vec![],
        ),
        (
            rule("Queue", &queue_arn("q.fifo"), CREATED, ""),
            "InvalidArgument",
            "FIFO SQS queues are not supported.",
            vec![],
        ),
        (
            rule("Topic", "arn:aws:sns:us-east-1:000000000000:t.fifo", CREATED, ""),
            "InvalidArgument",
            "FIFO SNS topics are not supported.",
            vec![],
        ),
        (
            rule("Queue", "arn:aws:sqs:eu-west-1:000000000000:events", CREATED, ""),
            "InvalidArgument",
            "The notification destination service region is not valid for the bucket location constraint",
            vec![],
        ),
        (
            to_queue(&["s3:ObjectBaked"], ""),
            "InvalidArgument",
            "The event is not supported for notifications",
            argument("Event", "s3:ObjectBaked"),
        ),
    ] {
        for headers in ["", SKIP] {
            assert_refused(&configure(&server, &rules, headers).await, code, message, &elements);
        }
    }
    assert!(!shown(&server).await.contains("Id"), "nothing is stored");
    assert!(server.queue("events").messages().is_empty(), "there are no test messages");
    let line = "PUT /nowhere?notification";
    let unknown = exchange(server.s3().endpoint_url(), line, "", "<NotificationConfiguration/>").await;
    assert!(
        unknown.starts_with("HTTP/1.1 404") && unknown.contains("<Code>NoSuchBucket</Code>"),
        "{unknown}"
    );
}

#[tokio::test]
async fn missing_targets_are_refused_all_at_once_unless_the_check_is_skipped() {
    let server = server().await;
    let topic = "arn:aws:sns:us-east-1:000000000000:none";
    let rules = rule("Queue", &queue_arn("none"), CREATED, "")
        + &other_id(&rule("Topic", topic, &["s3:ObjectRemoved:*"], ""));
    let elements = [
        ("ArgumentName1", &*queue_arn("none")),
        ("ArgumentValue1", "The destination queue does not exist"),
        ("ArgumentName2", topic),
        ("ArgumentValue2", "The destination topic does not exist"),
    ];
    assert_refused(&configure(&server, &rules, "").await, "InvalidArgument", UNABLE, &elements);
    assert!(configure(&server, &rules, SKIP).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn configuration_is_returned_and_replaced_as_a_whole() {
    let server = with_queue(Policies::Warn).await;
    let queue = queue_arn("events");
    let start = "<NotificationConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";
    assert!(
        shown(&server).await.contains(&format!("{start}></NotificationConfiguration>")),
        "{}",
        shown(&server).await
    );
    let rules = rule("Queue", &queue, CREATED, &filter(&[("PREFIX", "in/"), ("suffix", "")]))
        + &other_id(&rule(
            "CloudFunction",
            "arn:aws:lambda:us-east-1:000000000000:function:f",
            &["s3:ObjectRemoved:*"],
            "",
        ))
        + "<EventBridgeConfiguration/>";
    let put = configure(&server, &rules, "").await;
    assert!(put.starts_with("HTTP/1.1 200") && put.ends_with("\r\n\r\n"), "{put}");
    let body = shown(&server).await;
    for part in [
        "<Id>mine</Id>",
        &format!("<Queue>{queue}</Queue>"),
        "<Event>s3:ObjectCreated:*</Event>",
        "<FilterRule><Name>Prefix</Name><Value>in/</Value></FilterRule>",
        "<FilterRule><Name>Suffix</Name><Value></Value></FilterRule>",
        "<CloudFunction>arn:aws:lambda:us-east-1:000000000000:function:f</CloudFunction>",
        "<EventBridgeConfiguration>",
    ] {
        assert!(body.contains(part), "{part}\n{body}");
    }
    let without_id = rule("Queue", &queue, CREATED, "").replace("<Id>mine</Id>", "");
    configure(&server, &without_id, "").await;
    let body = shown(&server).await;
    let id = body.split("<Id>").nth(1).and_then(|rest| rest.split("</Id>").next()).unwrap();
    assert!(!id.is_empty() && !body.contains("Filter") && !body.contains("CloudFunction"), "{body}");
    configure(&server, "", "").await;
    assert!(!shown(&server).await.contains("Queue"));
}

/// 5.2.
#[tokio::test]
async fn each_target_gets_a_test_message_unless_the_check_is_skipped() {
    let server = with_queue(Policies::Warn).await;
    server.client().create_queue().queue_name("other").send().await.unwrap();
    let rules = rule("Queue", &queue_arn("events"), CREATED, "")
        + &other_id(&rule("Queue", &queue_arn("events"), &["s3:ObjectRemoved:*"], ""))
        + &rule("Queue", &queue_arn("other"), &["s3:ObjectTagging:*"], "").replace("<Id>mine</Id>", "");
    configure(&server, &rules, SKIP).await;
    assert!(server.queue("events").messages().is_empty());
    let answer = configure(&server, &rules, "").await;
    for name in ["events", "other"] {
        let [body] = <[String; 1]>::try_from(server.queue(name).bodies()).unwrap();
        let message: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((&message["Service"], &message["Event"]), (&json!("Amazon S3"), &json!("s3:TestEvent")));
        assert_eq!((&message["Bucket"], message.get("Records")), (&json!(BUCKET), None));
        let id = message["RequestId"].as_str().unwrap();
        assert!(answer.contains(&format!("x-amz-request-id: {id}\r\n")), "{answer}");
    }
}

/// A policy of the queue `events` with this statement.
async fn set_policy(server: &MockSqs, statement: Value) {
    let policy = json!({ "Version": "2012-10-17", "Statement": statement }).to_string();
    let set = server.client().set_queue_attributes().queue_url(server.queue_url("events"));
    set.attributes(QueueAttributeName::Policy, policy).send().await.unwrap();
}

/// 5.1 and 6.1, the rows of S3.
#[tokio::test]
async fn enforced_policies_must_allow_s3() {
    let server = with_queue(Policies::Enforce).await;
    let rules = rule("Queue", &queue_arn("events"), CREATED, "");
    let of_s3 = |principal: Value, condition: Value| {
        json!({
            "Effect": "Allow",
            "Principal": principal,
            "Action": "sqs:SendMessage",
            "Resource": queue_arn("events"),
            "Condition": condition,
        })
    };
    let denied =
        "Permissions on the destination queue do not allow S3 to publish notifications from this bucket";
    let elements = [("ArgumentName1", &*queue_arn("events")), ("ArgumentValue1", denied)];
    assert_refused(&configure(&server, &rules, "").await, "InvalidArgument", UNABLE, &elements);
    let other = json!({ "ArnEquals": { "aws:SourceArn": "arn:aws:s3:::other" } });
    set_policy(&server, of_s3(json!("*"), other)).await;
    assert_refused(&configure(&server, &rules, "").await, "InvalidArgument", UNABLE, &elements);
    for (round, (principal, condition)) in [
        (
            json!({ "Service": "s3.amazonaws.com" }),
            json!({
                "ArnLike": { "aws:SourceArn": "arn:aws:s3:*:*:payloads" },
                "StringEquals": { "aws:SourceAccount": "000000000000" },
            }),
        ),
        (json!("*"), json!({ "ArnEquals": { "aws:SourceArn": "arn:aws:s3:::payloads" } })),
    ]
    .into_iter()
    .enumerate()
    {
        set_policy(&server, of_s3(principal, condition)).await;
        let answer = configure(&server, &rules, "").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        server.s3().put(BUCKET, "a", "tea").await.unwrap();
        server.queue("events").expect_messages(2 * (round + 1)).await.unwrap();
    }
    let nobody = json!({ "ArnEquals": { "aws:SourceArn": "arn:aws:s3:::other" } });
    set_policy(&server, of_s3(json!("*"), nobody)).await;
    server.s3().put(BUCKET, "b", "tea").await.unwrap();
    let queue = server.queue("events").within(std::time::Duration::from_millis(50));
    let fifth = queue.wait_for(|messages| messages.len() > 4).await;
    assert!(fifth.is_err(), "the event is lost");
}

#[tokio::test]
async fn targets_must_be_in_the_region_of_the_bucket() {
    let file = "[[queues]]\nname = 'events'\n[[queues]]\nname = 'events'\nregion = 'eu-west-1'";
    let builder = MockSqsBuilder::from_toml(file).unwrap();
    let server = builder.s3(S3::temporary()).start().await.unwrap();
    let location = "<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint>\
                    </CreateBucketConfiguration>";
    let endpoint = server.s3().endpoint_url();
    let created = exchange(endpoint, "PUT /irish", "", location).await;
    assert!(created.starts_with("HTTP/1.1 200"), "{created}");
    let queue = "arn:aws:sqs:eu-west-1:000000000000:events";
    for (arn, status) in [(queue, 200), (&*queue_arn("events"), 400)] {
        let rules = rule("Queue", arn, CREATED, "");
        let body = format!("<NotificationConfiguration>{rules}</NotificationConfiguration>");
        let answer = exchange(endpoint, "PUT /irish?notification", SKIP, &body).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
    server.s3().put("irish", "a", "tea").await.unwrap();
    let events = server.queue("events").in_region("eu-west-1").expect_messages(1).await.unwrap();
    assert!(events[0].body().contains(r#""awsRegion":"eu-west-1""#), "{events:?}");
}

#[tokio::test]
async fn policy_that_denies_s3_is_noted_by_default() {
    let server = with_queue(Policies::Warn).await;
    let answer = configure(&server, &rule("Queue", &queue_arn("events"), CREATED, ""), "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let mut wire = Wire::connect(&server).await;
    let records = wire.get("/_mock/requests?action=PutBucketNotificationConfiguration").await;
    let records: Value = serde_json::from_str(records.text()).unwrap();
    let note = format!(
        "events are delivered to {}, but AWS denies it: s3.amazonaws.com for arn:aws:s3:::payloads may not call \
         sqs:SendMessage: there is no policy that allows it",
        queue_arn("events")
    );
    assert_eq!(records["requests"][0]["warnings"], json!([note]));
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    server.queue("events").expect_messages(2).await.unwrap();
}

/// Earlier versions knew no partitions.
#[tokio::test]
async fn stored_target_without_its_partition_gets_it() {
    let directory = tempfile::tempdir().unwrap();
    let start = async || {
        let builder = MockSqs::builder().region("us-gov-west-1").s3(S3::in_dir(directory.path()));
        builder.start().await.unwrap()
    };
    let server = start().await;
    server.client().create_queue().queue_name("events").send().await.unwrap();
    let right = "arn:aws-us-gov:sqs:us-gov-west-1:000000000000:events";
    let answer = configure(&server, &rule("Queue", right, CREATED, ""), "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    server.shutdown().await;

    let stored = directory.path().join("buckets/payloads/notifications.json");
    let text = fs::read_to_string(&stored).unwrap();
    assert!(text.contains(right), "{text}");
    fs::write(&stored, text.replace("arn:aws-us-gov:", "arn:aws:")).unwrap();
    let shown = shown(&start().await).await;
    assert!(shown.contains(right), "{shown}");
}
