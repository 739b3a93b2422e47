//! The embedded server, with `sqs-client` and without sockets.

use std::io::ErrorKind;
use std::time::Duration;

use sqs_mock_server::inspect::FindingKind;
use sqs_mock_server::{DeliveryMode, MockSqs, Verification};

#[tokio::test]
async fn client_reaches_a_server_without_a_socket() {
    let server = MockSqs::in_process();
    let client = server.client();
    let created = client.create_queue().queue_name("q").send().await.unwrap();
    assert_eq!(created.queue_url(), Some(&*server.queue_url("q")));
    let url = server.queue_url("q");
    client.send_message().queue_url(&url).message_body("x").send().await.unwrap();
    let received = client.receive_message().queue_url(&url).send().await.unwrap();
    assert_eq!(received.messages()[0].body(), Some("x"));
}

#[tokio::test]
async fn socket_and_transport_reach_the_same_queues() {
    let server = MockSqs::start().await;
    let url = server.client().create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    let listed = crate::wire::Wire::connect(&server).await.form("/", "Action=ListQueues").await;
    assert!(listed.text().contains(&url), "{}", listed.text());
}

#[tokio::test(start_paused = true)]
async fn long_poll_waits_by_the_clock() {
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    let received = client.receive_message().queue_url(&url).wait_time_seconds(20).send().await.unwrap();
    assert!(received.messages().is_empty());
}

#[tokio::test]
async fn advancing_the_clock_makes_a_message_visible_again() {
    let server = MockSqs::builder().clock_frozen().in_process().unwrap();
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    client.send_message().queue_url(&url).message_body("x").send().await.unwrap();
    let receive =
        || async { client.receive_message().queue_url(&url).send().await.unwrap().messages().len() };
    assert_eq!(receive().await, 1);
    server.clock().advance(Duration::from_secs(29));
    assert_eq!(receive().await, 0);
    server.clock().advance(Duration::from_secs(1));
    assert_eq!(receive().await, 1);
}

#[tokio::test]
async fn same_seed_produces_the_same_ids() {
    let mut ids = Vec::new();
    for _ in 0..2 {
        let server = MockSqs::builder().seed(7).in_process().unwrap();
        let client = server.client();
        let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
        let sent = client.send_message().queue_url(&url).message_body("x").send().await.unwrap();
        ids.push(sent.message_id.unwrap());
    }
    assert_eq!(ids[0], ids[1]);
}

#[tokio::test]
async fn settings_determine_account_and_region() {
    let server = MockSqs::builder().account("123456789012").region("eu-west-1").start().await.unwrap();
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    assert_eq!(url, format!("{}/123456789012/q", server.endpoint_url()));
    let attributes = client.get_queue_attributes().queue_url(&url).attribute_names("All".into());
    let attributes = attributes.send().await.unwrap().attributes.unwrap();
    assert_eq!(attributes[&"QueueArn".into()], "arn:aws:sqs:eu-west-1:123456789012:q");
}

/// Each purge and each creation after the first is refused by AWS. Returns how many succeed.
async fn repeated(server: &MockSqs) -> usize {
    let client = server.client();
    let mut succeeded = 0;
    for _ in 0..2 {
        let create = client.create_queue().queue_name("q").send().await;
        succeeded += usize::from(create.is_ok());
        let url = server.queue_url("q");
        for _ in 0..2 {
            succeeded += usize::from(client.purge_queue().queue_url(&url).send().await.is_ok());
        }
        let _ = client.delete_queue().queue_url(&url).send().await;
    }
    succeeded
}

#[tokio::test]
async fn one_minute_rules_are_off_by_default_and_what_aws_would_refuse_is_told() {
    let builder = MockSqs::builder;
    for server in [builder(), builder().one_minute_rules(false), builder().strict().one_minute_rules(false)] {
        let server = server.in_process().unwrap();
        assert_eq!(repeated(&server).await, 6);
        let text = "the request succeeded, but AWS would refuse it with AWS.SimpleQueueService.QueueDeletedRecently: You \
                    must wait 60 seconds after deleting a queue before you can create another with the same name.";
        let requests = server.requests();
        let warnings: Vec<_> =
            requests.all().iter().flat_map(|request| request.warnings().to_vec()).collect();
        assert_eq!((warnings.len(), &*warnings[1]), (3, &*format!("one_minute_rule: {text}")));
        server.verify().unwrap();

        server.client().create_queue().queue_name("q").send().await.unwrap();
        let findings: Vec<_> =
            server.findings().iter().map(|found| (found.kind, found.text.clone())).collect();
        assert_eq!(findings, [(FindingKind::OneMinuteRule, text.to_owned())], "the latest");
        let why = server.queue("q").why_empty().to_string();
        assert!(why.starts_with("the queue has no messages; at ") && why.ends_with(text), "{why}");
        server.clock().advance(Duration::from_mins(1));
        assert_eq!(server.queue("q").why_empty().to_string(), "the queue has no messages");
        server.reset();
        server.client().create_queue().queue_name("q").send().await.unwrap();
        assert_eq!(server.queue("q").why_empty().to_string(), "the queue has no messages");
    }
}

