//! Topics survive a restart.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use sqs_client::operation::Action;
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::faults::Fault;
use sqs_mock_server::{MockSqs, MockSqsBuilder};

use super::file;
use crate::sns::{RAW, Sns, not_found, queue_arn, topic_arn};

fn builder(directory: &Path) -> MockSqsBuilder {
    MockSqs::builder().data_dir(directory)
}

async fn stop(sns: Sns) {
    drop(sns.wire);
    sns.server.shutdown().await;
}

async fn restarted(sns: Sns, directory: &Path) -> Sns {
    stop(sns).await;
    Sns::with(builder(directory)).await
}

/// What the reading actions show of a topic and a subscription.
async fn shown(sns: &mut Sns, topic: &str, subscription: &str) -> [String; 4] {
    let asked = [
        ("GetTopicAttributes", "TopicArn", topic),
        ("ListTagsForResource", "ResourceArn", topic),
        ("ListSubscriptionsByTopic", "TopicArn", topic),
        ("GetSubscriptionAttributes", "SubscriptionArn", subscription),
    ];
    let mut shown = asked.map(|_| String::new());
    for (shown, (action, name, arn)) in shown.iter_mut().zip(asked) {
        let answer = sns.ask(action, &[(name, arn)]).await;
        let (result, _request_id) = answer.text().split_once("<ResponseMetadata>").unwrap();
        result.clone_into(shown);
    }
    shown
}

#[tokio::test]
async fn settings_and_subscriptions_survive_a_restart_and_still_deliver() {
    let directory = tempfile::tempdir().unwrap();
    let mut sns = Sns::with(builder(directory.path())).await;
    let topic = sns.topic("orders", &[("DisplayName", "Orders")]).await;
    let named = ("TopicArn", &*topic);
    let permission = [
        named,
        ("Label", "all"),
        ("AWSAccountId.member.1", "111111111111"),
        ("ActionName.member.1", "Publish"),
    ];
    sns.ask("AddPermission", &permission).await;
    let tag = [("ResourceArn", &*topic), ("Tags.member.1.Key", "team"), ("Tags.member.1.Value", "kitchen")];
    sns.ask("TagResource", &tag).await;
    let filter = ("FilterPolicy", r#"{"kind":["hot"]}"#);
    let subscription = sns.subscribe_queue(&topic, "kitchen", &[RAW, filter]).await;
    let other = sns.subscribe_queue(&topic, "other", &[]).await;
    sns.ask("Unsubscribe", &[("SubscriptionArn", &other)]).await;
    sns.queue("dead").await;
    let dead = format!(r#"{{"deadLetterTargetArn":"{}"}}"#, queue_arn("dead"));
    let missing = queue_arn("missing");
    sns.subscribe(&topic, ("sqs", &missing), &[RAW, ("RedrivePolicy", &dead)]).await;
    let before = shown(&mut sns, &topic, &subscription).await;
    assert!(before[0].contains("<key>SubscriptionsDeleted</key><value>1</value>"), "{}", before[0]);

    let mut sns = restarted(sns, directory.path()).await;
    assert_eq!(shown(&mut sns, &topic, &subscription).await, before);
    let attribute = [
        ("MessageAttributes.entry.1.Name", "kind"),
        ("MessageAttributes.entry.1.Value.DataType", "String"),
        ("MessageAttributes.entry.1.Value.StringValue", "hot"),
    ];
    sns.ask("Publish", &[&[named, ("Message", "soup")][..], &attribute].concat()).await;
    sns.publish(&topic, "ice").await;
    assert_eq!(sns.bodies("kitchen").await, ["soup"]);
    assert_eq!(sns.bodies("dead").await, ["soup", "ice"]);
    assert!(sns.bodies("other").await.is_empty());
}

/// The token of the only pending subscription, from the recorded request.
async fn token(sns: &mut Sns) -> String {
    let records = sns.wire.get("/_mock/requests?action=Subscribe").await.content(200);
    let note = records["requests"][0]["warnings"][0].as_str().expect("a note with the link").to_owned();
    note.split_once("Token=").expect("a token").1.to_owned()
}

#[tokio::test]
async fn pending_subscription_is_confirmed_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let mut sns = Sns::with(builder(directory.path())).await;
    let topic = sns.topic("orders", &[]).await;
    sns.subscribe(&topic, ("http", "http://a.test/"), &[]).await;
    let token = token(&mut sns).await;

    let mut sns = restarted(sns, directory.path()).await;
    let confirm = [("TopicArn", &*topic), ("Token", &*token)];
    let arn = sns.ask("ConfirmSubscription", &confirm).await.value("SubscriptionArn");
    let mut sns = restarted(sns, directory.path()).await;
    let shown = sns.ask("GetSubscriptionAttributes", &[("SubscriptionArn", &arn)]).await.entries();
    assert_eq!((&*shown["PendingConfirmation"], &*shown["ConfirmationWasAuthenticated"]), ("false", "true"));
    assert_eq!(sns.ask("ConfirmSubscription", &confirm).await.value("SubscriptionArn"), arn);
}

#[tokio::test]
async fn fifo_topic_deduplicates_across_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let mut sns = Sns::with(builder(directory.path()).clock_frozen()).await;
    let topic = sns.fifo_topic("orders.fifo").await;
    sns.subscribe_queue(&topic, "jobs.fifo", &[RAW]).await;
    let publish = async |sns: &mut Sns, text: &str| {
        let answer =
            sns.ask("Publish", &[("TopicArn", &*topic), ("MessageGroupId", "g"), ("Message", text)]).await;
        (answer.value("MessageId"), answer.value("SequenceNumber"))
    };
    let tea = publish(&mut sns, "tea").await;
    sns.server.clock().advance(Duration::from_secs(299));
    let soup = publish(&mut sns, "soup").await;

    let mut sns = restarted(sns, directory.path()).await;
    assert_eq!(publish(&mut sns, "soup").await, soup);
    let cake = publish(&mut sns, "cake").await;
    assert!(tea.1 < soup.1 && soup.1 < cake.1, "{tea:?} {soup:?} {cake:?}");
    assert_eq!(sns.bodies("jobs.fifo").await, ["tea", "soup", "cake"]);
    sns.server.clock().advance(Duration::from_secs(1));
    let later = publish(&mut sns, "tea").await;
    assert!(later.0 != tea.0 && later.1 > cake.1, "{later:?} {cake:?}");
    sns.server.clock().advance(Duration::from_mins(10));

    let mut sns = restarted(sns, directory.path()).await;
    let last = publish(&mut sns, "last").await;
    assert!(last.1 > later.1, "no id is known, and numbers go on: {last:?} {later:?}");
}

