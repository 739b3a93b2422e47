//! `GET /metrics`: its format and its numbers.

#![expect(clippy::float_cmp, reason = "these are counts, which are exact")]

use std::time::Duration;

use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;

use crate::exposition::{Samples, parse};
use crate::wire::{FORM, Wire};

async fn scrape(server: &MockSqs) -> Samples {
    let answer = Wire::connect(server).await.get("/metrics").await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "text/plain; version=0.0.4; charset=utf-8")
    );
    parse(answer.text())
}

/// Scrapes until the samples are as expected, since the server needs a few steps.
async fn scrape_until(server: &MockSqs, expected: impl Fn(&Samples) -> bool) -> Samples {
    for _ in 0..500 {
        let samples = scrape(server).await;
        if expected(&samples) {
            return samples;
        }
    }
    panic!("the samples are not as expected");
}

fn requests(samples: &Samples, action: &str, code: &str) -> f64 {
    let series = format!("sqs_mock_requests_total{{action=\"{action}\",code=\"{code}\"}}");
    samples.get(&series).copied().unwrap_or_default()
}

fn of_queue(samples: &Samples, what: &str, queue: &str) -> f64 {
    let labels = format!("region=\"us-east-1\",account=\"000000000000\",queue=\"{queue}\"");
    samples[&format!("sqs_mock_queue_{what}{{{labels}}}")]
}

#[tokio::test]
async fn requests_are_counted_by_action_and_code() {
    let (server, mut wire) = Wire::with_queue().await;
    for _ in 0..3 {
        wire.form("/000000000000/q", "Action=SendMessage&MessageBody=x").await;
    }
    wire.form("/000000000000/none", "Action=SendMessage&MessageBody=x").await;
    wire.form("/", "Action=MakeCoffee").await;
    wire.json("MakeTea", "{}").await;
    wire.get("/000000000000/q").await;
    wire.request("PUT /", FORM, b"").await.unwrap();
    wire.answer().await.unwrap();
    let samples = scrape(&server).await;
    for (action, code, expected) in [
        ("CreateQueue", "OK", 1.0),
        ("SendMessage", "OK", 3.0),
        ("SendMessage", "AWS.SimpleQueueService.NonExistentQueue", 1.0),
        ("unknown", "InvalidAction", 2.0),
        ("unknown", "NoAction", 1.0),
        ("unknown", "MethodNotAllowed", 1.0),
    ] {
        assert_eq!(requests(&samples, action, code), expected, "{action} {code}");
    }
    assert_eq!(samples["sqs_mock_request_duration_seconds_count{action=\"SendMessage\"}"], 4.0);
    let names =
        samples.keys().filter(|series| series.starts_with("sqs_mock_requests_total{action=\"unknown\""));
    assert_eq!(names.count(), 3, "callers cannot add labels");
}

#[tokio::test]
async fn oversized_body_is_counted_like_other_requests() {
    let mut limits = sqs_mock_server::Limits::default();
    limits.max_body = 10;
    let server = MockSqs::builder().limits(limits).start().await.unwrap();
    let refused = Wire::connect(&server).await.form("/", "Action=ListQueues").await;
    assert_eq!(refused.status, 413);
    let samples = scrape(&server).await;
    assert_eq!(requests(&samples, "unknown", "RequestEntityTooLarge"), 1.0);
    assert_eq!(samples["sqs_mock_request_duration_seconds_count{action=\"unknown\"}"], 1.0);
}

#[tokio::test]
async fn gauges_of_queues_show_the_current_state() {
    let server = MockSqs::builder().clock_frozen().start().await.unwrap();
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    client.create_queue().queue_name("empty").send().await.unwrap();
    for delay in [0, 0, 0, 600] {
        client.send_message().queue_url(&url).message_body("x").delay_seconds(delay).send().await.unwrap();
    }
    client.receive_message().queue_url(&url).send().await.unwrap();
    server.clock().advance(Duration::from_millis(12_500));
    let samples = scrape(&server).await;
    assert_eq!(of_queue(&samples, "messages_available", "q"), 2.0);
    assert_eq!(of_queue(&samples, "messages_in_flight", "q"), 1.0);
    assert_eq!(of_queue(&samples, "messages_delayed", "q"), 1.0);
    assert_eq!(of_queue(&samples, "oldest_message_age_seconds", "q"), 12.5);
    assert_eq!(of_queue(&samples, "oldest_message_age_seconds", "empty"), 0.0);
    assert_eq!(of_queue(&samples, "stored_bytes", "q"), samples["sqs_mock_stored_bytes"]);
    assert!(samples["sqs_mock_stored_bytes"] > 0.0);
    assert_eq!(samples["sqs_mock_queues"], 2.0);
    client.purge_queue().queue_url(&url).send().await.unwrap();
    assert_eq!(scrape(&server).await["sqs_mock_stored_bytes"], 0.0);
}

