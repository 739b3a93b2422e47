//! Objects and buckets.

use std::time::Duration;

use aws_sdk_s3::error::ProvideErrorMetadata as _;
use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{
    BucketLocationConstraint, ChecksumAlgorithm, ChecksumMode, CreateBucketConfiguration, Delete,
    ObjectIdentifier, StorageClass,
};
use sqs_mock_server::MockSqs;
use sqs_mock_server::s3::S3;

use super::events::form;
use super::files::Directory;
use super::notifications::exchange;
use super::{BUCKET, bytes, client, get, put, refusal, server};

#[tokio::test]
async fn get_returns_body_metadata_and_headers() {
    let server = server().await;
    let client = client(&server);
    let put = client
        .put_object()
        .bucket(BUCKET)
        .key("orders/1")
        .metadata("sha", "abc")
        .metadata("Shop", "x y")
        .content_type("text/plain")
        .content_encoding("gzip")
        .cache_control("no-cache")
        .content_disposition("inline")
        .content_language("de")
        .storage_class(StorageClass::ReducedRedundancy)
        .body(ByteStream::from_static(b"tea"))
        .send()
        .await
        .unwrap();
    let got = client.get_object().bucket(BUCKET).key("orders/1").send().await.unwrap();
    assert_eq!(got.e_tag(), put.e_tag());
    assert_eq!(got.e_tag(), Some("\"7239ea2b5dc943f61f3c0a0276c20974\""));
    let metadata = got.metadata().unwrap();
    assert_eq!((metadata["sha"].as_str(), metadata["shop"].as_str()), ("abc", "x y"));
    let said = [got.content_type(), got.content_encoding(), got.cache_control(), got.content_disposition()];
    assert_eq!(said, [Some("text/plain"), Some("gzip"), Some("no-cache"), Some("inline")]);
    assert_eq!(got.content_language(), Some("de"));
    assert_eq!(got.storage_class(), Some(&StorageClass::ReducedRedundancy));
    assert_eq!(got.body.collect().await.unwrap().to_vec(), b"tea");
    let head = client.head_object().bucket(BUCKET).key("orders/1").send().await.unwrap();
    assert_eq!((head.content_length(), head.metadata().unwrap()["sha"].as_str()), (Some(3), "abc"));
}

#[tokio::test]
async fn parameters_of_a_get_or_head_replace_headers_of_the_response() {
    let server = server().await;
    let client = client(&server);
    let stored =
        client.put_object().bucket(BUCKET).key("a").content_type("text/plain").cache_control("no-cache");
    stored.content_disposition("inline").body(ByteStream::from_static(b"tea")).send().await.unwrap();
    let date = "Wed, 21 Oct 2026 07:28:00 GMT";
    let parameters = "response-cache-control=max-age%3D60&response-content-encoding=gzip&response-content-language=de\
                      &response-content-type=text/csv&response-expires=Wed,%2021%20Oct%202026%2007:28:00%20GMT";
    for method in ["GET", "HEAD"] {
        let line = format!("{method} /payloads/a?{parameters}");
        let answer = exchange(server.s3().endpoint_url(), &line, "", "").await;
        for expected in [
            "cache-control: max-age=60",
            "content-disposition: inline",
            "content-encoding: gzip",
            "content-language: de",
            "content-type: text/csv",
            &format!("expires: {date}"),
        ] {
            assert!(answer.contains(&format!("{expected}\r\n")), "{expected}\n{answer}");
        }
        assert!(!answer.contains("no-cache") && !answer.contains("text/plain"), "{answer}");
    }
    let config = || PresigningConfig::expires_in(Duration::from_secs(60)).unwrap();
    let attachment = "attachment; filename=\"tea.txt\"";
    let get = client.get_object().bucket(BUCKET).key("a").response_content_disposition(attachment);
    let head = client.head_object().bucket(BUCKET).key("a").response_content_disposition(attachment);
    for presigned in [get.presigned(config()).await.unwrap(), head.presigned(config()).await.unwrap()] {
        let path = presigned.uri().strip_prefix(server.s3().endpoint_url()).unwrap();
        let line = format!("{} {path}", presigned.method());
        let answer = exchange(server.s3().endpoint_url(), &line, "", "").await;
        assert!(answer.contains(&format!("content-disposition: {attachment}\r\n")), "{answer}");
    }
}

#[tokio::test]
async fn bodies_of_any_length_round_trip() {
    let server = server().await;
    let client = client(&server);
    for length in [0, 1, 65_536, 262_145, 3 << 20] {
        let body = bytes(length);
        put(&client, "body", &body).await;
        assert!(get(&client, "body").await == body, "{length}");
        assert!(server.s3().bytes(BUCKET, "body").await.unwrap() == body, "{length}");
    }
}

