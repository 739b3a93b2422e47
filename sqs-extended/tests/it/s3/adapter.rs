//! The adapter for `object_store` over S3 whose requests fail.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use object_store::aws::AmazonS3Builder;
use object_store::{BackoffConfig, RetryConfig};
use sqs_extended::{ErrorKind, ObjectStoreAdapter, PayloadStore, Upload, UploadBody};

use super::fault::Effect;
use super::rig::{BUCKET, Rig, at, bytes};

/// More than one part of the adapter.
const LARGE: usize = (8 << 20) + 10;

/// An S3 store of the crate `object_store` at this endpoint.
pub(crate) fn object_store_at(endpoint: &str, bucket: &str) -> AmazonS3Builder {
    // It uses the TLS provider of the process, also for http URLs. Another test may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    AmazonS3Builder::new()
        .with_endpoint(endpoint)
        .with_allow_http(true)
        .with_bucket_name(bucket)
        .with_region("us-east-1")
        .with_access_key_id("id")
        .with_secret_access_key("secret")
}

fn adapter(rig: &Rig, bucket: &str) -> ObjectStoreAdapter {
    let backoff = BackoffConfig { init_backoff: Duration::from_millis(1), ..BackoffConfig::default() };
    let s3 = object_store_at(&rig.url, bucket).with_retry(RetryConfig {
        backoff,
        max_retries: 2,
        retry_timeout: Duration::from_secs(20),
    });
    ObjectStoreAdapter::new(std::sync::Arc::new(s3.build().unwrap()), BUCKET)
}

fn upload(length: usize) -> Upload {
    Upload::new(UploadBody::Bytes(bytes(length)))
}

async fn refused(store: &impl PayloadStore, key: &str) -> ErrorKind {
    store.get(&at(key), None, None).await.unwrap_err().kind()
}

#[tokio::test]
async fn object_is_missing_only_if_there_is_another_one_beside_it() {
    let rig = Rig::start().await;
    let store = adapter(&rig, BUCKET);
    assert_eq!(refused(&store, "orders/k").await, ErrorKind::Unavailable);
    store.put(&at("orders/keep"), upload(1)).await.unwrap();
    assert_eq!(refused(&store, "orders/k").await, ErrorKind::NotFound);
    assert_eq!(refused(&store, "k").await, ErrorKind::NotFound);

    rig.fail("List", Effect::Answer(403, "AccessDenied"), 1);
    assert_eq!(refused(&store, "orders/k").await, ErrorKind::Unavailable);
    rig.fail("GetObject", Effect::Succeed(404), 1);
    rig.fail("List", Effect::Succeed(404), 1);
    assert_eq!(refused(&store, "orders/keep").await, ErrorKind::Unavailable, "a proxy");
}

#[tokio::test]
async fn missing_bucket_is_not_a_missing_object() {
    let rig = Rig::start().await;
    let store = adapter(&rig, "absent");
    assert_eq!(refused(&store, "orders/k").await, ErrorKind::Unavailable);
    rig.fail("PutObject", Effect::Answer(404, "NoSuchBucket"), 1);
    let error = store.put(&at("orders/k"), upload(1)).await.unwrap_err();
    assert_eq!((error.kind(), error.is_outcome_unknown()), (ErrorKind::Rejected, false), "{error}");
}

#[tokio::test]
async fn lost_response_is_no_error_if_the_object_is_there() {
    let rig = Rig::start().await;
    let store = adapter(&rig, BUCKET);
    for (key, length, name) in [("one", 10, "PutObject"), ("two", LARGE, "Complete")] {
        for times in [1, 9] {
            rig.fail(name, Effect::ResetAfter, times);
            let place = at(&format!("{key}/{times}"));
            store.put(&place, upload(length)).await.unwrap();
            assert_eq!(rig.object(&place).await.unwrap(), bytes(length));
            rig.faults.clear();
        }
    }
    assert_eq!(rig.left_over(), [""; 0]);
}

#[tokio::test]
async fn upload_that_a_proxy_repeats_succeeds() {
    let rig = Rig::start().await;
    let store = adapter(&rig, BUCKET);
    for (key, length, name) in [("one", 10, "PutObject"), ("two", LARGE, "Complete")] {
        rig.fail(name, Effect::Repeat, 1);
        store.put(&at(key), upload(length)).await.unwrap();
        assert_eq!(rig.object(&at(key)).await.unwrap(), bytes(length));
    }
}

#[tokio::test]
async fn outcome_is_unknown_if_no_response_arrives_and_the_object_cannot_be_found() {
    let rig = Rig::start().await;
    let store = adapter(&rig, BUCKET);
    for (key, length, name) in [("one", 10, "PutObject"), ("two", LARGE, "Complete")] {
        for status in [403, 404] {
            rig.fail(name, Effect::ResetAfter, 9);
            rig.fail("HeadObject", Effect::Succeed(status), 9);
            let error = store.put(&at(key), upload(length)).await.unwrap_err();
            assert_eq!((error.kind(), error.is_outcome_unknown()), (ErrorKind::Unavailable, true), "{error}");
            rig.faults.clear();
        }
        rig.client.put_object().bucket(BUCKET).key("k").body(bytes(9).into()).send().await.unwrap();
        rig.fail(name, Effect::ResetBefore, 9);
        let error = store.put(&at("k"), upload(length)).await.unwrap_err();
        assert!(error.is_outcome_unknown(), "the object has another length: {error}");
        rig.faults.clear();
    }
}

#[tokio::test]
async fn upload_that_is_dropped_before_its_id_is_known_is_aborted() {
    let rig = Rig::start().await;
    rig.fail("Create", Effect::Answer(503, "SlowDown"), 1);
    let (store, place) = (adapter(&rig, BUCKET), at("k"));
    tokio::select! {
        result = store.put(&place, upload(LARGE)) => panic!("{result:?}"),
        () = rig.wait_for("Create", 1) => {}
    }
    rig.wait_until_clean().await;
    assert_eq!(rig.count("UploadPart"), 0);
}

#[tokio::test]
async fn upload_that_fails_is_aborted() {
    let rig = Rig::start().await;
    let store = adapter(&rig, BUCKET);
    rig.faults.inject("UploadPart", Effect::Answer(400, "BadDigest"), 1, 1);
    store.put(&at("k"), upload(LARGE)).await.unwrap_err();
    assert_eq!((rig.count("Abort"), rig.count("Complete")), (1, 0));
    let place = at("k");
    let endless = stream::repeat_with(|| Ok(Bytes::from(vec![b'x'; 1 << 20]))).boxed();
    tokio::select! {
        result = store.put(&place, Upload::new(UploadBody::Stream(endless))) => panic!("{result:?}"),
        () = rig.wait_for("UploadPart", 5) => {}
    }
    rig.wait_for("Abort", 2).await;
    rig.wait_until_clean().await;
    assert_eq!(rig.object(&at("k")).await, None);
}
