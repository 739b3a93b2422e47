//! Fault injection into S3.

use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::config::retry::RetryConfig;
use aws_sdk_s3::primitives::ByteStream;
use sqs_client::operation::Action;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use sqs_mock_server::s3::{S3, S3Action};
use tokio::time::Instant;

use super::{BUCKET, bytes, client, config, get, put, refusal, server};

#[tokio::test]
async fn injected_error_has_the_status_of_its_code() {
    let server = server().await;
    let client = client(&server);
    put(&client, "a", b"tea").await;
    for (fault, expected) in [
        (Fault::s3_error("NoSuchKey"), (404, "NoSuchKey")),
        (Fault::s3_error("AccessDenied"), (403, "AccessDenied")),
        (Fault::s3_error("InternalError"), (500, "InternalError")),
        (Fault::throttle(), (503, "SlowDown")),
    ] {
        let injected = server.faults().inject(fault.on_s3(S3Action::GetObject).times(1));
        let got = client.get_object().bucket(BUCKET).key("a").send().await;
        assert_eq!(refusal(got), (expected.0, expected.1.to_owned()));
        assert_eq!(injected.hits(), 1);
        assert_eq!(get(&client, "a").await, b"tea");
    }
}

#[tokio::test]
async fn put_of_a_large_body_that_fails_stores_nothing() {
    let server = server().await;
    let client = client(&server);
    for (fault, status) in [
        (Fault::s3_error("SlowDown"), 503),
        (Fault::status(502, "<html>bad gateway</html>"), 502),
        (Fault::s3_error("AccessDenied"), 403),
    ] {
        server.faults().inject(fault.on_s3(S3Action::PutObject).times(1));
        let put = client.put_object().bucket(BUCKET).key("a").body(ByteStream::from(bytes(6 << 20)));
        assert_eq!(refusal(put.send().await).0, status);
        assert_eq!(server.s3().count(BUCKET), 0);
    }
}

#[tokio::test]
async fn sdk_retries_after_injected_faults() {
    let server = server().await;
    let retry = RetryConfig::standard().with_initial_backoff(Duration::from_millis(1));
    let client = Client::from_conf(config(&server).retry_config(retry).build());
    for fault in [Fault::throttle(), Fault::reset_before(), Fault::reset_after(), Fault::truncate()] {
        let injected = server.faults().inject(fault.on_s3(S3Action::PutObject).times(1));
        client
            .put_object()
            .bucket(BUCKET)
            .key("a")
            .body(ByteStream::from_static(b"tea"))
            .send()
            .await
            .unwrap();
        assert_eq!((injected.hits(), server.s3().bytes(BUCKET, "a").await.unwrap()), (1, b"tea".to_vec()));
        server.s3().delete(BUCKET, "a").unwrap();
    }
}

#[tokio::test]
async fn connection_breaks_before_or_after_the_operation() {
    let server = server().await;
    let client = client(&server);
    for (fault, stored) in [(Fault::reset_before(), 0), (Fault::reset_after(), 1), (Fault::truncate(), 1)] {
        server.faults().inject(fault.on_s3(S3Action::PutObject).times(1));
        let sent =
            client.put_object().bucket(BUCKET).key("a").body(ByteStream::from_static(b"tea")).send().await;
        assert!(sent.is_err());
        assert_eq!(server.s3().count(BUCKET), stored);
    }
    let statuses: Vec<_> = server.s3().requests().iter().map(|request| request.status).collect();
    assert_eq!(statuses, [None, None, Some(200)]);
}

#[tokio::test]
async fn client_sees_truncated_and_corrupted_bodies() {
    let server = server().await;
    let client = client(&server);
    let body = bytes(300_000);
    server.s3().put(BUCKET, "a", body.clone()).await.unwrap();
    server.faults().inject(Fault::truncate().on_s3(S3Action::GetObject).times(1));
    let got = client.get_object().bucket(BUCKET).key("a").send().await.unwrap();
    assert_eq!(got.content_length(), Some(300_000));
    let mut stream = got.body;
    let mut read = Vec::new();
    let ended = loop {
        match stream.next().await {
            Some(Ok(chunk)) => read.extend_from_slice(&chunk),
            other => break other,
        }
    };
    assert!(matches!(ended, Some(Err(_))), "{} bytes", read.len());
    assert!(read == body[..150_000], "{} bytes", read.len());
    server.faults().inject(Fault::corrupt().on_s3(S3Action::GetObject).times(1));
    let garbled = get(&client, "a").await;
    assert!(garbled.len() == body.len() && garbled != body);
    assert!(get(&client, "a").await == body);
}

