//! Queues that invoke functions.

mod hook;
mod lambda;

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use serde_json::{Value, json};
use sqs_client::transport::Transport as _;
use sqs_client::types::QueueAttributeName;
use sqs_mock_server::faults::Fault;
use sqs_mock_server::inspect::OutgoingKind;
use sqs_mock_server::{Limits, MockSqs, MockSqsBuilder, Trigger};

use hook::Hook;

/// Waits until a condition holds. It has no time limit of its own, so that slow machines do not fail.
async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn created(server: &MockSqs, name: &str) {
    with_attributes(server, name, &[]).await;
}

async fn with_attributes(server: &MockSqs, name: &str, attributes: &[(QueueAttributeName, &str)]) {
    let mut attributes: Vec<_> =
        attributes.iter().map(|(name, value)| (name.clone(), (*value).to_owned())).collect();
    if name.ends_with(".fifo") {
        attributes.push((QueueAttributeName::FifoQueue, "true".to_owned()));
        attributes.push((QueueAttributeName::ContentBasedDeduplication, "true".to_owned()));
    }
    let create = server.client().create_queue().queue_name(name);
    create.set_attributes(Some(attributes.into_iter().collect())).send().await.unwrap();
}

async fn sent(server: &MockSqs, name: &str, bodies: &[&str]) {
    for body in bodies {
        let send = server.client().send_message().queue_url(server.queue_url(name)).message_body(*body);
        // The group of `a1` is `a`.
        let group = name.ends_with(".fifo").then(|| body[..1].to_owned());
        send.set_message_group_id(group).send().await.unwrap();
    }
}

/// A request to the admin API.
async fn ask(server: &MockSqs, method: Method, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    let request = Request::builder().method(method).uri(format!("http://mock/_mock/{path}")).body(body);
    let answer = server.transport().send(request.unwrap()).await.unwrap();
    (answer.status().as_u16(), serde_json::from_slice(answer.body()).unwrap())
}

