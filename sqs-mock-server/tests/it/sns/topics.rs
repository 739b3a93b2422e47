//! Sections 2.1 to 2.3 and 2.10: topics, their attributes, tags and permissions.

use super::*;

/// 2.1: "`NotFound` 404 Topic does not exist"; `DeleteTopic` is "200, also for a topic that never existed".
#[tokio::test]
async fn unknown_topics_are_not_found() {
    let mut sns = Sns::start().await;
    let arn = topic_arn("none");
    let topic = ("TopicArn", &*arn);
    for (action, parameters) in [
        ("GetTopicAttributes", vec![topic]),
        ("SetTopicAttributes", vec![topic, ("AttributeName", "DisplayName")]),
        ("Subscribe", vec![topic, ("Protocol", "sqs"), ("Endpoint", "no ARN")]),
        ("ListSubscriptionsByTopic", vec![topic]),
        ("Publish", vec![topic, ("Message", "")]),
        ("PublishBatch", vec![topic]),
        ("RemovePermission", vec![topic, ("Label", "l")]),
    ] {
        assert_eq!(sns.refusal(action, &parameters).await, not_found("Topic"), "{action}");
    }
    sns.ask("DeleteTopic", &[topic]).await;
    let not_tagged = sns.refusal("ListTagsForResource", &[("ResourceArn", &arn)]).await;
    assert_eq!(not_tagged, (404, "ResourceNotFound".to_owned(), "Resource does not exist".to_owned()));
}

/// 2.1: "topic ARN of another region than the endpoint".
#[tokio::test]
async fn topics_of_another_region_are_refused() {
    let mut sns = Sns::start().await;
    let arn = sns.topic("a", &[]).await;
    sns.region = "eu-west-1";
    assert_eq!(sns.refusal("GetTopicAttributes", &[("TopicArn", &arn)]).await, refused("TopicArn"));
    assert_eq!(sns.refusal("Publish", &[("TopicArn", &arn), ("Message", "m")]).await, refused("TopicArn"));
    assert_eq!(sns.topic("a", &[]).await, "arn:aws:sns:eu-west-1:000000000000:a");
}

/// 2.2.
#[tokio::test]
async fn create_topic_is_idempotent_for_the_same_attributes_and_tags() {
    let mut sns = Sns::start().await;
    let arn = sns.topic("a", &[("DisplayName", "A")]).await;
    assert_eq!(sns.topic("a", &[]).await, arn);
    assert_eq!(sns.topic("a", &[("DisplayName", "A")]).await, arn);
    let other = [("Name", "a"), ("Attributes.entry.1.key", "DisplayName"), ("Attributes.entry.1.value", "B")];
    assert_eq!(
        sns.refusal("CreateTopic", &other).await,
        refused("Attributes Reason: Topic already exists with different attributes")
    );
    let other = [("Name", "a"), ("Tags.member.1.Key", "k"), ("Tags.member.1.Value", "v")];
    assert_eq!(
        sns.refusal("CreateTopic", &other).await,
        refused("Tags Reason: Topic already exists with different tags")
    );
    assert_eq!(sns.refusal("CreateTopic", &[("Name", "a.fifo")]).await, refused("Topic Name"));
    sns.ask("DeleteTopic", &[("TopicArn", &arn)]).await;
    sns.ask("CreateTopic", &other).await;
}

#[tokio::test]
async fn attributes_are_returned_as_set() {
    let mut sns = Sns::start().await;
    let arn = sns.topic("a", &[]).await;
    let set = [("TopicArn", &*arn), ("AttributeName", "DisplayName"), ("AttributeValue", "<A> & B")];
    sns.ask("SetTopicAttributes", &set).await;
    let shown = sns.ask("GetTopicAttributes", &[("TopicArn", &arn)]).await.entries();
    assert_eq!((&*shown["DisplayName"], &*shown["Owner"], &*shown["TopicArn"]), ("<A> & B", ACCOUNT, &*arn));
    let set = [("TopicArn", &*arn), ("AttributeName", "FifoTopic"), ("AttributeValue", "true")];
    assert_eq!(sns.refusal("SetTopicAttributes", &set).await, refused("AttributeName"));
}

