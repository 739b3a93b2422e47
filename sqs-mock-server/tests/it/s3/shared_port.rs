//! S3 on the port of SQS.

use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::config::{Credentials, SharedCredentialsProvider};
use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::types::{BucketLocationConstraint, CreateBucketConfiguration};
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use sqs_mock_server::s3::{S3, S3Action};

use super::notifications::exchange;
use super::{BUCKET, bytes, config, get, put, refusal, server};
use crate::wire::Wire;

/// A client that uses the port of SQS.
fn shared(server: &MockSqs) -> Client {
    Client::from_conf(config(server).endpoint_url(server.endpoint_url()).build())
}

#[tokio::test]
async fn objects_larger_than_sqs_requests_are_streamed() {
    let server = server().await;
    let client = shared(&server);
    let body = bytes(9 << 20);
    put(&client, "big", &body).await;
    assert!(get(&client, "big").await == body);
    assert!(get(&super::client(&server), "big").await == body, "both ports have the same objects");
    let listed = client.list_objects_v2().bucket(BUCKET).send().await.unwrap();
    assert_eq!(listed.contents().len(), 1);
    let missing = client.get_object().bucket(BUCKET).key("none").send().await;
    assert_eq!(refusal(missing), (404, "NoSuchKey".to_owned()));
    let operations: Vec<_> = server.s3().requests().into_iter().map(|request| request.operation).collect();
    assert_eq!(operations, ["PutObject", "GetObject", "GetObject", "ListObjectsV2", "GetObject"]);
}

#[tokio::test]
async fn requests_to_sqs_and_s3_share_a_connection() {
    let server = server().await;
    let mut wire = Wire::connect(&server).await;
    let scope = "authorization: AWS4-HMAC-SHA256 Credential=test/20261123/us-east-1/s3/aws4_request, \
                 SignedHeaders=host, Signature=0\r\n";
    for round in 0..3 {
        assert_eq!(wire.json("CreateQueue", r#"{"QueueName":"q"}"#).await.status, 200);
        assert_eq!(wire.exchange("PUT /payloads/a", scope, b"tea").await.status, 200);
        let got = wire.exchange("GET /payloads/a", scope, b"").await;
        assert_eq!((got.status, got.text()), (200, "tea"), "{round}");
        assert_eq!(wire.form("/", "Action=ListQueues").await.status, 200);
    }
}

#[tokio::test]
async fn presigned_urls_and_signatures_work() {
    let builder = MockSqs::builder().require_signatures([("AKID", "secret")]).s3(S3::temporary());
    let server = builder.start().await.unwrap();
    let with_secret = |secret| {
        let credentials = Credentials::new("AKID", secret, None, None, "test");
        let config = config(&server).endpoint_url(server.endpoint_url());
        Client::from_conf(config.credentials_provider(SharedCredentialsProvider::new(credentials)).build())
    };
    let client = with_secret("secret");
    put(&client, "a", b"tea").await;
    let denied = with_secret("guess").get_object().bucket(BUCKET).key("a").send().await;
    assert_eq!(refusal(denied), (403, "SignatureDoesNotMatch".to_owned()));
    let expiry = PresigningConfig::expires_in(Duration::from_secs(60)).unwrap();
    let url = client.get_object().bucket(BUCKET).key("a").presigned(expiry).await.unwrap().uri().to_owned();
    let path = url.strip_prefix(server.endpoint_url()).expect("a URL of the shared port");
    let got = Wire::connect(&server).await.get(path).await;
    assert_eq!((got.status, got.text()), (200, "tea"));
}

#[tokio::test]
async fn host_names_s3_for_requests_without_a_signature() {
    let server = server().await;
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    for (host, path) in [("s3.localhost", "/payloads/a"), ("payloads.s3.localhost", "/a")] {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let endpoint = server.endpoint_url().to_owned();
        let answer =
            tokio::task::spawn_blocking(move || crate::wire::ask(&endpoint, &request)).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("tea"), "{host}: {answer}");
    }
    let unknown = exchange(server.endpoint_url(), "GET /payloads/a", "", "").await;
    assert!(unknown.starts_with("HTTP/1.1 404"), "SQS answers what names no service: {unknown}");
}

#[tokio::test]
async fn faults_of_s3_apply_and_break_only_their_connection() {
    let server = server().await;
    let client = shared(&server);
    put(&client, "a", &bytes(300_000)).await;
    server.faults().inject(Fault::truncate().on_s3(S3Action::GetObject).times(1));
    let got = client.get_object().bucket(BUCKET).key("a").send().await.unwrap();
    assert!(got.body.collect().await.is_err());
    server.faults().inject(Fault::reset_after().on_s3(S3Action::PutObject).times(1));
    assert!(client.put_object().bucket(BUCKET).key("b").send().await.is_err());
    assert_eq!(server.s3().count(BUCKET), 2);
    server.faults().inject(Fault::truncate().times(1));
    let mut wire = Wire::connect(&server).await;
    wire.request(
        "POST /",
        "x-amz-target: AmazonSQS.ListQueues\r\ncontent-type: application/x-amz-json-1.0\r\n",
        b"{}",
    )
    .await
    .unwrap();
    assert!(wire.answer().await.is_none(), "a truncated response of SQS still breaks the connection");
}

#[tokio::test]
async fn server_without_s3_says_what_it_has() {
    let server = MockSqs::start().await;
    let scope = "authorization: AWS4-HMAC-SHA256 Credential=test/20261123/us-east-1/s3/aws4_request\r\n";
    let answer = Wire::connect(&server).await.exchange("GET /payloads/a", scope, b"").await;
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("This server has no service &quot;s3&quot;"), "{}", answer.text());
}

