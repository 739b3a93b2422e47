//! Operations that run concurrently, without HTTP.
use std::pin::pin;
use std::sync::Arc;

use futures_util::{FutureExt as _, stream};
use s3s::dto::{
    AbortMultipartUploadInput, ChecksumAlgorithm, ChecksumType, CompleteMultipartUploadInput,
    CompletedMultipartUpload, CompletedPart, CreateMultipartUploadInput, StreamingBlob, UploadPartInput,
};
use s3s::{S3ErrorCode, S3Request, S3Result};

use super::Operations;
use crate::control::clock::Clock;
use crate::control::clock::Timestamp;
use crate::control::seed::Seed;
use crate::s3::outbox::Outbox;
use crate::s3::outbox::tests::targets;
use crate::s3::store::Store;
use crate::s3::store::bucket::MAX_UPLOADS;
use crate::s3::store::object::{Hashes, Part};

const BUCKET: &str = "payloads";

const KEY: &str = "big";

fn operations() -> Operations {
    let store = Arc::new(Store::open(None, Seed(1)).unwrap());
    store.create(BUCKET, None, 0).unwrap();
    let clock = Clock::starting_at(Timestamp::from_millis(1_800_000_000_000));
    let (targets, _) = targets();
    Operations { store, outbox: Outbox::new(clock, "us-east-1".to_owned(), targets) }
}

/// A request that did not come over HTTP.
fn request<T>(input: T) -> S3Request<T> {
    S3Request {
        input,
        method: http::Method::default(),
        uri: http::Uri::default(),
        headers: http::HeaderMap::new(),
        extensions: http::Extensions::new(),
        credentials: None,
        region: None,
        service: None,
        trailing_headers: None,
    }
}

/// Begins an upload.
fn begin(operations: &Operations, algorithm: Option<&'static str>) -> S3Result<String> {
    let begin = CreateMultipartUploadInput {
        bucket: BUCKET.to_owned(),
        key: KEY.to_owned(),
        checksum_algorithm: algorithm.map(ChecksumAlgorithm::from_static),
        checksum_type: algorithm.map(|_| ChecksumType::from_static(ChecksumType::FULL_OBJECT)),
        ..CreateMultipartUploadInput::default()
    };
    Ok(operations.create_multipart_upload(request(begin))?.upload_id.unwrap())
}

#[tokio::test]
async fn number_of_uploads_in_progress_is_limited() {
    let operations = operations();
    let first = begin(&operations, None).unwrap();
    for _ in 1..MAX_UPLOADS {
        begin(&operations, None).unwrap();
    }
    let refused = begin(&operations, None).unwrap_err();
    assert_eq!(refused.code(), &S3ErrorCode::InvalidRequest);
    assert!(refused.message().unwrap().contains("at most 10000"), "{refused}");
    operations.abort_multipart_upload(abort(&first)).unwrap();
    begin(&operations, None).unwrap();
}

/// Begins an upload and adds one part.
async fn upload(operations: &Operations, algorithm: Option<&'static str>) -> String {
    let id = begin(operations, algorithm).unwrap();
    let body = stream::iter([Ok::<_, std::io::Error>(bytes::Bytes::from(vec![b'x'; 1 << 20]))]);
    let part = UploadPartInput {
        bucket: BUCKET.to_owned(),
        key: KEY.to_owned(),
        upload_id: id.clone(),
        part_number: 1,
        body: Some(StreamingBlob::wrap(body)),
        ..UploadPartInput::default()
    };
    operations.upload_part(request(part)).await.unwrap();
    id
}

fn complete(id: &str) -> S3Request<CompleteMultipartUploadInput> {
    let part = CompletedPart { part_number: Some(1), ..CompletedPart::default() };
    request(CompleteMultipartUploadInput {
        bucket: BUCKET.to_owned(),
        key: KEY.to_owned(),
        upload_id: id.to_owned(),
        multipart_upload: Some(CompletedMultipartUpload { parts: Some(vec![part]) }),
        ..CompleteMultipartUploadInput::default()
    })
}

fn abort(id: &str) -> S3Request<AbortMultipartUploadInput> {
    request(AbortMultipartUploadInput {
        bucket: BUCKET.to_owned(),
        key: KEY.to_owned(),
        upload_id: id.to_owned(),
        ..AbortMultipartUploadInput::default()
    })
}

#[test]
fn complete_fails_when_the_upload_is_aborted_meanwhile() {
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let operations = operations();
        let id = upload(&operations, Some(ChecksumAlgorithm::CRC32)).await;
        // Occupies the only thread for file operations. Complete needs it, because the checksum covers the whole
        // object.
        let (release, occupied) = std::sync::mpsc::channel::<()>();
        tokio::task::spawn_blocking(move || occupied.recv());
        let mut completed = pin!(operations.complete_multipart_upload(complete(&id)));
        assert!(completed.as_mut().now_or_never().is_none());
        operations.abort_multipart_upload(abort(&id)).unwrap();
        drop(release);
        assert_eq!(*completed.await.unwrap_err().code(), S3ErrorCode::NoSuchUpload);
        assert!(operations.object(BUCKET, KEY).is_err());
        let data = operations.store.root.join("buckets/payloads/data");
        assert_eq!(std::fs::read_dir(data).unwrap().count(), 0);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn either_complete_or_abort_succeeds_when_both_run_at_once() {
    let operations = operations();
    for round in 0..100 {
        let id = upload(&operations, None).await;
        let (completing, aborting) = (operations.clone(), operations.clone());
        let (complete, abort) = (complete(&id), abort(&id));
        let completed = tokio::spawn(async move { completing.complete_multipart_upload(complete).await });
        let aborted = tokio::task::spawn_blocking(move || aborting.abort_multipart_upload(abort));
        let (completed, aborted) = (completed.await.unwrap(), aborted.await.unwrap());
        assert_ne!(completed.is_ok(), aborted.is_ok(), "round {round}");
    }
}

#[tokio::test]
async fn part_for_an_upload_of_a_deleted_bucket_is_rejected() {
    let operations = operations();
    let id = upload(&operations, None).await;
    let bucket = operations.bucket(BUCKET).unwrap();
    let written = bucket.data_writer().unwrap().finish(Hashes::new(None)).await.unwrap();
    operations.store.remove(&bucket).unwrap();
    assert!(bucket.add_part(&id, 2, Part { written, modified: 0 }).is_err());
}
