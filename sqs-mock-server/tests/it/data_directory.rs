//! Data directories: what is restored, and files that cannot be used.

mod disk;
mod files;
mod topics;

use std::path::Path;
use std::time::Duration;

use sqs_client::types::QueueAttributeName;
use sqs_mock_server::MockSqs;

use crate::command_line::run;

async fn start(directory: &Path) -> MockSqs {
    MockSqs::builder().data_dir(directory).start().await.unwrap()
}

async fn refused(directory: &Path) -> String {
    MockSqs::builder().data_dir(directory).start().await.unwrap_err().to_string()
}

/// A directory with a queue that has 50 messages.
async fn filled() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let server = start(directory.path()).await;
    let client = server.client();
    let url = client.create_queue().queue_name("orders").send().await.unwrap().queue_url.unwrap();
    for number in 0..50 {
        let body = format!("{number} {}", "x".repeat(1_000));
        client.send_message().queue_url(&url).message_body(body).send().await.unwrap();
    }
    server.shutdown().await;
    directory
}

fn file(directory: &tempfile::TempDir) -> std::path::PathBuf {
    directory.path().join("sqs.db")
}

#[tokio::test]
async fn queues_messages_tags_and_clock_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let server = start(directory.path()).await;
    let client = server.client();
    let create = client.create_queue().queue_name("orders").tags("team", "kitchen");
    let url =
        create.attributes(QueueAttributeName::DelaySeconds, "7").send().await.unwrap().queue_url.unwrap();
    client.send_message().queue_url(&url).message_body("soup").delay_seconds(0).send().await.unwrap();
    server.clock().advance(Duration::from_hours(1));
    server.clock().freeze();
    let now = server.clock().now();
    server.shutdown().await;

    let server = start(directory.path()).await;
    let client = server.client();
    assert_eq!((server.clock().now(), server.clock().is_frozen()), (now, true));
    assert_eq!(server.queue("orders").bodies(), ["soup"]);
    let attributes = client.get_queue_attributes().queue_url(server.queue_url("orders"));
    let attributes = attributes.attribute_names(QueueAttributeName::DelaySeconds).send().await.unwrap();
    assert_eq!(attributes.attributes.unwrap()[&QueueAttributeName::DelaySeconds], "7");
    let tags = client.list_queue_tags().queue_url(server.queue_url("orders")).send().await.unwrap();
    assert_eq!(tags.tags.unwrap()["team"], "kitchen");
}

#[tokio::test]
async fn frozen_clock_stays_frozen_until_a_start_resumes_it() {
    let directory = tempfile::tempdir().unwrap();
    for (setting, is_frozen) in
        [("clock_frozen = true", true), ("", true), ("clock_frozen = false", false), ("", false)]
    {
        let builder = sqs_mock_server::MockSqsBuilder::from_toml(setting).unwrap();
        let server = builder.data_dir(directory.path()).in_process().unwrap();
        assert_eq!(server.clock().is_frozen(), is_frozen, "{setting}");
        server.shutdown().await;
    }
}

#[tokio::test]
async fn deleted_queue_stays_deleted_and_with_the_rule_blocks_its_name() {
    let directory = filled().await;
    let server = start(directory.path()).await;
    server.client().delete_queue().queue_url(server.queue_url("orders")).send().await.unwrap();
    server.shutdown().await;

    let server = MockSqs::builder().data_dir(directory.path()).one_minute_rules(true).start().await.unwrap();
    assert!(!server.queue("orders").exists());
    let error = server.client().create_queue().queue_name("orders").send().await.unwrap_err();
    assert!(error.is_queue_deleted_recently(), "{error}");
    server.clock().advance(Duration::from_mins(1));
    server.client().create_queue().queue_name("orders").send().await.unwrap();
    assert_eq!(server.queue("orders").counts().unwrap().available, 0);
}

#[tokio::test]
async fn reset_clears_the_directory() {
    let directory = filled().await;
    let server = start(directory.path()).await;
    server.reset();
    server.client().create_queue().queue_name("later").send().await.unwrap();
    server.shutdown().await;

    let server = start(directory.path()).await;
    assert_eq!((server.queue("orders").exists(), server.queue("later").exists()), (false, true));
    server.client().create_queue().queue_name("orders").send().await.unwrap();
}

