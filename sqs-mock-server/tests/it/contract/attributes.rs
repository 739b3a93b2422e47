//! Section 2.4: attributes of queues.

use serde_json::{Value, json};

use super::answers::text;
use super::code::{ATTRIBUTE_NAME, ATTRIBUTE_VALUE};
use crate::session::{BOTH, Session};

pub(super) const ARN: &str = "arn:aws:sqs:us-east-1:000000000000:";

/// 2.4: `All` on fresh queues, with the column "Default".
#[tokio::test]
async fn new_queue_has_twelve_attributes_and_a_fifo_queue_four_more() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let url = s.queue("q", json!({})).await;
        let mut shown = s.attributes(&url).await;
        let created = text(&shown["CreatedTimestamp"]);
        assert_eq!(created.len(), 10, "seconds since 1970: {created}");
        let mut expected = json!({
            "ApproximateNumberOfMessages": "0",
            "ApproximateNumberOfMessagesDelayed": "0",
            "ApproximateNumberOfMessagesNotVisible": "0",
            "CreatedTimestamp": created,
            "DelaySeconds": "0",
            "LastModifiedTimestamp": created,
            "MaximumMessageSize": "1048576",
            "MessageRetentionPeriod": "345600",
            "QueueArn": format!("{ARN}q"),
            "ReceiveMessageWaitTimeSeconds": "0",
            "SqsManagedSseEnabled": "true",
            "VisibilityTimeout": "30",
        });
        assert_eq!(shown, expected, "{protocol:?}");
        let url = s.fifo("q.fifo", json!({})).await;
        shown = s.attributes(&url).await;
        expected["QueueArn"] = format!("{ARN}q.fifo").into();
        for (name, value) in [
            ("ContentBasedDeduplication", "false"),
            ("DeduplicationScope", "queue"),
            ("FifoQueue", "true"),
            ("FifoThroughputLimit", "perQueue"),
        ] {
            expected[name] = value.into();
        }
        assert_eq!(shown, expected, "{protocol:?}");
    }
}

/// 2.4: the column "Range", both ends, on create and on set.
#[tokio::test]
async fn numeric_attributes_have_ranges() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        // The reuse period exists only with a key.
        let url = s.queue("q", json!({ "KmsMasterKeyId": "key" })).await;
        for (name, least, most) in [
            ("DelaySeconds", 0, 900),
            ("MaximumMessageSize", 1_024, 1_048_576),
            ("MessageRetentionPeriod", 60, 1_209_600),
            ("ReceiveMessageWaitTimeSeconds", 0, 20),
            ("VisibilityTimeout", 0, 43_200),
            ("KmsDataKeyReusePeriodSeconds", 60, 86_400),
        ] {
            for good in [least, most] {
                s.set(&url, json!({ name: good.to_string() })).await;
                assert_eq!(s.attributes(&url).await[name], good.to_string(), "{name}");
            }
            for bad in
                [(least - 1).to_string(), (most + 1).to_string(), String::new(), "1.5".into(), "x".into()]
            {
                let attributes = json!({ name: bad });
                let input = json!({ "QueueUrl": url, "Attributes": attributes });
                s.refused("SetQueueAttributes", &input).await.is(&format!("{name}={bad}"), ATTRIBUTE_VALUE);
                let input = json!({ "QueueName": "n", "Attributes": attributes });
                s.refused("CreateQueue", &input).await.is(&format!("{name}={bad}"), ATTRIBUTE_VALUE);
            }
        }
    }
}

/// 2.4: flags and choices; "True" is accepted and shown in lower case.
#[tokio::test]
async fn flags_and_enums_accept_their_values() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.fifo("q.fifo", json!({ "DeduplicationScope": "messageGroup" })).await;
        for (name, given, shown) in [
            ("ContentBasedDeduplication", "True", "true"),
            ("ContentBasedDeduplication", "false", "false"),
            ("FifoThroughputLimit", "perMessageGroupId", "perMessageGroupId"),
            ("FifoThroughputLimit", "perQueue", "perQueue"),
            ("DeduplicationScope", "queue", "queue"),
            ("SqsManagedSseEnabled", "False", "false"),
            ("SqsManagedSseEnabled", "true", "true"),
        ] {
            s.set(&url, json!({ name: given })).await;
            assert_eq!(s.attributes(&url).await[name], shown, "{name}={given}");
        }
        for name in
            ["ContentBasedDeduplication", "FifoThroughputLimit", "DeduplicationScope", "SqsManagedSseEnabled"]
        {
            let input = json!({ "QueueUrl": url, "Attributes": { name: "maybe" } });
            s.refused("SetQueueAttributes", &input).await.is(name, ATTRIBUTE_VALUE);
        }
    }
}

/// 2.4: the kind "read only", and unknown names.
#[tokio::test]
async fn unknown_and_read_only_attributes_cannot_be_set() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        for name in [
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesNotVisible",
            "ApproximateNumberOfMessagesDelayed",
            "CreatedTimestamp",
            "LastModifiedTimestamp",
            "QueueArn",
            "All",
            "NoSuchName",
        ] {
            let message = format!("Unknown Attribute {name}.");
            let input = json!({ "QueueUrl": url, "Attributes": { name: "1" } });
            s.refused("SetQueueAttributes", &input).await.says(name, ATTRIBUTE_NAME, &message);
            let input = json!({ "QueueName": "n", "Attributes": { name: "1" } });
            s.refused("CreateQueue", &input).await.says(name, ATTRIBUTE_NAME, &message);
        }
        let input = json!({ "QueueUrl": url, "AttributeNames": ["DelaySeconds", "NoSuchName"] });
        let message = "Unknown Attribute NoSuchName.";
        s.refused("GetQueueAttributes", &input).await.says("asked for", ATTRIBUTE_NAME, message);
    }
}

/// 2.4: `RedrivePolicy` with the count as a string, shown as a number.
#[tokio::test]
async fn receive_count_can_be_a_string_and_is_shown_as_a_number() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        s.queue("dead", json!({})).await;
        for (name, count) in [("a", json!(1)), ("b", json!("1000"))] {
            let policy = json!({ "deadLetterTargetArn": format!("{ARN}dead"), "maxReceiveCount": count });
            let url = s.queue(name, json!({ "RedrivePolicy": policy.to_string() })).await;
            let shown: Value =
                serde_json::from_str(&text(&s.attributes(&url).await["RedrivePolicy"])).unwrap();
            let number: u32 = count.to_string().trim_matches('"').parse().unwrap();
            assert_eq!(shown["maxReceiveCount"], number);
        }
    }
}
