//! Copies of objects, and of parts of them.

use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::error::ProvideErrorMetadata as _;
use aws_sdk_s3::primitives::{ByteStream, DateTime};
use aws_sdk_s3::types::{
    ChecksumAlgorithm, ChecksumMode, ChecksumType, CompletedPart, MetadataDirective, StorageClass,
    TaggingDirective,
};
use serde_json::json;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use sqs_mock_server::s3::{S3, S3Action};

use super::events::{announcing, brief, events};
use super::files::Directory;
use super::multipart::{PART, begin, complete, upload};
use super::notifications::exchange;
use super::tags::tags_of;
use super::{BUCKET, bytes, client, get, put, refusal, server};

type Copying = aws_sdk_s3::operation::copy_object::builders::CopyObjectFluentBuilder;

/// A copy within the bucket.
fn copy(client: &Client, source: &str, key: &str) -> Copying {
    client.copy_object().bucket(BUCKET).key(key).copy_source(format!("{BUCKET}/{source}"))
}

/// Stores an object with metadata and tags.
async fn put_described(client: &Client, key: &str) {
    let put = client.put_object().bucket(BUCKET).key(key).metadata("shop", "x").content_type("text/plain");
    let put = put.storage_class(StorageClass::StandardIa).tagging("b=1");
    put.body(ByteStream::from_static(b"tea")).send().await.unwrap();
}

#[tokio::test]
async fn copy_keeps_metadata_tags_and_etag_and_has_a_new_date() {
    let server = server().await;
    let client = client(&server);
    put_described(&client, "a b+ü").await;
    server.clock().advance(Duration::from_secs(60));
    let source = format!("/{BUCKET}/a%20b%2B%C3%BC?versionId=null");
    let copied = client.copy_object().bucket(BUCKET).key("copy").copy_source(source).send().await.unwrap();
    let result = copied.copy_object_result().unwrap();
    assert_eq!(result.e_tag(), Some("\"7239ea2b5dc943f61f3c0a0276c20974\""));
    let (source, copy) =
        (server.s3().object(BUCKET, "a b+ü").unwrap(), server.s3().object(BUCKET, "copy").unwrap());
    assert_eq!((copy.metadata["shop"].as_str(), copy.content_type.as_deref()), ("x", Some("text/plain")));
    assert!(copy.last_modified > source.last_modified);
    assert_eq!(tags_of(&client, "copy").await, ["b=1"]);
    let head = client.head_object().bucket(BUCKET).key("copy").send().await.unwrap();
    assert_eq!(head.storage_class(), None, "the storage class is not that of the source");
    assert_eq!(get(&client, "copy").await, b"tea");
}

#[tokio::test]
async fn copy_with_replace_has_only_metadata_and_tags_of_the_request() {
    let server = server().await;
    let client = client(&server);
    put_described(&client, "a").await;
    let replaced =
        copy(&client, "a", "copy").metadata_directive(MetadataDirective::Replace).metadata("new", "1");
    replaced.tagging_directive(TaggingDirective::Replace).tagging("c=2").send().await.unwrap();
    let object = server.s3().object(BUCKET, "copy").unwrap();
    assert_eq!((object.metadata.len(), object.metadata["new"].as_str(), object.content_type), (1, "1", None));
    assert_eq!(tags_of(&client, "copy").await, ["c=2"]);
    copy(&client, "a", "copy").tagging_directive(TaggingDirective::Replace).send().await.unwrap();
    assert!(tags_of(&client, "copy").await.is_empty());
    copy(&client, "a", "copy").metadata("ignored", "1").tagging("ignored=1").send().await.unwrap();
    assert_eq!(server.s3().object(BUCKET, "copy").unwrap().metadata.keys().collect::<Vec<_>>(), ["shop"]);
    assert_eq!(tags_of(&client, "copy").await, ["b=1"]);
}

