//! Buckets and their notifications in a config file.

use sqs_mock_server::s3::S3;
use sqs_mock_server::{MockSqs, MockSqsBuilder};

use super::files::Directory;
use super::notifications::configure;
use super::{client, put};

const RULE: &str = "{ queue = 'orders', events = ['s3:ObjectCreated:*'], prefix = 'in/', suffix = '.csv' }";

fn file(notifications: &str) -> String {
    format!("[[queues]]\nname = 'orders'\n[[buckets]]\nname = 'uploads'\n{notifications}")
}

async fn start(text: &str, settings: S3) -> MockSqs {
    MockSqsBuilder::from_toml(text).unwrap().s3(settings).start().await.unwrap()
}

async fn upload(server: &MockSqs, key: &str) {
    server.s3().put("uploads", key, "tea").await.unwrap();
}

#[tokio::test]
async fn bucket_of_the_file_exists_and_announces_also_after_a_reset() {
    let server = start(&file(&format!("notifications = [{RULE}]")), S3::temporary()).await;
    assert_eq!(server.s3().buckets(), ["uploads"]);
    for _ in 0..2 {
        assert!(server.queue("orders").messages().is_empty(), "there is no test message");
        upload(&server, "in/a.txt").await;
        upload(&server, "in/a.csv").await;
        let messages = server.queue("orders").expect_messages(1).await.unwrap();
        assert!(messages[0].body().contains(r#""key":"in/a.csv""#), "{messages:?}");
        assert!(messages[0].body().contains(r#""configurationId":"uploads-1""#), "{messages:?}");
        server.reset();
    }
}

#[tokio::test]
async fn file_replaces_the_configuration_of_a_kept_bucket_only_if_it_has_one() {
    let directory = Directory::new("bucket-settings");
    let settings = || S3::in_dir(&directory.0);
    start(&file(&format!("notifications = [{RULE}]")), settings()).await.shutdown().await;
    for (notifications, count) in [("", 1), ("notifications = []", 0), ("", 0)] {
        let server = start(&file(notifications), settings()).await;
        put_csv(&server).await;
        let orders = server.queue("orders");
        match count {
            0 => orders.expect_none(std::time::Duration::from_millis(50)).await.unwrap(),
            _ => drop(orders.expect_messages(count).await.unwrap()),
        }
        server.shutdown().await;
    }
}

async fn put_csv(server: &MockSqs) {
    let client = client(server);
    client.put_object().bucket("uploads").key("in/a.csv").body(b"tea".to_vec().into()).send().await.unwrap();
}

#[tokio::test]
async fn names_are_of_the_region_and_account_of_the_server_and_arns_are_accepted() {
    let arn = "arn:aws:sqs:eu-west-1:111122223333:other";
    let text = format!(
        "region = 'eu-west-1'\naccount = '111122223333'\n[[queues]]\nname = 'other'\n{}",
        file(&format!(
            "notifications = [{RULE}, {{ queue = '{arn}', events = ['s3:ObjectRemoved:Delete'] }}, \
             {{ topic = 'later', events = ['s3:ObjectTagging:*'] }}]"
        ))
    );
    let server = start(&text, S3::temporary()).await;
    upload(&server, "in/a.csv").await;
    server.s3().delete("uploads", "in/a.csv").unwrap();
    server.queue("orders").expect_messages(1).await.unwrap();
    server.queue("other").expect_messages(1).await.unwrap();
}

#[test]
fn invalid_buckets_are_rejected_with_their_positions() {
    let rule = |rest: &str| {
        format!("[s3]\ndirectory = 'd'\n[[buckets]]\nname = 'uploads'\nnotifications = [{{ {rest} }}]")
    };
    for (text, expected) in [
        (
            "[[buckets]]\nname = 'X'".to_owned(),
            "config:2:8: buckets[0].name: \"X\" is not a valid bucket name",
        ),
        ("[[buckets]]\nnotifications = []".to_owned(), "config:1:1: buckets[0]: `name` is missing"),
        (
            rule("events = ['s3:ObjectCreated:*']"),
            "config:5:18: buckets[0].notifications[0]: a rule has either queue or topic",
        ),
        (
            rule("queue = 'q', topic = 't', events = ['s3:ObjectCreated:*']"),
            "config:5:18: buckets[0].notifications[0]: a rule has either queue or topic",
        ),
        (rule("queue = 'q'"), "config:5:18: buckets[0].notifications[0]: `events` is missing"),
        (
            rule("queue = 'q', events = []"),
            "config:5:42: buckets[0].notifications[0].events: it is empty; allowed are s3:ObjectCreated:*, ",
        ),
        (
            rule("queue = 'q', events = ['Put']"),
            "config:5:43: buckets[0].notifications[0].events[0]: \"Put\" is not an event; allowed are s3:",
        ),
        (
            rule("queue = 'a b', events = ['s3:ObjectCreated:*']"),
            "config:5:28: buckets[0].notifications[0].queue: \"a b\" is not a queue name: ",
        ),
        (
            rule("queue = 'q', event = 'x'"),
            "config:5:33: buckets[0].notifications[0].event: unknown setting; did you mean events?",
        ),
    ] {
        let error = MockSqsBuilder::from_toml(&text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
}

#[test]
fn rules_that_s3_refuses_are_rejected_when_the_server_starts() {
    let put = "events = ['s3:ObjectCreated:Put']";
    let with = |rules: &str| {
        format!("[s3]\ndirectory = 'd'\n[[buckets]]\nname = 'uploads'\nnotifications = [{rules}]")
    };
    for (text, expected) in [
        (
            with(&format!("{{ queue = 'q.fifo', {put} }}")),
            "config:5:17: buckets[0].notifications: FIFO SQS queues are not supported.",
        ),
        (
            with(&format!("{{ queue = 'q', {put} }}, {{ topic = 't', {put} }}")),
            "config:5:17: buckets[0].notifications: Configuration is ambiguously defined. ",
        ),
        (
            with(&format!("{{ queue = 'arn:aws:sqs:q', {put} }}")),
            "config:5:17: buckets[0].notifications: The ARN could not be parsed (Queue, arn:aws:sqs:q)",
        ),
        (
            "[s3]\ndirectory = 'd'\n[[buckets]]\nname = 'abc'\n[[buckets]]\nname = 'abc'".to_owned(),
            "config:6:8: buckets[1].name: duplicate bucket name; first defined at config:4:8",
        ),
        ("[[buckets]]\nname = 'abc'".to_owned(), "config:1:1: buckets[0]: S3 is off; "),
    ] {
        let error = MockSqsBuilder::from_toml(&text).unwrap().in_process().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
}

#[tokio::test]
async fn rules_of_requests_replace_those_of_the_file() {
    let server =
        start(&file(&format!("notifications = [{RULE}]")).replace("uploads", "payloads"), S3::temporary())
            .await;
    assert!(configure(&server, "", "").await.starts_with("HTTP/1.1 200"));
    put(&client(&server), "in/a.csv", b"tea").await;
    server.queue("orders").expect_none(std::time::Duration::from_millis(50)).await.unwrap();
}
