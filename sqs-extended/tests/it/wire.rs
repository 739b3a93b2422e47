//! Compatibility with the libraries for other languages, byte for byte.

use std::sync::{Arc, Mutex};

use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum::content_deduplication_id;
use sqs_extended::{Compat, ExtendedClient, ExtendedHandle, MessagePayload, Pointer};

use super::rig::{Rig, large};
use super::wrapped_store::WrappedStore;

const MODERN: &str = "software.amazon.payloadoffloading.PayloadS3Pointer";
const LEGACY: &str = "com.amazon.sqs.javamessaging.MessageS3Pointer";

#[tokio::test(start_paused = true)]
async fn pointer_has_the_bytes_of_the_java_library() {
    let table = [
        (Compat::Modern, MODERN, "ExtendedPayloadSize"),
        (Compat::JavaDefault, MODERN, "SQSLargePayloadSize"),
        (Compat::Legacy10, LEGACY, "SQSLargePayloadSize"),
    ];
    for (compat, class, attribute) in table {
        let rig = Rig::with("q", |builder| builder.compat(compat).key_prefix("orders/2026-")).await;
        // The attribute counts bytes of UTF-8, not characters: `ü` has two bytes.
        rig.send(large("ü")).await;
        let objects = rig.store.objects();
        let key = objects[0].key();
        assert_eq!(rig.bodies(), [format!(r#"["{class}",{{"s3BucketName":"own","s3Key":"{key}"}}]"#)]);
        let uuid = key.strip_prefix("orders/2026-").unwrap();
        assert_eq!(
            (uuid.len(), uuid.as_bytes()[14], uuid.to_lowercase() == uuid),
            (36, b'4', true),
            "{uuid}"
        );
        let message = &rig.receive_plain().await[0];
        let attributes = message.message_attributes().unwrap();
        let mut expected = MessageAttributeValue::number(262_145);
        expected.data_type = format!("Number.sha256.{}", content_deduplication_id(&large("ü")));
        assert_eq!(attributes.iter().collect::<Vec<_>>(), [(&attribute.to_owned(), &expected)]);
    }
}

#[tokio::test(start_paused = true)]
async fn object_holds_exactly_the_bytes_of_the_body() {
    let rig = Rig::new().await;
    let body = large("Grüße 🦀");
    let (types, mut store) = (Arc::new(Mutex::new(Vec::new())), WrappedStore::new(rig.store.clone()));
    let seen = Arc::clone(&types);
    store.puts = Some(Arc::new(move |upload| {
        seen.lock().unwrap().push(upload.content_type.clone().unwrap());
        upload
    }));
    let client = ExtendedClient::new(rig.base.clone(), store);
    client.send_message().queue_url(&rig.url).message_body(&body).send().await.unwrap();
    assert_eq!(rig.store.bytes(&rig.store.objects()[0]).unwrap(), body.as_bytes());
    assert_eq!(*types.lock().unwrap(), ["text/plain; charset=utf-8"]);
}

#[tokio::test(start_paused = true)]
async fn receipt_handle_has_the_format_of_the_java_library() {
    let rig = Rig::new().await;
    rig.send(large("")).await;
    let received = rig.receive().await;
    let handle = received[0].receipt_handle().unwrap();
    let key = rig.store.objects()[0].key().to_owned();
    let front = format!("-..s3BucketName..-own-..s3BucketName..--..s3Key..-{key}-..s3Key..-");
    let original = handle.strip_prefix(&front).unwrap();
    // The rest is the handle of SQS, which works without the pointer.
    rig.plain.delete_message().queue_url(&rig.url).receipt_handle(original).send().await.unwrap();
    assert!(rig.bodies().is_empty());
}

#[tokio::test(start_paused = true)]
async fn pointers_of_other_libraries_are_read() {
    let bodies = [
        format!(r#"["{MODERN}",{{"s3BucketName":"own","s3Key":"k"}}]"#),
        format!(r#"["{LEGACY}",{{"s3BucketName":"own","s3Key":"k"}}]"#),
        format!(r#"["{MODERN}", {{"s3BucketName": "own", "s3Key": "k"}}]"#),
        format!("[ \"{LEGACY}\",\n {{ \"s3Key\":\"k\", \"s3BucketName\":\"own\" }} ]"),
    ];
    for body in bodies {
        for attribute in ["ExtendedPayloadSize", "SQSLargePayloadSize"] {
            let rig = Rig::new().await;
            rig.store.overwrite(&Pointer::new("own", "k"), "tea");
            rig.send_raw(&body, Some((attribute, "3"))).await;
            let message = &rig.receive().await[0];
            assert_eq!(message.body(), Some("tea"), "{body}");
            assert_eq!(message.message_attributes(), None);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn keys_with_unusual_characters_are_received_and_deleted() {
    let rig = Rig::new().await;
    let keys =
        ["a b", "Grüße/🦀", "quote\"back\\slash", "new\nline", "-..s3BucketName", "a+b%20c?d=e&f", "..."];
    for odd in keys {
        let key = &format!("{odd}/01234567-89ab-4cde-8f01-23456789abcd");
        let pointer = rig.store_and_send(key, key.as_bytes()).await;
        let message = rig.receive().await.remove(0);
        assert_eq!(message.body(), Some(key.as_str()));
        let handle = ExtendedHandle::parse(message.receipt_handle().unwrap()).unwrap();
        assert_eq!(handle.pointer(), &pointer);
        rig.client.queue(&rig.url).delete(&message).send().await.unwrap();
        rig.client.finish_cleanup().await;
        assert!(rig.store.objects().is_empty() && rig.bodies().is_empty(), "{key}");
    }
    // A handle with this key would be ambiguous, so the message fails to load.
    rig.store_and_send("a-..s3Key..-b", b"tea").await;
    let received = rig.client.receive(&rig.url).send().await.unwrap().remove(0);
    assert!(matches!(&received.payload, MessagePayload::Failed(error) if error.to_string().contains("key")));
    rig.client.queue(&rig.url).delete(&received.message).send().await.unwrap();
    assert_eq!((rig.bodies().len(), rig.store.objects().len()), (0, 1));
}