#[tokio::test]
async fn buckets_are_listed_with_their_regions_over_http() {
    let server = MockSqs::builder().region("eu-central-1").s3(S3::temporary()).start().await.unwrap();
    let constraint = BucketLocationConstraint::from("EU");
    let place = CreateBucketConfiguration::builder().location_constraint(constraint).build();
    let create = shared(&server).create_bucket().bucket("irish").create_bucket_configuration(place);
    create.send().await.unwrap();
    let buckets = Wire::connect(&server).await.get("/_mock/buckets").await.content(200);
    let region = |at: usize| (&buckets["buckets"][at]["name"], &buckets["buckets"][at]["region"]);
    assert_eq!(region(0), (&"irish".into(), &"eu-west-1".into()));
    assert_eq!(region(1), (&BUCKET.into(), &"eu-central-1".into()));
}

#[tokio::test]
async fn buckets_and_objects_are_listed_over_http() {
    let server = server().await;
    let client = shared(&server);
    for key in ["a/1", "a/2", "b"] {
        put(&client, key, key.as_bytes()).await;
    }
    let mut wire = Wire::connect(&server).await;
    let buckets = wire.get("/_mock/buckets").await.content(200);
    let bucket = &buckets["buckets"][0];
    assert_eq!(
        (&bucket["name"], &bucket["objects"], &bucket["bytes"]),
        (&BUCKET.into(), &3.into(), &7.into())
    );
    let keys = |page: &serde_json::Value| {
        let objects = page["objects"].as_array().unwrap().iter();
        objects.map(|object| object["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let page = wire.get(&format!("/_mock/objects?bucket={BUCKET}&prefix=a/&limit=1")).await.content(200);
    assert_eq!((keys(&page), &page["next"]), (vec!["a/1".to_owned()], &"a/1".into()));
    let page = wire.get(&format!("/_mock/objects?bucket={BUCKET}&prefix=a/&after=a/1")).await.content(200);
    assert_eq!((keys(&page), page.get("next")), (vec!["a/2".to_owned()], None));
    let content = wire.get(&format!("/_mock/objects/content?bucket={BUCKET}&key=b")).await.content(200);
    assert_eq!((&content["length"], &content["text"]), (&1.into(), &"b".into()));
    let error = wire.get("/_mock/objects?bucket=none").await.error(404);
    assert_eq!(error, "there is no bucket \"none\"; GET /_mock/buckets lists all buckets");
    let error = wire.get(&format!("/_mock/objects/content?bucket={BUCKET}&key=none")).await.error(404);
    assert_eq!(error, format!("bucket {BUCKET:?} has no object \"none\""));
}

#[tokio::test]
async fn presigned_url_of_version_2_needs_no_host_of_s3() {
    let server = server().await;
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    let signature = "AWSAccessKeyId=test&Signature=c2lnbmF0dXJl&Expires=1999999999";
    let got = exchange(server.endpoint_url(), &format!("GET /payloads/a?{signature}"), "", "").await;
    assert!(got.starts_with("HTTP/1.1 200") && got.ends_with("tea"), "{got}");
    let listed =
        exchange(server.endpoint_url(), &format!("GET /?Action=ListQueues&{signature}"), "", "").await;
    assert!(listed.contains("<ListQueuesResponse"), "{listed}");
}
