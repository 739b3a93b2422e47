//! Faults of SNS.

use std::time::Duration;

use serde_json::{Value, json};
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::{Fault, SnsAction};

use super::*;

impl Sns {
    /// Publishes, and returns the status; 0 if the connection broke.
    async fn try_to_publish(&mut self, topic: &str) -> u16 {
        let body = form(&[("Action", "Publish"), ("TopicArn", topic), ("Message", "tea")]);
        let headers = format!("{FORM}{}", scope("sns", self.region));
        self.wire.request("POST /", &headers, body.as_bytes()).await.expect("the server reads");
        let status = self.wire.answer().await.map_or(0, |answer| answer.status);
        if status == 0 {
            self.wire = Wire::connect(&self.server).await;
        }
        status
    }
}

#[tokio::test]
async fn fault_affects_the_action_and_the_topic_that_it_names() {
    let mut sns = Sns::start().await;
    let (a, b) = (sns.topic("a", &[]).await, sns.topic("b", &[]).await);
    let fault = Fault::sns_error("AuthorizationError").on_sns(SnsAction::Publish).topic(&a).message("No.");
    let injected = sns.server.faults().inject(fault);
    let refused = sns.refusal("Publish", &[("TopicArn", &a), ("Message", "tea")]).await;
    assert_eq!(refused, (403, "AuthorizationError".to_owned(), "No.".to_owned()));
    sns.publish(&b, "tea").await;
    sns.ask("GetTopicAttributes", &[("TopicArn", &a)]).await;
    assert_eq!(injected.hits(), 1);
    assert!(sns.server.topic("a").published().is_empty(), "the request is not applied");
    sns.server.faults().inject(Fault::throttle().topic("c"));
    assert_eq!(sns.refusal("CreateTopic", &[("Name", "c")]).await.0, 429);
}

#[tokio::test]
async fn message_of_a_lost_response_is_published() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe_queue(&topic, "q", &[RAW]).await;
    for (fault, published) in [
        (Fault::reset_before(), 0),
        (Fault::status(503, "busy"), 0),
        (Fault::reset_after(), 1),
        (Fault::truncate(), 2),
    ] {
        sns.server.faults().inject(fault.on_sns(SnsAction::Publish).times(1));
        assert_ne!(sns.try_to_publish(&topic).await, 200);
        assert_eq!(sns.server.topic("a").published().len(), published);
        assert_eq!(sns.server.queue("q").bodies().len(), published);
    }
    assert_eq!(sns.try_to_publish(&topic).await, 200);
}

#[tokio::test]
async fn response_with_an_error_is_lost_too() {
    let mut sns = Sns::start().await;
    let missing = topic_arn("missing");
    sns.server.faults().inject(Fault::reset_after().on_sns(SnsAction::Publish).times(1));
    assert_eq!(sns.try_to_publish(&missing).await, 0);
    assert_eq!(sns.try_to_publish(&missing).await, 404);
}

#[tokio::test]
async fn latency_delays_requests_to_sns() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let latency = Duration::from_millis(40);
    sns.server.faults().inject(Fault::latency(latency).of_sns().times(1));
    let start = tokio::time::Instant::now();
    assert_eq!(sns.try_to_publish(&topic).await, 200);
    assert!(start.elapsed() >= latency);
}

#[tokio::test]
async fn fault_of_a_topic_can_be_injected_over_http() {
    let mut sns = Sns::start().await;
    let (a, b) = (sns.topic("a", &[]).await, sns.topic("b", &[]).await);
    let fault = json!({ "effect": "error", "code": "InternalError", "topic": a, "actions": ["Publish"] });
    let headers = "content-type: application/json\r\n";
    let answer = sns.wire.exchange("POST /_mock/faults", headers, fault.to_string().as_bytes()).await;
    let shown: Value = answer.content(200);
    assert_eq!((&shown["fault"]["topic"], &shown["fault"]["service"]), (&json!("a"), &json!("sns")));
    assert_eq!((sns.try_to_publish(&a).await, sns.try_to_publish(&b).await), (500, 200));
}

#[tokio::test]
async fn entries_of_a_batch_fail_or_are_omitted() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let batch: Vec<_> = ["tea", "milk", "soup"].into_iter().zip(1..).collect();
    let batch = batch.iter().flat_map(|(text, number)| {
        let name = |part| format!("PublishBatchRequestEntries.member.{number}.{part}");
        [(name("Id"), (*text).to_owned()), (name("Message"), (*text).to_owned())]
    });
    let batch: Vec<_> = batch.chain([("TopicArn".to_owned(), topic)]).collect();
    let batch: Vec<_> = batch.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let faults = sns.server.faults();
    faults.inject(Fault::fail_entries(ErrorCode::InternalFailure).topic("a").entry(1).message("No."));
    faults.inject(Fault::omit_entries().on_sns(SnsAction::PublishBatch).body_contains("soup"));
    let answer = sns.ask("PublishBatch", &batch).await;
    assert_eq!(answer.values("Id"), ["milk", "tea"]);
    let failed = ["Code", "Message", "SenderFault"].map(|name| answer.value(name));
    assert_eq!(failed, ["InternalFailure", "No.", "false"]);
    let all = sns.server.topic("a").published();
    assert_eq!(all.iter().map(|message| &*message.message).collect::<Vec<_>>(), ["tea", "soup"]);
}

#[tokio::test]
async fn fault_affects_messages_with_a_text() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let fault = json!({ "effect": "throttle", "service": "sns", "body_contains": "milk" });
    sns.server.faults().inject(fault.to_string().parse().unwrap());
    assert_eq!(sns.call("Publish", &[("TopicArn", &topic), ("Message", "warm milk")]).await.status, 429);
    sns.publish(&topic, "tea").await;
}

#[tokio::test]
async fn fault_of_a_topic_can_be_in_a_config_file() {
    let text = "[[topics]]\nname = 'a'\n[[faults]]\neffect = 'reset_after'\nservice = 'sns'\nactions = ['Publish']\ntimes = 1";
    let mut sns = Sns::with(MockSqsBuilder::from_toml(text).unwrap()).await;
    let topic = topic_arn("a");
    assert_eq!(sns.try_to_publish(&topic).await, 0);
    assert_eq!(sns.try_to_publish(&topic).await, 200);
    assert_eq!(sns.server.topic("a").published().len(), 2);
}
