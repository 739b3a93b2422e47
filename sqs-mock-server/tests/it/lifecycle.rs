//! Start, shutdown, and callers that disconnect.

use std::time::Duration;

use sqs_mock_server::{Limits, MockSqs};
use tokio::net::TcpStream;

use crate::wire::{FORM, Wire};

/// Long enough for a server on the same thread to react.
const A_MOMENT: Duration = Duration::from_millis(50);
/// Much shorter than the wait of a long poll.
const AT_ONCE: Duration = Duration::from_secs(5);

const LONG_POLL: &[u8] = b"Action=ReceiveMessage&WaitTimeSeconds=20";

async fn start() -> (MockSqs, Wire) {
    let server = MockSqs::start().await;
    let mut wire = Wire::connect(&server).await;
    wire.form("/", "Action=CreateQueue&QueueName=q").await;
    (server, wire)
}

async fn long_poll(server: &MockSqs) -> Wire {
    let mut wire = Wire::connect(server).await;
    wire.request("POST /000000000000/q", FORM, LONG_POLL).await.unwrap();
    tokio::time::sleep(A_MOMENT).await;
    wire
}

async fn is_refused(address: &str) -> bool {
    for _ in 0..100 {
        if TcpStream::connect(address).await.is_err() {
            return true;
        }
        tokio::time::sleep(A_MOMENT / 10).await;
    }
    false
}

#[tokio::test]
async fn shutdown_ends_long_polls_with_an_empty_response() {
    let (server, _idle) = start().await;
    let mut polling = long_poll(&server).await;
    let address = server.endpoint_url().trim_start_matches("http://").to_owned();
    tokio::time::timeout(AT_ONCE, server.shutdown()).await.expect("shutdown without delay");
    let answer = polling.answer().await.expect("a response");
    assert!(answer.text().contains("<ReceiveMessageResult/>"), "{}", answer.text());
    assert!(polling.answer().await.is_none(), "the connection is closed");
    assert!(is_refused(&address).await);
}

#[tokio::test]
async fn shutdown_lets_a_request_in_progress_finish() {
    let (server, _) = start().await;
    let mut wire = Wire::connect(&server).await;
    let (first, second) = ("Action=", "ListQueues");
    wire.write(format!("POST / HTTP/1.1\r\nhost: x\r\n{FORM}content-length: 17\r\n\r\n{first}"))
        .await
        .unwrap();
    tokio::time::sleep(A_MOMENT).await;
    let stopping = tokio::spawn(server.shutdown());
    tokio::time::sleep(A_MOMENT).await;
    wire.write(second).await.unwrap();
    assert_eq!(wire.answer().await.expect("a response").status, 200);
    tokio::time::timeout(AT_ONCE, stopping).await.expect("it stops").unwrap();
}

#[tokio::test]
async fn shutdown_closes_connections_after_the_grace_period() {
    let mut limits = Limits::default();
    limits.grace = A_MOMENT;
    let server = MockSqs::builder().limits(limits).start().await.unwrap();
    let mut wire = Wire::connect(&server).await;
    wire.write("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 17\r\n\r\n").await.unwrap();
    tokio::time::sleep(A_MOMENT).await;
    tokio::time::timeout(AT_ONCE, server.shutdown()).await.expect("the grace period ends");
    assert!(wire.answer().await.is_none());
}

#[tokio::test]
async fn dropped_server_stops() {
    let (server, mut wire) = start().await;
    let address = server.endpoint_url().trim_start_matches("http://").to_owned();
    drop(server);
    assert!(is_refused(&address).await);
    let _ = wire.request("POST /", FORM, b"Action=ListQueues").await;
    assert!(wire.answer().await.is_none());
}

#[tokio::test]
async fn abandoned_long_poll_takes_no_message() {
    let (server, mut wire) = start().await;
    drop(long_poll(&server).await);
    tokio::time::sleep(A_MOMENT).await;
    wire.form("/000000000000/q", "Action=SendMessage&MessageBody=x").await;
    let received = wire.form("/000000000000/q", "Action=ReceiveMessage&WaitTimeSeconds=0").await;
    assert!(received.text().contains("<Body>x</Body>"), "{}", received.text());
}

#[tokio::test]
async fn waiting_long_poll_gets_the_message_immediately() {
    let (server, mut wire) = start().await;
    let mut polling = long_poll(&server).await;
    wire.form("/000000000000/q", "Action=SendMessage&MessageBody=x").await;
    let answer =
        tokio::time::timeout(AT_ONCE, polling.answer()).await.expect("a response without delay").unwrap();
    assert!(answer.text().contains("<Body>x</Body>"), "{}", answer.text());
}

#[tokio::test]
async fn connection_over_the_limit_waits() {
    let mut limits = Limits::default();
    limits.max_connections = 1;
    let server = MockSqs::builder().limits(limits).start().await.unwrap();
    let mut first = Wire::connect(&server).await;
    assert_eq!(first.form("/", "Action=ListQueues").await.status, 200);
    let mut second = Wire::connect(&server).await;
    second.request("POST /", FORM, b"Action=ListQueues").await.unwrap();
    assert!(tokio::time::timeout(A_MOMENT, second.answer()).await.is_err());
    drop(first);
    assert_eq!(second.answer().await.expect("a response once the first connection is closed").status, 200);
}

#[tokio::test]
async fn two_servers_in_one_process_share_nothing() {
    let ((one, mut to_one), two) = (start().await, MockSqs::start().await);
    assert_ne!(one.endpoint_url(), two.endpoint_url());
    assert!(to_one.form("/", "Action=ListQueues").await.text().contains(&one.queue_url("q")));
    let other = Wire::connect(&two).await.form("/", "Action=ListQueues").await;
    assert!(other.text().contains("<ListQueuesResult/>"), "{}", other.text());
}
