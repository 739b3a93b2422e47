//! `/_aws/sqs/messages`: responses of ReceiveMessage without receiving.

use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageOutput};
use sqs_client::wire::protocol::Protocol;
use sqs_mock_server::MockSqs;

use crate::sns::scope;
use crate::wire::{Answer, FORM, JSON, Wire};

/// A queue with a visible, a delayed and a received message.
async fn three() -> (MockSqs, Wire, String) {
    let server = MockSqs::start().await;
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    client.send_message().queue_url(&url).message_body("received").send().await.unwrap();
    client.receive_message().queue_url(&url).send().await.unwrap();
    client.send_message().queue_url(&url).message_body("visible").send().await.unwrap();
    client.send_message().queue_url(&url).message_body("delayed").delay_seconds(60).send().await.unwrap();
    let wire = Wire::connect(&server).await;
    (server, wire, url)
}

fn read(protocol: Protocol, answer: &Answer) -> ReceiveMessageOutput {
    protocol.decode_response::<ReceiveMessage>(answer.status, &answer.headers, &answer.body).unwrap()
}

fn bodies(output: &ReceiveMessageOutput) -> Vec<&str> {
    output.messages().iter().filter_map(|message| message.body()).collect()
}

#[tokio::test]
async fn visible_messages_are_shown_in_xml_and_others_on_request() {
    let (server, mut wire, url) = three().await;
    for (flags, expected) in [
        ("", vec!["visible"]),
        ("&ShowInvisible=true", vec!["received", "visible"]),
        ("&ShowDelayed=true", vec!["visible", "delayed"]),
        ("&ShowInvisible=True&ShowDelayed=1", vec!["received", "visible", "delayed"]),
    ] {
        let answer = wire.get(&format!("/_aws/sqs/messages?QueueUrl={url}{flags}")).await;
        assert_eq!(answer.header("content-type"), "text/xml");
        assert_eq!(bodies(&read(Protocol::Query, &answer)), expected, "{flags}");
    }
    assert_eq!(server.queue("q").counts().unwrap().in_flight, 1, "nothing was received");
}

#[tokio::test]
async fn unsigned_requests_find_queues_of_other_regions_by_the_path_of_localstack() {
    let server = MockSqs::start().await;
    let mut wire = Wire::connect(&server).await;
    for (region, body) in [("us-east-1", "default"), ("us-west-2", "other")] {
        let headers = format!("{FORM}{}", scope("sqs", region));
        for form in
            ["Action=CreateQueue&QueueName=q".to_owned(), format!("Action=SendMessage&MessageBody={body}")]
        {
            let path = if form.contains("Send") { "/000000000000/q" } else { "/" };
            let answer = wire.exchange(&format!("POST {path}"), &headers, form.as_bytes()).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        // A signature of a GET names the region, too.
        let receive = "GET /000000000000/q?Action=ReceiveMessage&VisibilityTimeout=0";
        let answer = wire.exchange(receive, &scope("sqs", region), b"").await;
        assert_eq!(bodies(&read(Protocol::Query, &answer)), [body]);
    }
    let url = "/queue/us-west-2/000000000000/q";
    for path in [
        "/_aws/sqs/messages/us-west-2/000000000000/q".to_owned(),
        format!("/_aws/sqs/messages?QueueUrl={url}"),
        format!("{url}?Action=ReceiveMessage&VisibilityTimeout=0"),
        format!("/?Action=ReceiveMessage&QueueUrl=http://host{url}&VisibilityTimeout=0"),
    ] {
        let answer = wire.get(&path).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(bodies(&read(Protocol::Query, &answer)), ["other"], "{path}");
    }
    let signed = format!("GET {url}?Action=ReceiveMessage");
    let answer = wire.exchange(&signed, &scope("sqs", "us-east-1"), b"").await;
    assert_eq!(bodies(&read(Protocol::Query, &answer)), ["default"], "the signature decides");
}

#[tokio::test]
async fn all_attributes_are_shown_and_the_handle_is_invalid() {
    let (_server, mut wire, url) = three().await;
    let answer = wire.get(&format!("/_aws/sqs/messages?QueueUrl={url}&ShowInvisible=true")).await;
    let output = read(Protocol::Query, &answer);
    let names = |message: &sqs_client::types::Message| {
        let mut names: Vec<_> = message.attributes().unwrap().keys().map(ToString::to_string).collect();
        names.sort();
        names
    };
    let received =
        ["ApproximateFirstReceiveTimestamp", "ApproximateReceiveCount", "SenderId", "SentTimestamp"];
    assert_eq!(names(&output.messages()[0]), received);
    assert_eq!(names(&output.messages()[1]), received[1..]);
    let handle = output.messages()[0].receipt_handle().unwrap();
    let delete = format!(r#"{{"QueueUrl":"{url}","ReceiptHandle":"{handle}"}}"#);
    wire.json("DeleteMessage", delete).await.refused_in_json(
        404,
        "ReceiptHandleIsInvalid",
        "ReceiptHandleIsInvalid",
    );
}

#[tokio::test]
async fn response_has_the_protocol_of_the_request() {
    let (_server, mut wire, url) = three().await;
    let form = format!("Action=ReceiveMessage&QueueUrl={url}&MaxNumberOfMessages=1&ShowDelayed=true");
    let answer = wire.form("/_aws/sqs/messages", form).await;
    assert_eq!(bodies(&read(Protocol::Query, &answer)), ["visible", "delayed"]);
    let body = format!(r#"{{"QueueUrl":"{url}","ShowInvisible":true,"MaxNumberOfMessages":1}}"#);
    let target = format!("{JSON}x-amz-target: AmazonSQS.ReceiveMessage\r\n");
    let answer = wire.exchange("POST /_aws/sqs/messages/", &target, body.as_bytes()).await;
    assert_eq!(bodies(&read(Protocol::AwsJson, &answer)), ["received", "visible"]);
    let accept = format!("{FORM}accept: application/json\r\n");
    let answer = wire.exchange(&format!("GET /_aws/sqs/messages?QueueUrl={url}"), &accept, b"").await;
    assert_eq!(answer.header("content-type"), "application/json");
    assert!(answer.text().contains("visible"), "{}", answer.text());
}

#[tokio::test]
async fn unknown_queues_and_invalid_flags_are_rejected() {
    let (_server, mut wire, url) = three().await;
    let answer = wire.get(&format!("/_aws/sqs/messages?QueueUrl={url}x")).await;
    answer.refused_in_xml(400, "AWS.SimpleQueueService.NonExistentQueue");
    assert_eq!(wire.get("/_aws/sqs/messages").await.error(400), "QueueUrl is missing");
    let answer = wire.get(&format!("/_aws/sqs/messages?QueueUrl={url}&ShowDelayed=maybe")).await;
    assert_eq!(answer.error(400), "ShowDelayed must be true or false, not \"maybe\"");
}
