//! Throughput quotas: set by the builder, over HTTP and at run time.

use serde_json::{Value, json};
use sqs_client::types::QueueAttributeName::FifoQueue;
use sqs_mock_server::inspect::QueueArn;
use sqs_mock_server::{MockSqs, QuotaScope, ThroughputQuotas};

use crate::wire::Wire;

pub(crate) fn calls(calls: u32) -> ThroughputQuotas {
    let mut quotas = ThroughputQuotas::default();
    quotas.calls = calls;
    quotas
}

pub(crate) fn arn(name: &str) -> QueueArn {
    QueueArn::new("us-east-1", "000000000000", name)
}

pub(crate) fn quota_of(server: &MockSqs, name: &str) -> Option<u32> {
    server.queue(name).throughput_quotas().map(|quotas| quotas.calls)
}

#[tokio::test]
async fn builder_sets_quotas_that_a_reset_restores() {
    let builder = MockSqs::builder().throughput_quotas(QuotaScope::Server, calls(3));
    let server = builder.throughput_quotas(QuotaScope::Queue(arn("own.fifo")), None).in_process().unwrap();
    let expect_initial = || {
        let quotas = ["jobs.fifo", "own.fifo", "standard"].map(|name| quota_of(&server, name));
        assert_eq!(quotas, [Some(3), None, None]);
    };
    expect_initial();
    server.set_throughput_quotas(QuotaScope::Queue(arn("own.fifo")), calls(5));
    server.set_throughput_quotas(QuotaScope::Server, None);
    assert_eq!((quota_of(&server, "jobs.fifo"), quota_of(&server, "own.fifo")), (None, Some(5)));
    server.inherit_throughput_quotas(&QuotaScope::Queue(arn("own.fifo")));
    assert_eq!(quota_of(&server, "own.fifo"), None);
    server.reset();
    expect_initial();
}

#[tokio::test]
async fn requests_above_a_quota_of_the_builder_are_rejected_in_process() {
    let builder = MockSqs::builder().clock_frozen().throughput_quotas(QuotaScope::Server, calls(1));
    let server = builder.in_process().unwrap();
    let retries = sqs_client::config::retry::RetryConfig::disabled();
    let client = sqs_client::Client::from_conf(server.client_config().retry_config(retries).build());
    let create = client.create_queue().queue_name("jobs.fifo").attributes(FifoQueue, "true");
    let url = create.send().await.unwrap().queue_url.unwrap();
    client.receive_message().queue_url(&url).send().await.unwrap();
    let error = client.receive_message().queue_url(&url).send().await.unwrap_err();
    assert_eq!((error.code(), error.is_throttle()), (Some("RequestThrottled"), true));
    server.clock().advance(std::time::Duration::from_secs(1));
    client.receive_message().queue_url(&url).send().await.unwrap();
}

async fn change(wire: &mut Wire, body: Value) -> Value {
    wire.post("/_mock/quotas", &body.to_string()).await.content(200)
}

#[tokio::test]
async fn quotas_are_set_shown_and_removed_over_http() {
    let server = MockSqs::start().await;
    let mut wire = Wire::connect(&server).await;
    assert_eq!(wire.get("/_mock/quotas").await.content(200), json!([{ "quotas": false }]));
    change(&mut wire, json!({ "quotas": true })).await;
    change(&mut wire, json!({ "quotas": { "calls": 7 }, "account": "111111111111" })).await;
    let all = change(&mut wire, json!({ "quotas": false, "queue": "jobs.fifo" })).await;
    let quotas = |calls| json!({ "calls": calls, "high_throughput_calls": 2400, "group_messages": 300 });
    let expected = json!([
        { "quotas": quotas(300) },
        { "quotas": quotas(7), "account": "111111111111" },
        { "quotas": false, "queue": "jobs.fifo", "region": "us-east-1", "account": "000000000000" },
    ]);
    assert_eq!(all, expected);
    let of_account = server.queue("x.fifo").of_account("111111111111").throughput_quotas();
    assert_eq!((quota_of(&server, "jobs.fifo"), of_account), (None, Some(calls(7))));
    for quotas in expected.as_array().unwrap() {
        assert_eq!(change(&mut wire, quotas.clone()).await, expected, "the output is valid input");
    }
    wire.exchange("DELETE /_mock/quotas?queue=jobs.fifo", "", b"").await.content(200);
    assert_eq!(quota_of(&server, "jobs.fifo"), Some(300));
    let none = wire.exchange("DELETE /_mock/quotas", "", b"").await.content(200);
    assert_eq!((none, quota_of(&server, "jobs.fifo")), (json!([]), None));
}

#[tokio::test]
async fn full_table_of_quotas_takes_changes_but_no_further_scopes() {
    let server = MockSqs::start().await;
    let mut wire = Wire::connect(&server).await;
    for number in 1..1000 {
        server.set_throughput_quotas(QuotaScope::Queue(arn(&format!("{number}.fifo"))), calls(1));
    }
    change(&mut wire, json!({ "quotas": { "calls": 2 }, "queue": "7.fifo" })).await;
    assert_eq!(quota_of(&server, "7.fifo"), Some(2));
    let further = json!({ "quotas": true, "queue": "further.fifo" }).to_string();
    let refusal = wire.post("/_mock/quotas", &further).await.error(400);
    assert_eq!(refusal, "1000 quotas are set already; DELETE some first");
}

#[tokio::test]
async fn invalid_quotas_over_http_are_rejected_and_have_no_effect() {
    let server = MockSqs::start().await;
    let mut wire = Wire::connect(&server).await;
    for (body, part) in [
        ("{}", "missing field `quotas`"),
        (r#"{"quotas": 5}"#, "expected true, false, or a table with calls"),
        (r#"{"quotas": {"call": 5}}"#, "unknown field `call`, expected one of `calls`"),
        (r#"{"quotas": true, "queue": "orders"}"#, "allowed are names that end in .fifo"),
        (r#"{"quotas": true, "region": "us-east-1"}"#, "region requires queue"),
        (r#"{"quotas": true, "account": "12"}"#, "allowed are 12 digits"),
        (r#"{"quotas": true, "group": "a"}"#, "unknown field `group`"),
    ] {
        let refusal = wire.post("/_mock/quotas", body).await.content(400);
        assert!(refusal["error"].as_str().unwrap().contains(part), "{body}: {refusal}");
    }
    let unknown = wire.exchange("DELETE /_mock/quotas?queue=jobs.fifo", "", b"").await.content(404);
    assert!(unknown["error"].as_str().unwrap().contains("no quotas are set for this"), "{unknown}");
    assert_eq!(wire.get("/_mock/quotas").await.content(200), json!([{ "quotas": false }]));
}
