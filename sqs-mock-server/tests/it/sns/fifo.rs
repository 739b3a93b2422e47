//! Sections 3.3 and 3.6: FIFO topics.

use std::time::Duration;

use sqs_client::types::MessageSystemAttributeName as Name;

use super::*;

/// 3.3.
#[tokio::test]
async fn fifo_queue_gets_group_and_deduplication_id_and_a_standard_queue_neither() {
    let mut sns = Sns::start().await;
    let topic = sns.fifo_topic("a.fifo").await;
    sns.subscribe_queue(&topic, "q.fifo", &[RAW]).await;
    sns.subscribe_queue(&topic, "standard", &[RAW]).await;
    sns.publish_to_group(&topic, "g", "Test").await;
    let in_order = sns.receive("q.fifo").await.remove(0).attributes.unwrap();
    assert_eq!(in_order[&Name::MessageGroupId], "g");
    let expected = "532eaabd9574880dbf76b9b8cc00832c20a6ec113d682299550d7a6e0f345e25";
    assert_eq!(in_order[&Name::MessageDeduplicationId], expected);
    let standard = sns.receive("standard").await.remove(0).attributes.unwrap();
    assert!(!standard.contains_key(&Name::MessageGroupId));
    assert!(!standard.contains_key(&Name::MessageDeduplicationId));
}

/// 3.6: "duplicate Publish within 5 min: 200, nothing delivered, also for standard-queue subscribers".
#[tokio::test]
async fn duplicate_within_five_minutes_is_not_delivered() {
    let mut sns = Sns::start().await;
    let topic = sns.fifo_topic("a.fifo").await;
    sns.subscribe_queue(&topic, "q", &[RAW]).await;
    let first = sns.publish_to_group(&topic, "1", "tea").await;
    assert_eq!(sns.publish_to_group(&topic, "2", "tea").await, first, "the default scope is the whole topic");
    assert_eq!(sns.bodies("q").await, ["tea"]);
    sns.server.clock().advance(Duration::from_secs(300));
    let later = sns.publish_to_group(&topic, "1", "tea").await;
    assert!(later.1 > first.1 && later.1.len() == 20, "{later:?}");
}

/// 3.6: "order within a group is kept, the same in each of 5 queues".
#[tokio::test]
async fn order_of_a_group_is_the_same_in_all_queues() {
    let mut sns = Sns::start().await;
    let topic = sns.fifo_topic("a.fifo").await;
    let names: Vec<_> = (0..5).map(|number| format!("q{number}.fifo")).collect();
    for name in &names {
        sns.subscribe_queue(&topic, name, &[RAW]).await;
    }
    let mut sent = Vec::new();
    for number in 0..10 {
        let text = format!("message {number}");
        sns.publish_to_group(&topic, "g", &text).await;
        sent.push(text);
    }
    for name in &names {
        assert_eq!(sns.bodies(name).await, sent, "{name}");
    }
}

/// 3.1: the sequence number of the envelope is "the number that Publish answered", and there is no signature.
#[tokio::test]
async fn envelope_has_the_sequence_number_of_the_topic() {
    let mut sns = Sns::start().await;
    let topic = sns.fifo_topic("a.fifo").await;
    sns.subscribe_queue(&topic, "q.fifo", &[]).await;
    let (id, number) = sns.publish_to_group(&topic, "g", "tea").await;
    let body = sns.bodies("q.fifo").await.remove(0);
    let envelope: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&envelope["MessageId"], &envelope["SequenceNumber"]), (&id.into(), &number.into()));
    assert_eq!(envelope.get("Signature"), None);
}

/// 2.7 and 2.9.
#[tokio::test]
async fn message_without_group_or_deduplication_id_is_refused() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a.fifo", &[("FifoTopic", "true")]).await;
    let message = [("TopicArn", &*topic), ("Message", "m")];
    assert_eq!(
        sns.refusal("Publish", &message).await,
        refused("The MessageGroupId parameter is required for FIFO topics")
    );
    let grouped = [&message[..], &[("MessageGroupId", "g")]].concat();
    assert_eq!(
        sns.refusal("Publish", &grouped).await,
        refused(
            "The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided \
             explicitly"
        )
    );
    sns.ask("Publish", &[&grouped[..], &[("MessageDeduplicationId", "d")]].concat()).await;
}
