//! Metrics of SNS and STS.

#![expect(clippy::float_cmp, reason = "these are counts, which are exact")]

use sqs_mock_server::faults::Fault;

use super::*;
use crate::exposition::parse;

#[tokio::test]
async fn requests_and_deliveries_are_counted() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let dead = format!(r#"{{"deadLetterTargetArn":"{}"}}"#, queue_arn("dead"));
    sns.subscribe_queue(&topic, "q", &[]).await;
    sns.queue("dead").await;
    sns.subscribe(&topic, ("sqs", &queue_arn("gone")), &[("RedrivePolicy", &dead)]).await;
    sns.subscribe(&topic, ("sqs", &queue_arn("lost")), &[]).await;
    sns.subscribe(&topic, ("sms", "+15555550100"), &[]).await;
    for text in ["tea", "milk"] {
        sns.publish(&topic, text).await;
    }
    sns.call("Publish", &[("TopicArn", &topic)]).await;
    sns.call("PublishBatch", &[("TopicArn", &topic)]).await;
    sns.call("MakeCoffee", &[]).await;
    for fault in [Fault::status(503, "busy"), Fault::sns_error("Whim")] {
        sns.server.faults().inject(fault.topic("a").times(1));
        sns.call("Publish", &[("TopicArn", &topic), ("Message", "tea")]).await;
    }
    let headers = format!("{FORM}{}", scope("sts", "us-east-1"));
    sns.wire.exchange("POST /", &headers, b"Action=GetCallerIdentity").await;

    let samples = parse(sns.wire.get("/metrics").await.text());
    for (series, expected) in [
        ("sns_requests_total{action=\"CreateTopic\",code=\"OK\"}", 1.0),
        ("sns_requests_total{action=\"Publish\",code=\"OK\"}", 2.0),
        ("sns_requests_total{action=\"Publish\",code=\"ValidationError\"}", 1.0),
        ("sns_requests_total{action=\"Publish\",code=\"InjectedStatus\"}", 1.0),
        ("sns_requests_total{action=\"Publish\",code=\"Whim\"}", 1.0),
        ("sns_requests_total{action=\"PublishBatch\",code=\"EmptyBatchRequest\"}", 1.0),
        ("sns_requests_total{action=\"unknown\",code=\"InvalidAction\"}", 1.0),
        ("sts_requests_total{action=\"GetCallerIdentity\",code=\"OK\"}", 1.0),
        ("sns_deliveries_total{outcome=\"delivered\"}", 2.0),
        ("sns_deliveries_total{outcome=\"dead_lettered\"}", 2.0),
        ("sns_deliveries_total{outcome=\"dropped\"}", 2.0),
        ("sns_deliveries_total{outcome=\"not_sent\"}", 2.0),
    ] {
        assert_eq!(samples.get(&format!("sqs_mock_{series}")), Some(&expected), "{series}");
    }
}

#[tokio::test]
async fn request_without_a_response_is_counted_as_aborted() {
    let mut sns = Sns::start().await;
    sns.server.faults().inject(Fault::reset_after().of_sns());
    let headers = format!("{FORM}{}", scope("sns", "us-east-1"));
    sns.wire.request("POST /", &headers, b"Action=ListTopics").await.unwrap();
    assert!(sns.wire.answer().await.is_none());
    let samples = parse(&sns.server.metrics().await);
    assert_eq!(samples["sqs_mock_sns_requests_total{action=\"ListTopics\",code=\"aborted\"}"], 1.0);
}
