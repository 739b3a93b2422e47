//! Recorded requests, and faults.

use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn requests_to_topics_are_recorded_with_their_service() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    sns.publish(&topic, "tea").await;
    sns.call("GetTopicAttributes", &[("TopicArn", &topic_arn("none"))]).await;
    let records = sns.wire.get("/_mock/requests?service=sns").await.content(200);
    let shown = |record: &Value| {
        let field = |name: &str| record[name].clone();
        (field("service"), field("action"), field("topic"), field("status"), field("error"))
    };
    let records: Vec<_> = records["requests"].as_array().unwrap().iter().map(shown).collect();
    let expected = [
        (json!("sns"), json!("CreateTopic"), json!("a"), json!(200), Value::Null),
        (json!("sns"), json!("Publish"), json!("a"), json!(200), Value::Null),
        (json!("sns"), json!("GetTopicAttributes"), json!("none"), json!(404), json!("NotFound")),
    ];
    assert_eq!(records, expected);
}

#[tokio::test]
async fn faults_affect_topics_only_if_they_name_the_service() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let message = [("TopicArn", &*topic), ("Message", "tea")];
    let inject = |fault: Value| fault.to_string().into_bytes();
    for fault in [
        json!({ "effect": "error", "code": "AccessDenied" }),
        json!({ "effect": "throttle", "service": "sns", "times": 1 }),
    ] {
        let answer = sns
            .wire
            .exchange("POST /_mock/faults", "content-type: application/json\r\n", &inject(fault))
            .await;
        assert_eq!(answer.status / 100, 2, "{}", answer.text());
    }
    let (status, code, _) = sns.refusal("Publish", &message).await;
    assert_eq!((status, &*code), (429, "Throttled"));
    sns.ask("Publish", &message).await;
}
