//! Events of buckets that reach queues through topics.

use serde_json::Value;
use sqs_mock_server::MockSqs;

use super::notifications::{EVERYTHING, configure, exchange, queue_arn, rule};
use super::{BUCKET, server};
use crate::wire::Wire;

const TOPIC: &str = "arn:aws:sns:us-east-1:000000000000:uploads";

/// Calls an action of SNS.
async fn call(wire: &mut Wire, parameters: &[(&str, &str)]) {
    let common = [("Version", "2010-03-31"), ("TopicArn", TOPIC), ("Name", "uploads"), ("Protocol", "sqs")];
    let form = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(parameters)
        .extend_pairs(common)
        .finish();
    let answer = wire.form("/", form).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// A server whose bucket announces everything to a topic. Its subscribers are the queues `enveloped`, `raw`, and
/// `reports`, which gets only new objects below `in/`.
async fn announcing() -> MockSqs {
    let server = server().await;
    let mut wire = Wire::connect(&server).await;
    call(&mut wire, &[("Action", "CreateTopic")]).await;
    let filter = r#"{"Records":{"eventName":[{"prefix":"ObjectCreated:"}],"s3":{"object":{"key":[{"prefix":"in/"}]}}}}"#;
    for (name, attributes) in [
        ("enveloped", vec![]),
        ("raw", vec![("RawMessageDelivery", "true")]),
        (
            "reports",
            vec![
                ("RawMessageDelivery", "true"),
                ("FilterPolicyScope", "MessageBody"),
                ("FilterPolicy", filter),
            ],
        ),
    ] {
        server.client().create_queue().queue_name(name).send().await.unwrap();
        let endpoint = queue_arn(name);
        let numbered: Vec<_> = (1..)
            .zip(&attributes)
            .flat_map(|(number, (name, value))| {
                let entry = format!("Attributes.entry.{number}");
                [(format!("{entry}.key"), *name), (format!("{entry}.value"), *value)]
            })
            .collect();
        let mut parameters = vec![("Action", "Subscribe"), ("Endpoint", &*endpoint)];
        parameters.extend(numbered.iter().map(|(name, value)| (name.as_str(), *value)));
        call(&mut wire, &parameters).await;
    }
    let answer = configure(&server, &rule("Topic", TOPIC, EVERYTHING, ""), "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    server
}

async fn bodies(server: &MockSqs, queue: &str, count: usize) -> Vec<Value> {
    let messages = server.queue(queue).expect_messages(count).await.unwrap();
    messages.iter().map(|message| serde_json::from_str(message.body()).unwrap()).collect()
}

/// 5.3: "envelope with Subject \"Amazon S3 Notification\" and the same JSON as Message".
#[tokio::test]
async fn subscribers_get_events_enveloped_or_raw_and_filtered() {
    let server = announcing().await;
    server.s3().put(BUCKET, "out/a", "tea").await.unwrap();
    let headers = "x-amzn-trace-id: Root=1-2-3\r\n";
    exchange(server.s3().endpoint_url(), "PUT /payloads/in/b", headers, "tea").await;
    server.s3().delete(BUCKET, "in/b").unwrap();
    let raw = bodies(&server, "raw", 4).await;
    assert_eq!(raw[0]["Event"], "s3:TestEvent");
    let keys: Vec<_> =
        raw[1..].iter().map(|event| event["Records"][0]["s3"]["object"]["key"].as_str()).collect();
    assert_eq!(keys, [Some("out/a"), Some("in/b"), Some("in/b")]);
    for (envelope, raw) in bodies(&server, "enveloped", 4).await.iter().zip(&raw) {
        assert_eq!(
            (&envelope["Subject"], &envelope["TopicArn"]),
            (&"Amazon S3 Notification".into(), &TOPIC.into())
        );
        let inner: Value = serde_json::from_str(envelope["Message"].as_str().unwrap()).unwrap();
        assert_eq!(&inner, raw);
        let url = envelope["UnsubscribeURL"].as_str().unwrap();
        assert!(url.starts_with(server.endpoint_url()), "{url}");
    }
    assert_eq!(bodies(&server, "reports", 1).await, raw[2..3]);
    let traced: Vec<_> = server
        .queue("raw")
        .messages()
        .iter()
        .map(|message| message.payload.trace_header().is_some())
        .collect();
    assert_eq!(traced, [false, false, true, false]);
}

#[tokio::test]
async fn event_for_a_deleted_topic_is_lost_and_later_ones_are_not() {
    let server = announcing().await;
    let mut wire = Wire::connect(&server).await;
    call(&mut wire, &[("Action", "DeleteTopic")]).await;
    server.s3().put(BUCKET, "in/a", "tea").await.unwrap();
    let rules = rule("Queue", &queue_arn("reports"), EVERYTHING, "");
    configure(&server, &rules, "x-amz-skip-destination-validation: true\r\n").await;
    server.s3().put(BUCKET, "in/b", "tea").await.unwrap();
    let events = bodies(&server, "reports", 1).await;
    assert_eq!(events[0]["Records"][0]["s3"]["object"]["key"], "in/b");
}
