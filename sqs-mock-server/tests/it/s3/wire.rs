//! Raw HTTP requests, in the form of other clients.

use super::{BUCKET, client, server};
use crate::wire::ask;
use sqs_mock_server::s3::S3;
use sqs_mock_server::{Limits, MockSqs};

async fn request(server: &MockSqs, text: String) -> String {
    let endpoint = server.s3().endpoint_url().to_owned();
    tokio::task::spawn_blocking(move || ask(&endpoint, &text)).await.unwrap()
}

/// A put as the SDK for Java sends it over plain HTTP: in signed chunks, with the checksum in a trailer.
fn chunked(checksum: &str) -> String {
    let signature = "a".repeat(64);
    let body = format!(
        "3;chunk-signature={signature}\r\ntea\r\n0;chunk-signature={signature}\r\nx-amz-checksum-crc32:{checksum}\r\n\
         x-amz-trailer-signature:{signature}\r\n\r\n"
    );
    format!(
        "PUT /payloads/a HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\
         authorization: AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, \
         Signature=00\r\nx-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER\r\n\
         content-encoding: aws-chunked\r\nx-amz-decoded-content-length: 3\r\nx-amz-trailer: x-amz-checksum-crc32\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn checksum_in_a_trailer_is_verified_without_signatures() {
    let server = server().await;
    let wrong = request(&server, chunked("AAAAAA==")).await;
    assert!(wrong.starts_with("HTTP/1.1 400") && wrong.contains("<Code>BadDigest</Code>"), "{wrong}");
    assert_eq!(server.s3().count(BUCKET), 0);
    let right = request(&server, chunked("jobXsg==")).await;
    assert!(right.starts_with("HTTP/1.1 200"), "{right}");
    assert_eq!(server.s3().bytes(BUCKET, "a").await.unwrap(), b"tea");
    assert_eq!(server.s3().object(BUCKET, "a").unwrap().content_encoding, None);
}

#[tokio::test]
async fn path_style_and_virtual_hosted_style_requests_find_the_bucket() {
    let server = server().await;
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    for (host, path) in [
        ("127.0.0.1:9325", "/payloads/a"),
        ("localhost", "/payloads/a"),
        ("s3.localhost:9325", "/payloads/a"),
        ("mock:9325", "/payloads/a"),
        ("payloads.localhost:9325", "/a"),
        ("payloads.s3.localhost", "/a"),
        ("payloads.mock.test:9325", "/a"),
    ] {
        let answer =
            request(&server, format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"))
                .await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\ntea"), "{host}: {answer}");
        assert!(answer.contains("x-amz-request-id: "), "{answer}");
    }
    let made = "PUT / HTTP/1.1\r\nhost: fresh.localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let made = request(&server, made.to_owned()).await;
    assert!(made.starts_with("HTTP/1.1 200"), "{made}");
    assert_eq!(server.s3().buckets(), ["fresh", BUCKET]);
}

#[tokio::test]
async fn journal_records_operation_key_status_and_error() {
    let server = server().await;
    for (line, operation, key, status, error) in [
        ("GET /payloads/a", "GetObject", Some("a"), 404, Some("NoSuchKey")),
        ("HEAD /payloads", "HeadBucket", None, 200, None),
        ("GET /payloads?acl", "GetBucketAcl", None, 501, Some("NotImplemented")),
    ] {
        request(&server, format!("{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).await;
        let latest = server.s3().requests().pop().unwrap();
        assert_eq!(
            (latest.operation.as_str(), latest.key.as_deref(), latest.status, latest.error.as_deref()),
            (operation, key, Some(status), error)
        );
        assert_eq!(latest.bucket.as_deref(), Some(BUCKET));
    }
}

#[tokio::test]
async fn body_of_more_than_five_gibibytes_is_rejected_before_it_is_read() {
    let server = server().await;
    let begun = client(&server).create_multipart_upload().bucket(BUCKET).key("a").send().await.unwrap();
    let part = format!("/payloads/a?partNumber=1&uploadId={}", begun.upload_id().unwrap());
    for path in ["/payloads/a", &part] {
        let head = format!(
            "PUT {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: 100-continue\r\n\
             content-length: 5368709121\r\n\r\n"
        );
        let answer = request(&server, head).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{path}: {answer}");
        assert!(answer.contains("<Code>EntityTooLarge</Code>"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn errors_have_the_texts_and_elements_of_s3() {
    let server = server().await;
    for (line, status, expected) in [
        (
            "GET /Bad_Name/a",
            400,
            "<Code>InvalidBucketName</Code><Message>The specified bucket is not valid.</Message>\
             <BucketName>Bad_Name</BucketName>",
        ),
        ("PUT /..", 400, "<BucketName>..</BucketName>"),
        (
            "GET /payloads/%FF",
            400,
            "<Code>InvalidURI</Code><Message>Couldn't parse the specified URI.</Message>",
        ),
        (
            "GET /nowhere/a",
            404,
            "<Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message>\
             <BucketName>nowhere</BucketName>",
        ),
        (
            "GET /payloads/a&b",
            404,
            "<Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>a&amp;b</Key>",
        ),
        (
            "DELETE /payloads/a?uploadId=x%26y",
            404,
            "The upload ID may be invalid, or the upload may have been aborted or completed.</Message>\
             <UploadId>x&amp;y</UploadId>",
        ),
        // XML cannot represent the key.
        ("GET /payloads/a%01", 404, "<Message>The specified key does not exist.</Message>"),
        (
            "GET /payloads/a?torrent",
            501,
            "<Code>NotImplemented</Code><Message>This server does not implement GetObjectTorrent.</Message>",
        ),
        (
            "PATCH /payloads/a",
            501,
            "<Code>NotImplemented</Code><Message>This server has no operation for PATCH with this path and query.\
             </Message>",
        ),
    ] {
        let answer =
            request(&server, format!("{line} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"))
                .await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
        assert!(answer.contains(&format!("{expected}<RequestId>")), "{expected}\n{answer}");
    }
}

#[tokio::test]
async fn key_of_more_than_1024_bytes_is_refused_with_its_size() {
    let server = server().await;
    for (host, path) in [("127.0.0.1", "/payloads/"), ("mock", "/payloads/"), ("payloads.localhost", "/")] {
        for (key, expected) in [
            // 1,024 bytes.
            ("%C3%BC".repeat(512), "<Code>NoSuchKey</Code>"),
            (
                "k".repeat(1025),
                "<Code>KeyTooLongError</Code><Message>Your key is too long</Message><Size>1025</Size>\
                 <MaxSizeAllowed>1024</MaxSizeAllowed><RequestId>",
            ),
            ("%C3%BC".repeat(513), "<Size>1026</Size><MaxSizeAllowed>1024</MaxSizeAllowed><RequestId>"),
        ] {
            let head = format!("GET {path}{key} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
            let answer = request(&server, head).await;
            assert!(answer.contains(expected), "{host}: {answer}");
        }
    }
    let long = "k".repeat(1025);
    let head = format!("GET //{long} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
    let answer = request(&server, head).await;
    assert!(
        answer.contains("<Code>InvalidBucketName</Code>"),
        "a path without a bucket has no key: {answer}"
    );
}

#[tokio::test]
async fn requests_to_sqs_on_the_port_of_s3_are_told_the_right_port() {
    let server = server().await;
    let form =
        "content-type: application/x-www-form-urlencoded\r\ncontent-length: 17\r\n\r\nAction=ListQueues";
    let json = "content-type: application/x-amz-json-1.0\r\nx-amz-target: AmazonSQS.ListQueues\r\ncontent-length: 2\r\n\r\n{}";
    for rest in [form, json] {
        let text = format!("POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n{rest}");
        let answer = request(&server, text).await;
        let expected = format!("This is the port of S3. SQS is at {}.", server.endpoint_url());
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains(&expected), "{answer}");
    }
}

#[tokio::test]
async fn bodies_that_are_kept_in_memory_have_a_limit() {
    let mut limits = Limits::default();
    limits.max_body = 1_000;
    let server = MockSqs::builder().limits(limits).s3(S3::temporary()).start().await.unwrap();
    let post = async |target: &str, headers: &str, body: &str| {
        let length = body.len();
        let head =
            format!("POST {target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n");
        request(&server, format!("{head}{headers}\r\n{body}")).await
    };
    let (headers, body) = super::events::form("a", &"x".repeat(1_001));
    let refused = post("/payloads", &headers, &body).await;
    assert!(refused.contains("<Code>EntityTooLarge</Code>"), "{refused}");
    let (headers, body) = super::events::form(&"a".repeat(70_000), "tea");
    let refused = post("/payloads", &headers, &body).await;
    assert!(refused.contains("<Code>MalformedPOSTRequest</Code>"), "{refused}");
    let refused = post("/payloads?delete", "", &" ".repeat((2 << 20) + 1)).await;
    assert!(refused.contains("<Code>MaxMessageLengthExceeded</Code>"), "{refused}");
    let (headers, body) = super::events::form("a", &"x".repeat(1_000));
    assert!(post("/payloads", &headers, &body).await.starts_with("HTTP/1.1 2"));
}
