//! Broken connections, and truncated or damaged responses.

use std::sync::atomic::Ordering;
use std::time::Duration;

use sqs_client::operation::receive_message::ReceiveMessageOutput;
use sqs_client::types::SendMessageBatchRequestEntry;
use sqs_client::wire::checksum::ChecksumPolicy;
use sqs_client::{Client, Error, ErrorKind};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer};

use crate::service::{
    Act, FIFO_QUEUE, HELLO, HELLO_MD5, QUEUE, client, impatient, json, raw_service, sent_with_md5, settings,
};

const ACCEPTED: &str = r#"{"MessageId":"m-1","MD5OfMessageBody":"5d41402abc4b2a76b9719d911017c592"}"#;
const WRONG_MD5: &str = "00000000000000000000000000000000";

async fn send(client: &Client) -> Result<(), Error> {
    client.send_message().queue_url(QUEUE).message_body(HELLO).send().await.map(drop)
}

#[tokio::test]
async fn closed_connection_is_retried() {
    let (url, requests) = raw_service(vec![Act::Close, Act::Close, Act::whole(ACCEPTED)]).await;
    send(&client(&url)).await.expect("the third attempt succeeds");
    assert_eq!(requests.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn truncated_response_is_retried() {
    for sent in [0, 1, ACCEPTED.len() - 1] {
        let (url, _) = raw_service(vec![Act::cut(ACCEPTED, sent), Act::whole(ACCEPTED)]).await;
        send(&client(&url)).await.expect("the second attempt succeeds");
    }
    let (url, _) = raw_service(vec![Act::cut(ACCEPTED, 7)]).await;
    let error = send(&client(&url)).await.expect_err("always truncated");
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Transport, 3));
    assert!(error.is_outcome_unknown() && error.is_retryable());
    assert!(std::error::Error::source(&error).is_some(), "source() is the cause");
}

#[tokio::test]
async fn stalled_response_times_out_and_is_retried() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_owned();
    let (url, _) = raw_service(vec![Act::Hang(head), Act::whole(ACCEPTED)]).await;
    send(&impatient(&url, Duration::from_millis(80))).await.expect("the second attempt succeeds");
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let response =
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    let (url, requests) = raw_service(vec![Act::Write(response.to_owned())]).await;
    let error = send(&client(&url)).await.expect_err("rejected");
    assert_eq!((error.kind(), error.status()), (ErrorKind::Unreadable, Some(307)));
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn refused_connection_has_a_known_outcome() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    drop(listener);
    let error = send(&client(&url)).await.expect_err("connection refused");
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Transport, 3));
    assert!(!error.is_outcome_unknown(), "{error:?}");
}

#[tokio::test]
async fn wrong_md5_is_an_error_and_not_retried() {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(sent_with_md5(WRONG_MD5)).expect(2).mount(&server).await;
    let error = send(&client(&server.uri())).await.expect_err("damaged");
    assert_eq!((error.kind(), error.attempts(), error.is_retryable()), (ErrorKind::Checksum, 1, false));
    assert!(error.to_string().contains(HELLO_MD5) && error.to_string().contains(WRONG_MD5), "{error}");
    assert_eq!(error.request_id(), Some("request-1"));

    let off = settings(&server.uri()).checksum_policy(ChecksumPolicy::Off).build();
    send(&Client::from_conf(off)).await.expect("not verified");
}

#[tokio::test]
async fn missing_checksum_is_an_error_unless_the_policy_allows_it() {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(json(200, r#"{"MessageId":"m-1"}"#)).mount(&server).await;
    let error = send(&client(&server.uri())).await.expect_err("the checksum is missing");
    assert!(error.to_string().contains("VerifyIfPresent"), "{error}");
    let policy = settings(&server.uri()).checksum_policy(ChecksumPolicy::VerifyIfPresent).build();
    send(&Client::from_conf(policy)).await.expect("accepted");
}

#[tokio::test]
async fn partly_failed_batch_returns_both_lists() {
    let server = MockServer::start().await;
    let response = format!(
        r#"{{"Successful":[{{"Id":"a","MessageId":"m","MD5OfMessageBody":"{HELLO_MD5}"}}],
            "Failed":[{{"Id":"b","SenderFault":true,"Code":"InvalidMessageContents","Message":"Bad characters"}}]}}"#
    );
    Mock::given(method("POST")).respond_with(json(200, &response)).expect(1).mount(&server).await;
    let entry = |id: &str| SendMessageBatchRequestEntry::builder().id(id).message_body(HELLO).build();
    let batch = client(&server.uri())
        .send_message_batch()
        .queue_url(QUEUE)
        .entries(entry("a").expect("complete"))
        .entries(entry("b").expect("complete"))
        .send()
        .await
        .expect("a partial failure is a success of the request");
    assert_eq!(batch.successful()[0].id(), "a");
    let failed = &batch.failed()[0];
    assert_eq!((failed.id(), failed.sender_fault(), failed.code()), ("b", true, "InvalidMessageContents"));
}

