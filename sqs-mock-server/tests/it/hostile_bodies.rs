//! Invalid bodies: each gets an error, nothing panics, and the server keeps responding.

use sqs_mock_server::MockSqs;

use crate::wire::{JSON, Wire, still_answers};

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