#[tokio::test]
async fn deleted_topic_stays_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let mut sns = Sns::with(builder(directory.path())).await;
    for name in ["gone", "again"] {
        let topic = sns.topic(name, &[]).await;
        sns.subscribe_queue(&topic, "q", &[]).await;
        sns.ask("DeleteTopic", &[("TopicArn", &topic)]).await;
    }
    let again = sns.topic("again", &[]).await;

    let mut sns = restarted(sns, directory.path()).await;
    assert_eq!(sns.ask("ListTopics", &[]).await.values("TopicArn"), [&*again]);
    let refusal = sns.refusal("Publish", &[("TopicArn", &topic_arn("gone")), ("Message", "tea")]).await;
    assert_eq!(refusal, not_found("Topic"));
    sns.publish(&again, "tea").await;
    assert!(sns.bodies("q").await.is_empty(), "the new topic has no subscription");
}

#[tokio::test]
async fn reset_removes_topics() {
    let directory = tempfile::tempdir().unwrap();
    let mut sns = Sns::with(builder(directory.path())).await;
    let topic = sns.topic("gone", &[]).await;
    sns.subscribe_queue(&topic, "q", &[]).await;
    sns.server.reset();
    let later = sns.topic("later", &[]).await;

    let mut sns = restarted(sns, directory.path()).await;
    assert_eq!(sns.ask("ListTopics", &[]).await.values("TopicArn"), [later]);
}

