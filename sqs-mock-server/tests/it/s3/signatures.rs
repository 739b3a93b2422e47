//! Authentication.

use std::time::Duration;

use aws_sdk_s3::config::{Credentials, SharedCredentialsProvider};
use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{ServerSideEncryption, StorageClass};
use aws_sdk_s3::{Client, Config};
use sqs_mock_server::s3::S3;
use sqs_mock_server::{Limits, MockSqs};

use super::{BUCKET, bytes, config, get, put, refusal};
use crate::wire::ask;

async fn verifying_server() -> MockSqs {
    let builder = MockSqs::builder().require_signatures([("AKID", "secret")]);
    builder.s3(S3::temporary()).start().await.unwrap()
}

fn config_with_key(server: &MockSqs, key: &str, secret: &str) -> Config {
    let credentials = Credentials::new(key, secret, None, None, "test");
    config(server).credentials_provider(SharedCredentialsProvider::new(credentials)).build()
}

#[tokio::test]
async fn require_signatures_applies_to_s3() {
    let server = verifying_server().await;
    let known = Client::from_conf(config_with_key(&server, "AKID", "secret"));
    put(&known, "a b", &bytes(100_000)).await;
    assert!(get(&known, "a b").await == bytes(100_000));
    let wrong = Client::from_conf(config_with_key(&server, "AKID", "guess"));
    let denied = wrong.put_object().bucket(BUCKET).key("b").body(ByteStream::from_static(b"x")).send().await;
    assert_eq!(refusal(denied), (403, "SignatureDoesNotMatch".to_owned()));
    let unknown = Client::from_conf(config_with_key(&server, "OTHER", "secret"));
    let denied = unknown.get_object().bucket(BUCKET).key("a b").send().await;
    assert_eq!(refusal(denied), (403, "InvalidAccessKeyId".to_owned()));
    assert_eq!(server.s3().count(BUCKET), 1);
    let endpoint = server.s3().endpoint_url().to_owned();
    let request = "GET /payloads/a%20b HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = tokio::task::spawn_blocking(move || ask(&endpoint, request)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("<Code>AccessDenied</Code>"), "{answer}");
}

#[tokio::test]
async fn presigned_urls_work_with_and_without_verification() {
    for server in [verifying_server().await, super::server().await] {
        let client = Client::from_conf(config_with_key(&server, "AKID", "secret"));
        put(&client, "a", b"tea").await;
        let config = PresigningConfig::expires_in(Duration::from_secs(60)).unwrap();
        let url =
            client.get_object().bucket(BUCKET).key("a").presigned(config).await.unwrap().uri().to_owned();
        let host = server.s3().endpoint_url().trim_start_matches("http://").to_owned();
        let path = url.split_once(&host).unwrap().1;
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let endpoint = server.s3().endpoint_url().to_owned();
        let answer = tokio::task::spawn_blocking(move || ask(&endpoint, &request)).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("\r\n\r\ntea"), "{answer}");
    }
}

/// Sends `tea` to a presigned URL for a put of the object `a`, which an SDK signed with these parameters.
async fn put_presigned(server: &MockSqs, parameters: &'static str) -> String {
    let client = Client::from_conf(config_with_key(server, "AKID", "secret"));
    let config = PresigningConfig::expires_in(Duration::from_secs(60)).unwrap();
    let put = client.put_object().bucket(BUCKET).key("a").customize().mutate_request(move |request| {
        let separator = if request.uri().contains('?') { '&' } else { '?' };
        request.set_uri(format!("{}{separator}{parameters}", request.uri())).unwrap();
    });
    let put = put.presigned(config).await.unwrap();
    let host = server.s3().endpoint_url().trim_start_matches("http://").to_owned();
    let path = put.uri().split_once(&host).unwrap().1;
    let request =
        format!("PUT {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: 3\r\n\r\ntea");
    let endpoint = server.s3().endpoint_url().to_owned();
    tokio::task::spawn_blocking(move || ask(&endpoint, &request)).await.unwrap()
}

