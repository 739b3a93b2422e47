//! Section 2.1: attributes of received messages.

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;

use super::answers::{keys, output_of_xml, text};
use super::form::{escaped, form};
use crate::session::{BOTH, Session};

/// 2.1: `AttributeNames` and `MessageSystemAttributeNames`.
#[tokio::test]
async fn receive_returns_the_requested_system_attributes() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({ "VisibilityTimeout": "0" })).await;
        s.put(&url, "x").await;
        let plain =
            ["ApproximateFirstReceiveTimestamp", "ApproximateReceiveCount", "SenderId", "SentTimestamp"];
        for (asked, shown) in [
            (json!({}), &[][..]),
            (json!({ "AttributeNames": ["All"] }), &plain),
            (json!({ "MessageSystemAttributeNames": ["All"] }), &plain),
            (json!({ "MessageSystemAttributeNames": ["SenderId"] }), &["SenderId"]),
            (json!({ "AttributeNames": ["SentTimestamp", "SenderId"] }), &["SenderId", "SentTimestamp"]),
            (json!({ "AttributeNames": ["MessageGroupId"] }), &[]),
            (json!({ "AttributeNames": ["NoSuchName"] }), &[]),
        ] {
            let message = s.take(&url, asked.clone()).await.remove(0);
            assert_eq!(keys(&message["Attributes"]), shown, "{protocol:?} {asked}");
            assert_eq!(message.get("Attributes").is_some(), !shown.is_empty(), "{protocol:?} {asked}");
        }
    }
}

/// 2.1: the order of `Attributes`, recorded in AWS JSON. XML and the last two attributes are inferred.
#[tokio::test]
async fn attributes_have_the_order_of_aws() {
    const ORDER: [&str; 9] = [
        "SenderId",
        "ApproximateFirstReceiveTimestamp",
        "ApproximateReceiveCount",
        "SentTimestamp",
        "SequenceNumber",
        "MessageDeduplicationId",
        "MessageGroupId",
        "AWSTraceHeader",
        "DeadLetterQueueSourceArn",
    ];
    let mut s = Session::frozen(Protocol::AwsJson).await;
    let dead = s.fifo("dead.fifo", json!({ "VisibilityTimeout": "0" })).await;
    let arn = s.attributes(&dead).await["QueueArn"].clone();
    let policy = json!({ "deadLetterTargetArn": arn, "maxReceiveCount": 1 }).to_string();
    let url = s.fifo("q.fifo", json!({ "RedrivePolicy": policy, "VisibilityTimeout": "0" })).await;
    let value = |text: &str| json!({ "DataType": "String", "StringValue": text });
    let sent = json!({
        "QueueUrl": url, "MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "d",
        "MessageSystemAttributes": { "AWSTraceHeader": value("Root=1-2") },
        "MessageAttributes": { "zeppelin": value("1"), "alphabet": value("2"), "Middling": value("3") },
    });
    s.done("SendMessage", &sent).await;
    assert_eq!(s.bodies(&url).await, ["x"]);
    assert!(s.bodies(&url).await.is_empty(), "the second receive moves the message");
    let asked = json!({ "QueueUrl": dead, "AttributeNames": ["All"], "MessageAttributeNames": ["All"] });
    let json = s.wire.json("ReceiveMessage", asked.to_string()).await;
    let xml = s.wire.form("/", form("ReceiveMessage", &asked)).await;
    for answer in [json.text(), xml.text()] {
        for names in [&ORDER[..], &["Middling", "alphabet", "zeppelin"]] {
            let places: Vec<_> = names.iter().map(|name| answer.find(name).expect("the name")).collect();
            assert!(places.is_sorted(), "{answer}");
        }
    }
}

/// 2.1: "JSON: the first wins when both given; Query: both are AttributeName.N".
#[tokio::test]
async fn newer_list_of_system_attributes_applies_in_json() {
    let mut s = Session::frozen(Protocol::AwsJson).await;
    let url = s.queue("q", json!({ "VisibilityTimeout": "0" })).await;
    s.put(&url, "x").await;
    let both = json!({ "MessageSystemAttributeNames": ["SenderId"], "AttributeNames": ["All"] });
    assert_eq!(keys(&s.take(&url, both).await[0]["Attributes"]), ["SenderId"]);
    s.protocol = Protocol::Query;
    let url = escaped(&url);
    let form = format!(
        "Action=ReceiveMessage&QueueUrl={url}&AttributeName.1=SenderId&AttributeName.2=SentTimestamp"
    );
    let answer = output_of_xml("ReceiveMessage", &s.wire.form("/", form).await).unwrap();
    assert_eq!(keys(&answer["Messages"][0]["Attributes"]), ["SenderId", "SentTimestamp"]);
}

