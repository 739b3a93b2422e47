//! Writing to S3.

use base64_simd::STANDARD;
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use sqs_extended::{Encryption, PayloadStore as _, S3Store, StoreError, StoreErrorKind, Upload, UploadBody};

use super::fault::Effect;
use super::rig::{BUCKET, PART, Rig, at, bytes};

fn whole(bytes: Bytes) -> Upload {
    Upload::new(UploadBody::Bytes(bytes))
}

/// A body of unknown length in pieces of so many bytes.
fn pieces(bytes: &Bytes, length: usize) -> Upload {
    let pieces: Vec<_> = bytes.chunks(length).map(|piece| Ok(bytes.slice_ref(piece))).collect();
    Upload::new(UploadBody::Stream(stream::iter(pieces).boxed()))
}

/// A body that gives `bytes` and then what `end` does.
fn then(bytes: Bytes, end: impl Future<Output = StoreError> + Send + 'static) -> Upload {
    let body = stream::iter([Ok(bytes)]).chain(end.map(Err).into_stream());
    Upload::new(UploadBody::Stream(body.boxed()))
}

#[tokio::test]
async fn one_part_goes_in_one_request_and_one_byte_more_in_several() {
    let rig = Rig::start().await;
    for (length, requests) in [
        (0, vec!["PutObject"]),
        (1, vec!["PutObject"]),
        (PART, vec!["PutObject"]),
        (PART + 1, vec!["Create", "UploadPart", "UploadPart", "Complete"]),
        (2 * PART, vec!["Create", "UploadPart", "UploadPart", "Complete"]),
    ] {
        for (way, upload) in [("whole", whole(bytes(length))), ("pieces", pieces(&bytes(length), 70_000))] {
            let before = rig.names().len();
            let place = at(&format!("{way}/{length}"));
            rig.store().put(&place, upload).await.unwrap();
            assert_eq!(rig.names()[before..], requests, "{place:?}");
            assert_eq!(rig.object(&place).await.unwrap(), bytes(length), "{place:?}");
        }
    }
    assert_eq!(rig.left_over(), [""; 0]);
}

#[tokio::test]
async fn every_request_with_bytes_carries_their_sha256_and_the_last_asks_for_a_free_key() {
    let rig = Rig::start().await;
    rig.store().put(&at("one"), whole(bytes(10))).await.unwrap();
    rig.store().put(&at("two"), whole(bytes(PART + 10))).await.unwrap();
    let seen = rig.faults.seen();
    for request in &seen {
        let name = request.name();
        let sent = request.header("x-amz-checksum-sha256").map(ToOwned::to_owned);
        let expected =
            matches!(name, "PutObject" | "UploadPart").then(|| STANDARD.encode_to_string(&request.sha256));
        assert_eq!(sent, expected, "{name}");
        let is_last = matches!(name, "PutObject" | "Complete");
        assert_eq!(request.header("if-none-match"), is_last.then_some("*"), "{name}");
        assert_eq!(request.header("content-encoding"), None, "{name} is not sent in chunks of AWS");
    }
    assert_eq!(seen.len(), 5);
}

#[tokio::test]
async fn a_wrong_checksum_is_refused_by_s3() {
    let rig = Rig::start().await;
    let request =
        rig.client.put_object().bucket(BUCKET).key("k").checksum_sha256(STANDARD.encode_to_string([0; 32]));
    assert!(request.body(bytes(10).into()).send().await.is_err(), "else the test above shows nothing");
}

#[tokio::test]
async fn a_key_that_is_taken_is_kept() {
    let rig = Rig::start().await;
    let store = rig.store();
    store.put(&at("k"), whole(Bytes::from_static(b"first"))).await.unwrap();
    for upload in [whole(bytes(10)), whole(bytes(PART + 1))] {
        let error = store.put(&at("k"), upload).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Exists);
        assert!(!error.is_outcome_unknown() && !error.is_retryable());
        assert!(error.to_string().contains("s3://payloads/k"), "{error}");
    }
    assert_eq!(rig.object(&at("k")).await.unwrap(), "first");
    assert_eq!(rig.left_over(), [""; 0]);

    let builder = S3Store::builder(rig.client.clone(), BUCKET).refuse_overwrite(false);
    builder.build().unwrap().put(&at("k"), whole(Bytes::from_static(b"second"))).await.unwrap();
    assert_eq!(rig.object(&at("k")).await.unwrap(), "second");
}

