//! Waits over HTTP.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use sqs_client::transport::Transport as _;
use sqs_mock_server::{InProcess, MockSqs};
use tokio::time::Instant;

/// Uses no socket, so that tokio's time can be paused.
async fn wait(transport: InProcess, query: &str) -> (u16, Value) {
    let request = http::Request::get(format!("http://mock/_mock/wait?{query}")).body(Bytes::new()).unwrap();
    let response = transport.send(request).await.unwrap();
    (response.status().as_u16(), serde_json::from_slice(response.body()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn wait_returns_when_the_counts_match() {
    let server = MockSqs::in_process();
    let client = server.client();
    let waiting = tokio::spawn(wait(server.transport(), "queue=q&available=1&total=2"));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    client.send_message().queue_url(&url).message_body("a").send().await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!waiting.is_finished());
    client.send_message().queue_url(&url).message_body("b").delay_seconds(9).send().await.unwrap();
    let expected = json!({ "available": 1, "in_flight": 0, "delayed": 1, "total": 2 });
    assert_eq!(waiting.await.unwrap(), (200, expected));
}

#[tokio::test(start_paused = true)]
async fn wait_times_out_with_the_current_counts() {
    let server = MockSqs::in_process();
    let start = Instant::now();
    let (status, answer) = wait(server.transport(), "queue=q&total=1&timeout=7").await;
    assert_eq!((status, start.elapsed()), (409, Duration::from_secs(7)));
    assert_eq!(answer["error"], "waited 7 s for arn:aws:sqs:us-east-1:000000000000:q, which does not exist");
    server.client().create_queue().queue_name("q").send().await.unwrap();
    let (status, answer) = wait(server.transport(), "queue=q&in_flight=1").await;
    assert_eq!(status, 409);
    assert!(
        answer["error"].as_str().unwrap().ends_with("has 0 messages available, 0 in flight and 0 delayed")
    );
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_a_wait() {
    let server = MockSqs::in_process();
    let start = Instant::now();
    let waiting = tokio::spawn(wait(server.transport(), "queue=q&total=1&timeout=60"));
    tokio::time::sleep(Duration::from_millis(1)).await;
    server.shutdown().await;
    let (status, answer) = waiting.await.unwrap();
    assert_eq!((status, &answer["error"]), (503, &json!("the server is shutting down")));
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn invalid_parameters_of_wait_are_rejected() {
    let server = MockSqs::in_process();
    for (query, part) in [
        ("queue=q", "set one or more of available, in_flight, delayed, total"),
        ("total=1", "the parameter queue is missing"),
        ("queue=q&total=many", "total must be a number"),
        ("queue=q&total=1&timeout=61", "timeout must be a number from 0 to 60"),
    ] {
        let (status, answer) = wait(server.transport(), query).await;
        assert!(status == 400 && answer["error"].as_str().unwrap().contains(part), "{query}: {answer}");
    }
}