#[tokio::test]
async fn deleted_queue_has_no_gauges() {
    let (server, mut wire) = Wire::with_queue().await;
    wire.form("/000000000000/q", "Action=DeleteQueue").await;
    let samples = scrape(&server).await;
    assert!(samples.keys().all(|series| !series.starts_with("sqs_mock_queue_")), "{samples:?}");
}

#[tokio::test]
async fn open_connections_and_waiting_receives_are_counted() {
    let (server, _idle) = Wire::with_queue().await;
    let mut polling = Wire::connect(&server).await;
    let poll = b"Action=ReceiveMessage&WaitTimeSeconds=20";
    polling.request("POST /000000000000/q", FORM, poll).await.unwrap();
    let samples = scrape_until(&server, |samples| samples["sqs_mock_parked_receives"] > 0.0).await;
    assert!(samples["sqs_mock_open_connections"] >= 3.0);
    drop(polling);
    let samples = scrape_until(&server, |samples| samples["sqs_mock_parked_receives"] < 1.0).await;
    assert_eq!(requests(&samples, "ReceiveMessage", "aborted"), 1.0);
}

#[tokio::test(start_paused = true)]
async fn request_duration_excludes_the_wait_of_a_long_poll() {
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    client.receive_message().queue_url(&url).wait_time_seconds(20).send().await.unwrap();
    let samples = parse(&server.metrics().await);
    assert_eq!(samples["sqs_mock_long_poll_wait_seconds_count"], 1.0);
    assert!(samples["sqs_mock_long_poll_wait_seconds_sum"] >= 20.0);
    let duration = "sqs_mock_request_duration_seconds_sum{action=\"ReceiveMessage\"}";
    assert!(samples[duration] < 1.0, "{}", samples[duration]);
}

#[tokio::test]
async fn version_and_limits_are_exposed() {
    let samples = scrape(&MockSqs::start().await).await;
    assert_eq!(samples[concat!("sqs_mock_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"}")], 1.0);
    assert_eq!(samples["sqs_mock_stored_bytes_limit"], 2_147_483_648.0);
    assert!(samples.contains_key("sqs_mock_uptime_seconds") && samples["sqs_mock_clock_seconds"] > 1.7e9);
}

#[tokio::test]
async fn requests_run_while_thousands_of_queues_are_scraped() {
    let queues = (0..5000).map(|queue| format!("[[queues]]\nname = 'q-{queue}'"));
    let text = queues.collect::<Vec<_>>().join("\n");
    let server = sqs_mock_server::MockSqsBuilder::from_toml(&text).unwrap().in_process().unwrap();
    let mut scraping = std::pin::pin!(server.metrics());
    let mut polls = 0;
    let text = std::future::poll_fn(|context| {
        polls += 1;
        scraping.as_mut().poll(context)
    })
    .await;
    assert!(polls > 50, "other requests run in between: {polls}");
    assert_eq!(
        parse(&text).keys().filter(|series| series.starts_with("sqs_mock_queue_messages_available")).count(),
        5000
    );
}

#[tokio::test]
async fn injected_codes_have_their_own_label() {
    let (server, mut wire) = Wire::with_queue().await;
    for fault in [Fault::status(503, "busy"), Fault::error(ErrorCode::from_name("Whim"))] {
        server.faults().inject(fault.times(1));
        wire.form("/000000000000/q", "Action=PurgeQueue").await;
    }
    let samples = scrape(&server).await;
    assert_eq!(requests(&samples, "PurgeQueue", "InjectedStatus"), 1.0);
    assert_eq!(requests(&samples, "PurgeQueue", "Whim"), 1.0);
}
