//! Section 2.1: what a receive asks for, and what a message shows.

use std::time::Duration;

use serde_json::{Value, json};
use sqs_client::protocol::Protocol;

use super::ask::text;
use super::code::PARAMETER;
use crate::session::{BOTH, Session};

fn keys(shape: &Value) -> Vec<&str> {
    shape.as_object().map(|members| members.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// 2.1: `MaxNumberOfMessages`.
#[tokio::test]
async fn one_message_comes_by_default_and_up_to_ten_on_request() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({ "VisibilityTimeout": "0" })).await;
        for number in 0..12 {
            s.put(&url, &number.to_string()).await;
        }
        assert_eq!(s.take(&url, json!({})).await.len(), 1);
        for most in [1, 3, 10] {
            let received = s.take(&url, json!({ "MaxNumberOfMessages": most })).await;
            assert_eq!(received.len(), usize::try_from(most).unwrap());
        }
    }
}

/// 2.1: `VisibilityTimeout`, absent, given, and 0.
#[tokio::test]
async fn visibility_of_the_receive_goes_before_that_of_the_queue() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({ "VisibilityTimeout": "10" })).await;
        s.put(&url, "x").await;
        let at_once = json!({ "VisibilityTimeout": 0 });
        let first = text(&s.take(&url, at_once.clone()).await[0]["ReceiptHandle"]);
        let second = text(&s.take(&url, at_once).await[0]["ReceiptHandle"]);
        assert_ne!(first, second, "each receive gives a new handle");
        assert_eq!(s.take(&url, json!({ "VisibilityTimeout": 3 })).await.len(), 1);
        s.pass(2);
        assert!(s.bodies(&url).await.is_empty());
        s.pass(1);
        assert_eq!(s.bodies(&url).await, ["x"], "this one takes the time of the queue");
        s.pass(9);
        assert!(s.bodies(&url).await.is_empty());
        s.pass(1);
        assert_eq!(s.bodies(&url).await, ["x"]);
    }
}

/// 2.1: an absent `WaitTimeSeconds` is that of the queue, an explicit 0 is a short poll.
#[tokio::test]
async fn explicit_zero_is_a_short_poll_whatever_the_queue_says() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({ "ReceiveMessageWaitTimeSeconds": "20" })).await;
        // The clock stands still: a long poll would wait until somebody moves it.
        let short =
            tokio::time::timeout(Duration::from_secs(20), s.take(&url, json!({ "WaitTimeSeconds": 0 })));
        assert!(short.await.expect("it does not wait").is_empty());
        let (received, waited) = s.take_while_time_passes(&url, json!({})).await;
        assert!(received.is_empty() && waited >= 20, "{waited} s");
    }
}

/// 2.1: `AttributeNames` and `MessageSystemAttributeNames`.
#[tokio::test]
async fn system_attributes_are_those_asked_for() {
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

/// 2.1: "JSON: the first wins when both given; Query: both are AttributeName.N".
#[tokio::test]
async fn newer_list_of_system_attributes_wins_in_json() {
    let mut s = Session::frozen(Protocol::AwsJson).await;
    let url = s.queue("q", json!({ "VisibilityTimeout": "0" })).await;
    s.put(&url, "x").await;
    let both = json!({ "MessageSystemAttributeNames": ["SenderId"], "AttributeNames": ["All"] });
    assert_eq!(keys(&s.take(&url, both).await[0]["Attributes"]), ["SenderId"]);
    s.protocol = Protocol::Query;
    let url = super::form::escaped(&url);
    let form = format!(
        "Action=ReceiveMessage&QueueUrl={url}&AttributeName.1=SenderId&AttributeName.2=SentTimestamp"
    );
    let answer = super::ask::output_of_xml("ReceiveMessage", &s.wire.form("/", form).await).unwrap();
    assert_eq!(keys(&answer["Messages"][0]["Attributes"]), ["SenderId", "SentTimestamp"]);
}

/// 2.1: the nine system attributes, all of them texts.
#[tokio::test]
async fn system_attributes_have_their_meaning() {
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
        assert!(s.bodies(&url).await.is_empty(), "the second receive moves it");
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
async fn message_attributes_are_chosen_by_name_prefix_or_all() {
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

/// 2.1: `ReceiveRequestAttemptId` is 1 to 128 characters.
#[tokio::test]
async fn attempt_id_has_1_to_128_characters() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.fifo("q.fifo", json!({})).await;
        let longest = "x".repeat(128);
        assert!(s.take(&url, json!({ "ReceiveRequestAttemptId": longest })).await.is_empty());
        for bad in [String::new(), format!("{longest}x"), "a b".to_owned()] {
            let input = json!({ "QueueUrl": url, "ReceiveRequestAttemptId": bad });
            s.refused("ReceiveMessage", &input).await.is(&bad, PARAMETER);
        }
    }
}

/// 2.1: attempts are for FIFO queues.
/// Not recorded: what a standard queue answers.
#[tokio::test]
async fn attempt_id_is_refused_on_a_standard_queue() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let input = json!({ "QueueUrl": url, "ReceiveRequestAttemptId": "a" });
        s.refused("ReceiveMessage", &input).await.is("standard", PARAMETER);
    }
}
