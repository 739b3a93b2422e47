//! Requests to S3 in `/metrics` and `/_mock/requests`.

#![expect(clippy::float_cmp, reason = "these are counts, which are exact")]

use serde_json::json;
use sqs_client::operation::Action;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use sqs_mock_server::s3::{S3, S3Action};

use super::{BUCKET, client, get, put, server};
use crate::exposition::{Samples, parse};
use crate::wire::Wire;

/// Sends six requests, of which one gets no response.
async fn ask(server: &MockSqs) {
    let client = client(server);
    put(&client, "a", b"tea").await;
    get(&client, "a").await;
    get(&client, "a").await;
    assert!(client.get_object().bucket(BUCKET).key("none").send().await.is_err());
    server.faults().inject(Fault::reset_before().on_s3(S3Action::DeleteObject).times(1));
    assert!(client.delete_object().bucket(BUCKET).key("a").send().await.is_err());
    assert!(client.get_bucket_acl().bucket(BUCKET).send().await.is_err());
}

async fn scrape(server: &MockSqs) -> Samples {
    parse(Wire::connect(server).await.get("/metrics").await.text())
}

fn requests(samples: &Samples, operation: &str, status: &str) -> f64 {
    let series = format!("sqs_mock_s3_requests_total{{operation=\"{operation}\",status=\"{status}\"}}");
    samples.get(&series).copied().unwrap_or_default()
}

#[tokio::test]
async fn requests_are_counted_by_operation_and_status() {
    // Counters do not depend on the size of the journal.
    for journal in [0, 1, 1_000] {
        let server = MockSqs::builder().journal(journal).s3(S3::temporary()).start().await.unwrap();
        assert!(!scrape(&server).await.keys().any(|series| series.starts_with("sqs_mock_s3_requests_total")));
        ask(&server).await;
        let samples = scrape(&server).await;
        for (operation, status, expected) in [
            ("PutObject", "200", 1.0),
            ("GetObject", "200", 2.0),
            ("GetObject", "404", 1.0),
            ("DeleteObject", "aborted", 1.0),
            ("unknown", "501", 1.0),
        ] {
            assert_eq!(requests(&samples, operation, status), expected, "{operation} {status}: {samples:?}");
        }
        assert!(samples.contains_key("sqs_mock_s3_open_connections"));
        server.reset();
        assert_eq!(requests(&scrape(&server).await, "GetObject", "200"), 2.0, "a reset keeps counters");
        assert_eq!(server.s3().requests(), []);
    }
}

#[tokio::test]
async fn requests_are_listed_over_http_by_operation_bucket_and_status() {
    let server = server().await;
    ask(&server).await;
    let mut wire = Wire::connect(&server).await;
    let mut list = async |query: &str| {
        let answer = wire.get(&format!("/_mock/requests?service=s3{query}")).await.content(200);
        let numbers = answer["requests"].as_array().unwrap().iter();
        let numbers: Vec<_> = numbers.map(|request| request["number"].as_u64().unwrap()).collect();
        (numbers, answer["total"].clone(), answer["next"].clone())
    };
    let none = serde_json::Value::Null;
    assert_eq!(list("").await, (vec![1, 2, 3, 4, 5, 6], json!(6), none.clone()));
    assert_eq!(list("&action=GetObject").await.0, [2, 3, 4]);
    assert_eq!(list("&action=GetObject&status=200").await.0, [2, 3]);
    assert_eq!(list("&status=none").await.0, [5]);
    assert_eq!(list("&bucket=other").await, (vec![], json!(0), none));
    assert_eq!(list("&bucket=payloads&limit=2").await, (vec![5, 6], json!(6), json!(2)));
    assert_eq!(list("&limit=2&skip=2").await, (vec![3, 4], json!(6), json!(4)));

    let shown = wire.get("/_mock/requests?service=s3&status=404").await.content(200);
    let shown = &shown["requests"][0];
    for (field, expected) in [
        ("number", json!(4)),
        ("service", json!("s3")),
        ("action", json!("GetObject")),
        ("bucket", json!(BUCKET)),
        ("key", json!("none")),
        ("status", json!(404)),
    ] {
        assert_eq!(shown[field], expected, "{shown}");
    }
    let error = wire.get("/_mock/requests?service=s3&action=SendMessage").await.error(400);
    assert!(error.starts_with("unknown action \"SendMessage\"; there are AbortMultipartUpload, "), "{error}");
    let error = wire.get("/_mock/requests?status=fine").await.error(400);
    assert_eq!(error, "status must be a number from 100 to 999, or none, not \"fine\"");

    let forgotten = wire.exchange("DELETE /_mock/requests", "", b"").await.content(200);
    assert_eq!(forgotten, json!({ "forgotten": 6 }));
    get(&client(&server), "a").await;
    let left = wire.get("/_mock/requests?service=s3").await.content(200);
    assert_eq!((&left["total"], &left["requests"][0]["number"]), (&json!(1), &json!(7)));
}

