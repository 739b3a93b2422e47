//! Section 2.6: "Lists: 100 entries a page, no `MaxResults`, `NextToken` opaque and absent on the last page".

use super::*;

#[tokio::test]
async fn topics_are_listed_in_pages_of_100() {
    let mut sns = Sns::start().await;
    for number in 0..101 {
        sns.topic(&format!("t{number:03}"), &[]).await;
    }
    let first = sns.ask("ListTopics", &[]).await;
    let (arns, token) = (first.values("TopicArn"), first.value("NextToken"));
    assert_eq!(arns.len(), 100);
    let last = sns.ask("ListTopics", &[("NextToken", &token)]).await;
    assert_eq!((last.values("TopicArn"), last.values("NextToken")), (vec![topic_arn("t100")], vec![]));
    assert_eq!(sns.refusal("ListTopics", &[("NextToken", "?")]).await, refused("NextToken"));
    sns.region = "eu-west-1";
    assert!(sns.ask("ListTopics", &[]).await.values("TopicArn").is_empty());
}

#[tokio::test]
async fn subscriptions_are_listed_by_topic_and_by_account() {
    let mut sns = Sns::start().await;
    let (a, b) = (sns.topic("a", &[]).await, sns.topic("b", &[]).await);
    let arns = [
        sns.subscribe(&a, ("sqs", &queue_arn("q")), &[]).await,
        sns.subscribe(&b, ("sqs", &queue_arn("q")), &[]).await,
    ];
    let all = sns.ask("ListSubscriptions", &[]).await;
    assert_eq!(all.values("SubscriptionArn"), arns);
    let of_b = sns.ask("ListSubscriptionsByTopic", &[("TopicArn", &b)]).await;
    assert_eq!(of_b.values("SubscriptionArn"), arns[1..]);
    assert_eq!((of_b.value("Owner"), of_b.value("Protocol")), (ACCOUNT.to_owned(), "sqs".to_owned()));
    assert_eq!((of_b.value("Endpoint"), of_b.value("TopicArn")), (queue_arn("q"), b));
}

#[tokio::test]
async fn topics_are_listed_over_http_with_subscriptions_and_messages() {
    let mut sns = Sns::start().await;
    let arn = sns.topic("a", &[("DisplayName", "Tea")]).await;
    sns.ask(
        "TagResource",
        &[("ResourceArn", &*arn), ("Tags.member.1.Key", "team"), ("Tags.member.1.Value", "bar")],
    )
    .await;
    sns.topic("b", &[]).await;
    sns.wire.json("CreateQueue", r#"{"QueueName":"q"}"#).await;
    let queue = "arn:aws:sqs:us-east-1:000000000000:q";
    let subscribe = [("TopicArn", &*arn), ("Protocol", "sqs"), ("Endpoint", queue)];
    sns.ask("Subscribe", &subscribe).await;
    for text in ["tea", "milk"] {
        sns.ask("Publish", &[("TopicArn", &*arn), ("Message", text)]).await;
    }
    let page = sns.wire.get("/_mock/topics?limit=1").await.content(200);
    assert_eq!(
        (&page["total"], &page["next"], &page["topics"][0]["published"]),
        (&2.into(), &1.into(), &2.into())
    );
    let topic = &page["topics"][0];
    assert_eq!((&topic["attributes"]["DisplayName"], &topic["tags"]["team"]), (&"Tea".into(), &"bar".into()));
    let subscription = &topic["subscriptions"][0];
    assert_eq!((&subscription["endpoint"], &subscription["raw"]), (&queue.into(), &false.into()));
    let published = sns.wire.get("/_mock/topics/a/published?limit=1").await.content(200);
    assert_eq!((&published["messages"][0]["body"], &published["next"]), (&"milk".into(), &1.into()));
    let error = sns.wire.get("/_mock/topics/c/published").await.error(404);
    assert!(error.starts_with("there is no topic arn:aws:sns:us-east-1:000000000000:c;"), "{error}");
}
