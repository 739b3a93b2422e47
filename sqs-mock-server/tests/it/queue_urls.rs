//! Queue URLs in the styles of AWS, and hosts that name a region.

use serde_json::Value;
use sqs_client::wire::protocol::Protocol;
use sqs_mock_server::{MockSqs, QueueUrlStyle};

use crate::session::Session;
use crate::wire::{Answer, JSON, Wire};

/// Calls an action in AWS JSON under that host, signed for that region or not at all.
async fn call(wire: &mut Wire, host: &str, region: Option<&str>, action: &str, body: &str) -> Answer {
    let signed = region.map_or_else(String::new, |region| {
        let credential = format!("AKID/20260102/{region}/sqs/aws4_request");
        format!(
            "authorization: AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=host, Signature=0\r\n"
        )
    });
    let length = body.len();
    let target = format!("x-amz-target: AmazonSQS.{action}\r\n");
    let head =
        format!("POST / HTTP/1.1\r\nhost: {host}\r\n{JSON}{target}{signed}content-length: {length}\r\n\r\n");
    wire.write(head + body).await.unwrap();
    wire.answer().await.expect("the server answers")
}

async fn created(wire: &mut Wire, host: &str, region: Option<&str>) -> String {
    let answer = call(wire, host, region, "CreateQueue", r#"{"QueueName":"q"}"#).await;
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    body["QueueUrl"].as_str().unwrap_or_else(|| panic!("{host}: {body}")).to_owned()
}

async fn arn(wire: &mut Wire, host: &str, region: Option<&str>, url: &str) -> String {
    let body = format!(r#"{{"QueueUrl":"{url}","AttributeNames":["QueueArn"]}}"#);
    let answer = call(wire, host, region, "GetQueueAttributes", &body).await;
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    body["Attributes"]["QueueArn"].as_str().unwrap_or_else(|| panic!("{host} {url}: {body}")).to_owned()
}

#[tokio::test]
async fn host_of_an_unsigned_request_names_the_region() {
    let server = MockSqs::builder().region("sa-east-1").start().await.unwrap();
    let mut wire = Wire::connect(&server).await;
    for (host, region) in [
        ("localhost:9324", "sa-east-1"),
        ("sqs.in-docker:9324", "sa-east-1"),
        ("sqs.eu-west-1.localhost:9324", "eu-west-1"),
        ("eu-west-2.queue.localhost:9324", "eu-west-2"),
        ("sqs.eu-west-3.amazonaws.com", "eu-west-3"),
        ("ap-south-1.queue.amazonaws.com", "ap-south-1"),
        ("queue.amazonaws.com", "us-east-1"),
    ] {
        let url = created(&mut wire, host, None).await;
        assert_eq!(url, format!("http://{host}/000000000000/q"), "the host that the caller used");
        let expected = format!("arn:aws:sqs:{region}:000000000000:q");
        assert_eq!(arn(&mut wire, host, None, &url).await, expected);
        let signed = arn(&mut wire, "localhost:9324", Some(region), &url).await;
        assert_eq!(signed, expected, "the same queue, with the region of the signature");
    }
}

#[tokio::test]
async fn region_of_the_signature_overrides_the_host() {
    let server = MockSqs::start().await;
    let mut wire = Wire::connect(&server).await;
    let host = "sqs.eu-west-1.localhost:9324";
    let url = created(&mut wire, host, Some("us-west-2")).await;
    assert_eq!(arn(&mut wire, host, Some("us-west-2"), &url).await, "arn:aws:sqs:us-west-2:000000000000:q");
    let unsigned = call(&mut wire, host, None, "ListQueues", "{}").await;
    assert_eq!(unsigned.text(), "{}", "no queue in the region of the host");
}

#[tokio::test]
async fn queue_urls_of_all_styles_identify_the_queue() {
    let (_server, mut wire) = Wire::with_queue().await;
    for url in [
        "http://localhost:9324/000000000000/q",
        "http://sqs.us-east-1.localhost:9324/000000000000/q",
        "http://us-east-1.queue.localhost:9324/000000000000/q",
        "https://sqs.us-east-1.amazonaws.com/000000000000/q",
        "https://us-east-1.queue.amazonaws.com/000000000000/q",
        "https://queue.amazonaws.com/000000000000/q",
        "https://sqs.eu-west-1.amazonaws.com/000000000000/q",
    ] {
        let found = arn(&mut wire, "localhost:9324", None, url).await;
        assert_eq!(found, "arn:aws:sqs:us-east-1:000000000000:q", "{url}: the region is that of the caller");
    }
}

#[tokio::test]
async fn style_of_queue_urls_can_be_configured() {
    for (style, url) in [
        (QueueUrlStyle::Path, "http://mock:9324/000000000000/q"),
        (QueueUrlStyle::Subdomain, "http://sqs.eu-west-1.mock:9324/000000000000/q"),
        (QueueUrlStyle::Legacy, "http://eu-west-1.queue.mock:9324/000000000000/q"),
    ] {
        let server = MockSqs::builder().queue_url_style(style).region("eu-west-1").start().await.unwrap();
        let mut wire = Wire::connect(&server).await;
        assert_eq!(created(&mut wire, "mock:9324", None).await, url);
        let listed = call(&mut wire, "mock:9324", None, "ListQueues", "{}").await;
        assert!(listed.text().contains(url), "{}", listed.text());
        let host = url.split('/').nth(2).unwrap();
        assert_eq!(created(&mut wire, host, None).await, url, "the style is not applied twice");
        assert_eq!(arn(&mut wire, host, None, url).await, "arn:aws:sqs:eu-west-1:000000000000:q");
    }
}

#[tokio::test]
async fn server_returns_queue_urls_in_the_configured_style() {
    for style in [QueueUrlStyle::Path, QueueUrlStyle::Subdomain, QueueUrlStyle::Legacy] {
        let mut s = Session::with(MockSqs::builder().queue_url_style(style), Protocol::AwsJson).await;
        let url = s.create("q", &[]).await;
        assert_eq!(url, s.server.queue_url("q"));
        let client = s.server.client();
        client.send_message().queue_url(&url).message_body("x").send().await.unwrap();
        assert_eq!(s.server.queue("q").bodies(), ["x"]);
    }
}