#[tokio::test]
async fn a_lost_answer_is_no_error_when_the_object_is_there() {
    let rig = Rig::start().await;
    rig.fail("PutObject", Effect::ResetAfter, 1);
    rig.store().put(&at("one"), whole(bytes(10))).await.unwrap();
    assert_eq!(rig.names(), ["PutObject", "PutObject", "HeadObject"], "the second one finds the key taken");

    rig.fail("Complete", Effect::ResetAfter, 1);
    rig.store().put(&at("two"), whole(bytes(PART + 10))).await.unwrap();
    assert_eq!(rig.object(&at("two")).await.unwrap(), bytes(PART + 10));
    assert_eq!(rig.left_over(), [""; 0]);
}

#[tokio::test]
async fn an_answer_that_is_lost_for_good_leaves_the_outcome_unknown() {
    let rig = Rig::start().await;
    rig.fail("PutObject", Effect::ResetAfter, 9);
    rig.fail("HeadObject", Effect::Answer(403, "AccessDenied"), 9);
    let error = rig.store().put(&at("k"), whole(bytes(10))).await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error}");
    assert!(rig.object(&at("k")).await.is_some());
}

#[tokio::test]
async fn a_refusal_is_a_known_outcome() {
    let rig = Rig::start().await;
    for (status, code, kind) in [
        (403, "AccessDenied", StoreErrorKind::Forbidden),
        (404, "NoSuchBucket", StoreErrorKind::Refused),
        (503, "SlowDown", StoreErrorKind::Unavailable),
    ] {
        rig.fail("PutObject", Effect::Answer(status, code), 3);
        let error = rig.store().put(&at(code), whole(bytes(10))).await.unwrap_err();
        assert_eq!((error.kind(), error.is_outcome_unknown()), (kind, false), "{error}");
        let text = error.to_string();
        assert!(text.contains(code) && text.contains("on purpose") && text.contains("R1"), "{text}");
        assert!(std::error::Error::source(&error).is_some());
        rig.faults.clear();
    }
}

#[tokio::test]
async fn a_part_is_sent_again_with_the_same_bytes() {
    let rig = Rig::start().await;
    rig.faults.inject("UploadPart", Effect::Answer(503, "SlowDown"), 1, 1);
    rig.faults.inject("UploadPart", Effect::ResetAfter, 1, 1);
    rig.store().put(&at("k"), pieces(&bytes(3 * PART), 9_999)).await.unwrap();
    assert_eq!(rig.count("UploadPart"), 5);
    assert_eq!(rig.object(&at("k")).await.unwrap(), bytes(3 * PART));
}

#[tokio::test]
async fn an_upload_whose_part_fails_is_aborted() {
    let rig = Rig::start().await;
    rig.faults.inject("UploadPart", Effect::Answer(400, "BadDigest"), 1, 1);
    let error = rig.store().put(&at("k"), whole(bytes(4 * PART))).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Refused, "{error}");
    assert_eq!((rig.count("Abort"), rig.count("Complete")), (1, 0));
    assert_eq!(rig.left_over(), [""; 0]);
    assert_eq!(rig.object(&at("k")).await, None);
}

#[tokio::test]
async fn an_upload_whose_body_fails_is_aborted() {
    let rig = Rig::start().await;
    let failing = || async { StoreError::new(StoreErrorKind::Source, "the disk is gone") };
    let error = rig.store().put(&at("many"), then(bytes(2 * PART + 5), failing())).await.unwrap_err();
    assert_eq!(error.to_string(), "the disk is gone");
    assert_eq!(rig.left_over(), [""; 0]);

    let error = rig.store().put(&at("one"), then(bytes(10), failing())).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Source);
    assert_eq!(rig.object(&at("one")).await, None);
}

#[tokio::test]
async fn an_upload_that_is_dropped_is_aborted() {
    let rig = Rig::start().await;
    let (store, place) = (rig.store(), at("k"));
    let put = store.put(&place, then(bytes(3 * PART), std::future::pending()));
    tokio::select! {
        result = put => panic!("{result:?}"),
        () = rig.wait_for("UploadPart", 2) => {}
    }
    rig.wait_until_clean().await;
    assert_eq!(rig.object(&at("k")).await, None);
}

