//! Section 2.4: effects of attribute changes.

use serde_json::json;

use super::answers::text;
use super::attributes::ARN;
use super::code::{ATTRIBUTE_NAME, ATTRIBUTE_VALUE};
use crate::session::{BOTH, Session};

/// 2.4: `FifoThroughputLimit`.
#[tokio::test]
async fn throughput_per_group_requires_message_group_scope() {
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

/// 2.4: attributes that "" removes, and that are omitted while they are not set.
#[tokio::test]
async fn empty_value_removes_optional_attributes() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        s.queue("dead", json!({})).await;
        let url = s.queue("q", json!({})).await;
        let redrive = json!({ "deadLetterTargetArn": format!("{ARN}dead"), "maxReceiveCount": 3 });
        for (name, value) in [
            ("Policy", r#"{"Version":"2012-10-17","Statement":[]}"#.to_owned()),
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
        assert_eq!(s.done("GetQueueAttributes", &unset).await, json!({}), "no empty map");
        assert_eq!(s.done("GetQueueAttributes", &json!({ "QueueUrl": url })).await, json!({}));
    }
}

/// 2.4: the three attributes of encryption.
#[tokio::test]
async fn kms_key_disables_managed_encryption_permanently() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({ "KmsDataKeyReusePeriodSeconds": "300" })).await;
        assert_eq!(s.attributes(&url).await.get("KmsDataKeyReusePeriodSeconds"), None, "without a key");
        s.set(&url, json!({ "KmsMasterKeyId": "key", "KmsDataKeyReusePeriodSeconds": "300" })).await;
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

/// 2.4: `LastModifiedTimestamp`, and the column "Kind" of `DelaySeconds` and `MessageRetentionPeriod`.
#[tokio::test]
async fn attribute_changes_apply_to_later_requests() {
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
        assert!(s.bodies(&fifo).await.is_empty(), "a FIFO queue also delays stored messages");
        s.pass(50);
        assert_eq!(s.bodies(&fifo).await, ["early"]);
        s.set(&fifo, json!({ "MessageRetentionPeriod": "60", "DelaySeconds": "0" })).await;
        s.pass(60);
        assert_eq!(s.counts(&fifo).await, ["0", "0", "0"], "shortening drops old messages");
    }
}
