//! Keys with unusual characters in requests and signatures.

use std::collections::BTreeSet;

use sqs_client::config::retry::RetryConfig;
use sqs_client::types::MessageAttributeValue;
use sqs_extended::{PayloadStore as _, Pointer, PointerClass, S3Store, Upload, UploadBody};

use super::backend::Backend;
use super::rig::{BUCKET, client};

const UUID: &str = "01234567-89ab-4cde-8f01-23456789abcd";

/// Texts before the UUID of a key.
const ODD: [&str; 20] = [
    "a b",
    "Gr\u{fc}\u{df}e/\u{1f980}",
    "quote\"back\\slash",
    "new\nline",
    "carriage\rreturn",
    "tab\t",
    "\u{1}",
    "\u{7f}",
    "-..s3BucketName",
    "a+b%20c?d=e&f",
    "...",
    "./a",
    "../foreign/secret",
    "a//b",
    "/root",
    "a/../b",
    "<&>",
    "*'()!",
    "#;,",
    "%",
];

fn keys() -> BTreeSet<String> {
    ODD.iter().map(|odd| format!("{odd}{UUID}")).collect()
}

fn store(backend: &Backend) -> S3Store {
    S3Store::new(client(backend.s3().endpoint_url()), BUCKET)
}

async fn put_all(store: &S3Store) {
    for key in keys() {
        let upload = Upload::new(UploadBody::Bytes(key.clone().into()));
        store
            .put(&Pointer::new(BUCKET, &key), upload)
            .await
            .unwrap_or_else(|error| panic!("{key:?}: {error}"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn keys_with_unusual_characters_are_received_and_deleted() {
    let backend = Backend::start().await;
    put_all(&store(&backend)).await;
    assert_eq!(backend.objects(), keys());
    let client = backend.client(RetryConfig::disabled());
    for key in keys() {
        let send = backend.server.client().send_message().queue_url(&backend.url);
        let send = send.message_body(Pointer::new(BUCKET, &key).to_body(PointerClass::Modern));
        let size = MessageAttributeValue::number(key.len());
        send.message_attributes("ExtendedPayloadSize", size).send().await.unwrap();
        let received = client.receive(&backend.url).send().await.unwrap().remove(0);
        assert_eq!(received.body().unwrap_or_else(|error| panic!("{key:?}: {error:?}")), Some(key.as_str()));
        client.queue(&backend.url).delete(&received.message).send().await.unwrap();
        client.finish_cleanup().await;
        assert!(!backend.objects().contains(&key), "{key:?}");
    }
    assert!(backend.objects().is_empty());
}
