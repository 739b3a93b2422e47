//! Bounds on what all callers together may take: memory for bodies, and seats.

use std::time::Duration;

use sqs_mock_server::{Limits, MockSqs};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};

use crate::wire::{FORM, JSON, Wire, still_answers};

const A_MOMENT: Duration = Duration::from_millis(50);
/// Far less than the wait of a long poll.
const AT_ONCE: Duration = Duration::from_secs(5);
const LIST: &str = "Action=ListQueues";

async fn start(change: impl FnOnce(&mut Limits)) -> MockSqs {
    let mut limits = Limits::default();
    change(&mut limits);
    MockSqs::builder().limits(limits).start().await.unwrap()
}

/// A connection with a request under way, of whose body nothing has come yet.
async fn announce(server: &MockSqs, body: &str) -> Wire {
    let mut wire = Wire::connect(server).await;
    wire.write(format!("POST / HTTP/1.1\r\nhost: x\r\n{FORM}{body}\r\n\r\n")).await.unwrap();
    tokio::time::sleep(A_MOMENT).await;
    wire
}

#[tokio::test]
async fn body_waits_until_those_before_it_leave_room() {
    let server = start(|limits| limits.max_bodies = 20).await;
    let mut first = announce(&server, "content-length: 17").await;
    let mut second = Wire::connect(&server).await;
    second.request("POST /", FORM, LIST.as_bytes()).await.unwrap();
    assert!(tokio::time::timeout(A_MOMENT, second.answer()).await.is_err(), "there is no room");
    let without_body = Wire::connect(&server).await.get("/?Action=ListQueues").await;
    assert_eq!(without_body.status, 200);
    first.write(LIST).await.unwrap();
    assert_eq!(first.answer().await.unwrap().status, 200);
    assert_eq!(second.answer().await.unwrap().status, 200);
}

#[tokio::test]
async fn abandoned_body_gives_its_room_back() {
    let server = start(|limits| limits.max_bodies = 20).await;
    drop(announce(&server, "content-length: 17").await);
    still_answers(&server).await;
}

#[tokio::test]
async fn body_without_a_length_takes_room_for_the_longest() {
    let server = start(|limits| {
        limits.max_bodies = 1000;
        limits.max_body = 1000;
    })
    .await;
    let mut chunked = announce(&server, "transfer-encoding: chunked").await;
    let mut other = Wire::connect(&server).await;
    other.request("POST /", FORM, LIST.as_bytes()).await.unwrap();
    assert!(tokio::time::timeout(A_MOMENT, other.answer()).await.is_err(), "there is no room");
    chunked.write(format!("11\r\n{LIST}\r\n0\r\n\r\n")).await.unwrap();
    assert_eq!(chunked.answer().await.unwrap().status, 200);
    assert_eq!(other.answer().await.unwrap().status, 200);
}

#[tokio::test]
async fn body_without_a_length_gives_back_the_room_that_it_did_not_need() {
    let server = start(|limits| limits.max_bodies = limits.max_body).await;
    still_answers(&server).await;
    let mut polling = announce(&server, "transfer-encoding: chunked").await;
    let poll = "Action=ReceiveMessage&WaitTimeSeconds=20&QueueUrl=alive";
    polling.write(format!("{:x}\r\n{poll}\r\n0\r\n\r\n", poll.len())).await.unwrap();
    tokio::time::sleep(A_MOMENT).await;
    tokio::time::timeout(AT_ONCE, still_answers(&server)).await.expect("the poll waits without the room");
    let sent = "Action=SendMessage&MessageBody=x&QueueUrl=alive";
    assert_eq!(Wire::connect(&server).await.form("/", sent).await.status, 200);
    assert!(polling.answer().await.expect("it was waiting").text().contains("<Body>x</Body>"));
}

#[tokio::test]
async fn body_without_a_length_is_refused_when_its_first_part_is_too_long() {
    let server = start(|limits| limits.max_body = 16).await;
    let mut chunked = announce(&server, "transfer-encoding: chunked").await;
    chunked.write(format!("11\r\n{LIST}\r\n")).await.unwrap();
    tokio::time::sleep(A_MOMENT).await;
    chunked.write("0\r\n\r\n").await.unwrap();
    chunked.answer().await.unwrap().refused_in_xml(413, "RequestEntityTooLarge");
}

#[tokio::test]
async fn body_larger_than_all_the_room_takes_it_all() {
    let server = start(|limits| limits.max_bodies = 1).await;
    still_answers(&server).await;
    still_answers(&server).await;
}

#[tokio::test]
async fn body_without_room_for_too_long_is_refused() {
    let server = start(|limits| {
        limits.max_bodies = 20;
        limits.body_timeout = A_MOMENT * 4;
    })
    .await;
    // It does not hold the room by the slowness of its body, which would end in time, but by waiting for messages.
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

/// A queue with ten messages of 1 MiB, all visible whatever is received.
async fn full_queue(server: &MockSqs) {
    let client = server.client();
    let created = client.create_queue().queue_name("q").attributes("VisibilityTimeout".into(), "0");
    let url = created.send().await.unwrap().queue_url.unwrap();
    for _ in 0..10 {
        client.send_message().queue_url(&url).message_body("x".repeat(1 << 20)).send().await.unwrap();
    }
}

/// A connection that asks for far more than its buffers hold, and reads nothing of it.
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
async fn caller_who_does_not_read_loses_the_seat() {
    let server = start(|limits| {
        limits.max_connections = 1;
        limits.write_timeout = A_MOMENT;
    })
    .await;
    full_queue(&server).await;
    let _unread = asks_and_does_not_read(&server).await;
    let seated = tokio::time::timeout(AT_ONCE, still_answers(&server)).await;
    seated.expect("the seat is free again");
}

#[tokio::test]
async fn waiting_for_messages_is_not_slow_reading() {
    let server = start(|limits| limits.write_timeout = A_MOMENT / 2).await;
    still_answers(&server).await;
    let mut polling = Wire::connect(&server).await;
    let poll = b"Action=ReceiveMessage&WaitTimeSeconds=20";
    polling.request("POST /000000000000/alive", FORM, poll).await.unwrap();
    tokio::time::sleep(A_MOMENT).await;
    let sent =
        Wire::connect(&server).await.form("/000000000000/alive", "Action=SendMessage&MessageBody=x").await;
    assert_eq!(sent.status, 200);
    assert!(polling.answer().await.expect("it was not cut").text().contains("<Body>x</Body>"));
}