#[tokio::test]
async fn keys_with_any_characters_round_trip() {
    let server = server().await;
    let client = client(&server);
    let long = "k".repeat(1000);
    let keys =
        ["a", "a/b", "a//b", "a/", "../up", "./here", "ü é 日本", "a+b c%20&=?#", "<&\"'>", long.as_str()];
    for key in keys {
        put(&client, key, key.as_bytes()).await;
    }
    for key in keys {
        assert_eq!(get(&client, key).await, key.as_bytes());
    }
    assert_eq!(server.s3().count(BUCKET), keys.len());
    let listed = client.list_objects_v2().bucket(BUCKET).send().await.unwrap();
    let mut expected: Vec<_> = keys.iter().map(ToString::to_string).collect();
    expected.sort();
    assert_eq!(listed.contents().iter().map(|object| object.key().unwrap()).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn key_of_more_than_1024_bytes_is_refused_in_forms_batches_and_tests() {
    let server = server().await;
    let (longest, long) = ("k".repeat(1024), "k".repeat(1025));
    server.s3().put(BUCKET, &longest, "tea").await.unwrap();
    let refused = server.s3().put(BUCKET, &long, "tea").await.unwrap_err();
    assert!(refused.to_string().contains("Your key is too long"), "{refused}");

    let (headers, body) = form(&long, "tea");
    let posted = exchange(server.s3().endpoint_url(), "POST /payloads", &headers, &body).await;
    let size = "<Code>KeyTooLongError</Code><Message>Your key is too long</Message><Size>1025</Size>\
                <MaxSizeAllowed>1024</MaxSizeAllowed>";
    assert!(posted.starts_with("HTTP/1.1 400") && posted.contains(size), "{posted}");
    assert_eq!(server.s3().count(BUCKET), 1);

    let keys = [&long, &longest].map(|key| ObjectIdentifier::builder().key(key).build().unwrap());
    let delete = Delete::builder().set_objects(Some(keys.to_vec())).build().unwrap();
    let deleted = client(&server).delete_objects().bucket(BUCKET).delete(delete).send().await.unwrap();
    let [error] = deleted.errors() else { panic!("{deleted:?}") };
    assert_eq!((error.code(), error.key()), (Some("KeyTooLongError"), Some(long.as_str())));
    assert_eq!(deleted.deleted()[0].key(), Some(longest.as_str()));
    assert_eq!(server.s3().count(BUCKET), 0);
}

#[tokio::test]
async fn override_that_is_not_a_header_is_refused_by_get_and_head() {
    let server = server().await;
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    for name in
        ["cache-control", "content-disposition", "content-encoding", "content-language", "content-type"]
    {
        for method in ["GET", "HEAD"] {
            let line = format!("{method} /payloads/a?response-{name}=a%0Ab");
            let answer = exchange(server.s3().endpoint_url(), &line, "", "").await;
            assert!(answer.starts_with("HTTP/1.1 400"), "{line}: {answer}");
        }
    }
}

#[tokio::test]
async fn range_returns_the_requested_bytes() {
    let server = server().await;
    let client = client(&server);
    put(&client, "letters", b"abcdefghij").await;
    for (range, expected, place) in [
        ("bytes=0-3", "abcd", "bytes 0-3/10"),
        ("bytes=4-", "efghij", "bytes 4-9/10"),
        ("bytes=-3", "hij", "bytes 7-9/10"),
        ("bytes=-99", "abcdefghij", "bytes 0-9/10"),
        ("bytes=8-99", "ij", "bytes 8-9/10"),
    ] {
        let got = client.get_object().bucket(BUCKET).key("letters").range(range).send().await.unwrap();
        assert_eq!(got.content_range(), Some(place));
        assert_eq!(got.content_length(), i64::try_from(expected.len()).ok());
        assert_eq!(got.body.collect().await.unwrap().to_vec(), expected.as_bytes(), "{range}");
    }
    let beyond = client.get_object().bucket(BUCKET).key("letters").range("bytes=10-").send().await;
    assert_eq!(refusal(beyond), (416, "InvalidRange".to_owned()));
}

#[tokio::test]
async fn checksums_are_verified_and_returned() {
    let server = server().await;
    let client = client(&server);
    for algorithm in [
        ChecksumAlgorithm::Crc32,
        ChecksumAlgorithm::Crc32C,
        ChecksumAlgorithm::Sha1,
        ChecksumAlgorithm::Sha256,
        ChecksumAlgorithm::Crc64Nvme,
    ] {
        let put = client.put_object().bucket(BUCKET).key("sum").checksum_algorithm(algorithm.clone());
        put.body(ByteStream::from_static(b"tea")).send().await.unwrap();
        let got = client
            .get_object()
            .bucket(BUCKET)
            .key("sum")
            .checksum_mode(ChecksumMode::Enabled)
            .send()
            .await
            .unwrap();
        let sums = [
            got.checksum_crc32(),
            got.checksum_crc32_c(),
            got.checksum_sha1(),
            got.checksum_sha256(),
            got.checksum_crc64_nvme(),
        ];
        assert_eq!(sums.iter().flatten().count(), 1, "{algorithm}");
        // The SDK verifies the checksum.
        assert_eq!(got.body.collect().await.unwrap().to_vec(), b"tea", "{algorithm}");
    }
    let wrong = client
        .put_object()
        .bucket(BUCKET)
        .key("wrong")
        .checksum_sha256("n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=");
    assert_eq!(
        refusal(wrong.body(ByteStream::from_static(b"tea")).send().await),
        (400, "BadDigest".to_owned())
    );
    let wrong = client.put_object().bucket(BUCKET).key("wrong").content_md5("CY9rzUYh03PK3k6DJie09g==");
    assert_eq!(
        refusal(wrong.body(ByteStream::from_static(b"tea")).send().await),
        (400, "BadDigest".to_owned())
    );
    assert_eq!(server.s3().object(BUCKET, "wrong"), None);
}

#[tokio::test]
async fn missing_object_or_bucket_is_an_error() {
    let server = server().await;
    let client = client(&server);
    let missing = client.get_object().bucket(BUCKET).key("nothing").send().await;
    assert_eq!(refusal(missing), (404, "NoSuchKey".to_owned()));
    let head = client.head_object().bucket(BUCKET).key("nothing").send().await;
    assert!(head.unwrap_err().into_service_error().is_not_found());
    let elsewhere = client.get_object().bucket("elsewhere").key("nothing").send().await;
    assert_eq!(refusal(elsewhere), (404, "NoSuchBucket".to_owned()));
    let put =
        client.put_object().bucket("elsewhere").key("x").body(ByteStream::from_static(b"x")).send().await;
    assert_eq!(refusal(put), (404, "NoSuchBucket".to_owned()));
    assert_eq!(server.s3().buckets(), [BUCKET]);
}

#[tokio::test]
async fn deleting_a_missing_object_succeeds() {
    let server = server().await;
    let client = client(&server);
    put(&client, "a", b"x").await;
    for _ in 0..2 {
        client.delete_object().bucket(BUCKET).key("a").send().await.unwrap();
        assert_eq!(server.s3().count(BUCKET), 0);
    }
    let data = server.s3().directory().join("buckets/payloads/data");
    assert_eq!(std::fs::read_dir(data).unwrap().count(), 0);
    for key in ["a", "b", "c"] {
        put(&client, key, b"x").await;
    }
    let objects = ["a", "b", "nothing"].map(|key| ObjectIdentifier::builder().key(key).build().unwrap());
    let delete = Delete::builder().set_objects(Some(objects.to_vec())).build().unwrap();
    let deleted = client.delete_objects().bucket(BUCKET).delete(delete).send().await.unwrap();
    assert_eq!((deleted.deleted().len(), deleted.errors().len()), (3, 0));
    assert_eq!(
        server.s3().objects(BUCKET).iter().map(|object| object.key.as_str()).collect::<Vec<_>>(),
        ["c"]
    );
}

#[tokio::test]
async fn buckets_are_created_listed_and_deleted() {
    let server = MockSqs::builder().s3(S3::temporary().bucket("one").bucket("two")).start().await.unwrap();
    let client = client(&server);
    assert_eq!(server.s3().buckets(), ["one", "two"]);
    client.create_bucket().bucket("three").send().await.unwrap();
    server.s3().put("three", "a", "x").await.unwrap();
    let full = client.delete_bucket().bucket("three").send().await;
    assert_eq!(refusal(full), (409, "BucketNotEmpty".to_owned()));
    assert!(server.s3().delete("three", "a").unwrap());
    client.delete_bucket().bucket("three").send().await.unwrap();
    let listed = client.list_buckets().send().await.unwrap();
    assert_eq!(
        listed.buckets().iter().map(|bucket| bucket.name().unwrap()).collect::<Vec<_>>(),
        ["one", "two"]
    );
    client.head_bucket().bucket("one").send().await.unwrap();
    let location = client.get_bucket_location().bucket("one").send().await.unwrap();
    assert!(location.location_constraint().is_none_or(|location| location.as_str().is_empty()));
    let abroad = MockSqs::builder().region("eu-west-1").s3(S3::temporary()).start().await.unwrap();
    let location = super::client(&abroad).get_bucket_location().bucket(BUCKET).send().await.unwrap();
    assert_eq!(location.location_constraint(), Some(&BucketLocationConstraint::EuWest1));
}

fn in_region(region: &str) -> CreateBucketConfiguration {
    let constraint = BucketLocationConstraint::from(region);
    CreateBucketConfiguration::builder().location_constraint(constraint).build()
}

#[tokio::test]
async fn own_bucket_can_be_created_again_in_us_east_1_only() {
    let server = server().await;
    let client = client(&server);
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    let again = client.create_bucket().bucket(BUCKET).send().await.unwrap();
    assert_eq!((again.location(), server.s3().count(BUCKET)), (Some("/payloads"), 1));
    let owned = (409, "BucketAlreadyOwnedByYou".to_owned());
    let moved = client.create_bucket().bucket(BUCKET);
    assert_eq!(refusal(moved.create_bucket_configuration(in_region("eu-west-1")).send().await), owned);
    let irish = || client.create_bucket().bucket("irish").create_bucket_configuration(in_region("eu-west-1"));
    irish().send().await.unwrap();
    assert_eq!(refusal(irish().send().await), owned);
    assert_eq!(refusal(client.create_bucket().bucket("irish").send().await), owned);
    let abroad = MockSqs::builder().region("eu-west-1").s3(S3::temporary()).start().await.unwrap();
    assert_eq!(refusal(super::client(&abroad).create_bucket().bucket(BUCKET).send().await), owned);
}

#[tokio::test]
async fn location_constraint_must_be_another_region_than_us_east_1() {
    let server = server().await;
    for location in ["us-east-1", "Ireland"] {
        let create = client(&server).create_bucket().bucket("abroad");
        let refused = create.create_bucket_configuration(in_region(location)).send().await;
        assert_eq!(refusal(refused), (400, "InvalidLocationConstraint".to_owned()));
    }
    assert_eq!(server.s3().buckets(), [BUCKET]);
}

#[tokio::test]
async fn location_constraint_survives_a_restart() {
    let directory = Directory::new("location");
    let server = MockSqs::builder().with_s3(&directory.0).start().await.unwrap();
    for (name, location) in [("irish", "eu-west-1"), ("old", "EU")] {
        let create = client(&server).create_bucket().bucket(name);
        create.create_bucket_configuration(in_region(location)).send().await.unwrap();
    }
    server.shutdown().await;
    // A bucket of an earlier version.
    std::fs::remove_file(directory.0.join("buckets/payloads/location.json")).unwrap();
    let server = MockSqs::builder().with_s3(&directory.0).start().await.unwrap();
    let client = client(&server);
    for (name, location, region) in
        [("irish", "eu-west-1", "eu-west-1"), ("old", "EU", "eu-west-1"), (BUCKET, "", "us-east-1")]
    {
        let found = client.get_bucket_location().bucket(name).send().await.unwrap();
        assert_eq!(found.location_constraint().map_or("", BucketLocationConstraint::as_str), location);
        let head = client.head_bucket().bucket(name).send().await.unwrap();
        assert_eq!(head.bucket_region(), Some(region));
    }
    let listed = client.list_buckets().bucket_region("eu-west-1").send().await.unwrap();
    let listed: Vec<_> =
        listed.buckets().iter().map(|one| (one.name().unwrap(), one.bucket_region())).collect();
    assert_eq!(listed, [("irish", Some("eu-west-1")), ("old", Some("eu-west-1"))]);
    let all = client.list_buckets().send().await.unwrap();
    assert!(all.buckets().iter().all(|bucket| bucket.bucket_region().is_none()), "{all:?}");
}

#[tokio::test]
async fn bucket_whose_directory_cannot_be_removed_is_kept() {
    let server = server().await;
    let client = client(&server);
    std::fs::remove_dir_all(server.s3().directory().join("buckets/payloads")).unwrap();
    let failed = client.delete_bucket().bucket(BUCKET).send().await;
    let message = failed.as_ref().unwrap_err().message().unwrap_or_default().to_owned();
    assert!(message.starts_with("The server cannot store or read objects: No such file"), "{message}");
    assert_eq!(refusal(failed), (500, "InternalError".to_owned()));
    assert_eq!(server.s3().buckets(), [BUCKET]);
}