#[tokio::test]
async fn sdk_detects_a_corrupted_body_by_its_checksum() {
    let server = server().await;
    let client = client(&server);
    put(&client, "a", b"tea").await;
    server.faults().inject(Fault::corrupt().on_s3(S3Action::GetObject).times(1));
    let got = client.get_object().bucket(BUCKET).key("a").send().await.unwrap();
    assert!(got.body.collect().await.is_err());
}

#[tokio::test]
async fn fault_applies_to_matching_requests_and_respects_skip_and_times() {
    let server = server().await;
    server.s3().create_bucket("other").unwrap();
    let client = client(&server);
    let put = |bucket: &str, key: &str| {
        client.put_object().bucket(bucket).key(key).body(ByteStream::from_static(b"x")).send()
    };
    let injected = server
        .faults()
        .inject(Fault::s3_error("SlowDown").bucket("other").key_prefix("in/").skip(1).times(2));
    let mut affected = Vec::new();
    for (bucket, key) in [
        (BUCKET, "in/a"),
        ("other", "out"),
        ("other", "in/1"),
        ("other", "in/2"),
        ("other", "in/3"),
        ("other", "in/4"),
    ] {
        if put(bucket, key).await.is_err() {
            affected.push(key);
        }
    }
    assert_eq!((affected, injected.hits(), injected.is_spent()), (vec!["in/2", "in/3"], 2, true));
}

#[tokio::test]
async fn faults_of_sqs_and_s3_are_separate() {
    let server = server().await;
    let client = client(&server);
    server.faults().inject(Fault::throttle());
    put(&client, "a", b"tea").await;
    server.faults().clear();
    server.faults().inject(Fault::throttle().of_s3());
    server.client().create_queue().queue_name("q").send().await.unwrap();
    assert_eq!(refusal(client.list_buckets().send().await), (503, "SlowDown".to_owned()));
    server.faults().clear();
    let nobody =
        server.faults().inject(Fault::throttle().on(Action::CreateQueue).on_s3(S3Action::ListBuckets));
    server.client().create_queue().queue_name("q").send().await.unwrap();
    client.list_buckets().send().await.unwrap();
    assert_eq!(nobody.hits(), 0);
}

#[tokio::test]
async fn pace_slows_requests_and_responses() {
    let server = server().await;
    let client = client(&server);
    let body = bytes(2000);
    for action in [S3Action::PutObject, S3Action::GetObject] {
        let slow = server.faults().inject(Fault::s3_pace(40_000).on_s3(action).times(1));
        let start = Instant::now();
        put(&client, "a", &body).await;
        assert!(get(&client, "a").await == body);
        // 2,000 bytes at 40,000 a second.
        assert!(start.elapsed() >= Duration::from_millis(45), "{action}: {:?}", start.elapsed());
        assert_eq!(slow.hits(), 1);
    }
    server.faults().inject(Fault::latency(Duration::from_millis(50)).on_s3(S3Action::HeadObject));
    let start = Instant::now();
    client.head_object().bucket(BUCKET).key("a").send().await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(50));
}

#[tokio::test]
async fn delayed_request_ends_at_a_reset_and_stores_nothing() {
    let server = server().await;
    let latency = Duration::from_secs(2);
    let delayed = server.faults().inject(Fault::latency(latency).on_s3(S3Action::PutObject));
    let put = client(&server).put_object().bucket(BUCKET).key("a").body(ByteStream::from_static(b"tea"));
    let start = Instant::now();
    let put = tokio::spawn(put.send());
    while delayed.hits() == 0 {
        tokio::task::yield_now().await;
    }
    server.reset();
    assert_eq!(refusal(put.await.unwrap()), (404, "NoSuchBucket".to_owned()));
    assert!(start.elapsed() < latency);
    assert_eq!(server.s3().count(BUCKET), 0);
}

