//! A tour with the AWS SDK for Rust, over plain HTTP.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::retry::RetryConfig;
use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_sqs::error::ProvideErrorMetadata as _;
use aws_sdk_sqs::operation::RequestId as _;
use aws_sdk_sqs::primitives::Blob;
use aws_sdk_sqs::types::{
    ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry, MessageAttributeValue,
    MessageSystemAttributeName, QueueAttributeName, SendMessageBatchRequestEntry,
};
use sqs_client::wire::checksum::{md5_of_attributes, md5_of_body};
use sqs_mock_server::MockSqs;

const BODY: &str = "{\"order\":\"№ 42\"}\r\n<end/>";

/// A new server, or the running one at `SQS_TOUR_ENDPOINT`.
async fn server() -> (Option<MockSqs>, String) {
    if let Ok(endpoint) = std::env::var("SQS_TOUR_ENDPOINT") {
        return (None, endpoint);
    }
    let server = MockSqs::builder().one_minute_rules(true).start().await.unwrap();
    let endpoint = server.endpoint_url().to_owned();
    (Some(server), endpoint)
}

/// A client with its own account, so that tests can share a server.
fn connect(endpoint: &str) -> Client {
    Client::from_conf(config(endpoint).build())
}

/// A client that does not pause between attempts.
pub(crate) fn impatient_client(endpoint: &str) -> Client {
    let retries = RetryConfig::standard().with_initial_backoff(Duration::from_millis(1));
    Client::from_conf(config(endpoint).retry_config(retries).build())
}

fn config(endpoint: &str) -> aws_sdk_sqs::config::Builder {
    static ACCOUNTS: AtomicU64 = AtomicU64::new(0);
    let account = u64::from(std::process::id()) * 1_000 + ACCOUNTS.fetch_add(1, Ordering::Relaxed);
    aws_sdk_sqs::Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new(format!("{account:012}"), "test", None, None, "test"))
        .endpoint_url(endpoint)
        .http_client(aws_smithy_http_client::Builder::new().build_http())
}

/// One attribute of each type, in the types of the SDK.
fn attributes() -> HashMap<String, MessageAttributeValue> {
    let text = MessageAttributeValue::builder().data_type("String.note").string_value("Zürich <&>");
    let number = MessageAttributeValue::builder().data_type("Number").string_value("-1.50e3");
    let bytes =
        MessageAttributeValue::builder().data_type("Binary").binary_value(Blob::new([0, 1, 254, 255]));
    [("text", text), ("number", number), ("bytes", bytes)]
        .map(|(name, value)| (name.to_owned(), value.build().unwrap()))
        .into()
}

/// The MD5 of attributes, computed by `sqs-client`.
fn md5_of(attributes: &HashMap<String, MessageAttributeValue>) -> Option<String> {
    let ours: HashMap<String, sqs_client::types::MessageAttributeValue> = attributes
        .iter()
        .map(|(name, value)| {
            let ours = sqs_client::types::MessageAttributeValue::builder()
                .data_type(value.data_type())
                .set_string_value(value.string_value.clone())
                .set_binary_value(value.binary_value.clone());
            (name.clone(), ours.build().unwrap())
        })
        .collect();
    md5_of_attributes(&ours).map(String::from)
}

#[tokio::test]
async fn sdk_sends_receives_and_deletes_on_a_standard_queue() {
    let (_server, endpoint) = server().await;
    let sqs = connect(&endpoint);
    let created = sqs.create_queue().queue_name("q").tags("team", "blue").send().await.unwrap();
    let url = created.queue_url().unwrap();
    assert!(created.request_id().is_some());

    let message = sqs.send_message().queue_url(url).message_body(BODY);
    let sent = message.set_message_attributes(Some(attributes())).send().await.unwrap();
    assert_eq!(sent.md5_of_message_body(), Some(md5_of_body(BODY).as_str()));
    assert_eq!(sent.md5_of_message_attributes, md5_of(&attributes()));

    let receive = || {
        sqs.receive_message()
            .queue_url(url)
            .message_attribute_names("All")
            .message_system_attribute_names(MessageSystemAttributeName::All)
            .send()
    };
    let received = receive().await.unwrap();
    let message = &received.messages()[0];
    assert_eq!((message.body(), message.message_id()), (Some(BODY), sent.message_id()));
    assert_eq!(message.md5_of_body(), Some(md5_of_body(BODY).as_str()));
    assert_eq!(message.md5_of_message_attributes, md5_of(message.message_attributes().unwrap()));
    assert_eq!(message.message_attributes, Some(attributes()));

    let handle = message.receipt_handle().unwrap();
    let change = sqs.change_message_visibility().queue_url(url).receipt_handle(handle);
    change.visibility_timeout(0).send().await.unwrap();
    let again = receive().await.unwrap();
    let message = &again.messages()[0];
    let count = &message.attributes().unwrap()[&MessageSystemAttributeName::ApproximateReceiveCount];
    assert_eq!(count, "2");
    let delete = sqs.delete_message().queue_url(url).receipt_handle(message.receipt_handle().unwrap());
    delete.send().await.unwrap();
    assert!(receive().await.unwrap().messages.is_none());
}