#[tokio::test]
async fn list_of_requests_has_the_size_of_the_journal() {
    let server = MockSqs::builder().journal(2).s3(S3::temporary()).start().await.unwrap();
    ask(&server).await;
    let listed = Wire::connect(&server).await.get("/_mock/requests?service=s3").await.content(200);
    assert_eq!(listed["total"], 2);
    assert_eq!((&listed["requests"][0]["number"], &listed["requests"][1]["number"]), (&json!(5), &json!(6)));
}

#[tokio::test]
async fn requests_to_s3_of_a_server_without_s3_are_not_found() {
    let server = MockSqs::start().await;
    let error = Wire::connect(&server).await.get("/_mock/requests?service=s3").await.error(404);
    assert!(error.starts_with("S3 is off; "), "{error}");
    assert!(!scrape(&server).await.contains_key("sqs_mock_s3_open_connections"));
}

#[tokio::test]
async fn one_journal_records_the_requests_to_all_services() {
    let server = MockSqs::builder().journal(3).s3(S3::temporary()).start().await.unwrap();
    let (sqs, s3) = (server.client(), client(&server));
    let url = sqs.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    put(&s3, "a", b"tea").await;
    sqs.send_message().queue_url(&url).message_body("a").send().await.unwrap();
    get(&s3, "a").await;
    let sends = server.requests().expect(1);
    assert_eq!((sends.all()[0].number(), sends.all()[0].action()), (3, Some(Action::SendMessage)));
    let numbers: Vec<_> = server.s3().requests().iter().map(|request| request.number).collect();
    assert_eq!(numbers, [2, 4], "the capacity of 3 counts the requests to both");
    let mut wire = Wire::connect(&server).await;
    let mut list = async |query: &str| {
        let listed = wire.get(&format!("/_mock/requests{query}")).await.content(200);
        let requests = listed["requests"].as_array().unwrap().clone();
        requests
            .into_iter()
            .map(|request| (request["service"].clone(), request["action"].clone()))
            .collect::<Vec<_>>()
    };
    let (put, send, get) = (
        (json!("s3"), json!("PutObject")),
        (json!("sqs"), json!("SendMessage")),
        (json!("s3"), json!("GetObject")),
    );
    assert_eq!(list("").await, [put.clone(), send.clone(), get.clone()]);
    assert_eq!(list("?service=s3").await, [put, get.clone()]);
    assert_eq!(list("?action=GetObject").await, [get]);
    assert_eq!(list("?service=sqs").await, list("?queue=q").await);
    assert_eq!(list("?queue=q").await, [send]);
    let error = wire.get("/_mock/requests?service=sqss").await.error(400);
    assert_eq!(error, "unknown service \"sqss\"; there are sqs, s3, sns, sts");
    assert_eq!(
        wire.exchange("DELETE /_mock/requests", "", b"").await.content(200),
        json!({ "forgotten": 3 })
    );
    assert!(server.requests().is_empty() && server.s3().requests().is_empty());
}

#[tokio::test]
async fn reset_removes_the_requests_to_all_services() {
    let server = server().await;
    put(&client(&server), "a", b"tea").await;
    server.client().list_queues().send().await.unwrap();
    server.reset();
    assert!(server.requests().is_empty() && server.s3().requests().is_empty());
}
