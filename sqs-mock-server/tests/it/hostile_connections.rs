//! Bad connections: slow, cut, half-closed, or not HTTP. The server keeps serving others.

use std::time::Duration;

use sqs_mock_server::{Limits, MockSqs};

use crate::wire::{FORM, JSON, Wire, still_answers};

const TEN_MIB: usize = 10 << 20;
const TIMEOUT: Duration = Duration::from_millis(50);

fn short_timeouts() -> Limits {
    let mut limits = Limits::default();
    limits.head_timeout = TIMEOUT;
    limits.body_timeout = TIMEOUT;
    limits
}

async fn start() -> (MockSqs, Wire) {
    let server = MockSqs::start().await;
    let wire = Wire::connect(&server).await;
    (server, wire)
}

#[tokio::test]
async fn chunked_and_split_bodies_are_reassembled() {
    let (_server, mut wire) = start().await;
    let head = format!("POST / HTTP/1.1\r\nhost: x\r\n{FORM}transfer-encoding: chunked\r\n\r\n");
    wire.write(head).await.unwrap();
    for part in ["7\r\nAction=\r\n", "4\r\nList\r\n", "6\r\nQueues\r\n", "0\r\n\r\n"] {
        wire.write(part).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(wire.answer().await.unwrap().status, 200);
}

#[tokio::test]
async fn slow_head_closes_the_connection() {
    let server = MockSqs::builder().limits(short_timeouts()).start().await.unwrap();
    let mut wire = Wire::connect(&server).await;
    wire.write("POST / HTTP/1.1\r\nhost: x\r\nx-a: ").await.unwrap();
    assert!(wire.answer().await.is_none_or(|answer| answer.status == 408));
    still_answers(&server).await;
}

#[tokio::test]
async fn slow_body_gets_a_timeout_error() {
    let server = MockSqs::builder().limits(short_timeouts()).start().await.unwrap();
    let mut wire = Wire::connect(&server).await;
    wire.write(format!("POST / HTTP/1.1\r\nhost: x\r\n{FORM}content-length: 17\r\n\r\nAction="))
        .await
        .unwrap();
    let answer = wire.answer().await.unwrap();
    answer.refused_in_xml(408, "RequestTimeout");
    assert_eq!(answer.header("connection"), "close");
    let mut wire = Wire::connect(&server).await;
    wire.write(format!("POST / HTTP/1.1\r\nhost: x\r\n{JSON}content-length: 17\r\n\r\n{{")).await.unwrap();
    wire.answer().await.unwrap().refused_by_http(408, "RequestTimeout");
    still_answers(&server).await;
}

#[tokio::test]
async fn oversized_head_is_rejected() {
    let (server, mut wire) = start().await;
    let header = format!("x-a: {}\r\n", "a".repeat(64 << 10));
    // The server may close the connection while the head is being sent.
    let _ = wire.request("POST /", &header, b"").await;
    assert!(wire.answer().await.is_none_or(|answer| answer.status == 431));
    let mut wire = Wire::connect(&server).await;
    let headers = "x-a: b\r\n".repeat(1000);
    assert_eq!(wire.exchange("POST /", &headers, b"").await.status, 431);
    still_answers(&server).await;
}

#[tokio::test]
async fn bytes_that_are_not_http_get_a_400() {
    let server = MockSqs::start().await;
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"HELO example.test\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"\0\0\0\0\r\n\r\n",
    ] {
        let mut wire = Wire::connect(&server).await;
        wire.write(bytes).await.unwrap();
        wire.half_close().await;
        let answer = wire.answer().await.expect("a response");
        assert_eq!(answer.status, 400, "{bytes:?}");
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let (_server, mut wire) = start().await;
    let request = |name: &str| {
        let body = format!("Action=CreateQueue&QueueName={name}");
        format!("POST / HTTP/1.1\r\nhost: x\r\n{FORM}content-length: {}\r\n\r\n{body}", body.len())
    };
    let names: Vec<String> = (0..20).map(|n| format!("queue-{n}")).collect();
    wire.write(names.iter().map(|name| request(name)).collect::<String>()).await.unwrap();
    for name in names {
        let answer = wire.answer().await.unwrap();
        assert!(answer.text().contains(&format!("/{name}</QueueUrl>")), "{}", answer.text());
    }
}

#[tokio::test]
async fn half_closed_connection_gets_its_response() {
    let (server, mut wire) = start().await;
    wire.request("POST /", FORM, b"Action=ListQueues").await.unwrap();
    wire.half_close().await;
    assert_eq!(wire.answer().await.expect("a response in time").status, 200);
    let mut wire = Wire::connect(&server).await;
    wire.write(format!("POST / HTTP/1.1\r\nhost: x\r\n{FORM}content-length: 17\r\n\r\nAction="))
        .await
        .unwrap();
    wire.half_close().await;
    wire.answer().await.expect("a response to an incomplete body").refused_in_xml(400, "MalformedInput");
    still_answers(&server).await;
}

#[tokio::test]
async fn oversized_body_that_expects_continue_is_rejected_before_it_is_sent() {
    let (_server, mut wire) = start().await;
    let head = |length: usize| {
        format!(
            "POST / HTTP/1.1\r\nhost: x\r\n{FORM}expect: 100-continue\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    wire.write(head("Action=ListQueues".len())).await.unwrap();
    assert_eq!(wire.answer().await.unwrap().status, 100);
    wire.write("Action=ListQueues").await.unwrap();
    assert_eq!(wire.answer().await.unwrap().status, 200);
    wire.write(head(TEN_MIB)).await.unwrap();
    wire.answer().await.unwrap().refused_in_xml(413, "RequestEntityTooLarge");
}