#[tokio::test]
async fn copy_onto_itself_needs_a_change() {
    let server = server().await;
    let client = client(&server);
    put_described(&client, "a").await;
    let same = || copy(&client, "a", "a");
    let refused = same().metadata("m", "1").send().await;
    let text = "This copy request is illegal because it is trying to copy an object to itself without changing the object's \
                metadata, storage class, website redirect location or encryption attributes.";
    assert_eq!(refused.as_ref().unwrap_err().message(), Some(text));
    assert_eq!(refusal(refused), (400, "InvalidRequest".to_owned()));
    same().metadata_directive(MetadataDirective::Replace).metadata("m", "1").send().await.unwrap();
    assert_eq!(server.s3().object(BUCKET, "a").unwrap().metadata["m"], "1");
    same().storage_class(StorageClass::GlacierIr).send().await.unwrap();
    assert_eq!(get(&client, "a").await, b"tea");
    let data = server.s3().directory().join("buckets/payloads/data");
    assert_eq!(std::fs::read_dir(data).unwrap().count(), 1, "the files of the objects before are gone");
}

#[tokio::test]
async fn copy_of_an_upload_in_parts_is_one_object_with_hashes_of_its_bytes() {
    let server = server().await;
    let client = client(&server);
    let body = bytes(PART + 3);
    let id = begin(&client, "big").await;
    let parts = [
        upload(&client, "big", &id, 1, &body[..PART]).await,
        upload(&client, "big", &id, 2, &body[PART..]).await,
    ];
    complete(&client, "big", &id, &parts).await;
    put(&client, "whole", &body).await;
    copy(&client, "big", "copy").checksum_algorithm(ChecksumAlgorithm::Sha256).send().await.unwrap();
    let head =
        |key: &str| client.head_object().bucket(BUCKET).key(key).checksum_mode(ChecksumMode::Enabled).send();
    let (whole, copied) = (head("whole").await.unwrap(), head("copy").await.unwrap());
    assert_eq!(copied.e_tag(), whole.e_tag());
    assert_eq!((copied.checksum_type(), copied.parts_count()), (Some(&ChecksumType::FullObject), None));
    let got = client.get_object().bucket(BUCKET).key("copy").checksum_mode(ChecksumMode::Enabled);
    // The SDK verifies the checksum.
    assert!(got.send().await.unwrap().body.collect().await.unwrap().to_vec() == body);
    let first = client.get_object().bucket(BUCKET).key("copy").part_number(1).send().await.unwrap();
    assert_eq!(first.content_length(), i64::try_from(body.len()).ok());
    let second = client.get_object().bucket(BUCKET).key("copy").part_number(2).send().await;
    assert_eq!(refusal(second), (416, "InvalidRange".to_owned()));
    copy(&client, "whole", "other").checksum_algorithm(ChecksumAlgorithm::Sha1).send().await.unwrap();
    let other = head("other").await.unwrap();
    assert!(other.checksum_sha1().is_some() && other.checksum_crc32().is_none(), "{other:?}");
}

