//! Invalid bodies: each gets an error, nothing panics, and the server keeps responding.

use std::time::Duration;

use sqs_mock_server::{Limits, MockSqs};
use tokio::time::Instant;

use crate::wire::{FORM, JSON, Wire, still_answers};

const TEN_MIB: usize = 10 << 20;

async fn start() -> (MockSqs, Wire) {
    let server = MockSqs::start().await;
    let wire = Wire::connect(&server).await;
    (server, wire)
}

#[tokio::test]
async fn invalid_json_is_a_serialization_error() {
    let (server, mut wire) = start().await;
    let nested = |open: &str, times: usize| format!(r#"{{"MessageAttributes":{}"#, open.repeat(times));
    let cases: Vec<Vec<u8>> = vec![
        b"{".to_vec(),
        b"[]".to_vec(),
        b"null".to_vec(),
        b"\"SendMessage\"".to_vec(),
        b"<xml/>".to_vec(),
        b"Action=SendMessage".to_vec(),
        b"{} {}".to_vec(),
        b"{\"QueueUrl\":\"\xff\xfe\"}".to_vec(),
        br#"{"QueueUrl":"\ud800"}"#.to_vec(),
        b"\0\0\0\0".to_vec(),
        nested("[", 100_000).into_bytes(),
        nested(r#"{"a":"#, 100_000).into_bytes(),
    ];
    for body in cases {
        let answer = wire.json("SendMessage", &body).await;
        answer.refused_in_json(400, "SerializationException", "MalformedInput");
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn member_of_a_wrong_type_is_a_serialization_error() {
    let (server, mut wire) = start().await;
    for body in [
        r#"{"QueueUrl":1}"#,
        r#"{"QueueUrl":{}}"#,
        r#"{"MessageBody":["x"]}"#,
        r#"{"DelaySeconds":"5"}"#,
        r#"{"DelaySeconds":1.5}"#,
        r#"{"DelaySeconds":3000000000}"#,
        r#"{"MessageAttributes":[]}"#,
        r#"{"MessageAttributes":{"a":"b"}}"#,
        r#"{"MessageAttributes":{"a":{"DataType":"Binary","BinaryValue":"not base64!"}}}"#,
    ] {
        let answer = wire.json("SendMessage", body).await;
        answer.refused_in_json(400, "SerializationException", "MalformedInput");
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn deep_nesting_in_an_unknown_member_is_harmless() {
    let (server, mut wire) = start().await;
    let body = format!(r#"{{"Unknown":{}{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
    let status = wire.json("ListQueues", body).await.status;
    assert!(matches!(status, 200 | 400), "{status}");
    still_answers(&server).await;
}

#[tokio::test]
async fn invalid_form_is_malformed_input() {
    let (server, mut wire) = start().await;
    let many = "&Tag.1.Key=x".repeat(20_000);
    let deep = format!("Action=SendMessage&{}=x", "a.".repeat(100_000));
    let cases: Vec<Vec<u8>> = vec![
        b"Action=SendMessage&MessageBody=%ff%fe".to_vec(),
        b"Action=SendMessage&MessageBody=\xff\xfe".to_vec(),
        b"Action=SendMessage&%ff=x".to_vec(),
        b"Action=SendMessage&DelaySeconds=soon".to_vec(),
        b"Action=SendMessage&DelaySeconds=99999999999999".to_vec(),
        b"Action=SendMessage&MessageAttribute.1.Value.BinaryValue=!&MessageAttribute.1.Name=a".to_vec(),
        format!("Action=TagQueue{many}").into_bytes(),
        deep.into_bytes(),
    ];
    for form in cases {
        wire.form("/", &form).await.refused_in_xml(400, "MalformedInput");
    }
    for nothing in [&b""[..], b"&&&", b"=", b"{\"QueueName\":\"x\"}", b"\0"] {
        assert_eq!(wire.form("/", nothing).await.text().trim_end(), "<UnknownOperationException/>");
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn body_of_10_mib_is_rejected_in_the_protocol_of_the_request() {
    let (server, mut wire) = start().await;
    let body = vec![b'x'; TEN_MIB];
    let json = wire.json("SendMessage", &body).await;
    json.refused_by_http(413, "RequestEntityTooLarge");
    let mut wire = Wire::connect(&server).await;
    let form = [b"Action=SendMessage&MessageBody=", &*body].concat();
    wire.form("/", form).await.refused_in_xml(413, "RequestEntityTooLarge");
    still_answers(&server).await;
}

#[tokio::test]
async fn chunked_body_of_10_mib_is_rejected() {
    let (server, mut wire) = start().await;
    let head = format!("POST / HTTP/1.1\r\nhost: x\r\n{JSON}transfer-encoding: chunked\r\n\r\n");
    wire.write(head).await.unwrap();
    let chunk = [b"100000\r\n", &*vec![b'x'; 1 << 20], b"\r\n"].concat();
    for _ in 0..10 {
        wire.write(&chunk).await.unwrap();
    }
    wire.write("0\r\n\r\n").await.unwrap();
    let answer = wire.answer().await.expect("the error response");
    answer.refused_by_http(413, "RequestEntityTooLarge");
    still_answers(&server).await;
}

#[tokio::test]
async fn largest_message_is_accepted_even_if_every_byte_is_escaped() {
    let (server, mut wire) = start().await;
    still_answers(&server).await;
    let body = r"\u0078".repeat(1 << 20);
    let url = server.queue_url("alive");
    let answer = wire.json("SendMessage", format!(r#"{{"QueueUrl":"{url}","MessageBody":"{body}"}}"#)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

const IDLE: Duration = Duration::from_millis(250);
/// The length of the bodies below; more than the part that is read before memory is reserved.
const LONG: usize = 100_000;

/// A server with memory for one long body, and a connection that has sent 70,000 bytes of it.
async fn started_long_body() -> (MockSqs, Wire) {
    let mut limits = Limits::default();
    limits.max_bodies = 150_000;
    limits.body_idle_timeout = IDLE;
    let server = MockSqs::builder().limits(limits).start().await.unwrap();
    let mut wire = Wire::connect(&server).await;
    let head = format!("POST / HTTP/1.1\r\nhost: x\r\n{FORM}content-length: {LONG}\r\n\r\n");
    wire.write(format!("{head}{}", &long_form()[..70_000])).await.unwrap();
    (server, wire)
}

fn long_form() -> String {
    let start = "Action=ListQueues&Padding=";
    start.to_owned() + &"x".repeat(LONG - start.len())
}

#[tokio::test]
async fn stalled_long_body_times_out_and_releases_its_memory() {
    let (server, mut stalled) = started_long_body().await;
    let start = Instant::now();
    let mut other = Wire::connect(&server).await;
    assert_eq!(other.form("/", long_form()).await.status, 200, "it waited for the memory");
    stalled.answer().await.expect("the error response").refused_in_xml(408, "RequestTimeout");
    assert!(start.elapsed() < Limits::default().body_timeout / 4, "{:?}", start.elapsed());
}

#[tokio::test]
async fn slow_but_steady_long_body_is_accepted() {
    let (_server, mut wire) = started_long_body().await;
    let start = Instant::now();
    for part in long_form().as_bytes()[70_000..].chunks(3_000) {
        tokio::time::sleep(IDLE / 5).await;
        wire.write(part).await.unwrap();
    }
    assert!(start.elapsed() > IDLE, "the whole body takes longer than one pause may");
    assert_eq!(wire.answer().await.expect("a response").status, 200);
}