#[tokio::test]
async fn ids_and_tokens_of_a_fixed_seed_do_not_repeat() {
    let directory = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    for round in 0..3 {
        let mut sns = Sns::with(builder(directory.path()).seed(7)).await;
        let topic = sns.topic("orders", &[]).await;
        sns.subscribe(&topic, ("http", &format!("http://{round}.test/")), &[]).await;
        seen.push(token(&mut sns).await);
        seen.push(sns.publish(&topic, "tea").await);
        let answer = sns.ask("ListTopics", &[]).await;
        seen.push(answer.value("RequestId"));
        stop(sns).await;
    }
    let distinct: std::collections::HashSet<_> = seen.iter().collect();
    assert_eq!(distinct.len(), seen.len(), "{seen:?}");
}

#[tokio::test]
async fn file_of_the_second_version_is_restored() {
    let directory = tempfile::tempdir().unwrap();
    let connection = Connection::open(file(&directory)).unwrap();
    connection.execute_batch(include_str!("version_2.sql")).unwrap();
    let query = "SELECT token FROM subscription WHERE state = 'pending'";
    let token: String = connection.query_row(query, [], |row| row.get(0)).unwrap();
    connection.close().unwrap();

    let mut sns = Sns::with(builder(directory.path())).await;
    let (orders, jobs) = (topic_arn("orders"), topic_arn("jobs.fifo"));
    let topic = [("TopicArn", &*orders)];
    let shown = sns.ask("GetTopicAttributes", &topic).await.entries();
    let counts = ["Pending", "Confirmed", "Deleted"].map(|count| &*shown[&format!("Subscriptions{count}")]);
    assert_eq!((counts, &*shown["DisplayName"]), (["1", "2", "1"], "Orders"));
    assert!(shown["Policy"].contains("111111111111"), "{shown:?}");
    sns.ask("ConfirmSubscription", &[topic[0], ("Token", &token)]).await;
    let mut subscribed = sns.ask("ListSubscriptionsByTopic", &topic).await.values("Endpoint");
    subscribed.sort();
    assert_eq!(subscribed, [&queue_arn("kitchen"), "cook@example.com", "http://kitchen.test/"]);

    let parameters = [("TopicArn", &*jobs), ("MessageGroupId", "a"), ("Message", "again")];
    let answer = sns.ask("Publish", &[&parameters[..], &[("MessageDeduplicationId", "2")]].concat()).await;
    assert_eq!(answer.value("MessageId"), "77e46be5-988a-4395-a749-f6490b96017c");
    let answer = sns.ask("Publish", &[&parameters[..], &[("MessageDeduplicationId", "3")]].concat()).await;
    assert_eq!(answer.value("SequenceNumber"), "10000000000000000003");
    assert_eq!(sns.bodies("jobs.fifo").await, ["job 1", "job 2", "again"]);
}

/// ARNs in the file of a server that knew no partitions.
const WITHOUT_PARTITION: &str = r#"
UPDATE message SET source = 'arn:aws:sqs:us-gov-west-1:000000000000:kitchen' WHERE body = 'job 1';
UPDATE queue SET attributes = json_set(attributes, '$.RedrivePolicy',
    '{"deadLetterTargetArn":"arn:aws:sqs:us-gov-west-1:000000000000:dead","maxReceiveCount":3}') WHERE name = 'kitchen';
INSERT INTO queue SELECT 3, region, account, 'dead', 0, created, modified, NULL, NULL, 7,
    json_remove(attributes, '$.RedrivePolicy'), deduplication_scope, tags, 0 FROM queue WHERE name = 'kitchen';
UPDATE subscription SET attributes = json_set(attributes, '$.RedrivePolicy',
    '{"deadLetterTargetArn":"arn:aws:sqs:us-gov-west-1:000000000000:dead"}') WHERE protocol = 'sqs' AND topic = 1;
INSERT INTO move_task VALUES (1, x'1CC9ECF332FF467BBFAC25C36721A4F8', 'arn:aws:sqs:us-gov-west-1:000000000000:dead',
    'arn:aws:sqs:us-gov-west-1:000000000000:kitchen', NULL, 0, 0, 1795464695946, 'COMPLETED', NULL);
INSERT INTO waiting_delivery VALUES (1, NULL, NULL, 'arn:aws:sqs:us-gov-west-1:000000000000:kitchen',
    'arn:aws:sqs:us-gov-west-1:000000000000:dead', 'sns.amazonaws.com', 'arn:aws:sns:us-gov-west-1:000000000000:orders',
    '000000000000', 'sns', NULL, NULL, NULL, 0, NULL, 'late soup');
