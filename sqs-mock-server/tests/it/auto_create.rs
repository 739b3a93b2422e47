//! Queues that are created on first use.

use serde_json::json;
use sqs_client::operation::delete_queue::DeleteQueueInput;
use sqs_client::operation::get_queue_url::GetQueueUrlInput;
use sqs_client::operation::purge_queue::PurgeQueueInput;
use sqs_client::operation::send_message::SendMessageInput;
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::protocol::{Protocol, ResponseError};
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::MockSqs;

use crate::session::{BOTH, Session};

async fn start(protocol: Protocol) -> Session {
    Session::with(MockSqs::builder().auto_create().clock_frozen(), protocol).await
}

fn is_unknown<T: std::fmt::Debug>(answer: Result<T, ResponseError>) -> bool {
    matches!(answer, Err(ResponseError::Service { error, .. }) if error.code == ErrorCode::QueueDoesNotExist)
}

#[tokio::test]
async fn first_message_creates_its_queue() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        let url = s.server.queue_url("orders");
        assert!(s.receive(&url).await.is_empty());
        s.send(&url, "x").await;
        assert_eq!(s.receive(&url).await[0].0, "x");
        let visibility = s.attribute(&url, QueueAttributeName::VisibilityTimeout).await;
        assert_eq!(visibility.as_deref(), Some("30"), "the default");
    }
}

#[tokio::test]
async fn name_decides_whether_it_is_a_fifo_queue() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        let url = s.server.queue_url("orders.fifo");
        let input = SendMessageInput::builder().queue_url(&url).message_body("x").message_group_id("g");
        s.call(input.message_deduplication_id("d").build().unwrap()).await;
        assert_eq!(s.attribute(&url, QueueAttributeName::FifoQueue).await.as_deref(), Some("true"));
    }
}

#[tokio::test]
async fn get_queue_url_creates_the_queue() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        let found = s.call(GetQueueUrlInput::builder().queue_name("orders").build().unwrap()).await;
        assert_eq!(found.queue_url, Some(s.server.queue_url("orders")));
        assert!(s.server.queue("orders").exists());
    }
}

#[tokio::test]
async fn url_determines_the_account_and_caller_the_region() {
    let server = MockSqs::builder().auto_create().region("eu-west-1").start().await.unwrap();
    let url = server.queue_url("q").replace("000000000000", "123456789012");
    let client = server.client();
    client.send_message().queue_url(&url).message_body("x").send().await.unwrap();
    let attributes =
        client.get_queue_attributes().queue_url(&url).attribute_names(QueueAttributeName::QueueArn);
    let attributes = attributes.send().await.unwrap().attributes.unwrap();
    assert_eq!(attributes[&QueueAttributeName::QueueArn], "arn:aws:sqs:eu-west-1:123456789012:q");
}

#[tokio::test]
async fn queue_with_an_invalid_name_is_not_created() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        for name in ["a b", "a.b", ".fifo", &"x".repeat(81)] {
            let input = PurgeQueueInput::builder().queue_url(s.server.queue_url(name)).build().unwrap();
            assert!(is_unknown(s.wire.call(protocol, input).await), "{name}");
        }
        assert!(is_unknown(s.wire.call(protocol, PurgeQueueInput::default()).await), "no URL");
    }
}

#[tokio::test]
async fn delete_creates_nothing_and_with_the_rule_deleted_queues_are_created_again_after_a_minute() {
    for protocol in BOTH {
        let mut s = Session::with(MockSqs::builder().auto_create().one_minute_rules(true), protocol).await;
        let url = s.server.queue_url("q");
        let delete = DeleteQueueInput::builder().queue_url(&url).build().unwrap();
        assert!(is_unknown(s.wire.call(protocol, delete.clone()).await));
        s.send(&url, "x").await;
        s.call(delete).await;
        let purge = PurgeQueueInput::builder().queue_url(&url).build().unwrap();
        assert!(is_unknown(s.wire.call(protocol, purge.clone()).await), "deleted just now");
        s.server.clock().advance(std::time::Duration::from_secs(60));
        s.call(purge).await;
    }
}

#[tokio::test]
async fn queues_are_not_created_by_default() {
    let (server, mut wire) = crate::wire::Wire::with_queue().await;
    let body = json!({ "QueueUrl": server.queue_url("other"), "MessageBody": "x" });
    let answer = wire.json("SendMessage", body.to_string()).await;
    answer.refused_in_json(400, "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue");
    assert!(!server.queue("other").exists());
}