#[tokio::test]
async fn headers_in_a_presigned_url_count_with_and_without_verification() {
    for server in [verifying_server().await, super::server().await] {
        let parameters = "X-Amz-Meta-Shop=a%20b%2B&x-amz-storage-class=GLACIER&x-amz-checksum-crc32=jobXsg%3D%3D\
                          &x-amz-sdk-checksum-algorithm=CRC32&x-amz-server-side-encryption=AES256";
        let stored = put_presigned(&server, parameters).await;
        assert!(stored.starts_with("HTTP/1.1 200"), "{stored}");
        assert!(stored.contains("x-amz-checksum-crc32: jobXsg=="), "{stored}");
        let client = Client::from_conf(config_with_key(&server, "AKID", "secret"));
        let head = client.head_object().bucket(BUCKET).key("a").send().await.unwrap();
        assert_eq!(head.metadata().unwrap()["shop"], "a b+");
        assert_eq!(head.storage_class(), Some(&StorageClass::Glacier));
        assert_eq!(head.server_side_encryption(), Some(&ServerSideEncryption::Aes256));
        let denied = put_presigned(&server, "x-amz-expected-bucket-owner=111111111111").await;
        assert!(denied.contains("<Code>AccessDenied</Code>"), "{denied}");
    }
}

#[tokio::test]
async fn wrong_checksum_in_a_presigned_url_is_rejected() {
    for server in [verifying_server().await, super::server().await] {
        let refused = put_presigned(&server, "x-amz-checksum-crc32=AAAAAA%3D%3D").await;
        assert!(refused.contains("<Code>BadDigest</Code>"), "{refused}");
        assert_eq!(server.s3().count(BUCKET), 0);
    }
}

#[tokio::test]
async fn slow_body_times_out_with_and_without_verification() {
    let mut limits = Limits::default();
    limits.body_timeout = Duration::from_millis(100);
    for builder in [MockSqs::builder(), MockSqs::builder().require_signatures([("AKID", "secret")])] {
        let server = builder.limits(limits).s3(S3::temporary()).start().await.unwrap();
        let client = Client::from_conf(config_with_key(&server, "AKID", "secret"));
        let config = PresigningConfig::expires_in(Duration::from_secs(60)).unwrap();
        let put = client.put_object().bucket(BUCKET).key("a").presigned(config).await.unwrap();
        let host = server.s3().endpoint_url().trim_start_matches("http://").to_owned();
        let path = put.uri().split_once(&host).unwrap().1;
        // s3s verifies the hash of the body, and wraps its errors.
        let hash = "0".repeat(64);
        let request = format!(
            "PUT {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: 9\r\n\
             x-amz-content-sha256: {hash}\r\n\r\ntea"
        );
        let endpoint = server.s3().endpoint_url().to_owned();
        let answer = tokio::task::spawn_blocking(move || ask(&endpoint, &request)).await.unwrap();
        assert!(answer.contains("<Code>RequestTimeout</Code>"), "{answer}");
        assert_eq!(server.s3().count(BUCKET), 0);
    }
}

#[tokio::test]
async fn unexpected_bucket_owner_is_rejected() {
    let server = super::server().await;
    let client = super::client(&server);
    put(&client, "a", b"tea").await;
    let own = client.get_object().bucket(BUCKET).key("a").expected_bucket_owner("000000000000").send().await;
    assert!(own.is_ok());
    let foreign =
        client.get_object().bucket(BUCKET).key("a").expected_bucket_owner("111111111111").send().await;
    assert_eq!(refusal(foreign), (403, "AccessDenied".to_owned()));
}

#[tokio::test]
async fn presigned_url_of_ten_minutes_later_is_refused() {
    let server = verifying_server().await;
    let client = Client::from_conf(config_with_key(&server, "AKID", "secret"));
    put(&client, "a", b"tea").await;
    for (minutes, status) in [(4, "HTTP/1.1 200"), (10, "HTTP/1.1 403")] {
        let start = crate::signatures::now() + Duration::from_secs(minutes * 60);
        let config = PresigningConfig::builder().start_time(start).expires_in(Duration::from_secs(60));
        let url =
            client.get_object().bucket(BUCKET).key("a").presigned(config.build().unwrap()).await.unwrap();
        let host = server.s3().endpoint_url().trim_start_matches("http://").to_owned();
        let path = url.uri().split_once(&host).unwrap().1;
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let endpoint = server.s3().endpoint_url().to_owned();
        let answer = tokio::task::spawn_blocking(move || ask(&endpoint, &request)).await.unwrap();
        assert!(answer.starts_with(status), "{minutes} minutes: {answer}");
    }
}
