//! Section 2.4: attributes of queues.

use serde_json::{Value, json};

use super::ask::text;
use super::code::{ATTRIBUTE_NAME, ATTRIBUTE_VALUE};
use crate::session::{BOTH, Session};

const ARN: &str = "arn:aws:sqs:us-east-1:000000000000:";

/// 2.4: `All` on fresh queues, with the column "Default".
#[tokio::test]
async fn fresh_queue_shows_twelve_attributes_and_a_fifo_queue_four_more() {
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
async fn numbers_have_ranges() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
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
async fn flags_and_choices_take_their_words() {
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

/// 2.4: `FifoThroughputLimit`.
#[tokio::test]
async fn throughput_per_group_needs_the_scope_of_groups() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.fifo("q.fifo", json!({})).await;
        let input = json!({ "QueueUrl": url, "Attributes": { "FifoThroughputLimit": "perMessageGroupId" } });
        s.refused("SetQueueAttributes", &input).await.is("scope queue", ATTRIBUTE_VALUE);
        let both =
            json!({ "FifoThroughputLimit": "perMessageGroupId", "DeduplicationScope": "messageGroup" });
        s.set(&url, both).await;
        let input = json!({ "QueueUrl": url, "Attributes": { "DeduplicationScope": "queue" } });
        s.refused("SetQueueAttributes", &input).await.is("scope back", ATTRIBUTE_VALUE);
    }
}

/// 2.4: what "" removes, and what is left out while it is not set.
#[tokio::test]
async fn empty_text_removes_what_can_be_unset() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        s.queue("dead", json!({})).await;
        let url = s.queue("q", json!({})).await;
        let redrive = json!({ "deadLetterTargetArn": format!("{ARN}dead"), "maxReceiveCount": 3 });
        for (name, value) in [
            ("Policy", json!({ "Version": "2012-10-17", "Statement": [] }).to_string()),
            ("RedrivePolicy", redrive.to_string()),
            ("RedriveAllowPolicy", json!({ "redrivePermission": "denyAll" }).to_string()),
            ("KmsMasterKeyId", "alias/aws/sqs".to_owned()),
        ] {
            assert_eq!(s.attributes(&url).await.get(name), None);
            s.set(&url, json!({ name: value })).await;
            assert_eq!(s.attributes(&url).await[name], value, "{name}");
            s.set(&url, json!({ name: "" })).await;
            assert_eq!(s.attributes(&url).await.get(name), None, "{name}");
        }
        let unset = json!({ "QueueUrl": url, "AttributeNames": ["Policy", "RedrivePolicy"] });
        assert_eq!(s.done("GetQueueAttributes", &unset).await, json!({}), "no key for nothing");
        assert_eq!(s.done("GetQueueAttributes", &json!({ "QueueUrl": url })).await, json!({}));
    }
}

/// 2.4: the three attributes of encryption.
#[tokio::test]
async fn kms_key_switches_managed_encryption_off_for_good() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({ "KmsDataKeyReusePeriodSeconds": "300" })).await;
        assert_eq!(
            s.attributes(&url).await.get("KmsDataKeyReusePeriodSeconds"),
            None,
            "a default without a key"
        );
        s.set(&url, json!({ "KmsMasterKeyId": "key" })).await;
        let shown = s.attributes(&url).await;
        let values = ["KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "SqsManagedSseEnabled"]
            .map(|name| &shown[name]);
        assert_eq!(values, ["key", "300", "false"]);
        s.set(&url, json!({ "KmsMasterKeyId": "" })).await;
        assert_eq!(s.attributes(&url).await["SqsManagedSseEnabled"], "false");
        let both = json!({ "KmsMasterKeyId": "key", "SqsManagedSseEnabled": "true" });
        for (action, input) in [
            ("SetQueueAttributes", json!({ "QueueUrl": url, "Attributes": both })),
            ("CreateQueue", json!({ "QueueName": "n", "Attributes": both })),
        ] {
            s.refused(action, &input).await.is(action, ATTRIBUTE_NAME);
        }
    }
}

/// 2.4: the kind "read only", and names that no queue has.
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

/// 2.4: `LastModifiedTimestamp`, and the column "Kind" of `DelaySeconds` and `MessageRetentionPeriod`.
#[tokio::test]
async fn changes_count_from_now_on() {
    for protocol in BOTH {
        let mut s = Session::frozen(protocol).await;
        let (standard, fifo) = (s.queue("q", json!({})).await, s.fifo("q.fifo", json!({})).await);
        let created: u64 = text(&s.attributes(&standard).await["CreatedTimestamp"]).parse().unwrap();
        s.put(&standard, "early").await;
        s.put_in(&fifo, "g", "early").await;
        s.pass(10);
        for url in [&standard, &fifo] {
            s.set(url, json!({ "DelaySeconds": "60" })).await;
        }
        let shown = s.attributes(&standard).await;
        assert_eq!(shown["CreatedTimestamp"], created.to_string());
        assert_eq!(shown["LastModifiedTimestamp"], (created + 10).to_string());
        assert_eq!(s.bodies(&standard).await, ["early"], "a standard queue delays later sends");
        assert!(s.bodies(&fifo).await.is_empty(), "a FIFO queue also what it has");
        s.pass(50);
        assert_eq!(s.bodies(&fifo).await, ["early"]);
        s.set(&fifo, json!({ "MessageRetentionPeriod": "60", "DelaySeconds": "0" })).await;
        s.pass(60);
        assert_eq!(s.counts(&fifo).await, ["0", "0", "0"], "shortening drops old messages");
    }
}

/// 2.4: `RedrivePolicy` with the count as a text, shown as a number.
#[tokio::test]
async fn receive_count_may_be_a_text_and_is_shown_as_a_number() {
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
