//! Which bodies are stored: thresholds, batches, and messages that leave no room for a pointer.

use sqs_client::operation::Action;
use sqs_client::types::{MessageAttributeValue, QueueAttributeName, SendMessageBatchRequestEntry};
use sqs_extended::{ErrorKind, Threshold};

use super::rig::{Rig, large};

#[tokio::test(start_paused = true)]
async fn body_of_threshold_size_stays_inline_and_one_byte_more_is_stored() {
    for (bytes, is_stored) in [(262_143, false), (262_144, false), (262_145, true)] {
        let rig = Rig::new().await;
        let body = "x".repeat(bytes);
        rig.send(&body).await;
        assert_eq!(rig.store.objects().len(), usize::from(is_stored), "{bytes}");
        assert_eq!(rig.bodies()[0] == body, !is_stored, "{bytes}");
        assert_eq!(rig.receive().await[0].body(), Some(&*body));
    }
}

#[tokio::test(start_paused = true)]
async fn attributes_count_towards_the_threshold() {
    // SQS counts 10 bytes for the attribute: name 1, type 6, value 3.
    for (bytes, is_stored) in [(990, false), (991, true)] {
        let rig = Rig::with("q", |builder| builder.threshold(Threshold::Bytes(1_000))).await;
        let send = rig.client.send_message().queue_url(&rig.url).message_body("x".repeat(bytes));
        send.message_attributes("k", MessageAttributeValue::string("abc")).send().await.unwrap();
        assert_eq!(rig.store.objects().len(), usize::from(is_stored), "{bytes}");
    }
}

#[tokio::test(start_paused = true)]
async fn store_all_stores_small_bodies_too() {
    let rig = Rig::with("q", |builder| builder.store_all(true)).await;
    rig.send("x").await;
    assert_eq!(rig.store.objects().len(), 1);
    assert_eq!(rig.receive().await[0].body(), Some("x"));
}