#[tokio::test]
async fn batch_response_with_only_one_list_is_accepted() {
    for response in
        [r#"{"Successful":[{"Id":"a"}]}"#, r#"{"Failed":[{"Id":"a","SenderFault":false,"Code":"X"}]}"#]
    {
        let server = MockServer::start().await;
        Mock::given(method("POST")).respond_with(json(200, response)).mount(&server).await;
        let delete =
            client(&server.uri()).delete_message_batch().queue_url(QUEUE).send().await.expect("read");
        assert_eq!(delete.successful().len() + delete.failed().len(), 1);
    }
}

#[tokio::test]
async fn damaged_received_message_is_in_the_error() {
    let server = MockServer::start().await;
    let response = format!(
        r#"{{"Messages":[{{"MessageId":"m-7","ReceiptHandle":"handle","Body":"hellO","MD5OfBody":"{HELLO_MD5}"}}]}}"#
    );
    Mock::given(method("POST")).respond_with(json(200, &response)).mount(&server).await;
    let error = client(&server.uri()).receive_message().queue_url(QUEUE).send().await.expect_err("damaged");
    assert!(error.to_string().contains("m-7"), "{error}");
    assert_eq!(error.checksum_mismatches()[0].id(), Some("m-7"));
    let output = error.output::<ReceiveMessageOutput>().expect("the error has the output");
    let damaged = &output.damaged_messages()[0].message;
    assert_eq!(damaged.receipt_handle(), Some("handle"), "the receipt handle is available");

    let other = error.with_output(ReceiveMessageOutput::builder().build());
    assert_eq!(other.to_string(), error.to_string());
    assert_eq!(other.output::<ReceiveMessageOutput>().expect("the replaced output").messages().len(), 0);
}

#[tokio::test]
async fn receive_returns_intact_messages_besides_a_damaged_one() {
    let server = MockServer::start().await;
    let message = |id: &str, body: &str| {
        format!(
            r#"{{"MessageId":"{id}","ReceiptHandle":"h-{id}","Body":"{body}","MD5OfBody":"{HELLO_MD5}"}}"#
        )
    };
    let response = format!(r#"{{"Messages":[{},{}]}}"#, message("m-1", "hellO"), message("m-2", HELLO));
    Mock::given(method("POST")).respond_with(json(200, &response)).mount(&server).await;
    let receive = client(&server.uri()).receive_message();
    let output = receive.clone().queue_url(QUEUE).send().await.expect("one message is intact");
    assert_eq!(output.messages().iter().map(|one| one.message_id()).collect::<Vec<_>>(), [Some("m-2")]);
    assert_eq!(output.damaged_messages()[0].message.receipt_handle(), Some("h-m-1"));
    let error = receive.queue_url(FIFO_QUEUE).send().await.expect_err("m-2 must not overtake m-1");
    assert_eq!(
        error.output::<ReceiveMessageOutput>().expect("the error has the output").damaged_messages().len(),
        1
    );
}

#[tokio::test]
async fn unknown_outcome_of_an_attempt_persists_after_a_later_rejection() {
    let rejection = "HTTP/1.1 400 Bad Request\r\nx-amzn-query-error: InvalidParameterValue;Sender\r\ncontent-length: 2\r\n\r\n{}";
    let (url, _) = raw_service(vec![Act::Close, Act::Write(rejection.to_owned())]).await;
    let error = send(&client(&url)).await.expect_err("rejected in the end");
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Service, 2));
    assert!(error.is_outcome_unknown(), "the service may have executed the first attempt");
}

#[tokio::test]
async fn error_response_without_code_is_quoted() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(json(403, r#"{"message":"Forbidden by WAF"}"#))
        .mount(&server)
        .await;
    let error = send(&client(&server.uri())).await.expect_err("rejected");
    assert_eq!(error.kind(), ErrorKind::Unreadable);
    assert!(error.to_string().contains("Forbidden by WAF"), "{error}");
}