#[tokio::test]
async fn one_minute_rules_refuse_what_aws_refuses() {
    for server in [MockSqs::builder().one_minute_rules(true), MockSqs::builder().strict()] {
        let server = server.in_process().unwrap();
        assert_eq!(repeated(&server).await, 2);
        assert!(server.findings().is_empty());
    }
}

#[tokio::test]
async fn verification_can_deny_what_the_one_minute_rules_refuse() {
    let rules = Verification::default().deny_finding(FindingKind::OneMinuteRule);
    let server = MockSqs::builder().verify_on_drop(rules).in_process().unwrap();
    repeated(&server).await;
    let found = server.verify().unwrap_err();
    assert_eq!(found.findings().len(), 1);
    assert!(found.to_string().starts_with("mistakes that fail on AWS"), "{found}");
    server.reset();
}

#[tokio::test]
async fn invalid_settings_are_errors() {
    for builder in [
        MockSqs::builder().account("12"),
        MockSqs::builder().region("Mars!"),
        MockSqs::builder().public_url("sqs.test"),
    ] {
        assert_eq!(builder.clone().start().await.unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(builder.in_process().unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    let running = MockSqs::start().await;
    let port = running.endpoint_url().rsplit(':').next().unwrap().parse().unwrap();
    assert_eq!(MockSqs::builder().port(port).start().await.unwrap_err().kind(), ErrorKind::AddrInUse);
}

/// The results of short polls of 20 queues with one message each, then of long polls of the same queues.
async fn polls_of_twenty_queues(mode: DeliveryMode) -> (Vec<usize>, usize) {
    let server = MockSqs::builder().seed(7).delivery(mode).in_process().unwrap();
    let client = server.client();
    let (mut short, mut long) = (Vec::new(), 0);
    for number in 0..20 {
        let name = format!("q{number}");
        let url = client.create_queue().queue_name(name).send().await.unwrap().queue_url.unwrap();
        client.send_message().queue_url(&url).message_body("x").send().await.unwrap();
        let receive = client.receive_message().queue_url(&url).visibility_timeout(0);
        short.push(receive.clone().send().await.unwrap().messages().len());
        long += receive.wait_time_seconds(1).send().await.unwrap().messages().len();
    }
    (short, long)
}

#[tokio::test(start_paused = true)]
async fn short_polls_miss_messages_with_aws_like_delivery_and_long_polls_do_not() {
    let (short, long) = polls_of_twenty_queues(DeliveryMode::AwsLike).await;
    assert!(short.contains(&0) && short.contains(&1), "{short:?}");
    assert_eq!(long, 20);
    assert_eq!(polls_of_twenty_queues(DeliveryMode::AwsLike).await.0, short, "the same seed repeats the run");
    assert_eq!(polls_of_twenty_queues(DeliveryMode::default()).await, (vec![1; 20], 20));
}

#[tokio::test]
async fn arns_have_the_partition_of_their_region() {
    let server = MockSqs::builder().region("us-gov-west-1").account("123456789012").start().await.unwrap();
    let client = server.client();
    client.create_queue().queue_name("dead").send().await.unwrap();
    let dead = "arn:aws-us-gov:sqs:us-gov-west-1:123456789012:dead";
    let create = |dead: &str| {
        let policy = format!(r#"{{"deadLetterTargetArn":"{dead}","maxReceiveCount":"3"}}"#);
        client.create_queue().queue_name("q").attributes("RedrivePolicy".into(), policy).send()
    };
    let other = create(&dead.replace("-us-gov:", ":")).await.unwrap_err();
    assert!(other.to_string().contains("RedrivePolicy"), "{other}");
    let url = create(dead).await.unwrap().queue_url.unwrap();
    let attributes = client.get_queue_attributes().queue_url(&url).attribute_names("All".into());
    let attributes = attributes.send().await.unwrap().attributes.unwrap();
    assert_eq!(attributes[&"QueueArn".into()], dead.replace("dead", "q"));
    let add = client.add_permission().queue_url(&url).label("a").aws_account_ids("111122223333").actions("*");
    add.send().await.unwrap();
    let attributes = client.get_queue_attributes().queue_url(&url).attribute_names("Policy".into());
    let policy = attributes.send().await.unwrap().attributes.unwrap().remove(&"Policy".into()).unwrap();
    assert!(policy.contains("arn:aws-us-gov:iam::111122223333:root"), "{policy}");
}
