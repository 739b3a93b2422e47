//! Writing to S3.

use base64_simd::STANDARD;
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use sqs_extended::{
    Checksum, Encryption, Error, ErrorKind, PayloadStore as _, Pointer, S3Access, S3Store, Upload, UploadBody,
};

use super::fault::Effect;
use super::rig::{BUCKET, PART, Rig, at, bytes};

fn whole(bytes: Bytes) -> Upload {
    Upload::new(UploadBody::Bytes(bytes))
}

/// A body of unknown length in pieces of `length` bytes.
fn pieces(bytes: &Bytes, length: usize) -> Upload {
    let pieces: Vec<_> = bytes.chunks(length).map(|piece| Ok(bytes.slice_ref(piece))).collect();
    Upload::new(UploadBody::Stream(stream::iter(pieces).boxed()))
}

/// A body that yields `bytes` and then the error of `end`.
fn then(bytes: Bytes, end: impl Future<Output = Error> + Send + 'static) -> Upload {
    let body = stream::iter([Ok(bytes)]).chain(end.map(Err).into_stream());
    Upload::new(UploadBody::Stream(body.boxed()))
}

#[tokio::test]
async fn body_larger_than_one_part_is_a_multipart_upload() {
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
async fn upload_sends_crc32_with_all_bytes_and_no_condition() {
    let rig = Rig::start().await;
    rig.store().put(&at("one"), whole(bytes(10))).await.unwrap();
    rig.store().put(&at("two"), whole(bytes(PART + 10))).await.unwrap();
    let seen = rig.faults.seen();
    for request in &seen {
        let name = request.name();
        let sent = request.header("x-amz-checksum-crc32").map(ToOwned::to_owned);
        let expected =
            matches!(name, "PutObject" | "UploadPart").then(|| STANDARD.encode_to_string(request.crc32));
        assert_eq!(sent, expected, "{name}");
        assert_eq!(request.header("if-none-match"), None, "{name}: a repeated request must succeed");
        assert_eq!(request.header("content-encoding"), None, "{name} must not use aws-chunked");
    }
    assert_eq!(seen.len(), 5);
}

#[tokio::test]
async fn wrong_checksum_is_rejected_by_s3() {
    let rig = Rig::start().await;
    let request = || rig.client.put_object().bucket(BUCKET).key("k").body(bytes(10).into());
    for (name, request) in [
        ("CRC-32", request().checksum_crc32(STANDARD.encode_to_string([0; 4]))),
        ("CRC-32C", request().checksum_crc32_c(STANDARD.encode_to_string([0; 4]))),
        ("CRC-64/NVME", request().checksum_crc64_nvme(STANDARD.encode_to_string([0; 8]))),
        ("SHA-256", request().checksum_sha256(STANDARD.encode_to_string([0; 32]))),
    ] {
        assert!(request.send().await.is_err(), "{name}: else the other tests show nothing");
    }
}

#[tokio::test]
async fn lost_response_is_a_success_after_a_retry() {
    let rig = Rig::start().await;
    // A sender may have no `s3:GetObject` permission.
    rig.fail("HeadObject", Effect::Answer(403, "AccessDenied"), 9);
    rig.fail("PutObject", Effect::ResetAfter, 1);
    rig.store().put(&at("one"), whole(bytes(10))).await.unwrap();
    assert_eq!(rig.names(), ["PutObject", "PutObject"]);
    assert_eq!(rig.object(&at("one")).await.unwrap(), bytes(10));
}

#[tokio::test]
async fn lost_response_to_every_attempt_is_a_success_if_the_object_exists() {
    let rig = Rig::start().await;
    for (key, length, name) in [("one", 10, "PutObject"), ("two", PART + 10, "Complete")] {
        rig.fail(name, Effect::ResetAfter, 9);
        rig.store().put(&at(key), whole(bytes(length))).await.unwrap();
        assert_eq!(rig.object(&at(key)).await.unwrap(), bytes(length));
        rig.faults.clear();
    }
    assert_eq!((rig.count("HeadObject"), rig.left_over().len()), (2, 0));
}

/// S3 has no upload with this id: an earlier attempt has completed it, or somebody has aborted it.
#[tokio::test]
async fn upload_that_is_gone_is_a_success_only_if_its_object_exists() {
    let rig = Rig::start().await;
    for (key, is_completed, head, expected) in [
        ("completed", true, None, None),
        ("aborted", false, None, Some((ErrorKind::Rejected, false))),
        ("denied", true, Some(403), Some((ErrorKind::Unavailable, true))),
        ("busy", false, Some(503), Some((ErrorKind::Unavailable, true))),
    ] {
        if is_completed {
            rig.fail("Complete", Effect::ResetAfter, 1);
        }
        rig.fail("Complete", Effect::Answer(404, "NoSuchUpload"), 1);
        if let Some(status) = head {
            rig.fail("HeadObject", Effect::Succeed(status), 9);
        }
        let put = rig.store().put(&at(key), whole(bytes(PART + 10))).await;
        let failed = put.err().map(|error| (error.kind(), error.is_outcome_unknown()));
        assert_eq!(failed, expected, "{key}");
        assert_eq!(rig.object(&at(key)).await.is_some(), is_completed, "{key}");
        rig.faults.clear();
    }
}

#[tokio::test]
async fn object_of_another_length_is_not_the_one_that_was_uploaded() {
    let rig = Rig::start().await;
    for (key, length, name) in [("one", 10, "PutObject"), ("two", PART + 10, "Complete")] {
        rig.client.put_object().bucket(BUCKET).key(key).body(bytes(9).into()).send().await.unwrap();
        rig.fail(name, Effect::ResetBefore, 9);
        let error = rig.store().put(&at(key), whole(bytes(length))).await.unwrap_err();
        assert!(error.is_outcome_unknown(), "{key}: {error}");
        rig.faults.clear();
    }
}

#[tokio::test]
async fn outcome_is_unknown_if_no_response_arrives_and_the_object_cannot_be_found() {
    let rig = Rig::start().await;
    for (head, code) in [(403, "AccessDenied"), (503, "SlowDown"), (404, "NoSuchKey")] {
        for (name, length) in [("PutObject", 10), ("Complete", PART + 10)] {
            rig.fail(name, Effect::ResetAfter, 9);
            rig.fail("HeadObject", Effect::Answer(head, code), 9);
            let place = at(&format!("{code}/{length}"));
            let error = rig.store().put(&place, whole(bytes(length))).await.unwrap_err();
            assert_eq!((error.kind(), error.is_outcome_unknown()), (ErrorKind::Unavailable, true), "{error}");
            assert!(error.is_retryable() && rig.object(&place).await.is_some());
            rig.faults.clear();
        }
    }
}

/// Some services respond with 204 to the abort of a completed upload, so that response proves nothing.
#[tokio::test]
async fn lost_response_to_complete_is_decided_by_the_object_not_the_abort() {
    let rig = Rig::start().await;
    rig.fail("Complete", Effect::ResetAfter, 9);
    rig.fail("Abort", Effect::Succeed(204), 9);
    rig.store().put(&at("two"), whole(bytes(PART + 10))).await.unwrap();
    assert_eq!(rig.object(&at("two")).await.unwrap(), bytes(PART + 10));

    rig.faults.clear();
    rig.fail("Complete", Effect::ResetBefore, 9);
    rig.fail("Abort", Effect::Succeed(204), 9);
    let error = rig.store().put(&at("three"), whole(bytes(PART + 10))).await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error}");
}

