//! Topics and recorded requests in Rust.

use std::time::Duration;

use sqs_client::types::MessageAttributeValue;
use sqs_mock_server::MockSqsBuilder;
use sqs_mock_server::inspect::PublishedMessage;

use super::*;

/// Text and notes of the messages of a topic.
fn published(server: &MockSqs, topic: &str) -> Vec<(String, usize)> {
    let all = server.topic(topic).published();
    all.iter().map(|message| (message.message.clone(), message.notes.len())).collect()
}

#[tokio::test]
async fn view_shows_whether_a_topic_exists_and_its_subscriptions() {
    let mut sns = Sns::start().await;
    assert!(!sns.server.topic("a").exists());
    assert!(sns.server.topic("a").subscriptions().is_empty());
    let topic = sns.topic("a", &[]).await;
    assert!(sns.server.topic("a").exists());
    assert_eq!(sns.server.topic("a").arn().to_string(), topic);
    assert!(!sns.server.topic("a").in_region("eu-west-1").exists());
    assert!(!sns.server.topic("a").of_account("111122223333").exists());

    let policy = r#"{"kind":["hot"]}"#;
    let dead = format!(r#"{{"deadLetterTargetArn":"{}"}}"#, queue_arn("dead"));
    let attributes = [RAW, ("FilterPolicy", policy), ("RedrivePolicy", &dead)];
    let arn = sns.subscribe_queue(&topic, "q", &attributes).await;
    sns.subscribe(&topic, ("https", "https://shop.test/"), &[]).await;
    let subscriptions = sns.server.topic("a").subscriptions();
    let [https, queue] = subscriptions.as_slice() else { panic!("{subscriptions:?}") };
    assert_eq!((&*https.protocol, &*https.endpoint), ("https", "https://shop.test/"));
    assert_eq!((https.raw, https.confirmed, &https.filter_policy), (false, false, &None));
    assert_eq!((&queue.arn, &*queue.protocol, queue.endpoint.clone()), (&arn, "sqs", queue_arn("q")));
    assert_eq!((queue.raw, queue.confirmed), (true, true));
    assert_eq!(queue.filter_policy.as_deref(), Some(policy));
    assert_eq!(queue.filter_policy_scope.as_deref(), Some("MessageAttributes"));
    assert_eq!(queue.dead_letter_queue.as_ref().map(ToString::to_string), Some(queue_arn("dead")));
}

#[tokio::test]
async fn published_messages_have_all_their_parts() {
    let mut sns = Sns::start().await;
    let (topic, fifo) = (sns.topic("a", &[]).await, sns.fifo_topic("b.fifo").await);
    let message = [
        ("TopicArn", &*topic),
        ("Message", "tea"),
        ("Subject", "news"),
        ("MessageGroupId", "g"),
        ("MessageAttributes.entry.1.Name", "kind"),
        ("MessageAttributes.entry.1.Value.DataType", "String"),
        ("MessageAttributes.entry.1.Value.StringValue", "green"),
    ];
    let id = sns.ask("Publish", &message).await.value("MessageId");
    let all = sns.server.topic("a").published();
    let [tea] = all.as_slice() else { panic!("{all:?}") };
    let PublishedMessage { message, subject, group, deduplication_id, sequence_number, .. } = &**tea;
    assert_eq!((message.as_str(), subject.as_deref(), group.as_deref()), ("tea", Some("news"), Some("g")));
    assert_eq!((deduplication_id, sequence_number), (&None, &None));
    assert_eq!((tea.id.to_string(), tea.topic.to_string()), (id, topic));
    assert_eq!(tea.attributes["kind"].string_value(), Some("green"));

    let message = [("TopicArn", &*fifo), ("Message", "Test"), ("MessageGroupId", "g")];
    let number = sns.ask("Publish", &message).await.value("SequenceNumber");
    sns.ask("Publish", &message).await;
    let all = sns.server.topic("b.fifo").published();
    assert_eq!(all.len(), 1, "the second one is a duplicate");
    assert_eq!(all[0].sequence_number.map(|number| number.to_string()), Some(number));
    assert!(all[0].deduplication_id.as_deref().is_some_and(|id| id.starts_with("532eaabd")));
    sns.ask("DeleteTopic", &[("TopicArn", &fifo)]).await;
    assert_eq!(sns.server.topic("b.fifo").published().len(), 1);
}

#[tokio::test]
async fn published_messages_of_a_batch_have_their_own_notes() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe(&topic, ("sms", "+15555550100"), &[("FilterPolicy", r#"{"to":["phone"]}"#)]).await;
    let batch = [
        ("TopicArn", &*topic),
        ("PublishBatchRequestEntries.member.1.Id", "1"),
        ("PublishBatchRequestEntries.member.1.Message", "tea"),
        ("PublishBatchRequestEntries.member.2.Id", "2"),
        ("PublishBatchRequestEntries.member.2.Message", "milk"),
        ("PublishBatchRequestEntries.member.2.MessageAttributes.entry.1.Name", "to"),
        ("PublishBatchRequestEntries.member.2.MessageAttributes.entry.1.Value.DataType", "String"),
        ("PublishBatchRequestEntries.member.2.MessageAttributes.entry.1.Value.StringValue", "phone"),
    ];
    sns.ask("PublishBatch", &batch).await;
    assert_eq!(published(&sns.server, "a"), [("tea".to_owned(), 0), ("milk".to_owned(), 1)]);
    let note = &sns.server.topic("a").published()[1].notes[0];
    assert_eq!(note, "sms to +15555550100 is recorded, not sent");
}

#[tokio::test]
async fn journal_limits_the_published_messages() {
    for (capacity, expected) in [(0, &[][..]), (1, &["milk"])] {
        let mut sns = Sns::with(MockSqs::builder().journal(capacity)).await;
        let topic = sns.topic("a", &[]).await;
        for text in ["tea", "milk"] {
            sns.publish(&topic, text).await;
        }
        let all = sns.server.topic("a").published();
        assert_eq!(all.iter().map(|message| &*message.message).collect::<Vec<_>>(), expected);
    }
}

#[tokio::test]
async fn requests_to_sns_and_sts_are_visible_in_rust() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    sns.call("Publish", &[("TopicArn", &topic), ("Message", "")]).await;
    let headers = format!("{FORM}{}", scope("sts", "eu-west-1"));
    sns.wire.exchange("POST /", &headers, b"Action=GetCallerIdentity&Version=2011-06-15").await;

    let requests = sns.server.sns_requests();
    let [create, publish] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(
        (&*create.action, create.status, &*create.parameters["Name"]),
        ("CreateTopic", Some(200), "a")
    );
    assert_eq!(create.topic.as_ref(), Some(sns.server.topic("a").arn()));
    assert_eq!((&*publish.action, publish.status), ("Publish", Some(400)));
    assert_eq!(publish.error.as_deref(), Some("InvalidParameter"));
    assert_eq!((publish.account.as_deref(), publish.region.as_deref()), (Some(ACCOUNT), Some("us-east-1")));
    let requests = sns.server.sts_requests();
    assert_eq!(requests.len(), 1);
    assert_eq!((&*requests[0].action, requests[0].number), ("GetCallerIdentity", 3));
    assert_eq!((&requests[0].topic, requests[0].region.as_deref()), (&None, Some("eu-west-1")));
    assert!(sns.server.requests().is_empty(), "they are those to SQS");
}

#[tokio::test]
async fn requests_can_be_narrowed_down_to_a_topic_over_http() {
    let mut sns = Sns::start().await;
    for name in ["a", "b"] {
        let topic = sns.topic(name, &[]).await;
        sns.publish(&topic, "tea").await;
    }
    let headers = format!("{FORM}{}", scope("sts", "us-east-1"));
    sns.wire.exchange("POST /", &headers, b"Action=GetCallerIdentity").await;
    for (query, total) in
        [("topic=b", 2), ("topic=b&action=Publish", 1), ("service=sns", 4), ("service=sts", 1)]
    {
        let found = sns.wire.get(&format!("/_mock/requests?{query}")).await.content(200);
        assert_eq!(found["total"], total, "{query}");
    }
}

#[tokio::test]
async fn reset_removes_topics_and_published_messages() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    sns.publish(&topic, "tea").await;
    sns.server.reset();
    assert!(!sns.server.topic("a").exists());
    assert!(sns.server.topic("a").published().is_empty() && sns.server.sns_requests().is_empty());
    let (status, code, _) = sns.refusal("Publish", &[("TopicArn", &topic), ("Message", "tea")]).await;
    assert_eq!((status, &*code), (404, "NotFound"));
}

#[tokio::test]
async fn seed_repeats_the_ids_of_topics() {
    let mut ids = Vec::new();
    for seed in [7, 7, 8] {
        let mut sns = Sns::with(MockSqs::builder().seed(seed)).await;
        let topic = sns.topic("a", &[]).await;
        let subscription = sns.subscribe_queue(&topic, "q", &[]).await;
        ids.push((subscription, sns.publish(&topic, "tea").await));
    }
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
}

#[tokio::test]
async fn clock_of_the_server_is_that_of_topics() {
    let mut sns = Sns::with(frozen()).await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe(&topic, ("email", "a@b.test"), &[]).await;
    sns.server.clock().advance(Duration::from_secs(47 * 3_600));
    sns.publish(&topic, "tea").await;
    assert_eq!(sns.server.topic("a").published()[0].time, sns.server.clock().now());
    assert_eq!(sns.server.topic("a").subscriptions().len(), 1);
    sns.server.clock().advance(Duration::from_secs(3_600));
    assert!(sns.server.topic("a").subscriptions().is_empty(), "nobody confirmed it within two days");
}

fn frozen() -> MockSqsBuilder {
    MockSqs::builder().clock_frozen()
}

#[tokio::test]
async fn pages_of_published_messages_have_what_is_new_up_to_a_size() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    for text in ["x".repeat(100), "y".repeat(100), "z".repeat(100)] {
        sns.publish(&topic, &text).await;
    }
    let mut page = async |parameters: &str| {
        let page = sns.wire.get(&format!("/_mock/topics/a/published?{parameters}")).await.content(200);
        let numbers = page["messages"].as_array().unwrap().iter().map(|message| message["number"].as_u64());
        (numbers.map(Option::unwrap).collect::<Vec<_>>(), page["latest"].as_u64().unwrap())
    };
    assert_eq!(page("").await, (vec![1, 2, 3], 3));
    assert_eq!(page("after=1").await, (vec![2, 3], 3));
    assert_eq!(page("after=3").await, (vec![], 3));
    assert_eq!(page("bytes=250").await, (vec![2, 3], 3));
    assert_eq!(page("bytes=1").await, (vec![3], 3), "the latest in any case");
    let shown = sns.wire.get("/_mock/topics/a").await.content(200);
    assert_eq!((&shown["arn"], &shown["published"]), (&topic.into(), &3.into()));
    assert!(sns.wire.get("/_mock/topics/b").await.error(404).starts_with("there is no topic"));
}