#[tokio::test]
async fn configured_queue_keeps_the_values_that_a_client_has_set() {
    let directory = tempfile::tempdir().unwrap();
    let config = |delay| {
        format!(
            "[[queues]]\nname = \"orders\"\ndelay = \"{delay}s\"\ndead_letter_queue = \"dead\"\n\
             max_receive_count = 3\n[[queues]]\nname = \"dead\"\n"
        )
    };
    let start = |delay| {
        sqs_mock_server::MockSqsBuilder::from_toml(&config(delay)).unwrap().data_dir(directory.path()).start()
    };
    let server = start(5).await.unwrap();
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":7}"#;
    let set = server.client().set_queue_attributes().queue_url(server.queue_url("orders"));
    let set = set.attributes(QueueAttributeName::RedrivePolicy, policy);
    set.attributes(QueueAttributeName::DelaySeconds, "9").send().await.unwrap();
    server.shutdown().await;
    for delay in [5, 6] {
        let server = start(delay).await.unwrap();
        let attributes = server.queue("orders").describe().unwrap().attributes;
        assert_eq!(attributes[&QueueAttributeName::DelaySeconds], "9");
        assert_eq!(attributes[&QueueAttributeName::RedrivePolicy], policy);
        server.shutdown().await;
    }
}

#[tokio::test]
async fn configured_queue_stays_without_the_redrive_policy_that_a_client_has_removed() {
    let directory = tempfile::tempdir().unwrap();
    // One queue before its dead-letter queue, and one after it.
    let queue =
        |name| format!("[[queues]]\nname = '{name}'\ndead_letter_queue = 'dead'\nmax_receive_count = 3\n");
    let config = format!("{}[[queues]]\nname = 'dead'\n{}", queue("before"), queue("after"));
    let start =
        || sqs_mock_server::MockSqsBuilder::from_toml(&config).unwrap().data_dir(directory.path()).start();
    let has_policy = |server: &MockSqs, name| {
        let attributes = server.queue(name).describe().unwrap().attributes;
        attributes.contains_key(&QueueAttributeName::RedrivePolicy)
    };
    let server = start().await.unwrap();
    for name in ["before", "after"] {
        assert!(has_policy(&server, name), "{name}");
        let remove = server.client().set_queue_attributes().queue_url(server.queue_url(name));
        remove.attributes(QueueAttributeName::RedrivePolicy, "").send().await.unwrap();
    }
    server.shutdown().await;
    let server = start().await.unwrap();
    assert!(!has_policy(&server, "before") && !has_policy(&server, "after"));
}

#[tokio::test]
async fn configured_queue_that_was_deleted_is_created_again() {
    let directory = tempfile::tempdir().unwrap();
    let config = "clock_frozen = true\n[[queues]]\nname = \"orders\"\ndead_letter_queue = \"dead\"\nmax_receive_count = 3\n\
                  [[queues]]\nname = \"dead\"\n";
    let start =
        || sqs_mock_server::MockSqsBuilder::from_toml(config).unwrap().data_dir(directory.path()).start();
    let server = start().await.unwrap();
    server.client().delete_queue().queue_url(server.queue_url("orders")).send().await.unwrap();
    server.shutdown().await;

    let server = start().await.unwrap();
    assert!(server.queue("orders").exists() && server.clock().is_frozen());
    server.shutdown().await;
    start().await.unwrap();
}

#[tokio::test]
async fn largest_policy_is_restored() {
    let directory = tempfile::tempdir().unwrap();
    let policy = |length| {
        let sid = "s".repeat(length);
        format!(r#"{{"Statement":[{{"Sid":"{sid}","Effect":"Allow","Principal":"*","Action":"SQS:*"}}]}}"#)
    };
    let limit = sqs_client::wire::limits::MAX_POLICY_BYTES;
    let policy = policy(limit - policy(0).len());
    let server = start(directory.path()).await;
    let create = server.client().create_queue().queue_name("orders");
    create.attributes(QueueAttributeName::Policy, &policy).send().await.unwrap();
    server.shutdown().await;
    assert!(start(directory.path()).await.queue("orders").exists());
}

#[tokio::test]
async fn move_tasks_with_a_fixed_seed_and_a_frozen_clock_keep_their_order() {
    let directory = tempfile::tempdir().unwrap();
    let start = || MockSqs::builder().seed(7).clock_frozen().data_dir(directory.path()).start();
    for round in 1..=3 {
        let server = start().await.unwrap();
        let client = server.client();
        let arn = server.queue("dead").arn().to_string();
        if round == 1 {
            client.create_queue().queue_name("dead").send().await.unwrap();
            let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":1}}"#);
            let create = client.create_queue().queue_name("orders");
            create.attributes(QueueAttributeName::RedrivePolicy, policy).send().await.unwrap();
        }
        let task = client.start_message_move_task().source_arn(&arn).send().await.unwrap();
        assert!(task.task_handle.is_some());
        let list = || client.list_message_move_tasks().source_arn(&arn).max_results(10).send();
        while list().await.unwrap().results()[0].status() != Some("COMPLETED") {
            tokio::task::yield_now().await;
        }
        assert_eq!(list().await.unwrap().results().len(), round);
        server.shutdown().await;
    }
}

#[test]
fn durability_without_a_directory_is_refused() {
    let output = run(&["--durability", "power"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("--durability requires --data"), "{error}");
}
