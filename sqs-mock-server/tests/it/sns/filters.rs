//! Filter policies of subscriptions, over HTTP. The cases of section 4.8 are tested without it.

use super::{RAW, Sns, queue_arn, refused};

/// The attribute of a subscription with a filter policy.
fn filter(policy: &str) -> (&str, &str) {
    ("FilterPolicy", policy)
}

/// Case 1 of 4.8.
#[tokio::test]
async fn attributes_decide_which_queues_get_a_message() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe_queue(&topic, "cheap", &[RAW, filter(r#"{"price":[{"numeric":[">",0,"<=",100]}]}"#)]).await;
    sns.subscribe_queue(&topic, "all", &[RAW]).await;
    for (message, price) in [("soup", "99.12"), ("cake", "111")] {
        let name = "MessageAttributes.entry.1";
        let attribute = [(".Name", "price"), (".Value.DataType", "Number"), (".Value.StringValue", price)]
            .map(|(member, value)| (format!("{name}{member}"), value));
        let mut parameters = vec![("TopicArn", &*topic), ("Message", message)];
        parameters.extend(attribute.iter().map(|(member, value)| (member.as_str(), *value)));
        sns.ask("Publish", &parameters).await;
    }
    sns.publish(&topic, "no price").await;
    assert_eq!(sns.bodies("cheap").await, ["soup"]);
    assert_eq!(sns.bodies("all").await.len(), 3);
}

/// Case 10 of 4.8.
#[tokio::test]
async fn body_decides_in_its_scope_and_text_never_matches() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let scope = ("FilterPolicyScope", "MessageBody");
    let policy = filter(r#"{"headers":{"route-to":["queue1"]}}"#);
    sns.subscribe_queue(&topic, "queue1", &[RAW, scope, policy]).await;
    let matching = r#"{"headers":{"route-to":["queue1","queue2"]}}"#;
    for message in [matching, r#"{"headers":{"route-to":["queue3"]}}"#, "queue1"] {
        sns.publish(&topic, message).await;
    }
    assert_eq!(sns.bodies("queue1").await, [matching]);
}

#[tokio::test]
async fn removed_policy_lets_every_message_pass() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let arn = sns.subscribe_queue(&topic, "q", &[RAW, filter(r#"{"kind":["green"]}"#)]).await;
    sns.publish(&topic, "before").await;
    let set = [("SubscriptionArn", &*arn), ("AttributeName", "FilterPolicy"), ("AttributeValue", "")];
    sns.ask("SetSubscriptionAttributes", &set).await;
    sns.publish(&topic, "after").await;
    assert_eq!(sns.bodies("q").await, ["after"]);
}

/// 4.6, with the prefixes of 2.5.
#[tokio::test]
async fn invalid_policy_is_refused_in_the_words_of_aws() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let queue = queue_arn("q");
    let subscribe = [
        ("TopicArn", &*topic),
        ("Protocol", "sqs"),
        ("Endpoint", &*queue),
        ("Attributes.entry.1.key", "FilterPolicy"),
        ("Attributes.entry.1.value", r#"{"key":[]}"#),
    ];
    let text = "FilterPolicy: Empty arrays are not allowed";
    assert_eq!(sns.refusal("Subscribe", &subscribe).await, refused(&format!("Attributes Reason: {text}")));
}