#[tokio::test(start_paused = true)]
async fn empty_body_is_rejected_and_not_stored() {
    for always in [false, true] {
        let rig = Rig::with("q", |builder| builder.store_all(always)).await;
        let error = rig.client.send_message().queue_url(&rig.url).message_body("").send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Client);
        assert!(error.client_error().unwrap().is_missing_parameter(), "{error}");
        assert_eq!(rig.store.calls().total(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn empty_object_is_received_as_an_empty_body() {
    let rig = Rig::new().await;
    rig.store_and_send("k", b"").await;
    assert_eq!(rig.receive().await[0].body(), Some(""));
}

#[tokio::test(start_paused = true)]
async fn queue_threshold_is_the_maximum_message_size_of_the_queue() {
    let rig = Rig::with("q", |builder| builder.threshold(Threshold::Queue)).await;
    let set = rig.plain.set_queue_attributes().queue_url(&rig.url);
    set.attributes(QueueAttributeName::MaximumMessageSize, "2048").send().await.unwrap();
    rig.send("x".repeat(1_024)).await;
    rig.server.requests().of(Action::GetQueueAttributes).expect(0);
    rig.send("x".repeat(2_048)).await;
    assert_eq!(rig.store.objects().len(), 0);
    rig.send("x".repeat(2_049)).await;
    assert_eq!(rig.store.objects().len(), 1);
    rig.server.requests().of(Action::GetQueueAttributes).expect(1);
    tokio::time::advance(std::time::Duration::from_secs(301)).await;
    rig.send("x".repeat(2_048)).await;
    rig.server.requests().of(Action::GetQueueAttributes).expect(2);
}

#[tokio::test(start_paused = true)]
async fn queue_threshold_without_permission_is_the_default() {
    use sqs_client::wire::service_error::ErrorCode;
    let rig = Rig::with("q", |builder| builder.threshold(Threshold::Queue)).await;
    let denied = sqs_mock_server::faults::Fault::error(ErrorCode::AccessDenied);
    rig.server.faults().inject(denied.on(Action::GetQueueAttributes));
    rig.send("x".repeat(262_144)).await;
    assert_eq!(rig.store.objects().len(), 0);
    rig.send("x".repeat(262_145)).await;
    assert_eq!(rig.store.objects().len(), 1);
    rig.server.requests().of(Action::GetQueueAttributes).expect(1);
}

pub(crate) fn entry(id: &str, body: impl Into<String>) -> SendMessageBatchRequestEntry {
    SendMessageBatchRequestEntry::builder().id(id).message_body(body).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn largest_entries_of_an_oversized_batch_are_stored() {
    let rig = Rig::with("q", |builder| builder.threshold(Threshold::Bytes(400_000))).await;
    let sizes = [300_000, 399_999, 350_000, 400_001, 200_000];
    let batch = rig.client.send_message_batch().queue_url(&rig.url);
    let entries =
        sizes.iter().enumerate().map(|(place, bytes)| entry(&place.to_string(), "x".repeat(*bytes)));
    let output = batch.set_entries(Some(entries.collect())).send().await.unwrap();
    assert_eq!((output.successful.len(), output.failed.len()), (5, 0));
    let mut stored: Vec<_> =
        rig.store.objects().iter().map(|object| rig.store.bytes(object).unwrap().len()).collect();
    stored.sort_unstable();
    assert_eq!(stored, [399_999, 400_001]);
    let mut received: Vec<_> =
        rig.receive().await.iter().map(|message| message.body().unwrap().len()).collect();
    received.sort_unstable();
    assert_eq!(received, [200_000, 300_000, 350_000, 399_999, 400_001]);
}

#[tokio::test(start_paused = true)]
async fn ten_attributes_are_rejected_only_if_the_body_is_stored() {
    for (attributes, body, kind) in [
        (10, "small".to_owned(), None),
        (9, large(""), None),
        (10, large(""), Some(ErrorKind::TooManyAttributes)),
    ] {
        let rig = Rig::new().await;
        let mut send = rig.client.send_message().queue_url(&rig.url).message_body(body);
        for index in 0..attributes {
            send = send.message_attributes(format!("a{index}"), MessageAttributeValue::number(index));
        }
        let error = send.send().await.err();
        assert_eq!(error.as_ref().map(sqs_extended::Error::kind), kind);
        if let Some(error) = error {
            assert!(error.to_string().contains("at most 9 attributes"), "{error}");
            assert_eq!((rig.store.calls().total(), rig.bodies().len()), (0, 0));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn reserved_attribute_is_rejected_only_if_the_body_is_stored() {
    for name in ["ExtendedPayloadSize", "SQSLargePayloadSize"] {
        let rig = Rig::new().await;
        let send = |body: String| {
            let send = rig.client.send_message().queue_url(&rig.url).message_body(body);
            send.message_attributes(name, MessageAttributeValue::number(1)).send()
        };
        assert!(send("small".to_owned()).await.is_ok());
        let error = send(large("")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReservedAttribute);
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(rig.store.calls().total(), 0);
    }
}

#[test]
fn setting_out_of_range_is_rejected_with_the_allowed_range() {
    use sqs_extended::{ExtendedClient, MemoryStore};
    let client = sqs_mock_server::MockSqs::in_process().client();
    let builder = || ExtendedClient::builder(client.clone(), MemoryStore::new("own"));
    let table = [
        (builder().threshold(Threshold::Bytes(1_048_577)), "allowed are 0 to 1048576"),
        (builder().concurrency(0), "1 to 10"),
        (builder().concurrency(11), "1 to 10"),
        (builder().max_payload_bytes(0), "allowed are 1 to 2147483647"),
        (builder().max_payload_bytes(1 << 31), "allowed are 1 to 2147483647"),
        (builder().memory_budget(0), "allowed is at least 1"),
        (builder().open_timeout(std::time::Duration::ZERO), "at least 1 ms"),
        (builder().delete_keys_with_prefix(""), "any sender could delete any object"),
        (builder().key_prefix("a/../b"), "at most 988 characters"),
        (builder().allow_bucket(""), "not a valid bucket name"),
        (builder().allow_bucket("a-..s3BucketName..-b"), "not a valid bucket name"),
        (ExtendedClient::builder(client.clone(), MemoryStore::new("a b")), "not a valid bucket name"),
    ];
    for (builder, text) in table {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.to_string().contains(text), "{error}");
    }
}