#[tokio::test]
async fn conditions_on_the_source_and_the_target_are_checked() {
    let server = server().await;
    let client = client(&server);
    put(&client, "a", b"tea").await;
    let etag = server.s3().object(BUCKET, "a").unwrap().etag;
    let head = client.head_object().bucket(BUCKET).key("a").send().await.unwrap();
    let modified = head.last_modified().unwrap().secs();
    let at = |seconds: i64| DateTime::from_secs(modified + seconds);
    let to = |key: &str| copy(&client, "a", key);
    for (attempt, header) in [
        (to("b").copy_source_if_match("x"), "If-Match"),
        (to("b").copy_source_if_none_match(&etag), "If-None-Match"),
        (to("b").copy_source_if_modified_since(at(60)), "If-Modified-Since"),
        (to("b").copy_source_if_unmodified_since(at(-60)), "If-Unmodified-Since"),
    ] {
        assert_eq!(refusal(attempt.send().await), (412, "PreconditionFailed".to_owned()), "{header}");
    }
    let headers = "x-amz-copy-source: payloads/a\r\nx-amz-copy-source-if-match: x\r\n";
    let answer = exchange(server.s3().endpoint_url(), "PUT /payloads/b", headers, "").await;
    assert!(answer.contains("<Condition>x-amz-copy-source-If-Match</Condition>"), "{answer}");
    // A matching ETag makes up for the date, as on AWS.
    let copied = to("b").copy_source_if_match(&etag).copy_source_if_unmodified_since(at(-60)).send().await;
    copied.unwrap();
    let headers = "x-amz-copy-source: payloads/a\r\nif-none-match: *\r\n";
    let answer = exchange(server.s3().endpoint_url(), "PUT /payloads/b", headers, "").await;
    assert!(answer.starts_with("HTTP/1.1 412"), "{answer}");
    let answer = exchange(server.s3().endpoint_url(), "PUT /payloads/c", headers, "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn source_that_cannot_be_copied_is_named() {
    let server = server().await;
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    let point = "arn:aws:s3:us-east-1:123456789012:accesspoint/mine/object/a";
    let incomplete = "<Message>Copy Source must mention the source bucket and key: sourcebucket/sourcekey</Message>\
                      <ArgumentName>x-amz-copy-source</ArgumentName><ArgumentValue>payloads";
    for (headers, status, expected) in [
        ("x-amz-copy-source: payloads", 400, incomplete),
        ("x-amz-copy-source: payloads/", 400, incomplete),
        ("x-amz-copy-source: Bad_Name/a", 400, "<Message>Invalid copy source bucket name</Message>"),
        ("x-amz-copy-source: nowhere/a", 404, "<Code>NoSuchBucket</Code>"),
        ("x-amz-copy-source: payloads/none", 404, "<Code>NoSuchKey</Code>"),
        ("x-amz-copy-source: payloads/a?versionId=3", 400, "<Message>Invalid version id specified</Message>"),
        (&format!("x-amz-copy-source: {point}"), 501, "<Message>This server has no access points;"),
        (
            "x-amz-copy-source: payloads/a\r\nx-amz-metadata-directive: copy",
            400,
            "<Message>Unknown metadata directive.</Message><ArgumentName>x-amz-metadata-directive</ArgumentName>",
        ),
        (
            "x-amz-copy-source: payloads/a\r\nx-amz-source-expected-bucket-owner: 111122223333",
            403,
            "<Code>AccessDenied</Code>",
        ),
        (
            "x-amz-copy-source: payloads/a\r\nx-amz-checksum-algorithm: MD4",
            400,
            "[CRC32, CRC32C, CRC64NVME, SHA1, SHA256]</Message>",
        ),
    ] {
        let answer =
            exchange(server.s3().endpoint_url(), "PUT /payloads/b", &format!("{headers}\r\n"), "").await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.contains(expected),
            "{headers}: {answer}"
        );
    }
    assert_eq!(server.s3().count(BUCKET), 1);
}

#[tokio::test]
async fn copy_to_another_bucket_is_independent_of_its_source_and_survives_a_restart() {
    let directory = Directory::new("copied");
    let start = || MockSqs::builder().s3(S3::in_dir(&directory.0).bucket(BUCKET).bucket("other")).start();
    let server = start().await.unwrap();
    let client = client(&server);
    put(&client, "a", b"tea").await;
    let copied = client.copy_object().bucket("other").key("b").copy_source("payloads/a").send().await;
    copied.unwrap();
    put(&client, "a", b"coffee").await;
    assert_eq!(server.s3().bytes("other", "b").await.unwrap(), b"tea");
    client.delete_object().bucket(BUCKET).key("a").send().await.unwrap();
    server.shutdown().await;
    let server = start().await.unwrap();
    assert_eq!(server.s3().bytes("other", "b").await.unwrap(), b"tea");
    assert!(server.s3().delete("other", "b").unwrap());
    let data = |bucket: &str| {
        std::fs::read_dir(directory.0.join("buckets").join(bucket).join("data")).unwrap().count()
    };
    assert_eq!((data(BUCKET), data("other")), (0, 0));
}

