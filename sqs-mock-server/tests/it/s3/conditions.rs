//! Conditional requests.

use std::time::{Duration, SystemTime};

use aws_sdk_s3::primitives::{ByteStream, DateTime};
use aws_sdk_s3::types::CompletedMultipartUpload;
use sqs_mock_server::MockSqs;
use sqs_mock_server::s3::S3;

use super::{BUCKET, client, get, put, refusal, server};

const FAILED: &str = "PreconditionFailed";

#[tokio::test]
async fn put_with_if_none_match_fails_if_the_object_exists() {
    let server = server().await;
    let client = client(&server);
    let create = |body: &'static [u8]| {
        client
            .put_object()
            .bucket(BUCKET)
            .key("a")
            .if_none_match("*")
            .body(ByteStream::from_static(body))
            .send()
    };
    create(b"first").await.unwrap();
    assert_eq!(refusal(create(b"second").await), (412, FAILED.to_owned()));
    assert_eq!(get(&client, "a").await, b"first");
}

#[tokio::test]
async fn one_of_many_concurrent_creates_succeeds() {
    let server = server().await;
    let client = client(&server);
    let create = |at: u8| {
        let put = client.put_object().bucket(BUCKET).key("a").if_none_match("*");
        put.body(ByteStream::from(vec![at; 200_000])).send()
    };
    let (a, b, c, d) = tokio::join!(create(1), create(2), create(3), create(4));
    let created = [a, b, c, d].iter().filter(|result| result.is_ok()).count();
    assert_eq!(created, 1);
    let object = get(&client, "a").await;
    assert!(object.iter().all(|byte| *byte == object[0]));
}

#[tokio::test]
async fn put_and_delete_check_if_match() {
    let server = server().await;
    let client = client(&server);
    let replace = |etag: &str| {
        client
            .put_object()
            .bucket(BUCKET)
            .key("a")
            .if_match(etag)
            .body(ByteStream::from_static(b"new"))
            .send()
    };
    assert_eq!(refusal(replace("\"x\"").await), (404, "NoSuchKey".to_owned()));
    put(&client, "a", b"tea").await;
    let etag = format!("\"{}\"", server.s3().object(BUCKET, "a").unwrap().etag);
    assert_eq!(refusal(replace("\"x\"").await), (412, FAILED.to_owned()));
    replace(&etag).await.unwrap();
    let delete = client.delete_object().bucket(BUCKET).key("a").if_match(etag).send().await;
    assert_eq!(refusal(delete), (412, FAILED.to_owned()));
    assert_eq!(get(&client, "a").await, b"new");
}

#[tokio::test]
async fn get_checks_etags_and_dates() {
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_900_000_000);
    let server =
        MockSqs::builder().clock_start(start).clock_frozen().s3(S3::temporary()).start().await.unwrap();
    let client = client(&server);
    put(&client, "a", b"tea").await;
    let etag = server.s3().object(BUCKET, "a").unwrap().etag;
    let ask = || client.get_object().bucket(BUCKET).key("a");
    assert!(ask().if_match(&etag).send().await.is_ok());
    assert_eq!(refusal(ask().if_match("x").send().await), (412, FAILED.to_owned()));
    assert_eq!(refusal(ask().if_none_match(&etag).send().await).0, 304);
    assert!(ask().if_none_match("x").send().await.is_ok());
    let time = |seconds: i64| DateTime::from_secs(1_900_000_000 + seconds);
    assert_eq!(refusal(ask().if_modified_since(time(0)).send().await).0, 304);
    assert!(ask().if_modified_since(time(-1)).send().await.is_ok());
    assert!(ask().if_unmodified_since(time(0)).send().await.is_ok());
    assert_eq!(refusal(ask().if_unmodified_since(time(-1)).send().await).0, 412);
}

#[tokio::test]
async fn complete_with_if_none_match_fails_if_the_object_exists() {
    let server = server().await;
    let client = client(&server);
    let begun = client.create_multipart_upload().bucket(BUCKET).key("a").send().await.unwrap();
    let id = begun.upload_id().unwrap();
    let part = super::multipart::upload(&client, "a", id, 1, b"part").await;
    put(&client, "a", b"meanwhile").await;
    let parts = CompletedMultipartUpload::builder().parts(part).build();
    let complete =
        client.complete_multipart_upload().bucket(BUCKET).key("a").upload_id(id).if_none_match("*");
    assert_eq!(refusal(complete.multipart_upload(parts).send().await), (412, FAILED.to_owned()));
    assert_eq!(get(&client, "a").await, b"meanwhile");
    assert_eq!(server.s3().uploads(BUCKET).len(), 1);
}