#[tokio::test]
async fn test_publishes_without_an_sdk() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe_queue(&topic, "q", &[RAW, ("FilterPolicy", r#"{"kind":["hot"]}"#)]).await;
    let view = sns.server.topic("a");
    let hot = view
        .publish("soup")
        .subject("lunch")
        .message_attributes("kind", MessageAttributeValue::string("hot"));
    let id = hot.send().await.unwrap();
    view.publish("ice").send().await.unwrap();
    let published = view.published();
    assert_eq!(published.iter().map(|one| &*one.message).collect::<Vec<_>>(), ["soup", "ice"]);
    assert_eq!((published[0].id, published[0].subject.as_deref()), (id, Some("lunch")));
    let messages = sns.server.queue("q").messages();
    let [soup] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(
        (soup.body(), soup.message_attribute("kind"), soup.message_attribute("x")),
        ("soup", Some("hot"), None)
    );

    let fifo = sns.fifo_topic("b.fifo").await;
    sns.subscribe_queue(&fifo, "q.fifo", &[RAW]).await;
    let view = sns.server.topic("b.fifo");
    let tea = || view.publish("tea").message_group_id("g").message_deduplication_id("1");
    assert_eq!(tea().send().await.unwrap(), tea().send().await.unwrap(), "the second one is a duplicate");
    assert_eq!(sns.server.queue("q.fifo").bodies(), ["tea"]);

    let kind = |refused: std::io::Result<_>| refused.unwrap_err().kind();
    assert_eq!(kind(view.publish("tea").send().await), std::io::ErrorKind::InvalidInput);
    let absent = sns.server.topic("c").publish("tea").send().await.unwrap_err();
    assert_eq!(absent.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(absent.to_string(), "arn:aws:sns:us-east-1:000000000000:c: NotFound: Topic does not exist");
}
