//! Section 3: what subscribed queues get.

use serde_json::Value;
use sqs_client::types::MessageSystemAttributeName as Name;
use sqs_mock_server::Policies;

use super::*;

/// 3.1.
#[tokio::test]
async fn queue_gets_the_message_in_an_envelope() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let subscription = sns.subscribe_queue(&topic, "q", &[]).await;
    let message = [
        ("TopicArn", &*topic),
        ("Message", "{\"k\": \"ä\"}"),
        ("Subject", "news"),
        ("MessageAttributes.entry.1.Name", "kind"),
        ("MessageAttributes.entry.1.Value.DataType", "String.label"),
        ("MessageAttributes.entry.1.Value.StringValue", "green"),
    ];
    let id = sns.ask("Publish", &message).await.value("MessageId");
    let received = sns.receive("q").await.remove(0);
    assert_eq!(received.message_attributes, None, "attributes are only inside the envelope");
    let envelope: Value = serde_json::from_str(received.body().unwrap()).unwrap();
    for (name, value) in [
        ("Type", "Notification"),
        ("MessageId", &*id),
        ("TopicArn", &topic),
        ("Subject", "news"),
        ("Message", "{\"k\": \"ä\"}"),
        ("SignatureVersion", "1"),
    ] {
        assert_eq!(envelope[name], value, "{name}");
    }
    let kind = serde_json::json!({ "kind": { "Type": "String.label", "Value": "green" } });
    assert_eq!(envelope["MessageAttributes"], kind);
    let url = envelope["UnsubscribeURL"].as_str().unwrap();
    assert!(url.ends_with(&format!("/?Action=Unsubscribe&SubscriptionArn={subscription}")), "{url}");
    let target = url.strip_prefix(sns.server.endpoint_url()).expect("a URL of this server").to_owned();
    assert_eq!(sns.wire.get(&target).await.status, 200);
    assert_eq!(sns.refusal("GetSubscriptionAttributes", &[("SubscriptionArn", &subscription)]).await.0, 404);
}

/// No parser of XML reads a control character.
#[tokio::test]
async fn query_answers_replace_characters_that_xml_cannot_write() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe_queue(&topic, "q", &[RAW]).await;
    sns.publish(&topic, "a\u{1}b\r<").await;
    let url = sns.server.queue_url("q");
    let path = url.strip_prefix(sns.server.endpoint_url()).unwrap();
    let answer = sns.wire.get(&format!("{path}?Action=ReceiveMessage")).await;
    assert!(answer.text().contains("<Body>a\u{FFFD}b&#xD;&lt;</Body>"), "{}", answer.text());
}

/// 3.2, with the MD5 of a recording.
#[tokio::test]
async fn raw_delivery_keeps_text_and_attributes() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe_queue(&topic, "q", &[RAW]).await;
    let message = [
        ("TopicArn", &*topic),
        ("Message", "tea"),
        ("Subject", "lost"),
        ("MessageGroupId", "g"),
        ("MessageAttributes.entry.1.Name", "attr1"),
        ("MessageAttributes.entry.1.Value.DataType", "Number"),
        ("MessageAttributes.entry.1.Value.StringValue", "99.12"),
    ];
    let body = form(&[&[("Action", "Publish")][..], &message].concat());
    let headers = format!("{FORM}x-amzn-trace-id: Root=1-2-3\r\n{}", scope("sns", "us-east-1"));
    assert_eq!(sns.wire.exchange("POST /", &headers, body.as_bytes()).await.status, 200);
    let received = sns.receive("q").await.remove(0);
    assert_eq!(received.body(), Some("tea"));
    assert_eq!(received.md5_of_message_attributes(), Some("d302007e9aa062660afc85fd0a482472"));
    let system = received.attributes.unwrap();
    assert_eq!((&*system[&Name::MessageGroupId], &*system[&Name::AwsTraceHeader]), ("g", "Root=1-2-3"));
    assert!(system[&Name::SenderId].ends_with(":AWS-CLOUDCAST"));
}

