//! A tour with the AWS SDK for Rust: identity, topics, deliveries, events of S3.

use aws_sdk_sns::Client as SnsClient;
use aws_sdk_sns::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_sns::error::ProvideErrorMetadata as _;
use aws_sdk_sns::types::{MessageAttributeValue, PublishBatchRequestEntry};
use aws_sdk_sts::Client as StsClient;

use super::*;

fn client(server: &MockSqs) -> SnsClient {
    let config = aws_sdk_sns::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .endpoint_url(server.endpoint_url())
        .http_client(aws_smithy_http_client::Builder::new().build_http());
    SnsClient::from_conf(config.build())
}

fn sts_client(server: &MockSqs, access_key: &str) -> StsClient {
    let config = aws_sdk_sts::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new(access_key, "secret", None, None, "test"))
        .endpoint_url(server.endpoint_url())
        .http_client(aws_smithy_http_client::Builder::new().build_http());
    StsClient::from_conf(config.build())
}

fn kind(text: &str) -> MessageAttributeValue {
    MessageAttributeValue::builder().data_type("String").string_value(text).build().unwrap()
}

#[tokio::test]
async fn topics_raw_and_enveloped_with_filters() {
    let sns = Sns::start().await;
    let client = client(&sns.server);
    let created = client.create_topic().name("orders").send().await.unwrap();
    let topic = created.topic_arn().unwrap();
    let subscribe = |queue: &str, attributes: &[(&str, &str)]| {
        let request = client.subscribe().topic_arn(topic).protocol("sqs").endpoint(queue_arn(queue));
        let request =
            attributes.iter().fold(request, |request, (name, value)| request.attributes(*name, *value));
        request.return_subscription_arn(true).send()
    };
    for queue in ["all", "hot"] {
        sns.queue(queue).await;
    }
    subscribe("all", &[]).await.unwrap();
    let hot = subscribe("hot", &[RAW, ("FilterPolicy", r#"{"kind":["hot"]}"#)]).await.unwrap();
    for (text, of) in [("soup", "hot"), ("salad", "cold")] {
        let publish = client.publish().topic_arn(topic).message(text).subject("order");
        assert!(publish.message_attributes("kind", kind(of)).send().await.unwrap().message_id().is_some());
    }
    assert_eq!(sns.bodies("hot").await, ["soup"]);
    let envelopes = sns.bodies("all").await;
    let opened = envelopes.iter().map(|body| serde_json::from_str::<serde_json::Value>(body).unwrap());
    let mut texts: Vec<_> = opened.map(|envelope| envelope["Message"].as_str().unwrap().to_owned()).collect();
    texts.sort();
    assert_eq!(texts, ["salad", "soup"]);

    let arn = hot.subscription_arn().unwrap();
    let shown = client.get_subscription_attributes().subscription_arn(arn).send().await.unwrap();
    assert_eq!(shown.attributes().unwrap()["RawMessageDelivery"], "true");
    let refused = subscribe("other", &[("FilterPolicy", r#"{"kind":"hot"}"#)]).await.unwrap_err();
    assert!(refused.as_service_error().unwrap().is_invalid_parameter_exception(), "{refused:?}");
    client.unsubscribe().subscription_arn(arn).send().await.unwrap();
    let listed = client.list_subscriptions_by_topic().topic_arn(topic).send().await.unwrap();
    assert_eq!(listed.subscriptions().len(), 1);
    client.delete_topic().topic_arn(topic).send().await.unwrap();
    let missing = client.publish().topic_arn(topic).message("tea").send().await.unwrap_err();
    assert!(missing.as_service_error().unwrap().is_not_found_exception());
    assert_eq!(missing.message(), Some("Topic does not exist"));
}

#[tokio::test]
async fn batches_of_a_fifo_topic() {
    let sns = Sns::start().await;
    let client = client(&sns.server);
    let create = client.create_topic().name("orders.fifo").attributes("FifoTopic", "true");
    let created = create.send().await.unwrap();
    let topic = created.topic_arn().unwrap();
    sns.queue("orders.fifo").await;
    let subscribe = client.subscribe().topic_arn(topic).protocol("sqs").endpoint(queue_arn("orders.fifo"));
    subscribe.attributes("RawMessageDelivery", "true").send().await.unwrap();
    let publish = || {
        let entries = (0..5).map(|number| {
            let text = number.to_string();
            let entry = PublishBatchRequestEntry::builder().id(&text).message(&text);
            entry.message_group_id("g").message_deduplication_id(&text).build().unwrap()
        });
        client
            .publish_batch()
            .topic_arn(topic)
            .set_publish_batch_request_entries(Some(entries.collect()))
            .send()
    };
    let (first, again) = (publish().await.unwrap(), publish().await.unwrap());
    assert!(first.failed().is_empty() && first.successful().len() == 5);
    assert_eq!(first.successful(), again.successful(), "a duplicate gets the original receipt");
    assert_eq!(sns.bodies("orders.fifo").await, ["0", "1", "2", "3", "4"]);
}

#[tokio::test]
async fn caller_identity_is_that_of_the_access_key() {
    let server = MockSqs::start().await;
    for (key, account) in [("test", ACCOUNT), ("123456789012", "123456789012")] {
        let identity = sts_client(&server, key).get_caller_identity().send().await.unwrap();
        assert_eq!(identity.account(), Some(account));
        assert_eq!(identity.user_id(), Some(account));
        assert_eq!(identity.arn(), Some(&*format!("arn:aws:iam::{account}:root")));
    }
    let server = MockSqs::builder().require_signatures([("AKID", "secret")]).start().await.unwrap();
    assert!(sts_client(&server, "AKID").get_caller_identity().send().await.is_ok());
    let unknown = sts_client(&server, "OTHER").get_caller_identity().send().await.unwrap_err();
    assert_eq!(unknown.code(), Some("InvalidClientTokenId"));
}