/// 2.1: the nine system attributes, which are strings.
#[tokio::test]
async fn system_attributes_have_correct_values() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let dead = s.fifo("dead.fifo", json!({ "VisibilityTimeout": "0" })).await;
        let arn = s.attributes(&dead).await["QueueArn"].clone();
        let policy = json!({ "deadLetterTargetArn": arn, "maxReceiveCount": 1 }).to_string();
        let url = s.fifo("q.fifo", json!({ "RedrivePolicy": policy, "VisibilityTimeout": "0" })).await;
        let source = s.attributes(&url).await["QueueArn"].clone();
        let trace = json!({ "AWSTraceHeader": { "DataType": "String", "StringValue": "Root=1-2" } });
        let input = json!({
            "QueueUrl": url, "MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "d",
            "MessageSystemAttributes": trace,
        });
        let sent = s.done("SendMessage", &input).await;
        s.pass(5);
        let first = s.with_attributes(&url).await["Attributes"].take();
        s.pass(7);
        assert!(s.bodies(&url).await.is_empty(), "the second receive moves the message");
        let second = s.with_attributes(&dead).await["Attributes"].take();

        let time = |attributes: &Value, name: &str| text(&attributes[name]).parse::<u64>().unwrap();
        let sent_at = time(&first, "SentTimestamp");
        assert!(sent_at > 1_700_000_000_000, "milliseconds since 1970: {sent_at}");
        assert_eq!(time(&first, "ApproximateFirstReceiveTimestamp"), sent_at + 5_000);
        assert_eq!(time(&second, "ApproximateFirstReceiveTimestamp"), sent_at + 5_000);
        for (name, in_source) in [
            ("SenderId", "000000000000".into()),
            ("ApproximateReceiveCount", "1".into()),
            ("MessageGroupId", "g".into()),
            ("MessageDeduplicationId", "d".into()),
            ("SequenceNumber", sent["SequenceNumber"].clone()),
            ("AWSTraceHeader", "Root=1-2".into()),
            ("DeadLetterQueueSourceArn", Value::Null),
        ] {
            assert_eq!(first[name], in_source, "{protocol:?} {name}");
        }
        assert_eq!(second["DeadLetterQueueSourceArn"], source);
        assert_eq!(second.as_object().unwrap().len(), 9, "{second}");
    }
}

async fn with_three(s: &mut Session) -> String {
    let url = s.queue("q", json!({ "VisibilityTimeout": "0" })).await;
    let value = |value: &str| json!({ "DataType": "String", "StringValue": value });
    let attributes = json!({ "color": value("blue"), "Hello": value("1"), "Help.Me": value("2") });
    s.done("SendMessage", &json!({ "QueueUrl": url, "MessageBody": "x", "MessageAttributes": attributes }))
        .await;
    url
}

/// 2.1: `MessageAttributeNames`; keys without content are absent.
#[tokio::test]
async fn message_attributes_are_selected_by_name_prefix_or_all() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = with_three(&mut s).await;
        let all = ["Hello", "Help.Me", "color"];
        for (names, shown) in [
            (json!(["All"]), &all[..]),
            (json!([".*"]), &all),
            (json!(["*"]), &all),
            (json!(["color"]), &["color"]),
            (json!(["col.*"]), &["color"]),
            (json!(["Hel.*"]), &["Hello", "Help.Me"]),
            (json!(["Help.*"]), &["Help.Me"]),
            (json!(["color", "Hello"]), &["Hello", "color"]),
            (json!(["COLOR"]), &[]),
            (json!(["no such name", "?!", "AWS.x"]), &[]),
        ] {
            let message = s.take(&url, json!({ "MessageAttributeNames": names })).await.remove(0);
            assert_eq!(keys(&message["MessageAttributes"]), shown, "{protocol:?} {names}");
            for key in ["MessageAttributes", "MD5OfMessageAttributes"] {
                assert_eq!(message.get(key).is_some(), !shown.is_empty(), "{protocol:?} {names} {key}");
            }
        }
        let message = s.take(&url, json!({})).await.remove(0);
        assert_eq!(keys(&message), ["Body", "MD5OfBody", "MessageId", "ReceiptHandle"]);
    }
}