/// A proxy answers 503 if it lost the response of S3.
#[tokio::test]
async fn only_throttling_means_that_a_request_was_not_executed() {
    let rig = Rig::start().await;
    rig.fail("HeadObject", Effect::Answer(403, "AccessDenied"), 99);
    for (key, effect, is_unknown) in [
        ("throttled", Effect::Answer(503, "SlowDown"), false),
        ("proxy", Effect::Succeed(503), true),
        ("busy", Effect::Answer(503, "ServiceUnavailable"), true),
    ] {
        for (name, length) in [("PutObject", 10), ("Complete", PART + 10)] {
            rig.fail(name, effect, 3);
            let error = rig.store().put(&at(key), whole(bytes(length))).await.unwrap_err();
            assert_eq!(
                (error.kind(), error.is_outcome_unknown()),
                (ErrorKind::Unavailable, is_unknown),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn upload_has_the_selected_checksum_or_none() {
    for (checksum, header) in [
        (Checksum::Sha256, Some("x-amz-checksum-sha256")),
        (Checksum::Crc32, Some("x-amz-checksum-crc32")),
        (Checksum::Crc32C, Some("x-amz-checksum-crc32c")),
        (Checksum::Crc64Nvme, Some("x-amz-checksum-crc64nvme")),
        (Checksum::None, None),
    ] {
        let rig = Rig::start().await;
        let store = S3Store::builder(rig.client.clone(), BUCKET).part_size(PART).checksum(checksum);
        let store = store.build().unwrap();
        store.put(&at("one"), whole(bytes(10))).await.unwrap();
        store.put(&at("two"), whole(bytes(PART + 10))).await.unwrap();
        for request in
            rig.faults.seen().iter().filter(|seen| matches!(seen.name(), "PutObject" | "UploadPart"))
        {
            let sent: Vec<_> = request.headers.keys().filter(|name| is_checksum(name.as_str())).collect();
            let trailer = request.header("x-amz-trailer");
            let own = sent.iter().map(|name| name.as_str()).chain(trailer).collect::<Vec<_>>();
            assert_eq!(own, header.into_iter().collect::<Vec<_>>(), "{checksum:?} {}", request.name());
        }
        assert_eq!(rig.object(&at("two")).await.unwrap(), bytes(PART + 10), "{checksum:?}");
    }
}

fn is_checksum(name: &str) -> bool {
    name.starts_with("x-amz-checksum-") && !name.ends_with("-algorithm") && !name.ends_with("-type")
}

#[tokio::test]
async fn each_bucket_uses_its_own_client_and_expected_owner() {
    let (rig, partner) = (Rig::start().await, Rig::start().await);
    let access = S3Access::new().client(partner.client.clone()).expected_bucket_owner("444455556666");
    let store = S3Store::builder(rig.client.clone(), BUCKET).expected_bucket_owner("111122223333");
    let store = store.other_bucket("partner", access).build().unwrap();
    store.delete(&at("k")).await.unwrap();
    let _ = store.delete(&Pointer::new("partner", "k")).await;
    let _ = store.delete(&Pointer::new("third", "k")).await;
    let owners = |rig: &Rig| -> Vec<_> {
        let seen = rig.faults.seen();
        seen.iter().map(|seen| seen.header("x-amz-expected-bucket-owner").map(ToOwned::to_owned)).collect()
    };
    assert_eq!(owners(&rig), [Some("111122223333".to_owned()), None]);
    assert_eq!(owners(&partner), [Some("444455556666".to_owned())]);
}

#[tokio::test]
async fn rejected_put_has_a_known_outcome() {
    let rig = Rig::start().await;
    for (status, code, kind) in [
        (403, "AccessDenied", ErrorKind::Forbidden),
        (404, "NoSuchBucket", ErrorKind::Rejected),
        (503, "SlowDown", ErrorKind::Unavailable),
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
async fn failed_part_is_retried_with_the_same_bytes() {
    let rig = Rig::start().await;
    rig.faults.inject("UploadPart", Effect::Answer(503, "SlowDown"), 1, 1);
    rig.faults.inject("UploadPart", Effect::ResetAfter, 1, 1);
    rig.store().put(&at("k"), pieces(&bytes(3 * PART), 9_999)).await.unwrap();
    assert_eq!(rig.count("UploadPart"), 5);
    assert_eq!(rig.object(&at("k")).await.unwrap(), bytes(3 * PART));
}

#[tokio::test]
async fn upload_with_a_failed_part_is_aborted() {
    let rig = Rig::start().await;
    rig.faults.inject("UploadPart", Effect::Answer(400, "BadDigest"), 1, 1);
    let error = rig.store().put(&at("k"), whole(bytes(4 * PART))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Rejected, "{error}");
    assert_eq!((rig.count("Abort"), rig.count("Complete")), (1, 0));
    assert_eq!(rig.left_over(), [""; 0]);
    assert_eq!(rig.object(&at("k")).await, None);
}

#[tokio::test]
async fn upload_with_a_failed_body_is_aborted() {
    let rig = Rig::start().await;
    let failing = || async { Error::new(ErrorKind::Source, "the disk is gone") };
    let error = rig.store().put(&at("many"), then(bytes(2 * PART + 5), failing())).await.unwrap_err();
    assert_eq!(error.to_string(), "the disk is gone");
    assert_eq!(rig.left_over(), [""; 0]);

    let error = rig.store().put(&at("one"), then(bytes(10), failing())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Source);
    assert_eq!(rig.object(&at("one")).await, None);
}

#[tokio::test]
async fn dropped_upload_is_aborted() {
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
async fn upload_dropped_before_its_id_is_known_is_aborted() {
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
async fn parts_in_flight_are_limited() {
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
    assert!(taken <= 4, "at most two in flight, one ready, one to see that more follow: {taken}");
}

#[tokio::test]
async fn object_settings_are_sent_with_the_upload() {
    let rig = Rig::start().await;
    let builder = S3Store::builder(rig.client.clone(), BUCKET)
        .encryption(Encryption::Kms { key: Some("alias/k".into()), context: vec![("a".into(), "b".into())] })
        .bucket_key(true)
        .storage_class(aws_sdk_s3::types::StorageClass::Standard)
        .acl(aws_sdk_s3::types::ObjectCannedAcl::BucketOwnerFullControl)
        .tag("team", "a b")
        .part_size(PART)
        .expected_bucket_owner("111122223333");
    let store = builder.build().unwrap();
    for (key, length) in [("one", 10), ("many", PART + 1)] {
        let mut upload = whole(bytes(length));
        upload.content_type = Some("text/plain".into());
        store.put(&at(key), upload).await.unwrap();
        let seen = rig.faults.seen();
        let request = seen.iter().find(|seen| seen.path.ends_with(key)).unwrap();
        for (name, value) in [
            ("x-amz-server-side-encryption", "aws:kms"),
            ("x-amz-server-side-encryption-aws-kms-key-id", "alias/k"),
            ("x-amz-server-side-encryption-context", "eyJhIjoiYiJ9"),
            ("x-amz-server-side-encryption-bucket-key-enabled", "true"),
            ("x-amz-storage-class", "STANDARD"),
            ("x-amz-acl", "bucket-owner-full-control"),
            ("x-amz-tagging", "team=a%20b"),
            ("content-type", "text/plain"),
        ] {
            assert_eq!(request.header(name), Some(value), "{name} of {}", request.name());
        }
        store.get(&at(key), None, None).await.unwrap();
    }
    store.delete(&at("one")).await.unwrap();
    let owners = rig.faults.seen();
    assert!(owners.iter().all(|seen| seen.header("x-amz-expected-bucket-owner") == Some("111122223333")));
}

#[tokio::test]
async fn part_settings_out_of_range_are_rejected() {
    let rig = Rig::start().await;
    let builder = || S3Store::builder(rig.client.clone(), BUCKET);
    let error = builder().part_size(PART - 1).build().unwrap_err();
    assert!(error.to_string().contains("5242880"), "{error}");
    assert!(builder().parts_in_flight(0).build().is_err());
}

#[tokio::test]
async fn own_bucket_is_not_another_bucket() {
    let rig = Rig::start().await;
    let error = S3Store::builder(rig.client.clone(), BUCKET).other_bucket(BUCKET, S3Access::new()).build();
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains("payloads"), "{error}");
}
