//! Verification of leftover messages, and the output of failing tests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use sqs_client::Client;
use sqs_mock_server::inspect::LeftoverKind;
use sqs_mock_server::{MockSqs, Verification};

async fn create(client: &Client, name: &str, policy: Option<&str>) -> String {
    let create = client.create_queue().queue_name(name);
    let attributes = policy.map(|policy| [("RedrivePolicy".into(), policy.to_owned())].into());
    create.set_attributes(attributes).send().await.unwrap().queue_url.unwrap()
}

async fn send(client: &Client, url: &str, body: &str) {
    client.send_message().queue_url(url).message_body(body).send().await.unwrap();
}

async fn receive(client: &Client, url: &str) {
    client.receive_message().queue_url(url).send().await.unwrap();
}

/// One message in flight, one in the dead-letter queue, one not received.
async fn untidy(server: &MockSqs) {
    let client = server.client();
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":1}"#;
    create(&client, "dead", None).await;
    let letters = create(&client, "letters", Some(policy)).await;
    let orders = create(&client, "orders", None).await;
    send(&client, &letters, "dead letter").await;
    receive(&client, &letters).await;
    server.clock().advance(std::time::Duration::from_secs(30));
    receive(&client, &letters).await;
    send(&client, &orders, "in flight").await;
    receive(&client, &orders).await;
    send(&client, &orders, "not received").await;
}

#[tokio::test]
async fn leftovers_are_reported_by_queue_and_kind() {
    let server = MockSqs::builder().clock_frozen().in_process().unwrap();
    server.verify().unwrap();
    untidy(&server).await;
    let leftovers = server.verify().unwrap_err();
    let kinds: Vec<_> = leftovers.all().iter().map(|left| (&*left.queue.name, left.kind)).collect();
    let expected = [
        ("dead", LeftoverKind::DeadLetters),
        ("orders", LeftoverKind::InFlight),
        ("orders", LeftoverKind::Undelivered),
    ];
    assert_eq!(kinds, expected);
    let text = format!("{leftovers:?}");
    assert!(text.contains("arn:aws:sqs:us-east-1:000000000000:dead: 1 dead letters\n"), "{text}");
    assert!(text.contains("orders: 1 received, but not deleted\n"), "{text}");
    assert!(text.contains("\"not received\"  visible  0         -      "), "{text}");
}

#[tokio::test]
async fn drop_panics_on_leftover_messages_unless_they_are_allowed() {
    let tolerant = [
        Verification::default().allow_dead_letters().allow_in_flight().allow_undelivered(),
        Verification::default().ignore_queue("orders").ignore_queue("dead"),
    ];
    for rules in tolerant {
        let server = MockSqs::builder().verify_on_drop(rules).clock_frozen().in_process().unwrap();
        untidy(&server).await;
        drop(server);
    }
    let strict = [
        (Verification::default().allow_in_flight().allow_undelivered(), "1 dead letters"),
        (Verification::default().allow_dead_letters().allow_undelivered(), "1 received, but not deleted"),
        (Verification::default().allow_dead_letters().allow_in_flight(), "1 not received"),
    ];
    for (rules, part) in strict {
        let server = MockSqs::builder().verify_on_drop(rules).clock_frozen().in_process().unwrap();
        untidy(&server).await;
        let panic = catch_unwind(AssertUnwindSafe(|| drop(server))).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.starts_with("sqs-mock-server: messages are left in the queues\n"), "{text}");
        assert!(text.contains(part) && text.lines().count() == 4, "{text}");
    }
}

#[tokio::test]
async fn shutdown_verifies_leftovers() {
    let server = MockSqs::builder().verify_on_drop(Verification::default()).start().await.unwrap();
    let client = server.client();
    let url = create(&client, "q", None).await;
    send(&client, &url, "x").await;
    let stopped = tokio::spawn(server.shutdown()).await;
    assert!(stopped.unwrap_err().is_panic());
}

#[tokio::test]
async fn drop_during_a_panic_does_not_panic_again() {
    let server = MockSqs::builder().verify_on_drop(Verification::default()).in_process().unwrap();
    let client = server.client();
    let url = create(&client, "q", None).await;
    send(&client, &url, "x").await;
    let panic = catch_unwind(AssertUnwindSafe(move || {
        let _server = server;
        panic!("the test itself");
    }));
    assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"the test itself"));
}

/// Does nothing unless the next test runs it in its own process.
#[tokio::test]
async fn failing_test_for_the_next_test() {
    if std::env::var_os("FAIL_WITH_A_SERVER").is_some() {
        let server = MockSqs::builder().seed(0xbeef).in_process().unwrap();
        create(&server.client(), "orders", None).await;
        panic!("on purpose");
    }
}

#[test]
fn failing_test_prints_seed_and_latest_requests() {
    let name = "verification::failing_test_for_the_next_test";
    let mut test = Command::new(std::env::current_exe().unwrap());
    let output = test.args(["--exact", name, "--nocapture"]).env("FAIL_WITH_A_SERVER", "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    let seed = "sqs-mock-server: seed 0xbeef; repeat with MockSqs::builder().seed(0xbeef)\n";
    assert!(text.contains(seed), "{text}");
    assert!(text.contains("CreateQueue  orders  200"), "{text}");
}

#[tokio::test]
async fn seed_repeats_a_run() {
    let first = MockSqs::in_process();
    let second = MockSqs::builder().seed(first.seed()).in_process().unwrap();
    let mut ids = Vec::new();
    for server in [&first, &second] {
        let client = server.client();
        let url = create(&client, "q", None).await;
        let sent = client.send_message().queue_url(url).message_body("x").send().await.unwrap();
        ids.push(sent.message_id.unwrap());
    }
    assert_eq!(ids[0], ids[1]);
}
