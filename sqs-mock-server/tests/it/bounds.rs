//! Limits over all callers: memory for request bodies, and connections.

use std::time::Duration;

use sqs_mock_server::{Limits, MockSqs};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Instant;

use crate::wire::{FORM, JSON, Wire, still_answers};

const A_MOMENT: Duration = Duration::from_millis(50);
/// Much shorter than the wait of a long poll.
const AT_ONCE: Duration = Duration::from_secs(5);
const LIST: &str = "Action=ListQueues";

async fn start(change: impl FnOnce(&mut Limits)) -> MockSqs {
    let mut limits = Limits::default();
    change(&mut limits);
    MockSqs::builder().limits(limits).start().await.unwrap()
}

/// More than the part of a body that is read before memory is reserved.
const LONG: usize = 100_000;

/// A long form with an action.
fn long_form(action: &str) -> String {
    let start = format!("Action={action}&Padding=");
    let padding = "x".repeat(LONG - start.len());
    start + &padding
}

/// A connection with a request whose body has arrived only in part.
async fn begun(server: &MockSqs, header: &str, part: &str) -> Wire {
    let mut wire = Wire::connect(server).await;
    wire.write(format!("POST / HTTP/1.1\r\nhost: x\r\n{FORM}{header}\r\n\r\n{part}")).await.unwrap();
    tokio::time::sleep(A_MOMENT).await;
    wire
}

/// A connection that has sent a whole request.
async fn asking(server: &MockSqs, form: &str) -> Wire {
    let mut wire = Wire::connect(server).await;
    wire.request("POST /", FORM, form.as_bytes()).await.unwrap();
    wire
}

async fn is_waiting(wire: &mut Wire) -> bool {
    tokio::time::timeout(A_MOMENT, wire.answer()).await.is_err()
}

async fn status(wire: &mut Wire) -> u16 {
    let answer = tokio::time::timeout(AT_ONCE, wire.answer()).await.expect("a response without delay");
    answer.expect("an answer").status
}

#[tokio::test]
async fn announced_long_bodies_do_not_delay_other_requests() {
    let server = start(|_| {}).await;
    let mut idle = Vec::new();
    for part in ["", "Action="] {
        for _ in 0..40 {
            let mut wire = Wire::connect(&server).await;
            let head = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 8388608";
            wire.write(format!("{head}\r\n{FORM}\r\n{part}")).await.unwrap();
            idle.push(wire);
        }
    }
    tokio::time::sleep(A_MOMENT).await;
    assert_eq!(status(&mut asking(&server, LIST).await).await, 200);
    assert_eq!(status(&mut asking(&server, &long_form("ListQueues")).await).await, 200);
    drop(idle);
}

#[tokio::test]
async fn long_body_waits_for_memory_and_short_bodies_do_not() {
    let server = start(|limits| limits.max_bodies = 150_000).await;
    let long = long_form("ListQueues");
    let (part, rest) = long.split_at(70_000);
    let mut first = begun(&server, &format!("content-length: {LONG}"), part).await;
    let mut second = asking(&server, &long).await;
    assert!(is_waiting(&mut second).await, "no memory is left");
    assert_eq!(status(&mut asking(&server, LIST).await).await, 200);
    first.write(rest).await.unwrap();
    assert_eq!(status(&mut first).await, 200);
    assert_eq!(status(&mut second).await, 200);
}

#[tokio::test]
async fn short_body_waits_until_earlier_requests_complete() {
    let server = start(|limits| limits.max_bodies = 20).await;
    still_answers(&server).await;
    let mut polling = asking(&server, "Action=ReceiveMessage&WaitTimeSeconds=20&QueueUrl=alive").await;
    tokio::time::sleep(A_MOMENT).await;
    let mut second = asking(&server, LIST).await;
    assert!(is_waiting(&mut second).await, "no memory is left");
    let target = "/000000000000/alive?Action=SendMessage&MessageBody=x";
    assert_eq!(Wire::connect(&server).await.get(target).await.status, 200, "it has no body");
    assert_eq!(status(&mut polling).await, 200);
    assert_eq!(status(&mut second).await, 200);
}

#[tokio::test]
async fn aborted_body_releases_its_memory() {
    let server = start(|limits| limits.max_bodies = 150_000).await;
    let long = long_form("ListQueues");
    drop(begun(&server, &format!("content-length: {LONG}"), &long[..70_000]).await);
    assert_eq!(status(&mut asking(&server, &long).await).await, 200);
}

#[tokio::test]
async fn long_body_of_unknown_length_reserves_the_maximum() {
    let server = start(|limits| {
        limits.max_bodies = 400_000;
        limits.max_body = 300_000;
    })
    .await;
    let long = long_form("ListQueues");
    let chunk = format!("{LONG:x}\r\n{long}\r\n");
    let mut chunked = begun(&server, "transfer-encoding: chunked", &chunk).await;
    let mut other = asking(&server, &long).await;
    assert!(is_waiting(&mut other).await, "no memory is left");
    chunked.write("0\r\n\r\n").await.unwrap();
    assert_eq!(status(&mut chunked).await, 200);
    assert_eq!(status(&mut other).await, 200);
}

