//! Events of buckets in queues (section 5.3 of the contract with S3).

use std::collections::BTreeSet;
use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::types::{CompletedMultipartUpload, Delete, ObjectIdentifier};
use serde_json::{Value, json};
use sqs_client::operation::Action;
use sqs_client::types::{MessageSystemAttributeName, QueueAttributeName};
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use sqs_mock_server::s3::{S3, S3Action};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::files::Directory;
use super::notifications::{EVERYTHING, configure, exchange, queue_arn, rule};
use super::{BUCKET, bytes, client, put, refusal, server};

/// A server whose bucket announces everything in the queue `events`.
pub(super) async fn announcing() -> (MockSqs, Client) {
    let server = server().await;
    server.client().create_queue().queue_name("events").send().await.unwrap();
    announce(&server, &rule("Queue", &queue_arn("events"), EVERYTHING, "")).await;
    let client = client(&server);
    (server, client)
}

/// Sets the rules of the bucket, without test messages.
async fn announce(server: &MockSqs, rules: &str) {
    let answer = configure(server, rules, "x-amz-skip-destination-validation: true\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Waits for this number of events in the queue `events`, and returns all that it has, in their order.
pub(super) async fn events(server: &MockSqs, count: usize) -> Vec<Value> {
    let messages = server.queue("events").expect_messages(count).await.unwrap();
    messages.iter().map(|message| serde_json::from_str(message.body()).unwrap()).collect()
}

/// Deletes the object `a`. The response waits for the rest of the body.
async fn hold_back_the_body_of_a_delete(server: &MockSqs) -> TcpStream {
    let address = server.s3().endpoint_url().trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let head = b"DELETE /payloads/a HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc";
    stream.write_all(head).await.unwrap();
    while server.s3().count(BUCKET) > 0 {
        tokio::task::yield_now().await;
    }
    stream
}

/// Name and object of an event.
pub(super) fn brief(event: &Value) -> (&str, Value) {
    let record = &event["Records"][0];
    let mut object = record["s3"]["object"].clone();
    object.as_object_mut().unwrap().remove("sequencer");
    (record["eventName"].as_str().unwrap(), object)
}

fn key(event: &Value) -> &str {
    event["Records"][0]["s3"]["object"]["key"].as_str().unwrap()
}

/// A form that uploads an object, as browsers send it.
pub(super) fn form(key: &str, body: &str) -> (String, String) {
    let field = |name: &str, value: &str| {
        format!("--cut\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let file = "--cut\r\ncontent-disposition: form-data; name=\"file\"; filename=\"f\"\r\ncontent-type: text/plain\r\n\r\n";
    let form = format!("{}{file}{body}\r\n--cut--\r\n", field("key", key));
    ("content-type: multipart/form-data; boundary=cut\r\n".to_owned(), form)
}

#[tokio::test]
async fn each_change_makes_the_event_of_its_kind() {
    let (server, client) = announcing().await;
    put(&client, "in/a b.csv", b"tea").await;
    let (headers, body) = form("form", "tea");
    let posted = exchange(server.s3().endpoint_url(), "POST /payloads", &headers, &body).await;
    assert!(posted.starts_with("HTTP/1.1 2"), "{posted}");
    let upload = client.create_multipart_upload().bucket(BUCKET).key("big").send().await.unwrap();
    let id = upload.upload_id().unwrap();
    let part = super::multipart::upload(&client, "big", id, 1, b"coffee").await;
    let parts = CompletedMultipartUpload::builder().parts(part).build();
    let complete = client.complete_multipart_upload().bucket(BUCKET).key("big").upload_id(id);
    let completed = complete.multipart_upload(parts).send().await.unwrap();
    client.delete_object().bucket(BUCKET).key("big").send().await.unwrap();
    client.delete_object().bucket(BUCKET).key("never").send().await.unwrap();
    let keys = ["form", "nothing"].map(|key| ObjectIdentifier::builder().key(key).build().unwrap());
    let delete = Delete::builder().set_objects(Some(keys.to_vec())).build().unwrap();
    client.delete_objects().bucket(BUCKET).delete(delete).send().await.unwrap();

    let tea = "7239ea2b5dc943f61f3c0a0276c20974";
    let etag = completed.e_tag().unwrap().trim_matches('"');
    let events = events(&server, 7).await;
    let expected = [
        ("ObjectCreated:Put", json!({ "key": "in/a+b.csv", "size": 3, "eTag": tea })),
        ("ObjectCreated:Post", json!({ "key": "form", "size": 3, "eTag": tea })),
        ("ObjectCreated:CompleteMultipartUpload", json!({ "key": "big", "size": 6, "eTag": etag })),
        ("ObjectRemoved:Delete", json!({ "key": "big" })),
        ("ObjectRemoved:Delete", json!({ "key": "never" })),
        ("ObjectRemoved:Delete", json!({ "key": "form" })),
        ("ObjectRemoved:Delete", json!({ "key": "nothing" })),
    ];
    assert_eq!(events.iter().map(brief).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn event_has_the_ids_of_the_response_and_the_message_the_trace_header() {
    let (server, _) = announcing().await;
    let headers = "x-amzn-trace-id: Root=1-2-3\r\n";
    let answer = exchange(server.s3().endpoint_url(), "PUT /payloads/a", headers, "tea").await;
    let header = |name: &str| {
        let line = answer.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("no {name} in {answer}")).to_owned()
    };
    let event = events(&server, 1).await.remove(0);
    let record = &event["Records"][0];
    let ids = json!({ "x-amz-request-id": header("x-amz-request-id"), "x-amz-id-2": header("x-amz-id-2") });
    assert_eq!(record["responseElements"], ids);
    assert_eq!((&record["eventVersion"], &record["eventSource"]), (&json!("2.6"), &json!("aws:s3")));
    assert_eq!(record["awsRegion"], "us-east-1");
    assert_eq!(
        (&record["s3"]["bucket"]["name"], &record["s3"]["configurationId"]),
        (&json!(BUCKET), &json!("mine"))
    );
    assert_eq!(record["s3"]["bucket"]["arn"], "arn:aws:s3:::payloads");
    let receive = server.client().receive_message().queue_url(server.queue_url("events"));
    let receive = receive.message_system_attribute_names(MessageSystemAttributeName::All);
    let message = receive.send().await.unwrap().messages.unwrap().remove(0);
    let system = message.attributes.unwrap();
    assert_eq!(system[&MessageSystemAttributeName::AwsTraceHeader], "Root=1-2-3");
    assert_eq!(message.message_attributes, None);
}

#[tokio::test]
async fn upload_wakes_a_long_poll() {
    let (server, client) = announcing().await;
    let receive = server.client().receive_message().queue_url(server.queue_url("events"));
    let poll = tokio::spawn(receive.wait_time_seconds(20).send());
    tokio::task::yield_now().await;
    put(&client, "a", b"tea").await;
    let messages = poll.await.unwrap().unwrap().messages.unwrap();
    assert!(messages[0].body().unwrap().contains(r#""key":"a""#), "{messages:?}");
}

#[tokio::test]
async fn only_changes_that_succeed_and_match_a_rule_make_events() {
    let (server, client) = announcing().await;
    server.s3().create_bucket("silent").unwrap();
    let filter = "<Filter><S3Key><FilterRule><Name>prefix</Name><Value>in/</Value></FilterRule>\
                  <FilterRule><Name>suffix</Name><Value>.csv</Value></FilterRule></S3Key></Filter>";
    announce(&server, &rule("Queue", &queue_arn("events"), &["s3:ObjectCreated:*"], filter)).await;
    for key in ["out/a.csv", "in/a.txt", "in/a.CSV"] {
        put(&client, key, b"tea").await;
    }
    put(&client, "in/.csv", b"tea").await;
    client.delete_object().bucket(BUCKET).key("in/.csv").send().await.unwrap();
    client.put_object().bucket("silent").key("in/a.csv").body(b"tea".to_vec().into()).send().await.unwrap();
    put(&client, "in/b.csv", b"tea").await;
    let again = client.put_object().bucket(BUCKET).key("in/b.csv").if_none_match("*").send().await;
    assert_eq!(refusal(again).0, 412);
    let damaged = client.put_object().bucket(BUCKET).key("in/c.csv").content_md5("CY9rzUYh03PK3k6DJie09g==");
    assert_eq!(refusal(damaged.body(b"tea".to_vec().into()).send().await).0, 400);
    server.faults().inject(Fault::s3_error("SlowDown").on_s3(S3Action::PutObject).times(1));
    let failed = client.put_object().bucket(BUCKET).key("in/d.csv").body(b"tea".to_vec().into()).send().await;
    assert_eq!(refusal(failed).0, 503);
    put(&client, "in/last.csv", b"tea").await;
    let events = events(&server, 3).await;
    assert_eq!(events.iter().map(key).collect::<Vec<_>>(), ["in/.csv", "in/b.csv", "in/last.csv"]);
}

/// F5: "an S3 write is answered before its event is delivered and each event is delivered once".
#[tokio::test]
async fn lost_response_and_a_caller_that_disconnects_make_one_event() {
    let (server, client) = announcing().await;
    server.faults().inject(Fault::reset_after().on_s3(S3Action::PutObject).times(1));
    let lost = client.put_object().bucket(BUCKET).key("a").body(b"tea".to_vec().into()).send().await;
    assert!(lost.is_err());
    events(&server, 1).await;
    let stream = hold_back_the_body_of_a_delete(&server).await;
    assert_eq!(server.queue("events").messages().len(), 1, "the event waits for the response");
    drop(stream);
    let events = events(&server, 2).await;
    assert_eq!(
        events.iter().map(|event| brief(event).0).collect::<Vec<_>>(),
        ["ObjectCreated:Put", "ObjectRemoved:Delete"]
    );
}

#[tokio::test]
async fn caller_that_holds_back_its_body_delays_the_events_of_others_by_two_seconds() {
    let (server, client) = announcing().await;
    put(&client, "a", &bytes(1)).await;
    let mut stream = hold_back_the_body_of_a_delete(&server).await;
    put(&client, "b", &bytes(2)).await;
    // By the system's time, which the time limits of sockets follow.
    let start = Instant::now();
    let events = events(&server, 3).await;
    assert!(start.elapsed() > Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(events.iter().map(key).collect::<Vec<_>>(), ["a", "a", "b"]);
    stream.write_all(b"defghi").await.unwrap();
}

#[tokio::test]
async fn hundred_concurrent_uploads_make_a_hundred_events() {
    let (server, client) = announcing().await;
    let uploads: Vec<_> = (0..100)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move { put(&client, &format!("k{number:02}"), &bytes(number)).await })
        })
        .collect();
    for upload in uploads {
        upload.await.unwrap();
    }
    let events = events(&server, 100).await;
    let keys: BTreeSet<_> = events.iter().map(key).collect();
    assert_eq!((events.len(), keys.len()), (100, 100));
}

#[tokio::test]
async fn events_of_a_key_have_the_order_of_its_changes() {
    let (server, client) = announcing().await;
    let uploads: Vec<_> = (0..30)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move { put(&client, "same", &bytes(number)).await })
        })
        .collect();
    for upload in uploads {
        upload.await.unwrap();
    }
    let events = events(&server, 30).await;
    let sequencers: Vec<_> = events
        .iter()
        .map(|event| event["Records"][0]["s3"]["object"]["sequencer"].as_str().unwrap())
        .collect();
    assert!(sequencers.is_sorted_by(|one, next| one < next), "{sequencers:?}");
    let last = &events[29]["Records"][0]["s3"]["object"]["eTag"];
    assert_eq!(last.as_str(), Some(server.s3().object(BUCKET, "same").unwrap().etag.as_str()));
}

#[tokio::test]
async fn changes_by_methods_make_events() {
    let (server, _) = announcing().await;
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    assert!(server.s3().delete(BUCKET, "a").unwrap());
    assert!(!server.s3().delete(BUCKET, "a").unwrap());
    let events = events(&server, 3).await;
    let names: Vec<_> = events.iter().map(|event| brief(event).0).collect();
    assert_eq!(names, ["ObjectCreated:Put", "ObjectRemoved:Delete", "ObjectRemoved:Delete"]);
}

/// 5.3: "an event over the queue's `MaximumMessageSize` is rejected and lost".
#[tokio::test]
async fn event_that_its_queue_does_not_take_is_lost_and_later_ones_are_not() {
    let (server, client) = announcing().await;
    server.client().delete_queue().queue_url(server.queue_url("events")).send().await.unwrap();
    put(&client, "before", b"tea").await;
    server
        .client()
        .create_queue()
        .queue_name("other")
        .attributes(QueueAttributeName::MaximumMessageSize, "1024")
        .send()
        .await
        .unwrap();
    announce(&server, &rule("Queue", &queue_arn("other"), EVERYTHING, "")).await;
    put(&client, &"k".repeat(900), b"tea").await;
    put(&client, "short", b"tea").await;
    let messages = server.queue("other").expect_messages(1).await.unwrap();
    assert!(messages[0].body().contains(r#""key":"short""#), "{messages:?}");
}

#[tokio::test]
async fn event_is_retried_while_a_fault_makes_sqs_unavailable() {
    let (server, client) = announcing().await;
    let throttle = server.faults().inject(Fault::throttle().on(Action::SendMessage).times(3));
    put(&client, "retried", b"tea").await;
    assert_eq!(key(&events(&server, 1).await[0]), "retried");
    assert_eq!(throttle.hits(), 3);
}

#[tokio::test]
async fn reset_of_a_temporary_directory_removes_rules() {
    let (server, client) = announcing().await;
    server.reset();
    server.client().create_queue().queue_name("events").send().await.unwrap();
    put(&client, "a", b"tea").await;
    server.queue("events").expect_none(std::time::Duration::from_millis(50)).await.unwrap();
}

#[tokio::test]
async fn rules_survive_a_restart_and_a_reset_with_the_same_directory() {
    let directory = Directory::new("events");
    let start = || async {
        let server = MockSqs::builder().s3(S3::in_dir(&directory.0)).start().await.unwrap();
        server.client().create_queue().queue_name("events").send().await.unwrap();
        server
    };
    let first = start().await;
    announce(&first, &rule("Queue", &queue_arn("events"), EVERYTHING, "")).await;
    first.reset();
    first.client().create_queue().queue_name("events").send().await.unwrap();
    put(&client(&first), "a", b"tea").await;
    events(&first, 1).await;
    first.shutdown().await;
    let second = start().await;
    put(&client(&second), "b", b"tea").await;
    assert_eq!(key(&events(&second, 1).await[0]), "b");
}

#[cfg(feature = "durable")]
#[tokio::test]
async fn shutdown_delivers_the_remaining_events() {
    let directory = tempfile::tempdir().unwrap();
    let start = || MockSqs::builder().data_dir(directory.path()).s3(S3::temporary()).start();
    let server = start().await.unwrap();
    server.client().create_queue().queue_name("events").send().await.unwrap();
    announce(&server, &rule("Queue", &queue_arn("events"), EVERYTHING, "")).await;
    for number in 0..20 {
        server.s3().put(BUCKET, &format!("{number}"), "tea").await.unwrap();
    }
    server.shutdown().await;
    assert_eq!(start().await.unwrap().queue("events").messages().len(), 20);
}