/// 2.10.
#[tokio::test]
async fn tags_are_added_replaced_and_removed() {
    let mut sns = Sns::start().await;
    let arn = sns.topic("a", &[]).await;
    let tags = |pairs: [[&'static str; 2]; 2]| {
        let [[a, b], [c, d]] = pairs;
        [
            ("Tags.member.1.Key", a),
            ("Tags.member.1.Value", b),
            ("Tags.member.2.Key", c),
            ("Tags.member.2.Value", d),
        ]
    };
    let resource = ("ResourceArn", &*arn);
    sns.ask("TagResource", &[&[resource][..], &tags([["a", "1"], ["b", "2"]])].concat()).await;
    sns.ask("TagResource", &[&[resource][..], &tags([["b", "3"], ["c", ""]])].concat()).await;
    let twice = [&[resource][..], &tags([["d", "1"], ["d", "2"]])].concat();
    assert_eq!(sns.refusal("TagResource", &twice).await, refused("Duplicated keys are not allowed."));
    sns.ask("UntagResource", &[resource, ("TagKeys.member.1", "a")]).await;
    let listed = sns.ask("ListTagsForResource", &[resource]).await;
    let expected =
        "<Tags><member><Key>b</Key><Value>3</Value></member><member><Key>c</Key><Value/></member></Tags>";
    assert!(listed.text().contains(expected), "{}", listed.text());
}

/// 2.10: "`AddPermission` appends".
#[tokio::test]
async fn permissions_are_statements_of_the_policy() {
    let mut sns = Sns::start().await;
    let arn = sns.topic("a", &[]).await;
    let topic = ("TopicArn", &*arn);
    let permission = [
        topic,
        ("Label", "l"),
        ("AWSAccountId.member.1", "111122223333"),
        ("ActionName.member.1", "Publish"),
    ];
    let policy =
        |answer: Answer| serde_json::from_str::<serde_json::Value>(&answer.entries()["Policy"]).unwrap();
    sns.ask("AddPermission", &permission).await;
    let shown = policy(sns.ask("GetTopicAttributes", &[topic]).await);
    let expected = serde_json::json!({
        "Sid": "l", "Effect": "Allow", "Principal": { "AWS": "arn:aws:iam::111122223333:root" },
        "Action": "SNS:Publish", "Resource": arn
    });
    assert_eq!(shown["Statement"][1], expected);
    assert_eq!(sns.refusal("AddPermission", &permission).await, refused("Statement already exists"));
    let other =
        [&permission[..1], &[("Label", "m")], &permission[2..3], &[("ActionName.member.1", "Coffee")]];
    assert_eq!(
        sns.refusal("AddPermission", &other.concat()).await,
        refused("Policy statement action out of service scope!")
    );
    sns.ask("RemovePermission", &[topic, ("Label", "l")]).await;
    let shown = policy(sns.ask("GetTopicAttributes", &[topic]).await);
    assert_eq!(shown["Statement"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn reset_removes_topics() {
    let mut sns = Sns::start().await;
    let arn = sns.topic("a", &[]).await;
    sns.server.reset();
    assert_eq!(sns.refusal("GetTopicAttributes", &[("TopicArn", &arn)]).await, not_found("Topic"));
}

/// Not of AWS: attributes of 256 KiB for each of 100,000 subscriptions would be 25 GiB.
#[tokio::test]
async fn attributes_count_in_the_memory_limit_until_they_are_removed() {
    let mut limits = sqs_mock_server::Limits::default();
    limits.max_memory = 64 << 10;
    let mut sns = Sns::with(MockSqs::builder().limits(limits)).await;
    let topic = sns.topic("a", &[]).await;
    let subscription = sns.subscribe(&topic, ("sqs", &queue_arn("q")), &[]).await;
    let long = format!(r#"{{"a":["{}"]}}"#, "x".repeat(20 << 10));
    let set = |value| {
        [
            ("SubscriptionArn", subscription.as_str()),
            ("AttributeName", "FilterPolicy"),
            ("AttributeValue", value),
        ]
    };
    sns.ask("SetSubscriptionAttributes", &set(&long)).await;
    let over = |answer: (u16, String, String)| {
        assert_eq!((answer.0, &*answer.1), (403, "OverLimit"));
        assert!(answer.2.contains("--max-memory"), "{}", answer.2);
    };
    let tags = [("ResourceArn", &*topic), ("Tags.member.1.Key", "k"), ("Tags.member.1.Value", "v")];
    sns.ask("TagResource", &tags).await;
    let twice = format!(r#"{{"a":["{}"]}}"#, "x".repeat(40 << 10));
    over(sns.refusal("SetSubscriptionAttributes", &set(&twice)).await);
    let shown = sns.ask("GetSubscriptionAttributes", &[("SubscriptionArn", &subscription)]).await.entries();
    assert_eq!(shown["FilterPolicy"], long, "the old policy stays");
    let attributes = attributes(&[("FilterPolicy", &long)]);
    let mut again =
        vec![("TopicArn", &*topic), ("Protocol", "sqs"), ("Endpoint", "arn:aws:sqs:us-east-1:0:r")];
    again.extend(attributes.iter().map(|(name, value)| (name.as_str(), *value)));
    over(sns.refusal("Subscribe", &again).await);
    let display = "x".repeat(30 << 10);
    let role =
        [("TopicArn", &*topic), ("AttributeName", "SQSSuccessFeedbackRoleArn"), ("AttributeValue", &display)];
    over(sns.refusal("SetTopicAttributes", &role).await);

    sns.ask("Unsubscribe", &[("SubscriptionArn", &subscription)]).await;
    sns.ask("SetTopicAttributes", &role).await;
    sns.ask("DeleteTopic", &[("TopicArn", &topic)]).await;
    let metrics = sns.wire.get("/metrics").await;
    assert!(metrics.text().contains("\nsqs_mock_stored_bytes 0\n"), "{}", metrics.text());
}

#[tokio::test]
async fn topics_are_created_on_first_use_if_asked() {
    let mut sns = Sns::with(MockSqs::builder().auto_create()).await;
    sns.ask("DeleteTopic", &[("TopicArn", &topic_arn("a"))]).await;
    assert!(!sns.server.topic("a").exists());
    sns.subscribe_queue(&topic_arn("a"), "q", &[RAW]).await;
    sns.ask("Publish", &[("TopicArn", &topic_arn("a")), ("Message", "tea")]).await;
    assert_eq!(sns.server.queue("q").bodies(), ["tea"]);
    sns.server.topic("b").publish("milk").send().await.unwrap();
    assert_eq!(sns.server.topic("b").published()[0].message, "milk");
    let fifo = topic_arn("c.fifo");
    assert_eq!(sns.refusal("GetTopicAttributes", &[("TopicArn", &fifo)]).await, not_found("Topic"));
    let ids = [("MessageGroupId", "g"), ("MessageDeduplicationId", "1")];
    sns.ask("Publish", &[&[("TopicArn", &*fifo), ("Message", "tea")][..], &ids].concat()).await;
    let attributes = sns.ask("GetTopicAttributes", &[("TopicArn", &fifo)]).await;
    assert!(attributes.text().contains("<key>FifoTopic</key><value>true</value>"), "{}", attributes.text());
    let (status, code, _) =
        sns.refusal("Publish", &[("TopicArn", &topic_arn("a b")), ("Message", "tea")]).await;
    assert_eq!((status, &*code), (400, "InvalidParameter"));
}