async fn added(server: &MockSqs, trigger: &Value) -> Value {
    let (status, answer) = ask(server, Method::POST, "triggers", trigger).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

fn server_with(trigger: Trigger) -> MockSqs {
    MockSqs::builder().clock_frozen().trigger(trigger).in_process().unwrap()
}

fn refusal(text: &str) -> String {
    MockSqsBuilder::from_toml(text).expect_err("an error").to_string()
}

#[tokio::test]
async fn hook_gets_a_batch_and_its_messages_are_deleted() {
    let mut hook = Hook::start().await;
    let server = MockSqs::in_process();
    created(&server, "orders").await;
    sent(&server, "orders", &["tea", "milk"]).await;
    let trigger = added(&server, &json!({ "queue": "orders", "url": hook.url })).await;
    assert_eq!(trigger["queue"], "arn:aws:sqs:us-east-1:000000000000:orders");
    assert_eq!(trigger["warning"], Value::Null);

    let call = hook.next().await;
    assert_eq!(call.headers()["content-type"], "application/json");
    assert!(!call.headers().contains_key("x-amz-invocation-type"));
    let records = call.event().records;
    let bodies: Vec<_> = records.iter().map(|record| &*record.body).collect();
    assert_eq!(bodies, ["tea", "milk"]);
    let first = &records[0];
    assert_eq!(first.event_source_arn, "arn:aws:sqs:us-east-1:000000000000:orders");
    assert_eq!((&*first.event_source, &*first.aws_region), ("aws:sqs", "us-east-1"));
    assert_eq!(first.attributes["ApproximateReceiveCount"], "1");
    assert!(first.attributes.contains_key("SentTimestamp") && first.attributes.contains_key("SenderId"));
    call.answer(200, "whatever");
    server.queue("orders").wait_until_empty().await.unwrap();

    until(|| server.deliveries().len() == 1).await;
    let delivery = &server.deliveries()[0];
    assert_eq!((delivery.kind, delivery.messages, delivery.status), (OutgoingKind::Invocation, 2, Some(200)));
    assert_eq!((&delivery.error, &delivery.follows), (&None, &None));
    assert_eq!(delivery.source, "arn:aws:sqs:us-east-1:000000000000:orders");
    let requests = server.requests();
    assert!(format!("{requests:?}").contains("DeleteMessageBatch"), "{requests:?}");
    until(|| server.triggers()[0].in_progress == 0).await;
    let described = &server.triggers()[0];
    assert_eq!((described.invocations, described.deleted, described.kept), (1, 2, 0));
    assert!(!described.configured);
    let metrics = server.metrics().await;
    let sample = "sqs_mock_trigger_messages_total{outcome=\"deleted\",queue=\"arn:aws:sqs:us-east-1:000000000000:orders\"} 2";
    assert!(metrics.contains(sample), "{metrics}");
}

#[tokio::test]
async fn message_attributes_arrive_in_the_form_of_lambda() {
    let mut hook = Hook::start().await;
    let server = server_with(Trigger::new("orders", &hook.url));
    created(&server, "orders").await;
    let text = sqs_client::types::MessageAttributeValue::string("hot");
    let send = server.client().send_message().queue_url(server.queue_url("orders")).message_body("tea");
    send.message_attributes("kind", text).send().await.unwrap();
    let call = hook.next().await;
    let event: Value = serde_json::from_slice(&call.body).unwrap();
    let record = &event["Records"][0];
    let expected =
        json!({ "stringValue": "hot", "stringListValues": [], "binaryListValues": [], "dataType": "String" });
    assert_eq!(record["messageAttributes"]["kind"], expected);
    assert_eq!(record["md5OfMessageAttributes"].as_str().map(str::len), Some(32));
}

#[tokio::test]
async fn messages_of_a_failed_invocation_return_after_their_visibility_timeout_and_end_as_dead_letters() {
    let mut hook = Hook::start().await;
    let server = server_with(Trigger::new("orders", &hook.url));
    created(&server, "dead").await;
    let dead = server.queue("dead").arn().to_string();
    let redrive = json!({ "deadLetterTargetArn": dead, "maxReceiveCount": 2 }).to_string();
    with_attributes(&server, "orders", &[(QueueAttributeName::RedrivePolicy, &redrive)]).await;
    sent(&server, "orders", &["tea"]).await;
    for count in ["1", "2"] {
        let call = hook.next().await;
        assert_eq!(call.event().records[0].attributes["ApproximateReceiveCount"], count);
        call.answer(500, "later");
        let ended: u64 = count.parse().unwrap();
        until(|| server.triggers()[0].kept == ended).await;
        assert_eq!(server.queue("orders").counts().unwrap().in_flight, 1);
        server.clock().advance(Duration::from_secs(30));
    }
    server.queue("dead").expect_messages(1).await.unwrap();
    let deliveries = server.deliveries();
    assert_eq!(deliveries[1].error.as_deref(), Some("status 500 Internal Server Error: \"later\""));
    let follows = "1 of 1 message stays in the queue until its visibility timeout ends";
    assert_eq!(deliveries[1].follows.as_deref(), Some(follows));
    let described = &server.triggers()[0];
    assert_eq!((described.failures, described.kept, described.deleted), (2, 2, 0));
    assert!(hook.is_idle());
}

#[tokio::test]
async fn only_the_messages_that_the_function_names_stay() {
    let mut hook = Hook::start().await;
    let server = MockSqs::builder().clock_frozen().in_process().unwrap();
    created(&server, "orders").await;
    sent(&server, "orders", &["tea", "bad", "milk"]).await;
    added(&server, &json!({ "queue": "orders", "url": hook.url, "report_batch_item_failures": true })).await;
    let call = hook.next().await;
    let failed = json!({ "batchItemFailures": [{ "itemIdentifier": call.id_of("bad") }] });
    call.answer(200, &failed.to_string());
    until(|| server.triggers()[0].kept == 1).await;
    assert_eq!(server.queue("orders").bodies(), ["bad"]);
    let delivery = &server.deliveries()[0];
    let follows = "1 of 3 messages stays in the queue until its visibility timeout ends";
    assert_eq!((&delivery.error, delivery.follows.as_deref()), (&None, Some(follows)));
    server.clock().advance(Duration::from_secs(30));
    assert_eq!(hook.next().await.bodies(), ["bad"]);
}

#[tokio::test]
async fn invalid_report_of_failures_is_a_complete_failure() {
    let mut hook = Hook::start().await;
    let server = server_with(Trigger::new("orders", &hook.url).report_batch_item_failures(true));
    created(&server, "orders").await;
    sent(&server, "orders", &["tea"]).await;
    hook.next().await.answer(200, r#"{"batchItemFailures":[{"itemIdentifier":"7"}]}"#);
    until(|| server.triggers()[0].failures == 1).await;
    let error = server.deliveries()[0].error.clone().unwrap();
    assert!(error.contains("the event has no message \"7\""), "{error}");
    assert_eq!(server.queue("orders").bodies(), ["tea"]);
}

#[tokio::test]
async fn messages_that_match_no_filter_are_deleted_without_an_invocation() {
    let mut hook = Hook::start().await;
    let trigger = Trigger::new("orders", &hook.url).filter(r#"{"body":{"kind":["hot"]}}"#);
    let server = server_with(trigger);
    created(&server, "orders").await;
    sent(&server, "orders", &[r#"{"kind":"cold"}"#, "tea"]).await;
    server.queue("orders").wait_until_empty().await.unwrap();
    sent(&server, "orders", &[r#"{"kind":"hot"}"#]).await;
    let call = hook.next().await;
    assert_eq!(call.bodies(), [r#"{"kind":"hot"}"#]);
    assert_eq!((server.triggers()[0].filtered, server.triggers()[0].invocations), (2, 0));
    let metrics = server.metrics().await;
    assert!(metrics.contains("outcome=\"filtered\""), "{metrics}");
}

#[tokio::test]
async fn batch_is_invoked_when_it_is_full_or_its_window_ends_by_the_clock() {
    let mut hook = Hook::start().await;
    let window = Duration::from_secs(300);
    let server = server_with(Trigger::new("orders", &hook.url).batch_size(25).batch_window(window));
    with_attributes(&server, "orders", &[(QueueAttributeName::VisibilityTimeout, "900")]).await;
    let in_flight = || server.queue("orders").counts().unwrap().in_flight;
    for number in 0..24 {
        sent(&server, "orders", &[&*number.to_string()]).await;
    }
    until(|| in_flight() == 24).await;
    assert!(hook.is_idle());
    sent(&server, "orders", &["24"]).await;
    let call = hook.next().await;
    assert_eq!(call.bodies(), (0..25).map(|number| number.to_string()).collect::<Vec<_>>());
    call.answer(200, "");
    server.queue("orders").wait_until_empty().await.unwrap();

    sent(&server, "orders", &["a", "b"]).await;
    until(|| in_flight() == 2).await;
    server.clock().advance(window / 2);
    assert!(hook.is_idle());
    server.clock().advance(window / 2);
    assert_eq!(hook.next().await.bodies(), ["a", "b"]);
}

#[tokio::test]
async fn fifo_queue_has_one_batch_at_a_time_for_each_group_and_keeps_the_order_after_failures() {
    let mut hook = Hook::start().await;
    let server = server_with(Trigger::new("jobs.fifo", &hook.url).batch_size(1));
    created(&server, "jobs.fifo").await;
    sent(&server, "jobs.fifo", &["a1", "a2", "b1"]).await;
    let mut calls = [hook.next().await, hook.next().await];
    calls.sort_by_key(hook::Call::bodies);
    let [a, b] = calls;
    assert_eq!((a.bodies(), b.bodies()), (vec!["a1".to_owned()], vec!["b1".to_owned()]));
    b.answer(200, "");
    until(|| server.triggers()[0].invocations == 1).await;
    a.answer(400, "");
    until(|| server.triggers()[0].invocations == 2).await;
    assert!(hook.is_idle(), "the group is locked");
    server.clock().advance(Duration::from_secs(30));
    for expected in ["a1", "a2"] {
        let call = hook.next().await;
        assert_eq!(call.bodies(), [expected]);
        call.answer(200, "");
    }
    server.queue("jobs.fifo").wait_until_empty().await.unwrap();
}

#[tokio::test]
async fn messages_of_several_groups_are_split_into_a_batch_for_each_group() {
    let mut hook = Hook::start().await;
    let server = MockSqs::builder().clock_frozen().in_process().unwrap();
    created(&server, "jobs.fifo").await;
    sent(&server, "jobs.fifo", &["a1", "b1", "a2", "b2"]).await;
    added(&server, &json!({ "queue": "jobs.fifo", "url": hook.url })).await;
    let mut calls = [hook.next().await, hook.next().await];
    calls.sort_by_key(hook::Call::bodies);
    assert_eq!(calls.each_ref().map(hook::Call::bodies), [["a1", "a2"], ["b1", "b2"]]);
}

#[tokio::test]
async fn group_that_waits_for_a_place_until_its_messages_are_visible_again_is_received_anew() {
    let mut hook = Hook::start().await;
    let server = MockSqs::builder().clock_frozen().in_process().unwrap();
    created(&server, "jobs.fifo").await;
    sent(&server, "jobs.fifo", &["a1", "b1"]).await;
    added(&server, &json!({ "queue": "jobs.fifo", "url": hook.url, "concurrency": 1 })).await;
    let first = hook.next().await;
    server.clock().advance(Duration::from_secs(30));
    first.answer(400, "");
    let mut calls = Vec::new();
    for _ in 0..2 {
        let call = hook.next().await;
        let event: Value = serde_json::from_slice(&call.body).unwrap();
        calls.push((call.bodies(), event["Records"][0]["attributes"]["ApproximateReceiveCount"].clone()));
        call.answer(200, "");
    }
    calls.sort_by_key(|(bodies, _)| bodies.clone());
    assert_eq!(calls, [(vec!["a1".to_owned()], json!("2")), (vec!["b1".to_owned()], json!("2"))]);
    server.queue("jobs.fifo").wait_until_empty().await.unwrap();
    assert_eq!((server.triggers()[0].invocations, server.triggers()[0].kept), (3, 2));
}

#[tokio::test]
async fn function_that_hangs_holds_one_place_until_its_timeout() {
    let mut hook = Hook::start().await;
    let trigger = Trigger::new("orders", &hook.url).batch_size(1).concurrency(2);
    let server = server_with(trigger.timeout(Duration::from_secs(1)));
    created(&server, "orders").await;
    sent(&server, "orders", &["hang"]).await;
    let hanging = hook.next().await;
    for body in ["1", "2", "3"] {
        sent(&server, "orders", &[body]).await;
        let call = hook.next().await;
        assert_eq!(call.bodies(), [body]);
        call.answer(200, "");
    }
    until(|| server.triggers()[0].deleted == 3 && server.triggers()[0].kept == 1).await;
    assert_eq!((server.triggers()[0].invocations, server.triggers()[0].failures), (4, 1));
    assert!(server.deliveries().iter().any(|one| one.error.as_deref() == Some("no answer within 1s")));
    drop(hanging);
}

#[tokio::test]
async fn address_that_is_not_allowed_is_refused_and_messages_stay() {
    let server = server_with(Trigger::new("orders", "http://10.1.2.3/orders"));
    created(&server, "orders").await;
    sent(&server, "orders", &["tea"]).await;
    until(|| server.triggers()[0].failures == 1).await;
    let delivery = &server.deliveries()[0];
    assert!(
        delivery.error.as_ref().unwrap().starts_with("10.1.2.3 is not allowed; allowed are loopback"),
        "{delivery:?}"
    );
    assert_eq!(delivery.status, None);
    assert_eq!(server.queue("orders").bodies(), ["tea"]);
}

#[tokio::test]
async fn faults_of_receives_hit_the_trigger_which_then_recovers() {
    let url = Hook::that_answers(200).await;
    let fault: Fault = r#"{"effect":"throttle","actions":["ReceiveMessage"],"times":5}"#.parse().unwrap();
    let server = MockSqs::builder().fault(fault).trigger(Trigger::new("orders", url)).in_process().unwrap();
    created(&server, "orders").await;
    sent(&server, "orders", &["tea"]).await;
    until(|| server.triggers()[0].deleted == 1).await;
    assert_eq!(server.faults().list()[0].hits(), 5);
    assert_eq!(server.triggers()[0].last_error, None);
}

#[tokio::test]
async fn faults_of_deletes_are_retried() {
    let url = Hook::that_answers(200).await;
    let fault =
        r#"{"effect":"fail_entries","code":"InternalFailure","actions":["DeleteMessageBatch"],"times":1}"#;
    let server = MockSqs::builder().clock_frozen().fault(fault.parse().unwrap());
    let server = server.trigger(Trigger::new("orders", url)).in_process().unwrap();
    created(&server, "orders").await;
    sent(&server, "orders", &["tea"]).await;
    until(|| server.triggers()[0].deleted == 1).await;
    assert_eq!(server.queue("orders").counts().unwrap().in_flight, 0);
}

#[tokio::test]
async fn trigger_signs_for_the_account_and_region_of_its_queue() {
    let mut hook = Hook::start().await;
    let arn = "arn:aws:sqs:eu-west-1:123456789012:orders";
    for builder in [
        MockSqs::builder(),
        MockSqs::builder().require_signatures([("123456789012", "x"), ("AKIDEXAMPLE", "y")]),
    ] {
        let server = builder
            .policies(sqs_mock_server::Policies::Enforce)
            .trigger(Trigger::new(arn, &hook.url))
            .in_process()
            .unwrap();
        let config = server.client_config().region(sqs_client::config::Region::new("eu-west-1"));
        let key = sqs_client::config::Credentials::new("123456789012", "x", None, None, "test");
        let client = sqs_client::Client::from_conf(config.credentials_provider(key).build());
        let url = client.create_queue().queue_name("orders").send().await.unwrap().queue_url.unwrap();
        client.send_message().queue_url(url).message_body("tea").send().await.unwrap();
        let call = hook.next().await;
        assert_eq!(call.event().records[0].event_source_arn, arn);
        call.answer(200, "");
        until(|| server.triggers()[0].deleted == 1).await;
    }
}

#[tokio::test]
async fn trigger_of_the_server_account_signs_with_a_key_of_that_account() {
    let url = Hook::that_answers(200).await;
    let keys = [("123456789012", "x"), ("test", "y")];
    let builder = MockSqs::builder().require_signatures(keys).policies(sqs_mock_server::Policies::Enforce);
    let server = builder.trigger(Trigger::new("orders", url)).in_process().unwrap();
    let key = sqs_client::config::Credentials::new("test", "y", None, None, "test");
    let client = sqs_client::Client::from_conf(server.client_config().credentials_provider(key).build());
    let url = client.create_queue().queue_name("orders").send().await.unwrap().queue_url.unwrap();
    client.send_message().queue_url(url).message_body("tea").send().await.unwrap();
    until(|| server.triggers()[0].deleted == 1).await;
}

#[tokio::test]
async fn trigger_waits_for_its_queue_and_warns_of_a_short_visibility_timeout() {
    let mut hook = Hook::start().await;
    let server = server_with(Trigger::new("orders", &hook.url).timeout(Duration::from_secs(60)));
    until(|| server.triggers()[0].warning.as_deref() == Some("it waits: the queue does not exist")).await;
    created(&server, "orders").await;
    sent(&server, "orders", &["tea"]).await;
    hook.next().await.answer(200, "");
    let warning = server.triggers()[0].warning.clone().unwrap();
    assert!(warning.starts_with("the visibility timeout of the queue, 30s, is shorter than"), "{warning}");
    until(|| server.triggers()[0].deleted == 1).await;

    let url = server.queue_url("orders");
    server.client().delete_queue().queue_url(&url).send().await.unwrap();
    until(|| server.triggers()[0].warning.as_deref() == Some("it waits: the queue does not exist")).await;
    with_attributes(&server, "orders", &[(QueueAttributeName::VisibilityTimeout, "60")]).await;
    sent(&server, "orders", &["milk"]).await;
    assert_eq!(hook.next().await.bodies(), ["milk"]);
    assert_eq!(server.triggers()[0].warning, None);
}

#[tokio::test]
async fn reset_keeps_the_triggers_of_the_start_and_removes_added_ones() {
    let mut hook = Hook::start().await;
    let server = server_with(Trigger::new("orders", &hook.url));
    created(&server, "orders").await;
    sent(&server, "orders", &["tea"]).await;
    let _under_way = hook.next().await;
    added(&server, &json!({ "queue": "other", "url": hook.url })).await;
    let before = server.triggers();
    assert_eq!(before.iter().map(|one| one.configured).collect::<Vec<_>>(), [true, false]);
    assert_eq!(before[0].in_progress, 1);

    server.reset();
    let after = server.triggers();
    assert_eq!((after.len(), after[0].id, after[0].in_progress), (1, before[0].id, 0));
    created(&server, "orders").await;
    sent(&server, "orders", &["milk"]).await;
    let call = hook.next().await;
    assert_eq!(call.bodies(), ["milk"]);
    call.answer(200, "");
    until(|| server.triggers()[0].invocations == 1).await;
    assert_eq!(server.deliveries().len(), 1, "the invocation before the reset is forgotten");
}

#[cfg(feature = "durable")]
#[tokio::test]
async fn shutdown_waits_for_invocations_and_deletes_their_messages() {
    let directory = tempfile::tempdir().unwrap();
    let data = || sqs_mock_server::Data::new(directory.path());
    let mut hook = Hook::start().await;
    let mut limits = Limits::default();
    limits.grace = Duration::from_secs(3600);
    let builder = MockSqs::builder().data_dir(data()).limits(limits);
    let server = builder.trigger(Trigger::new("orders", &hook.url)).start().await.unwrap();
    created(&server, "orders").await;
    sent(&server, "orders", &["tea"]).await;
    let call = hook.next().await;
    let stopping = tokio::spawn(server.shutdown());
    tokio::task::yield_now().await;
    assert!(!stopping.is_finished());
    call.answer(200, "");
    stopping.await.unwrap();

    let server = MockSqs::builder().data_dir(data()).in_process().unwrap();
    assert!(server.queue("orders").exists() && server.queue("orders").bodies().is_empty());
}

#[tokio::test]
async fn shutdown_ends_invocations_that_outlast_the_grace_period() {
    let mut hook = Hook::start().await;
    let mut limits = Limits::default();
    limits.grace = Duration::ZERO;
    let builder = MockSqs::builder().limits(limits).trigger(Trigger::new("orders", &hook.url));
    let server = builder.start().await.unwrap();
    created(&server, "orders").await;
    sent(&server, "orders", &["tea"]).await;
    let _hanging = hook.next().await;
    server.shutdown().await;
}

#[tokio::test]
async fn dropped_server_receives_no_more() {
    let mut hook = Hook::start().await;
    let server = server_with(Trigger::new("orders", &hook.url));
    created(&server, "orders").await;
    sent(&server, "orders", &["tea"]).await;
    hook.next().await.answer(200, "");
    let transport = std::sync::Arc::new(server.transport());
    drop(server);
    let request = Request::get("http://mock/health").body(Bytes::new()).unwrap();
    transport.send(request).await.unwrap_err();
    assert!(hook.is_idle());
}

#[test]
fn server_outside_of_a_runtime_tells_that_its_triggers_do_not_run() {
    let server = server_with(Trigger::new("orders", "http://localhost:1/orders"));
    let warning = server.triggers()[0].warning.clone();
    assert_eq!(
        warning.as_deref(),
        Some("it does not run: the server was created outside of a tokio runtime")
    );
}

#[tokio::test]
async fn triggers_can_be_listed_added_and_removed_over_http() {
    let hook = Hook::start().await;
    let server = MockSqs::in_process();
    created(&server, "orders").await;
    let keys = json!({
        "queue": "orders", "url": hook.url, "batch_size": 100, "batch_window": "1s", "concurrency": 7, "timeout": "15m",
        "report_batch_item_failures": true, "filters": [{ "body": ["tea"] }, "{\"body\":[\"milk\"]}"],
    });
    let trigger = added(&server, &keys).await;
    let (_, listed) = ask(&server, Method::GET, "triggers", &Value::Null).await;
    assert_eq!(listed["triggers"][0]["id"], trigger["id"]);
    for (name, value) in [("batch_window", json!(1.0)), ("timeout", json!(900.0)), ("concurrency", json!(7))]
    {
        assert_eq!(trigger[name], value, "{name}");
    }
    assert_eq!(trigger["filters"], json!(["{\"body\":[\"tea\"]}", "{\"body\":[\"milk\"]}"]));
    let why = ask(&server, Method::GET, "queues/orders/why-empty", &Value::Null).await.1;
    let text = format!("the queue has no messages; a trigger takes its messages to {}", hook.url);
    assert_eq!((&why["reason"], &why["text"]), (&json!("no_messages"), &json!(text)));
    assert_eq!(why["triggers"], json!([hook.url]));

    let (status, twice) = ask(&server, Method::POST, "triggers", &keys).await;
    let text = format!(
        "there is already a trigger of arn:aws:sqs:us-east-1:000000000000:orders with the URL {}",
        hook.url
    );
    assert_eq!((status, &twice["error"]), (400, &json!(text)));
    let invalid = json!({ "queue": "orders", "url": "orders", "batch_size": 0 });
    let (status, refused) = ask(&server, Method::POST, "triggers", &invalid).await;
    let text = "url: \"orders\" is not allowed; allowed is a URL such as \"http://localhost:8080/path\"; batch_size: 0 is \
                out of range; allowed are 1 to 10000";
    assert_eq!((status, &refused["error"]), (400, &json!(text)));

    let path = format!("triggers/{}", trigger["id"].as_str().unwrap());
    assert_eq!(ask(&server, Method::DELETE, &path, &Value::Null).await, (200, json!({ "removed": 1 })));
    assert_eq!(ask(&server, Method::DELETE, &path, &Value::Null).await.0, 404);
    assert!(server.triggers().is_empty());
    tokio::task::yield_now().await;
    sent(&server, "orders", &["tea"]).await;
    server.queue("orders").expect_messages(1).await.unwrap();
    assert!(hook.is_idle());
    let why = ask(&server, Method::GET, "queues/orders/why-empty", &Value::Null).await.1;
    assert_eq!(why["triggers"], Value::Null);
    drop(hook);
}

#[tokio::test]
async fn triggers_of_a_file_have_their_settings() {
    let text = r#"
        [[triggers]]
        queue = "orders"
        url = "http://me:secret@localhost:1/orders"
        batch_size = 100
        batch_window = "5s"
        concurrency = 2
        timeout = 60
        report_batch_item_failures = true
        filters = [{ body = { kind = ["hot"], price = [{ numeric = [">", 0] }] } }, '{"body":["tea"]}']
        [[triggers]]
        queue = "arn:aws:sqs:eu-west-1:123456789012:jobs.fifo"
        url = "http://localhost:9000/2015-03-31/functions/jobs/invocations"
    "#;
    let builder = MockSqsBuilder::from_toml(text).unwrap();
    assert!(!format!("{builder:?}").contains("secret"));
    let triggers = builder.in_process().unwrap().triggers();
    let first = &triggers[0];
    assert_eq!(first.url, "http://me:****@localhost:1/orders");
    assert_eq!((first.batch_size, first.batch_window, first.concurrency), (100, Duration::from_secs(5), 2));
    assert_eq!((first.timeout, first.report_batch_item_failures), (Duration::from_secs(60), true));
    assert_eq!(first.filters.len(), 2);
    let second = &triggers[1];
    assert_eq!(second.queue.to_string(), "arn:aws:sqs:eu-west-1:123456789012:jobs.fifo");
    let defaults = (second.batch_size, second.batch_window, second.concurrency, second.timeout);
    assert_eq!(defaults, (10, Duration::ZERO, 5, Duration::from_secs(30)));
}

#[test]
fn settings_that_aws_refuses_are_problems_with_their_position() {
    let trigger =
        |line: &str| format!("[[triggers]]\nqueue = 'orders'\nurl = 'http://localhost:1'\n{line}\n");
    let filter = format!("filters = [{}]", ["'{\"body\":[\"a\"]}'"; 11].join(","));
    let long = format!("filters = ['{{\"body\":[\"{}\"]}}']", "a".repeat(4096));
    for (line, expected) in [
        (
            "batch_size = 0",
            "sqs.toml:4:14: triggers[0].batch_size: 0 is out of range; allowed are 1 to 10000",
        ),
        ("batch_size = 10_001", "triggers[0].batch_size: 10001 is out of range; allowed are 1 to 10000"),
        (
            "batch_size = 11",
            "triggers[0].batch_size: 11 requires a batch_window of 1s or more; without one, allowed are 1 to 10",
        ),
        ("batch_window = 301", "triggers[0].batch_window: 5m 1s is out of range; allowed are 0s to 5m"),
        ("concurrency = 0", "triggers[0].concurrency: 0 is out of range; allowed are 1 to 1000"),
        ("concurrency = 1001", "triggers[0].concurrency: 1001 is out of range; allowed are 1 to 1000"),
        ("timeout = '999ms'", "triggers[0].timeout: 999ms is out of range; allowed are 1s to 15m"),
        ("timeout = 901", "triggers[0].timeout: 15m 1s is out of range; allowed are 1s to 15m"),
        (&filter, "triggers[0].filters: 11 are too many; allowed are at most 10"),
        (&long, "triggers[0].filters[0]: it has 4109 characters; allowed are at most 4096"),
        ("filters = ['{\"a\":1}']", "triggers[0].filters[0]: \"a\" must be an object or an array"),
        (
            "filters = [1]",
            "triggers[0].filters: type array is not allowed; allowed is a list of tables or of texts with JSON",
        ),
        ("batchsize = 1", "unknown setting; did you mean batch_size?"),
    ] {
        let config = sqs_mock_server::Config::parse(&trigger(line), "sqs.toml").unwrap_err().to_string();
        assert!(config.contains(expected), "{line}: {config}");
    }
    for (queue, expected) in [
        ("no queue", "triggers[0].queue: \"no queue\" is neither the name nor the ARN of a queue"),
        ("arn:aws:sns:us-east-1:000000000000:a", "is neither the name nor the ARN of a queue"),
    ] {
        let text = format!("[[triggers]]\nqueue = '{queue}'\nurl = 'http://localhost:1'\n");
        assert!(refusal(&text).contains(expected), "{queue}");
    }
    let fifo = "[[triggers]]\nqueue = 'jobs.fifo'\nurl = 'ftp://x'\nbatch_size = 11\nbatch_window = 1\n";
    let text = refusal(fifo);
    for expected in [
        "triggers[0].url: \"ftp://x\" is not allowed",
        "triggers[0].batch_size: 11 is out of range for a FIFO queue; allowed are 1 to 10",
        "triggers[0].batch_window: FIFO queues have no batch window",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn second_trigger_of_a_queue_with_the_same_url_is_a_problem() {
    let trigger = || Trigger::new("orders", "http://localhost:1");
    let arn = Trigger::new("arn:aws:sqs:us-east-1:000000000000:orders", "http://localhost:1");
    let error = MockSqs::builder().trigger(trigger()).trigger(arn).in_process().unwrap_err();
    let text = "triggers[1].url: there is already a trigger of arn:aws:sqs:us-east-1:000000000000:orders with the URL \
                http://localhost:1";
    assert_eq!(error.to_string(), text);
    let other = Trigger::new("orders", "http://localhost:2");
    MockSqs::builder().trigger(trigger()).trigger(other).in_process().unwrap();
}