#[tokio::test]
async fn parts_are_copied_from_ranges_and_become_one_object() {
    let server = server().await;
    let client = client(&server);
    let body = bytes(PART + 10);
    put(&client, "a", &body).await;
    let id = begin(&client, "copy").await;
    let part = |number, range: &str| {
        let part = client.upload_part_copy().bucket(BUCKET).key("copy").upload_id(&id).part_number(number);
        part.copy_source("payloads/a").copy_source_range(range)
    };
    let mut parts = Vec::new();
    for (number, range) in [(1, format!("bytes=0-{}", PART - 1)), (2, format!("bytes={PART}-{}", PART + 9))] {
        let copied = part(number, &range).send().await.unwrap().copy_part_result.unwrap();
        let done = CompletedPart::builder().part_number(number).set_e_tag(copied.e_tag);
        parts.push(done.set_checksum_crc32(copied.checksum_crc32).build());
    }
    complete(&client, "copy", &id, &parts).await;
    assert!(get(&client, "copy").await == body);
    assert_eq!(server.s3().object(BUCKET, "copy").unwrap().metadata["m"], "1");

    let id = begin(&client, "copy").await;
    let part = |range: &str| {
        let part = client.upload_part_copy().bucket(BUCKET).key("copy").upload_id(&id).part_number(1);
        part.copy_source("payloads/a").copy_source_range(range).send()
    };
    let beyond = format!("Range specified is not valid for source object of size: {}", body.len());
    let form = "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the \
                zero-based offsets of the first and last bytes to copy";
    let last = format!("bytes=0-{}", body.len());
    for (range, expected) in
        [(&*last, &*beyond), ("bytes=-5", form), ("bytes=5-", form), ("bytes=3-2", form), ("3", form)]
    {
        let refused = part(range).await;
        assert_eq!(refused.as_ref().unwrap_err().message(), Some(expected), "{range}");
        assert_eq!(refusal(refused), (400, "InvalidArgument".to_owned()));
    }
    let unknown = client.upload_part_copy().bucket(BUCKET).key("copy").upload_id("none").part_number(1);
    let unknown = unknown.copy_source("payloads/a").send().await;
    assert_eq!(refusal(unknown), (404, "NoSuchUpload".to_owned()));
    assert_eq!(server.s3().uploads(BUCKET)[0].parts, 0);
}

#[tokio::test]
async fn source_of_more_than_five_gibibytes_is_refused_unless_a_range_is_copied() {
    let directory = Directory::new("huge");
    let server = MockSqs::builder().with_s3(&directory.0).start().await.unwrap();
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    server.shutdown().await;
    // A file without blocks, except for its end.
    let size: u64 = (5 << 30) + 1;
    let first = |folder: &str| {
        let all = std::fs::read_dir(directory.0.join("buckets/payloads").join(folder)).unwrap();
        all.map(|entry| entry.unwrap().path()).next().unwrap()
    };
    std::fs::OpenOptions::new().write(true).open(first("data")).unwrap().set_len(size).unwrap();
    let record = std::fs::read_to_string(first("objects")).unwrap();
    std::fs::write(first("objects"), record.replace("\"size\":3", &format!("\"size\":{size}"))).unwrap();
    let server = MockSqs::builder().with_s3(&directory.0).start().await.unwrap();
    let client = client(&server);
    let refused = copy(&client, "a", "b").send().await;
    let text =
        "The specified copy source is larger than the maximum allowable size for a copy source: 5368709120";
    assert_eq!(refused.as_ref().unwrap_err().message(), Some(text));
    assert_eq!(refusal(refused), (400, "InvalidRequest".to_owned()));
    let id = begin(&client, "b").await;
    let part = client.upload_part_copy().bucket(BUCKET).key("b").upload_id(&id).part_number(1);
    let part = part.copy_source("payloads/a").copy_source_range("bytes=0-9").send().await.unwrap();
    assert!(part.copy_part_result().unwrap().e_tag().is_some());
}

#[tokio::test]
async fn copy_makes_an_event_and_takes_faults_of_its_operation() {
    let (server, client) = announcing().await;
    put(&client, "a", b"tea").await;
    server.faults().inject(Fault::s3_error("SlowDown").on_s3(S3Action::CopyObject).times(1));
    assert_eq!(refusal(copy(&client, "a", "b").send().await).1, "SlowDown");
    copy(&client, "a", "b").send().await.unwrap();
    let events = events(&server, 2).await;
    let expected = json!({ "key": "b", "size": 3, "eTag": "7239ea2b5dc943f61f3c0a0276c20974" });
    assert_eq!(brief(&events[1]), ("ObjectCreated:Copy", expected));
}