#[tokio::test]
async fn s3_fault_round_trips_as_json() {
    for text in [
        r#"{"effect":"error","code":"NoSuchKey","actions":["GetObject"],"service":"s3","bucket":"b","key_prefix":"k/","times":2}"#,
        r#"{"effect":"pace","service":"s3","bytes_per_second":1000}"#,
        r#"{"effect":"throttle","service":"s3","probability":0.5}"#,
    ] {
        let fault: Fault = text.parse().unwrap();
        let read: serde_json::Value = text.parse().unwrap();
        assert_eq!(serde_json::to_value(&fault).unwrap(), read, "{text}");
    }
    let implied: Fault = r#"{"effect":"error","code":"AccessDenied","bucket":"b"}"#.parse().unwrap();
    assert_eq!(serde_json::to_value(&implied).unwrap()["service"], "s3");
}

#[test]
fn json_that_mixes_services_is_rejected() {
    for (text, expected) in [
        (r#"{"effect":"throttle","bucket":"b","queue":"q"}"#, "`queue` does not belong to a fault of S3"),
        (
            r#"{"effect":"throttle","service":"sqs","bucket":"b"}"#,
            "`bucket` does not belong to a fault of SQS",
        ),
        (r#"{"effect":"redeliver","service":"s3"}"#, "this `effect` does not apply to S3"),
        (r#"{"effect":"pace","service":"sqs","bytes_per_second":1}"#, "this `effect` does not apply to SQS"),
        (r#"{"effect":"pace"}"#, "missing field `bytes_per_second`"),
        (
            r#"{"effect":"throttle","actions":["GetObject","SendMessage"]}"#,
            "`actions`: SendMessage is not an operation of S3",
        ),
        (
            r#"{"effect":"error","code":"Nonsense","service":"s3"}"#,
            "`code`: \"Nonsense\" is not an error code of S3",
        ),
    ] {
        let error = text.parse::<Fault>().unwrap_err().to_string();
        assert_eq!(error, format!("not a fault: {expected}"), "{text}");
    }
    for (text, expected) in [
        (
            r#"{"effect":"throttle","service":"s3","actions":["GetObjekt"]}"#,
            "unknown action \"GetObjekt\"; there are ",
        ),
        (
            r#"{"effect":"throttle","bytes_per_second":1}"#,
            "unknown field `bytes_per_second`, expected `message`; ",
        ),
    ] {
        let error = text.parse::<Fault>().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn rate_limits_requests_to_s3() {
    let server = MockSqs::builder().clock_frozen().s3(S3::temporary()).start().await.unwrap();
    let client = client(&server);
    server.faults().inject(Fault::throttle().on_s3(S3Action::ListBuckets).above(1));
    client.list_buckets().send().await.unwrap();
    assert_eq!(refusal(client.list_buckets().send().await), (503, "SlowDown".to_owned()));
    server.clock().advance(Duration::from_secs(1));
    client.list_buckets().send().await.unwrap();
}

#[tokio::test]
async fn fault_is_recorded_and_the_console_does_not_use_it_up() {
    let server = MockSqs::builder().s3(S3::temporary()).start().await.unwrap();
    let fault = server.faults().inject(Fault::throttle().on_s3(S3Action::ListBuckets).times(1));
    let endpoint = server.s3().endpoint_url().to_owned();
    let list = "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nx-sqs-mock-console: true\r\n\r\n";
    let answer = tokio::task::spawn_blocking(move || crate::wire::ask(&endpoint, list)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(fault.hits(), 0);
    client(&server).list_buckets().send().await.unwrap_err();
    let requests =
        crate::wire::Wire::connect(&server).await.get("/_mock/requests?service=s3").await.content(200);
    let warnings: Vec<_> =
        requests["requests"].as_array().unwrap().iter().map(|request| request["warnings"].clone()).collect();
    assert!(warnings.contains(&serde_json::json!(["fault 1: throttle"])), "{warnings:?}");
}