#[tokio::test]
async fn long_body_of_unknown_length_releases_unused_memory() {
    let server = start(|limits| {
        limits.max_bodies = 400_000;
        limits.max_body = 300_000;
    })
    .await;
    still_answers(&server).await;
    let poll = long_form("ReceiveMessage&WaitTimeSeconds=20&QueueUrl=alive");
    let chunks = format!("{LONG:x}\r\n{poll}\r\n0\r\n\r\n");
    let mut polling = begun(&server, "transfer-encoding: chunked", &chunks).await;
    assert_eq!(status(&mut asking(&server, &long_form("ListQueues")).await).await, 200);
    let sent = "Action=SendMessage&MessageBody=x&QueueUrl=alive";
    assert_eq!(status(&mut asking(&server, sent).await).await, 200);
    assert!(polling.answer().await.expect("it was waiting").text().contains("<Body>x</Body>"));
}

#[tokio::test]
async fn body_of_unknown_length_is_rejected_if_its_first_part_is_too_long() {
    let server = start(|limits| limits.max_body = 16).await;
    let chunk = format!("11\r\n{LIST}\r\n");
    let mut chunked = begun(&server, "transfer-encoding: chunked", &chunk).await;
    chunked.write("0\r\n\r\n").await.unwrap();
    chunked.answer().await.unwrap().refused_in_xml(413, "RequestEntityTooLarge");
}

#[tokio::test]
async fn body_larger_than_the_budget_reserves_all_of_it() {
    let server = start(|limits| limits.max_bodies = 1).await;
    still_answers(&server).await;
    still_answers(&server).await;
}

#[tokio::test]
async fn body_that_waits_too_long_for_memory_is_rejected() {
    let server = start(|limits| {
        limits.max_bodies = 20;
        limits.body_timeout = A_MOMENT * 4;
    })
    .await;
    // It holds the memory during a long poll; a slow body would time out.
    still_answers(&server).await;
    let mut polling = Wire::connect(&server).await;
    let line = "POST /000000000000/alive?Action=ReceiveMessage";
    polling.request(line, FORM, b"WaitTimeSeconds=20").await.unwrap();
    tokio::time::sleep(A_MOMENT).await;
    let mut wire = Wire::connect(&server).await;
    assert_eq!(wire.form("/", LIST).await.status, 503);
    let mut wire = Wire::connect(&server).await;
    let answer = wire.json("ListQueues", "{   }").await;
    assert_eq!((answer.status, answer.header("x-amzn-query-error")), (503, "ServiceUnavailable;Receiver"));
}

/// A queue with ten messages of 1 MiB, which stay visible after a receive.
async fn full_queue(server: &MockSqs) {
    let client = server.client();
    let created = client.create_queue().queue_name("q").attributes("VisibilityTimeout".into(), "0");
    let url = created.send().await.unwrap().queue_url.unwrap();
    for _ in 0..10 {
        client.send_message().queue_url(&url).message_body("x".repeat(1 << 20)).send().await.unwrap();
    }
}

/// A connection that requests far more than its buffers hold, and reads nothing.
async fn asks_and_does_not_read(server: &MockSqs) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let address = server.endpoint_url().trim_start_matches("http://").parse().unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let body = format!(r#"{{"QueueUrl":"{}","MaxNumberOfMessages":10}}"#, server.queue_url("q"));
    let head = format!("{JSON}x-amz-target: AmazonSQS.ReceiveMessage\r\ncontent-length: {}", body.len());
    stream.write_all(format!("POST / HTTP/1.1\r\nhost: x\r\n{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn connection_that_does_not_read_is_closed() {
    let server = start(|limits| {
        limits.max_connections = 1;
        limits.write_timeout = A_MOMENT;
    })
    .await;
    full_queue(&server).await;
    let _unread = asks_and_does_not_read(&server).await;
    let seated = tokio::time::timeout(AT_ONCE, still_answers(&server)).await;
    seated.expect("the permit is free again");
}

#[tokio::test]
async fn slow_reader_gets_a_response_that_takes_longer_than_the_write_timeout() {
    let limit = 8 * A_MOMENT;
    let server = start(|limits| limits.write_timeout = limit).await;
    full_queue(&server).await;
    let mut wire = Wire::connect(&server).await;
    let form = format!("Action=ReceiveMessage&MaxNumberOfMessages=10&QueueUrl={}", server.queue_url("q"));
    let start = Instant::now();
    wire.request("POST /", FORM, form.as_bytes()).await.unwrap();
    let mut part = vec![0; 1 << 20];
    for _ in 0..10 {
        // The response takes longer than the limit, and each pause is far shorter.
        tokio::time::sleep(A_MOMENT).await;
        wire.stream().read_exact(&mut part).await.expect("the connection is open");
    }
    assert!(start.elapsed() > limit);
}

#[tokio::test]
async fn long_poll_does_not_hit_the_write_timeout() {
    let server = start(|limits| limits.write_timeout = A_MOMENT / 2).await;
    still_answers(&server).await;
    let mut polling = Wire::connect(&server).await;
    let poll = b"Action=ReceiveMessage&WaitTimeSeconds=20";
    polling.request("POST /000000000000/alive", FORM, poll).await.unwrap();
    tokio::time::sleep(A_MOMENT).await;
    let sent =
        Wire::connect(&server).await.form("/000000000000/alive", "Action=SendMessage&MessageBody=x").await;
    assert_eq!(sent.status, 200);
    assert!(polling.answer().await.expect("the connection is open").text().contains("<Body>x</Body>"));
}