#[tokio::test]
async fn sdk_keeps_the_order_of_a_fifo_queue() {
    let (_server, endpoint) = server().await;
    let sqs = connect(&endpoint);
    let create = sqs.create_queue().queue_name("q.fifo").attributes(QueueAttributeName::FifoQueue, "true");
    let url = create.send().await.unwrap().queue_url.unwrap();
    for body in ["one", "two", "three"] {
        let message = sqs.send_message().queue_url(&url).message_body(body).message_group_id("g");
        let message = message.message_deduplication_id(body).set_message_attributes(Some(attributes()));
        let sent = message.send().await.unwrap();
        assert_eq!(sent.sequence_number().map(str::len), Some(20));
        assert_eq!(sent.md5_of_message_attributes, md5_of(&attributes()));
    }
    let received = sqs.receive_message().queue_url(&url).max_number_of_messages(10).send().await.unwrap();
    let bodies: Vec<_> = received.messages().iter().filter_map(|message| message.body()).collect();
    assert_eq!(bodies, ["one", "two", "three"]);
}

#[tokio::test]
async fn sdk_works_in_batches() {
    let (_server, endpoint) = server().await;
    let sqs = connect(&endpoint);
    let url = sqs.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    let mut batch = sqs.send_message_batch().queue_url(&url);
    for id in ["a", "b", "c"] {
        let entry = SendMessageBatchRequestEntry::builder().id(id).message_body(id);
        batch = batch.entries(entry.set_message_attributes(Some(attributes())).build().unwrap());
    }
    let sent = batch.send().await.unwrap();
    assert_eq!((sent.successful().len(), sent.failed().len()), (3, 0));
    for entry in sent.successful() {
        assert_eq!(entry.md5_of_message_body(), md5_of_body(entry.id()).as_str());
        assert_eq!(entry.md5_of_message_attributes, md5_of(&attributes()));
    }
    let received = sqs.receive_message().queue_url(&url).max_number_of_messages(10).send().await.unwrap();
    let (mut change, mut delete) =
        (sqs.change_message_visibility_batch().queue_url(&url), sqs.delete_message_batch().queue_url(&url));
    for message in received.messages() {
        let (id, handle) = (message.body().unwrap(), message.receipt_handle().unwrap());
        let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(id).receipt_handle(handle);
        change = change.entries(entry.visibility_timeout(90).build().unwrap());
        let entry = DeleteMessageBatchRequestEntry::builder().id(id).receipt_handle(handle);
        delete = delete.entries(entry.build().unwrap());
    }
    assert_eq!(change.send().await.unwrap().successful().len(), 3);
    assert_eq!(delete.send().await.unwrap().successful().len(), 3);
}

#[tokio::test]
async fn sdk_manages_queues_and_decodes_errors() {
    let (_server, endpoint) = server().await;
    let sqs = connect(&endpoint);
    let url = sqs.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    assert_eq!(sqs.list_queues().send().await.unwrap().queue_urls(), std::slice::from_ref(&url));
    sqs.tag_queue().queue_url(&url).tags("a", "b").send().await.unwrap();
    let tags = sqs.list_queue_tags().queue_url(&url).send().await.unwrap();
    assert_eq!(tags.tags().unwrap()["a"], "b");
    let set = sqs.set_queue_attributes().queue_url(&url);
    set.attributes(QueueAttributeName::DelaySeconds, "3").send().await.unwrap();
    let attributes = sqs.get_queue_attributes().queue_url(&url).attribute_names(QueueAttributeName::All);
    let attributes = attributes.send().await.unwrap().attributes.unwrap();
    assert_eq!((attributes.len(), &*attributes[&QueueAttributeName::DelaySeconds]), (12, "3"));
    sqs.purge_queue().queue_url(&url).send().await.unwrap();
    let refusal = sqs.purge_queue().queue_url(&url).send().await.unwrap_err().into_service_error();
    assert!(refusal.is_purge_queue_in_progress(), "{refusal:?}");
    let delete = sqs.delete_message().queue_url(&url).receipt_handle("garbage");
    let refusal = delete.send().await.unwrap_err();
    assert_eq!(refusal.raw_response().map(|response| response.status().as_u16()), Some(404));
    assert!(refusal.into_service_error().is_receipt_handle_is_invalid());
    sqs.delete_queue().queue_url(&url).send().await.unwrap();
    let refusal = sqs.get_queue_url().queue_name("q").send().await.unwrap_err().into_service_error();
    assert!(refusal.is_queue_does_not_exist());
    assert_eq!(refusal.code(), Some("AWS.SimpleQueueService.NonExistentQueue"));
}
