//! Hosts, accounts and regions of callers.

use sqs_mock_server::MockSqs;

use crate::wire::{JSON, Wire};

#[tokio::test]
async fn queue_urls_start_with_the_host_that_the_caller_used() {
    let (_server, mut wire) = Wire::with_queue().await;
    let body = r#"{"QueueName":"q"}"#;
    let request = format!(
        "POST / HTTP/1.1\r\nhost: sqs.in-docker:9324\r\n{JSON}x-amz-target: AmazonSQS.GetQueueUrl\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    wire.write(request).await.unwrap();
    let answer = wire.answer().await.unwrap();
    assert_eq!(answer.text(), r#"{"QueueUrl":"http://sqs.in-docker:9324/000000000000/q"}"#);
}

#[tokio::test]
async fn public_url_overrides_the_host() {
    let server = MockSqs::builder().public_url("https://sqs.test/").start().await.unwrap();
    let answer = Wire::connect(&server).await.json("CreateQueue", r#"{"QueueName":"q"}"#).await;
    assert_eq!(answer.text(), r#"{"QueueUrl":"https://sqs.test/000000000000/q"}"#);
    assert_eq!(server.queue_url("q"), "https://sqs.test/000000000000/q");
}

#[tokio::test]
async fn credential_scope_determines_account_and_region() {
    let (_server, mut wire) = Wire::with_queue().await;
    let list = |credential: &str| {
        format!(
            "{JSON}x-amz-target: AmazonSQS.ListQueues\r\n\
             authorization: AWS4-HMAC-SHA256 Credential={credential}/sqs/aws4_request, SignedHeaders=host, Signature=0\r\n"
        )
    };
    let own = wire.exchange("POST /", &list("AKIDEXAMPLE/20260102/us-east-1"), b"{}").await;
    assert!(own.text().contains("/000000000000/q"), "{}", own.text());
    for other in ["123456789012/20260102/us-east-1", "AKIDEXAMPLE/20260102/eu-west-1"] {
        assert_eq!(wire.exchange("POST /", &list(other), b"{}").await.text(), "{}", "{other}");
    }
    let signed_url =
        "/?Action=ListQueues&X-Amz-Credential=123456789012%2F20260102%2Fus-east-1%2Fsqs%2Faws4_request";
    assert!(wire.get(signed_url).await.text().contains("<ListQueuesResult/>"));
}