#[tokio::test]
async fn an_upload_that_is_dropped_before_its_id_is_known_is_aborted() {
    let rig = Rig::start().await;
    rig.fail("Create", Effect::Answer(503, "SlowDown"), 1);
    let (store, place) = (rig.store(), at("k"));
    tokio::select! {
        result = store.put(&place, whole(bytes(3 * PART))) => panic!("{result:?}"),
        () = rig.wait_for("Create", 1) => {}
    }
    rig.wait_until_clean().await;
    assert_eq!(rig.count("UploadPart"), 0);
}

#[tokio::test]
async fn no_more_parts_than_set_are_on_their_way() {
    let rig = Rig::start().await;
    rig.fail("UploadPart", Effect::Hang, 9);
    let builder = S3Store::builder(rig.client.clone(), BUCKET).part_size(PART).parts_in_flight(2);
    let (store, place) = (builder.build().unwrap(), at("k"));
    let (taken, count) = (std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0)), 20);
    let counter = taken.clone();
    let body = stream::iter((0..count).map(move |_| {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(bytes(PART))
    }));
    let put = store.put(&place, Upload::new(UploadBody::Stream(body.boxed())));
    tokio::select! {
        result = put => panic!("{result:?}"),
        () = rig.wait_for("UploadPart", 2) => {}
    }
    assert_eq!(rig.count("UploadPart"), 2);
    let taken = taken.load(std::sync::atomic::Ordering::Relaxed);
    assert!(taken <= 4, "two on their way, one ready, one that shows that more follow: {taken}");
}

#[tokio::test]
async fn what_is_said_about_an_object_reaches_s3() {
    let rig = Rig::start().await;
    let builder = S3Store::builder(rig.client.clone(), BUCKET)
        .encryption(Encryption::Kms { key: Some("alias/k".into()), context: vec![("a".into(), "b".into())] })
        .storage_class(aws_sdk_s3::types::StorageClass::Standard)
        .acl(aws_sdk_s3::types::ObjectCannedAcl::BucketOwnerFullControl)
        .tag("team", "a b")
        .part_size(PART)
        .expected_bucket_owner("111122223333");
    let store = builder.build().unwrap();
    for (key, length) in [("one", 10), ("many", PART + 1)] {
        let mut upload = whole(bytes(length));
        upload.content_type = Some("text/plain".into());
        upload.content_encoding = Some("zstd".into());
        upload.metadata.insert("sha256".into(), "abc".into());
        store.put(&at(key), upload).await.unwrap();
        let seen = rig.faults.seen();
        let request = seen.iter().find(|seen| seen.path.ends_with(key)).unwrap();
        for (name, value) in [
            ("x-amz-server-side-encryption", "aws:kms"),
            ("x-amz-server-side-encryption-aws-kms-key-id", "alias/k"),
            ("x-amz-server-side-encryption-context", "eyJhIjoiYiJ9"),
            ("x-amz-storage-class", "STANDARD"),
            ("x-amz-acl", "bucket-owner-full-control"),
            ("x-amz-tagging", "team=a%20b"),
            ("content-type", "text/plain"),
            ("content-encoding", "zstd"),
            ("x-amz-meta-sha256", "abc"),
        ] {
            assert_eq!(request.header(name), Some(value), "{name} of {}", request.name());
        }
        let object = store.get(&at(key), 0, None).await.unwrap();
        assert_eq!(object.content_encoding.as_deref(), Some("zstd"));
        assert_eq!(object.metadata["sha256"], "abc");
    }
    store.list(BUCKET, "", None).await.unwrap();
    store.delete(&at("one")).await.unwrap();
    let owners = rig.faults.seen();
    assert!(owners.iter().all(|seen| seen.header("x-amz-expected-bucket-owner") == Some("111122223333")));
}

#[tokio::test]
async fn parts_that_s3_would_not_take_are_refused_beforehand() {
    let rig = Rig::start().await;
    let builder = || S3Store::builder(rig.client.clone(), BUCKET);
    let error = builder().part_size(PART - 1).build().unwrap_err();
    assert!(error.to_string().contains("5242880"), "{error}");
    assert!(builder().parts_in_flight(0).build().is_err());
}
