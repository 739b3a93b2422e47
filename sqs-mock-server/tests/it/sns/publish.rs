//! Sections 2.7 to 2.9: publishing.

use super::*;

/// 2.7.
#[tokio::test]
async fn invalid_messages_get_the_errors_of_aws() {
    let mut sns = Sns::start().await;
    let arn = sns.topic("a", &[]).await;
    let topic = ("TopicArn", &*arn);
    for (parameters, text) in [
        (vec![("Message", "")], "Empty message"),
        (vec![("Message", "m"), ("Subject", "")], "Subject"),
        (
            vec![("Message", "x"), ("MessageStructure", "json")],
            "Message Structure - JSON message body failed to parse",
        ),
        (
            vec![("Message", "{}"), ("MessageStructure", "json")],
            "Message Structure - No default entry in JSON message body",
        ),
    ] {
        assert_eq!(sns.refusal("Publish", &[&[topic][..], &parameters].concat()).await, refused(text));
    }
    let endpoint = "arn:aws:sns:us-east-1:000000000000:endpoint/GCM/app/id";
    assert_eq!(
        sns.refusal("Publish", &[("TargetArn", endpoint), ("Message", "m")]).await,
        refused("TargetArn Reason: No endpoint found for the target arn specified")
    );
    sns.ask("Publish", &[("TargetArn", &arn), ("Message", "m")]).await;
    sns.ask("Publish", &[("PhoneNumber", "+41791234567"), ("Message", "m")]).await;
}

/// 2.8.
#[tokio::test]
async fn invalid_attributes_get_the_errors_of_aws() {
    let mut sns = Sns::start().await;
    let arn = sns.topic("a", &[]).await;
    let common = [("TopicArn", &*arn), ("Message", "m"), ("MessageAttributes.entry.1.Name", "attr1")];
    let data_type = ("MessageAttributes.entry.1.Value.DataType", "String");
    let empty = sns.refusal("Publish", &[&common[..], &[data_type]].concat()).await;
    let text = "The message attribute 'attr1' must contain non-empty message attribute value for message attribute \
                type 'String'.";
    assert_eq!(empty, (400, "ParameterValueInvalid".to_owned(), text.to_owned()));
    let untyped = sns.refusal("Publish", &common).await;
    let text = "1 validation error detected: Value null at 'messageAttributes.attr1.member.dataType' failed to satisfy \
                constraint: Member must not be null";
    assert_eq!(untyped, (400, "ValidationError".to_owned(), text.to_owned()));
    let entry = [
        ("TopicArn", &*arn),
        ("PublishBatchRequestEntries.member.1.Id", "1"),
        ("PublishBatchRequestEntries.member.1.Message", "m"),
        ("PublishBatchRequestEntries.member.1.MessageAttributes.entry.1.Name", "attr1"),
    ];
    let (_, _, text) = sns.refusal("PublishBatch", &entry).await;
    let path = "'publishBatchRequestEntries.1.member.messageAttributes.attr1.member.dataType'";
    assert!(text.contains(path), "{text}");
}

/// 2.9.
#[tokio::test]
async fn batch_is_delivered_entry_by_entry() {
    let mut sns = Sns::start().await;
    let arn = sns.topic("a", &[]).await;
    sns.subscribe_queue(&arn, "q", &[("RawMessageDelivery", "true")]).await;
    let entries = [
        ("TopicArn", &*arn),
        ("PublishBatchRequestEntries.member.1.Id", "one"),
        ("PublishBatchRequestEntries.member.1.Message", "tea"),
        ("PublishBatchRequestEntries.member.2.Id", "two"),
        ("PublishBatchRequestEntries.member.2.Message", "coffee"),
    ];
    let answer = sns.ask("PublishBatch", &entries).await;
    assert_eq!(answer.values("Id"), ["one", "two"]);
    assert!(answer.text().contains("<PublishBatchResult><Failed/><Successful><member>"), "{}", answer.text());
    let mut bodies = sns.bodies("q").await;
    bodies.sort();
    assert_eq!(bodies, ["coffee", "tea"]);
    let same = [&entries[..3], &[("PublishBatchRequestEntries.member.2.Id", "one")], &entries[4..]].concat();
    let (status, code, _) = sns.refusal("PublishBatch", &same).await;
    assert_eq!((status, &*code), (400, "BatchEntryIdsNotDistinct"));
    let (status, code, _) = sns.refusal("PublishBatch", &entries[..1]).await;
    assert_eq!((status, &*code), (400, "EmptyBatchRequest"));
}
