//! Topics and subscriptions of a config file.

use std::io;

use sqs_mock_server::inspect::SubscriptionDescription;

use super::*;

fn server(text: &str) -> io::Result<MockSqs> {
    MockSqsBuilder::from_toml(text)?.in_process()
}

fn refusal(text: &str) -> String {
    server(text).expect_err("an error").to_string()
}

fn only_subscription(server: &MockSqs, topic: &str) -> SubscriptionDescription {
    let mut all = server.topic(topic).subscriptions();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

const SHOP: &str = "[[queues]]\nname = 'orders'\n[[topics]]\nname = 'shop'\n";

#[test]
fn example_of_the_guide_works() {
    let page = include_str!("../../../docs/topics.md");
    let example =
        page.split_once("```toml\n").and_then(|(_, from)| from.split_once("```")).expect("an example").0;
    assert_eq!(only_subscription(&server(example).unwrap(), "orders").endpoint, queue_arn("kitchen"));
}

#[tokio::test]
async fn topics_of_a_file_have_their_attributes_and_tags() {
    let text = r#"
        [[topics]]
        name = "jobs.fifo"
        display_name = "Jobs"
        content_based_deduplication = true
        fifo_throughput_scope = "MessageGroup"
        maximum_message_size = "1KiB"
        signature_version = 2
        tracing_config = "Active"
        tags = { team = "shop" }
        [[topics]]
        name = "far"
        region = "eu-west-1"
        account = "111122223333"
    "#;
    let mut sns = Sns::with(MockSqsBuilder::from_toml(text).unwrap()).await;
    let arn = topic_arn("jobs.fifo");
    let attributes = sns.ask("GetTopicAttributes", &[("TopicArn", &arn)]).await.entries();
    for (name, value) in [
        ("FifoTopic", "true"),
        ("DisplayName", "Jobs"),
        ("ContentBasedDeduplication", "true"),
        ("FifoThroughputScope", "MessageGroup"),
        ("MaximumMessageSize", "1024"),
        ("SignatureVersion", "2"),
        ("TracingConfig", "Active"),
    ] {
        assert_eq!(attributes.get(name).map(String::as_str), Some(value), "{name}");
    }
    let tags = sns.ask("ListTagsForResource", &[("ResourceArn", &arn)]).await;
    assert_eq!((tags.value("Key"), tags.value("Value")), ("team".to_owned(), "shop".to_owned()));
    assert!(sns.server.topic("far").of_account("111122223333").in_region("eu-west-1").exists());
    let topics: Vec<_> = sns.server.configured_topics().iter().map(ToString::to_string).collect();
    assert_eq!(topics, [arn, "arn:aws:sns:eu-west-1:111122223333:far".to_owned()]);
}

#[test]
fn subscriptions_of_a_file_have_their_attributes() {
    let queue = "[[subscriptions]]\ntopic = 'shop'\nqueue = 'orders'\nraw = true\nfilter_policy_scope = 'MessageBody'\n";
    for filter in [
        r#"{ kind = ["a"], "$or" = [{ x = [1] }, { y = [{ prefix = "p" }] }] }"#,
        r#"'{"kind":["a"],"$or":[{"x":[1]},{"y":[{"prefix":"p"}]}]}'"#,
    ] {
        let server =
            server(&format!("{SHOP}{queue}filter_policy = {filter}\ndead_letter_queue = 'orders'")).unwrap();
        let subscription = only_subscription(&server, "shop");
        assert_eq!((subscription.raw, subscription.confirmed), (true, true));
        assert_eq!(subscription.endpoint, queue_arn("orders"));
        assert_eq!(subscription.dead_letter_queue.as_ref(), Some(server.queue("orders").arn()));
        assert_eq!(subscription.filter_policy_scope.as_deref(), Some("MessageBody"));
        let policy: serde_json::Value = serde_json::from_str(&subscription.filter_policy.unwrap()).unwrap();
        let expected =
            serde_json::json!({ "kind": ["a"], "$or": [{ "x": [1] }, { "y": [{ "prefix": "p" }] }] });
        assert_eq!(policy, expected);
    }
}

#[test]
fn subscriptions_of_a_file_need_no_confirmation() {
    for endpoint in [
        "protocol = 'https'\nendpoint = 'https://shop.test/'",
        "protocol = 'email'\nendpoint = 'a@b.test'",
        "queue = 'arn:aws:sqs:us-east-1:111122223333:far'",
        "protocol = 'sqs'\nendpoint = 'arn:aws:sqs:us-east-1:111122223333:far'",
    ] {
        let server = server(&format!("{SHOP}[[subscriptions]]\ntopic = 'shop'\n{endpoint}")).unwrap();
        assert!(only_subscription(&server, "shop").confirmed, "{endpoint}");
    }
}

#[tokio::test]
async fn names_are_those_of_the_settings_of_the_server() {
    let text = format!("{SHOP}[[subscriptions]]\ntopic = 'shop'\nqueue = 'orders'");
    let builder = MockSqsBuilder::from_toml(&text).unwrap().region("eu-west-1").account("111122223333");
    let server = builder.in_process().unwrap();
    let endpoint = only_subscription(&server, "shop").endpoint;
    assert_eq!(endpoint, "arn:aws:sqs:eu-west-1:111122223333:orders");
}

#[tokio::test]
async fn reset_creates_the_topics_of_the_file_again() {
    let text = format!("{SHOP}[[subscriptions]]\ntopic = 'shop'\nqueue = 'orders'\nraw = true");
    let mut sns = Sns::with(MockSqsBuilder::from_toml(&text).unwrap()).await;
    sns.topic("other", &[]).await;
    sns.ask("DeleteTopic", &[("TopicArn", &topic_arn("shop"))]).await;
    sns.server.reset();
    assert!(sns.server.topic("shop").exists() && !sns.server.topic("other").exists());
    sns.publish(&topic_arn("shop"), "tea").await;
    assert_eq!(sns.server.queue("orders").bodies(), ["tea"]);
}

#[cfg(feature = "durable")]
#[tokio::test]
async fn topics_of_a_data_directory_keep_their_values() {
    let directory = tempfile::tempdir().unwrap();
    let text = format!(
        "{SHOP}display_name = 'tea'\n[[subscriptions]]\ntopic = 'shop'\nqueue = 'orders'\nraw = true\n\
         [[subscriptions]]\ntopic = 'shop'\nprotocol = 'https'\nendpoint = 'https://shop.test/'"
    );
    let start = |text: &str| MockSqsBuilder::from_toml(text).unwrap().data_dir(directory.path()).in_process();
    let mut subscriptions = Vec::new();
    for _ in 0..2 {
        let server = start(&text).unwrap();
        subscriptions.push(server.topic("shop").subscriptions());
        server.shutdown().await;
    }
    assert_eq!((subscriptions[0].len(), &subscriptions[0]), (2, &subscriptions[1]));
    let other = text.replace("'tea'", "'milk'").replace("true", "false");
    let server = start(&other).unwrap();
    assert_eq!(server.topic("shop").subscriptions(), subscriptions[0]);
    server.shutdown().await;
    // The values of the first file are those that are stored.
    assert_eq!(start(&text).unwrap().topic("shop").subscriptions(), subscriptions[0]);
}

#[test]
fn invalid_topics_and_subscriptions_are_reported_with_their_positions_all_at_once() {
    let text = refusal(
        "[[topics]]\nname = 'a b'\nsignature_version = 3\nregion = 'Mars!'\n[[topics]]\nname = 'b'\n\
         content_based_deduplication = true\nmaximum_message_size = 1\npolicy = '[]'\n[[subscriptions]]\n\
         topic = 'b'\nqueue = 'jobs.fifo'\n[[subscriptions]]\ntopic = 'b'\nqueue = 'q'\n\
         filter_policy = { a = { b = [1] } }\n[[queues]]\nname = 'q'\ndelay = 901",
    );
    let expected = [
        "config:2:8: topics[0].name: \"a b\" is not a topic name; allowed are 1 to 256 letters, digits, hyphens and \
         underscores, and .fifo at the end for a FIFO topic",
        "config:3:21: topics[0].signature_version: 3 is not allowed; allowed are 1 and 2",
        "config:4:10: topics[0].region: \"Mars!\" is not allowed; allowed are 1 to 32 of a-z, 0-9 and -, such as \
         \"eu-west-1\"",
        "config:7:31: topics[1].content_based_deduplication: only FIFO topics have this attribute; their names end in \
         .fifo",
        "config:8:24: topics[1].maximum_message_size: 1 bytes is out of range; allowed are 1024 to 1048576 bytes",
        "config:9:10: topics[1].policy: Policy Error: ",
        "config:12:9: subscriptions[0].queue: FIFO SQS Queues can not be subscribed to standard SNS topics",
        "config:16:17: subscriptions[1].filter_policy: Filter policy scope MessageAttributes does not support nested \
         filter policy",
        "config:19:9: queues[0].delay: 901 seconds is out of range; allowed are 0 to 900 whole seconds",
    ];
    assert_eq!(text.lines().count(), expected.len(), "{text}");
    for (line, expected) in text.lines().zip(expected) {
        assert!(line.starts_with(expected), "{line}\n{expected}");
    }
}

#[test]
fn invalid_endpoints_are_explained() {
    for (rest, expected) in [
        ("", "config:5:1: subscriptions[0]: requires queue, or protocol and endpoint"),
        ("protocol = 'sms'", "config:7:12: subscriptions[0].protocol: requires endpoint"),
        ("endpoint = 'x'", "config:7:12: subscriptions[0].endpoint: requires protocol"),
        (
            "queue = 'orders'\nprotocol = 'sqs'",
            "config:8:12: subscriptions[0].protocol: cannot be combined with queue",
        ),
        (
            "queue = 'orders'\nendpoint = 'x'",
            "config:8:12: subscriptions[0].endpoint: cannot be combined with queue",
        ),
        (
            "protocol = 'pigeon'\nendpoint = 'x'",
            "config:7:12: subscriptions[0].protocol: \"pigeon\" is not allowed; allowed are http, https, email, \
             email-json, sms, sqs, application, lambda, firehose",
        ),
        (
            "protocol = 'https'\nendpoint = 'shop'",
            "config:8:12: subscriptions[0].endpoint: \"shop\" is not allowed; allowed is a URL with https",
        ),
        (
            "queue = 'http://localhost/0/orders'",
            "config:7:9: subscriptions[0].queue: \"http://localhost/0/orders\" is neither the name nor the ARN of a \
             queue",
        ),
        (
            "protocol = 'lambda'\nendpoint = 'f'\nraw = true",
            "config:9:7: subscriptions[0].raw: Delivery protocol [lambda] does not support raw message delivery.",
        ),
        (
            "queue = 'orders'\nfilter_policy = 5",
            "config:8:17: subscriptions[0].filter_policy: type integer is not allowed; allowed is a table or a text with \
             JSON",
        ),
        (
            "queue = 'orders'\nfilter_policy_scope = 'Body'",
            "config:8:23: subscriptions[0].filter_policy_scope: 'Body' is not allowed; allowed is `MessageAttributes` or \
             `MessageBody`",
        ),
    ] {
        assert_eq!(refusal(&format!("{SHOP}[[subscriptions]]\ntopic = 'shop'\n{rest}")), expected);
    }
}

#[test]
fn conflicts_are_reported_with_candidates_all_at_once() {
    let text = refusal(
        "[[queues]]\nname = 'q'\ndead_letter_queue = 'x'\nmax_receive_count = 1\n[[topics]]\nname = 'a'\n[[topics]]\n\
         name = 'a'\n[[subscriptions]]\ntopic = 'b'\nqueue = 'q'\n[[subscriptions]]\ntopic = 'a'\nqueue = 'p'\n\
         dead_letter_queue = 'r'",
    );
    let place = "in region us-east-1 and account 000000000000 of this file; candidates are";
    let expected = [
        format!("config:3:21: queues[0].dead_letter_queue: there is no queue \"x\" {place} q"),
        "config:8:8: topics[1].name: duplicate topic name; first defined at config:6:8".to_owned(),
        format!("config:10:9: subscriptions[0].topic: there is no topic \"b\" {place} a"),
        format!("config:14:9: subscriptions[1].queue: there is no queue \"p\" {place} q"),
        format!("config:15:21: subscriptions[1].dead_letter_queue: there is no queue \"r\" {place} q"),
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn endpoint_that_is_subscribed_twice_is_reported() {
    let shop = format!("{SHOP}[[subscriptions]]\ntopic = 'shop'\nqueue = 'orders'\n");
    let other = format!(
        "[[subscriptions]]\ntopic = '{}'\nprotocol = 'sqs'\nendpoint = '{}'\nraw = true",
        topic_arn("shop"),
        queue_arn("orders")
    );
    let expected = format!(
        "config:9:9: subscriptions[1].topic: duplicate subscription of {} to this topic; first defined at config:6:9",
        queue_arn("orders")
    );
    assert_eq!(refusal(&(shop + &other)), expected);
}

#[test]
fn subscription_to_the_arn_of_an_unknown_topic_is_rejected() {
    let text =
        refusal(&format!("{SHOP}[[subscriptions]]\ntopic = '{}'\nqueue = 'orders'", topic_arn("none")));
    assert_eq!(text, "config:6:9: subscriptions[0].topic: Topic does not exist");
}