"#;

#[tokio::test]
async fn arns_of_a_file_without_partitions_get_that_of_their_region() {
    let directory = tempfile::tempdir().unwrap();
    let connection = Connection::open(file(&directory)).unwrap();
    let earlier = include_str!("version_2.sql").replace("us-east-1", "us-gov-west-1");
    connection.execute_batch(&earlier).unwrap();
    connection.execute_batch(WITHOUT_PARTITION).unwrap();
    connection.close().unwrap();

    let server = builder(directory.path()).region("us-gov-west-1").start().await.unwrap();
    let dead = "arn:aws-us-gov:sqs:us-gov-west-1:000000000000:dead";
    server.queue("kitchen").expect_messages(1).await.unwrap();
    assert_eq!(server.queue("kitchen").bodies(), ["late soup"]);
    let (client, name) = (server.client(), QueueAttributeName::RedrivePolicy);
    let get = client.get_queue_attributes().queue_url(server.queue_url("kitchen"));
    let attributes = get.attribute_names(name.clone()).send().await.unwrap().attributes.unwrap();
    assert!(attributes[&name].contains(dead), "{attributes:?}");
    let tasks = client.list_message_move_tasks().source_arn(dead).send().await.unwrap().results.unwrap();
    assert_eq!(tasks.len(), 1);
    server.shutdown().await;

    let stored = "SELECT group_concat(text) FROM (SELECT source AS text FROM message UNION ALL SELECT source FROM move_task \
                  UNION ALL SELECT endpoint || attributes FROM subscription UNION ALL SELECT attributes FROM queue \
                  UNION ALL SELECT attributes FROM topic)";
    let connection = Connection::open(file(&directory)).unwrap();
    let stored: String = connection.query_row(stored, [], |row| row.get(0)).unwrap();
    assert!(!stored.contains("arn:aws:s") && stored.matches("arn:aws-us-gov:s").count() > 6, "{stored}");
}

/// A delivery that waits for a retry is neither lost nor doubled by a restart, and keeps its place in its group.
#[tokio::test]
async fn deliveries_that_wait_for_a_retry_survive() {
    let directory = tempfile::tempdir().unwrap();
    let outage = || Fault::error(ErrorCode::ServiceUnavailable).on(Action::SendMessage).queue("q.fifo");
    let start = |fault: Option<Fault>| {
        let builder = MockSqs::builder().data_dir(directory.path()).clock_frozen();
        Sns::with(fault.into_iter().fold(builder, MockSqsBuilder::fault))
    };
    let mut sns = start(Some(outage())).await;
    let topic = sns.fifo_topic("a.fifo").await;
    sns.subscribe_queue(&topic, "q.fifo", &[RAW]).await;
    for text in ["1", "2"] {
        sns.publish_to_group(&topic, "g", text).await;
    }
    stop(sns).await;
    let sns = start(Some(outage())).await;
    assert!(sns.bodies("q.fifo").await.is_empty());
    stop(sns).await;
    let mut sns = start(None).await;
    sns.publish_to_group(&topic, "g", "3").await;
    sns.server.queue("q.fifo").expect_messages(3).await.unwrap();
    assert_eq!(sns.bodies("q.fifo").await, ["1", "2", "3"]);
    stop(sns).await;
    let sns = start(None).await;
    assert_eq!(sns.server.queue("q.fifo").bodies(), ["1", "2", "3"], "a delivery that ended is not repeated");
}

#[tokio::test]
async fn protection_of_a_subscription_survives_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let mut sns = Sns::with(builder(directory.path())).await;
    let topic = sns.topic("orders", &[]).await;
    sns.subscribe(&topic, ("http", "http://a.test/"), &[]).await;
    let token = token(&mut sns).await;
    let confirm = [("TopicArn", &*topic), ("Token", &*token), ("AuthenticateOnUnsubscribe", "true")];
    let arn = sns.ask("ConfirmSubscription", &confirm).await.value("SubscriptionArn");
    let mut sns = restarted(sns, directory.path()).await;
    let unsigned = sns.wire.get(&format!("/?Action=Unsubscribe&SubscriptionArn={arn}")).await;
    assert_eq!((unsigned.status, &*unsigned.value("Code")), (403, "AuthorizationError"));
}