/// 3.4.
#[tokio::test]
async fn queue_gets_the_text_of_its_protocol() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe_queue(&topic, "q", &[RAW]).await;
    for text in [r#"{"default":"d","sqs":"s"}"#, r#"{"default":"d","http":"h","sqs":1}"#] {
        sns.ask("Publish", &[("TopicArn", &topic), ("Message", text), ("MessageStructure", "json")]).await;
    }
    let mut bodies = sns.bodies("q").await;
    bodies.sort();
    assert_eq!(bodies, ["d", "s"]);
}

#[tokio::test]
async fn every_queue_gets_one_copy() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let names: Vec<_> = (0..5).map(|number| format!("q{number}")).collect();
    for name in &names {
        sns.subscribe_queue(&topic, name, &[RAW]).await;
    }
    let other = sns.topic("b", &[]).await;
    sns.subscribe_queue(&other, "other", &[RAW]).await;
    sns.publish(&topic, "tea").await;
    for name in &names {
        assert_eq!(sns.bodies(name).await, ["tea"], "{name}");
    }
    assert!(sns.bodies("other").await.is_empty());
}

#[tokio::test]
async fn publish_wakes_a_long_poll() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe_queue(&topic, "q", &[RAW]).await;
    let receive = sns.server.client().receive_message().queue_url(sns.server.queue_url("q"));
    let poll = tokio::spawn(receive.wait_time_seconds(20).send());
    tokio::task::yield_now().await;
    sns.publish(&topic, "tea").await;
    let received = poll.await.unwrap().unwrap();
    assert_eq!(received.messages()[0].body(), Some("tea"));
}

/// 3.7: "client-side error: no retry; DLQ if there is a `RedrivePolicy`, else dropped; Publish still 200".
#[tokio::test]
async fn message_for_a_missing_queue_is_in_the_dead_letter_queue_or_noted_as_dropped() {
    let mut sns = Sns::with(MockSqs::builder().policies(Policies::Off)).await;
    let topic = sns.topic("a", &[]).await;
    sns.queue("dead").await;
    let redrive = format!(r#"{{"deadLetterTargetArn":"{}"}}"#, queue_arn("dead"));
    sns.subscribe(&topic, ("sqs", &queue_arn("gone")), &[RAW, ("RedrivePolicy", &redrive)]).await;
    sns.subscribe(&topic, ("sqs", &queue_arn("lost")), &[]).await;
    sns.subscribe(&topic, ("sms", "+41791234567"), &[]).await;
    sns.publish(&topic, "tea").await;
    assert_eq!(sns.bodies("dead").await, ["tea"]);
    let records = sns.wire.get("/_mock/requests?service=sns&action=Publish").await.content(200);
    let mut notes: Vec<_> =
        records["requests"][0]["warnings"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    notes.sort_unstable();
    let missing = "the queue does not exist";
    let expected = [
        format!("dropped for {}: {missing}", queue_arn("lost")),
        format!("moved from {} to the dead-letter queue {}: {missing}", queue_arn("gone"), queue_arn("dead")),
        "sms to +41791234567 is recorded, not sent".to_owned(),
    ];
    assert_eq!(notes, expected);
}

/// 3.2: "over 10 attributes: not delivered".
#[tokio::test]
async fn raw_message_with_eleven_attributes_is_not_delivered() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    sns.subscribe_queue(&topic, "raw", &[RAW]).await;
    sns.subscribe_queue(&topic, "enveloped", &[]).await;
    let names: Vec<_> = (1..=11)
        .flat_map(|number| {
            let entry = format!("MessageAttributes.entry.{number}");
            [
                (format!("{entry}.Name"), format!("a{number}")),
                (format!("{entry}.Value.DataType"), "String".to_owned()),
                (format!("{entry}.Value.StringValue"), "x".to_owned()),
            ]
        })
        .collect();
    let mut parameters = vec![("TopicArn", &*topic), ("Message", "tea")];
    parameters.extend(names.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    sns.ask("Publish", &parameters).await;
    assert_eq!((sns.bodies("raw").await.len(), sns.bodies("enveloped").await.len()), (0, 1));
}
