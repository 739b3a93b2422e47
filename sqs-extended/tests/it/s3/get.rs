//! Reading, deleting and listing in S3.

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use sqs_extended::{Error, ErrorKind, Object, PayloadStore as _, Upload, UploadBody};

use super::fault::Effect;
use super::rig::{BUCKET, PART, Rig, at, bytes};

async fn rig_with(key: &str, length: usize) -> Rig {
    let rig = Rig::start().await;
    rig.store().put(&at(key), Upload::new(UploadBody::Bytes(bytes(length)))).await.unwrap();
    rig
}

async fn read(object: Object) -> Result<Bytes, Error> {
    let pieces: Vec<Bytes> = object.body.try_collect().await?;
    Ok(pieces.concat().into())
}

#[tokio::test]
async fn object_is_read_from_any_offset() {
    for length in [PART - 7, PART + 7] {
        let rig = rig_with("k", length).await;
        for from in [0, 1, length / 2, length - 1] {
            let start = u64::try_from(from).unwrap();
            let object = rig.store().get(&at("k"), Some(start..length as u64), None).await.unwrap();
            assert_eq!(object.length, u64::try_from(length).unwrap());
            assert_eq!(read(object).await.unwrap(), bytes(length).slice(from..));
        }
    }
}

#[tokio::test]
async fn empty_object_is_read() {
    let rig = rig_with("k", 0).await;
    let object = rig.store().get(&at("k"), None, None).await.unwrap();
    assert_eq!(object.length, 0);
    assert_eq!(read(object).await.unwrap(), "");
}

#[tokio::test]
async fn overwritten_object_is_damaged() {
    let rig = rig_with("k", 10).await;
    let tag = rig.store().get(&at("k"), None, None).await.unwrap().tag.unwrap();
    assert!(rig.store().get(&at("k"), Some(5..10), Some(&tag)).await.is_ok());
    assert_eq!(rig.faults.seen().last().unwrap().header("if-match"), Some(tag.as_str()));

    rig.client.put_object().bucket(BUCKET).key("k").body(bytes(11).into()).send().await.unwrap();
    let error = rig.store().get(&at("k"), Some(5..10), Some(&tag)).await.unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Damaged,
        "s3s-fs ignores If-Match, so the client compares the tag: {error}"
    );

    rig.fail("GetObject", Effect::Answer(412, "PreconditionFailed"), 1);
    let error = rig.store().get(&at("k"), Some(5..10), Some(&tag)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
}

#[tokio::test]
async fn error_has_the_code_and_message_of_s3() {
    let rig = Rig::start().await;
    for (status, code, kind, is_retryable) in [
        (404, "NoSuchKey", ErrorKind::NotFound, false),
        (404, "NoSuchBucket", ErrorKind::Rejected, false),
        (403, "AccessDenied", ErrorKind::Forbidden, false),
        (503, "SlowDown", ErrorKind::Unavailable, true),
        (500, "InternalError", ErrorKind::Unavailable, true),
    ] {
        rig.faults.clear();
        rig.fail("GetObject", Effect::Answer(status, code), 3);
        let error = rig.store().get(&at("a/b"), None, None).await.unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (kind, is_retryable), "{error}");
        assert_eq!(
            error.to_string(),
            format!(
                "reading s3://payloads/a/b: S3 returned {code}: on purpose (status {status}, request R1)"
            )
        );
    }
    rig.faults.clear();
    let error = rig.store().get(&at("a/b"), None, None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "the error of s3s itself: {error}");
}

#[tokio::test]
async fn broken_connection_is_unavailable() {
    let rig = Rig::start().await;
    rig.fail("GetObject", Effect::ResetBefore, 3);
    let error = rig.store().get(&at("k"), None, None).await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unavailable, true), "{error}");
}

#[tokio::test]
async fn interrupted_body_is_unavailable() {
    let rig = rig_with("k", 1 << 20).await;
    rig.fail("GetObject", Effect::BreakAt(1_000), 1);
    let object = rig.store().get(&at("k"), None, None).await.unwrap();
    let error = read(object).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("s3://payloads/k"), "{error}");
}

#[tokio::test]
async fn deleting_twice_succeeds_and_a_denied_delete_fails() {
    let rig = rig_with("k", 10).await;
    rig.store().delete(&at("k")).await.unwrap();
    assert_eq!(rig.object(&at("k")).await, None);
    rig.store().delete(&at("k")).await.unwrap();

    rig.fail("DeleteObject", Effect::Answer(403, "AccessDenied"), 1);
    assert_eq!(rig.store().delete(&at("k")).await.unwrap_err().kind(), ErrorKind::Forbidden);
}
