//! 2.11 and 3.7: web hooks as subscribers, over real HTTP.

use std::time::Duration;

use serde_json::Value;
use sqs_mock_server::inspect::{OutgoingKind, OutgoingRequest};

use super::signing::{OF_CONFIRMATION, OF_NOTIFICATION};
use super::*;
use crate::hook::{Arrived, Hook, status};

const SECOND: Duration = Duration::from_secs(1);

/// Waits until a condition holds.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(SECOND / 100).await;
    }
    panic!("{what} within 20 s");
}

impl Sns {
    /// Subscribes a web hook, and confirms that with the link in the message to it.
    async fn subscribe_hook(
        &mut self,
        topic: &str,
        hook: &Hook,
        path: &str,
        pairs: &[(&str, &str)],
    ) -> String {
        let seen = hook.arrived().len();
        self.subscribe(topic, ("http", &hook.url(path)), pairs).await;
        let asked = hook.wait_for(seen + 1).await;
        let link = asked[seen].json()["SubscribeURL"].as_str().unwrap().to_owned();
        self.follow(&link).await.value("SubscriptionArn")
    }

    /// Opens a link of this server.
    async fn follow(&mut self, link: &str) -> Answer {
        let path = link.strip_prefix(self.server.endpoint_url()).expect("a link to this server").to_owned();
        let answer = self.wire.get(&path).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer
    }

    /// A topic of a server with a frozen clock, and a confirmed web hook with a delivery policy.
    async fn with_hook(hook: &Hook, policy: &str, pairs: &[(&str, &str)]) -> (Self, String, String) {
        let mut sns = Self::with(MockSqs::builder().clock_frozen()).await;
        let topic = sns.topic("news", &[]).await;
        let pairs = [pairs, &[("DeliveryPolicy", policy)]].concat();
        let subscription = sns.subscribe_hook(&topic, hook, "/", &pairs).await;
        (sns, topic, subscription)
    }

    fn notifications(&self) -> Vec<std::sync::Arc<OutgoingRequest>> {
        let mut all = self.server.topic("news").deliveries();
        all.retain(|request| request.kind == OutgoingKind::Notification);
        all
    }

    /// Waits until this number of notifications has ended.
    async fn ended(&self, count: usize) -> Vec<std::sync::Arc<OutgoingRequest>> {
        until("the requests end", || self.notifications().len() >= count).await;
        self.notifications()
    }
}

fn notifications(arrived: &[Arrived]) -> Vec<&Arrived> {
    let is_notification = |one: &&Arrived| one.header("x-amz-sns-message-type") == "Notification";
    arrived.iter().filter(is_notification).collect()
}

/// A hook that confirms nothing by itself, and answers notifications with these statuses, the last one again and again.
async fn answering(statuses: &'static [u16]) -> Hook {
    let count = std::sync::atomic::AtomicUsize::new(0);
    Hook::answering(move |_, request| {
        let answer = if request.header("x-amz-sns-message-type") == "Notification" {
            let number = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            statuses[number.min(statuses.len() - 1)]
        } else {
            200
        };
        async move { status(answer) }
    })
    .await
}

#[tokio::test]
async fn web_hook_gets_signed_notifications_after_it_has_confirmed() {
    for version in ["1", "2"] {
        let mut sns = Sns::start().await;
        let topic = sns.topic("news", &[("SignatureVersion", version)]).await;
        let hook = Hook::start().await;
        let arn = sns.subscribe(&topic, ("http", &hook.url("/hook")), &[]).await;
        assert_eq!(arn, "pending confirmation");
        let asked = hook.wait_for(1).await;
        sns.publish(&topic, "before").await;
        let confirmation = asked[0].json();
        assert_eq!(asked[0].header("x-amz-sns-message-type"), "SubscriptionConfirmation");
        assert_eq!(asked[0].header("x-amz-sns-subscription-arn"), "");
        assert!(sns.is_verified(&confirmation, OF_CONFIRMATION).await);
        let link = confirmation["SubscribeURL"].as_str().unwrap().to_owned();
        let arn = sns.follow(&link).await.value("SubscriptionArn");
        let id = sns.publish(&topic, "tea").await;
        let arrived = hook.wait_for(2).await;
        let notification = &arrived[1];
        let headers = [
            ("x-amz-sns-message-type", "Notification"),
            ("x-amz-sns-message-id", &id),
            ("x-amz-sns-topic-arn", &topic),
            ("x-amz-sns-subscription-arn", &arn),
            ("content-type", "text/plain; charset=UTF-8"),
            ("user-agent", "Amazon Simple Notification Service Agent"),
            ("x-amz-sns-rawdelivery", ""),
        ];
        for (name, value) in headers {
            assert_eq!(notification.header(name), value, "{name}");
        }
        assert_eq!(notification.path, "/hook");
        let message = notification.json();
        assert_eq!((&message["Message"], &message["MessageId"]), (&Value::from("tea"), &Value::from(&*id)));
        assert_eq!(message["SignatureVersion"], version);
        assert!(sns.is_verified(&message, OF_NOTIFICATION).await);
        let ended = sns.ended(1).await;
        assert!(ended[0].succeeded() && ended[0].status == Some(200) && ended[0].attempt == 1, "{ended:?}");
    }
}

#[tokio::test]
async fn web_hook_confirms_by_action_with_its_token() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("news", &[]).await;
    let hook = Hook::start().await;
    sns.subscribe(&topic, ("http", &hook.url("/")), &[]).await;
    let token = hook.wait_for(1).await[0].json()["Token"].as_str().unwrap().to_owned();
    let confirm = [("TopicArn", &*topic), ("Token", &token), ("AuthenticateOnUnsubscribe", "true")];
    let arn = sns.ask("ConfirmSubscription", &confirm).await.value("SubscriptionArn");
    let attributes = sns.ask("GetSubscriptionAttributes", &[("SubscriptionArn", &arn)]).await.entries();
    assert_eq!(attributes["PendingConfirmation"], "false");
    assert_eq!(attributes["ConfirmationWasAuthenticated"], "true");
    sns.publish(&topic, "tea").await;
    let arrived = hook.wait_for(2).await;
    let link = arrived[1].json()["UnsubscribeURL"].as_str().unwrap().to_owned();
    let path = link.strip_prefix(sns.server.endpoint_url()).unwrap().to_owned();
    let refused = sns.wire.get(&path).await;
    assert_eq!((refused.status, refused.value("Code")), (403, "AuthorizationError".to_owned()));
}

#[tokio::test]
async fn raw_message_is_the_body_with_the_content_type_of_the_policy() {
    let hook = Hook::start().await;
    let policy = r#"{"requestPolicy":{"headerContentType":"text/csv"}}"#;
    let (mut sns, topic, _) = Sns::with_hook(&hook, policy, &[RAW]).await;
    sns.publish(&topic, "a,b").await;
    let arrived = hook.wait_for(2).await;
    assert_eq!((&*arrived[1].body, arrived[1].header("x-amz-sns-rawdelivery")), ("a,b", "true"));
    assert_eq!(arrived[1].header("content-type"), "text/csv");
    assert_eq!(arrived[0].header("x-amz-sns-rawdelivery"), "", "a confirmation is never raw");
}

#[tokio::test]
async fn each_protocol_gets_its_own_text() {
    let hook = Hook::start().await;
    let (mut sns, topic, _) = Sns::with_hook(&hook, "", &[]).await;
    sns.subscribe_queue(&topic, "q", &[]).await;
    let texts = r#"{"default":"to all","http":"to hooks"}"#;
    sns.ask("Publish", &[("TopicArn", &topic), ("Message", texts), ("MessageStructure", "json")]).await;
    let arrived = hook.wait_for(2).await;
    let message = arrived[1].json();
    assert_eq!(message["Message"], "to hooks");
    assert!(sns.is_verified(&message, OF_NOTIFICATION).await);
    let queued: Value = serde_json::from_str(&sns.bodies("q").await[0]).unwrap();
    assert_eq!(queued["Message"], "to all");
    assert!(sns.is_verified(&queued, OF_NOTIFICATION).await);
}

#[tokio::test]
async fn failed_delivery_is_tried_again_by_the_clock() {
    let hook = answering(&[500, 429, 200]).await;
    let policy = r#"{"healthyRetryPolicy":{"minDelayTarget":10,"maxDelayTarget":30,"numRetries":3}}"#;
    let (mut sns, topic, arn) = Sns::with_hook(&hook, policy, &[]).await;
    let id = sns.publish(&topic, "tea").await;
    let ended = sns.ended(1).await;
    assert_eq!(
        (ended[0].status, ended[0].error.as_deref()),
        (Some(500), Some("status 500 Internal Server Error"))
    );
    assert!(ended[0].follows.as_ref().unwrap().starts_with("tried again at "), "{ended:?}");
    assert_eq!(sns.server.topic("news").subscriptions()[0].waiting, 1);
    sns.server.clock().advance(9 * SECOND);
    sns.server.clock().advance(SECOND);
    assert_eq!(sns.ended(2).await[1].status, Some(429));
    sns.server.clock().advance(20 * SECOND);
    let ended = sns.ended(3).await;
    assert!(ended[2].succeeded() && ended[2].attempt == 3, "{ended:?}");
    let arrived = hook.arrived();
    let arrived = notifications(&arrived);
    assert!(
        arrived.iter().all(|one| one.header("x-amz-sns-message-id") == id),
        "a retry has the id of the message"
    );
    assert_eq!((arrived.len(), sns.server.topic("news").subscriptions()[0].waiting), (3, 0));
    assert!(arn.starts_with(&topic));
}

#[tokio::test]
async fn message_is_a_dead_letter_after_the_last_retry() {
    let hook = answering(&[503]).await;
    let policy = r#"{"healthyRetryPolicy":{"numRetries":1,"minDelayTarget":5,"maxDelayTarget":5}}"#;
    let redrive = format!(r#"{{"deadLetterTargetArn":"{}"}}"#, queue_arn("dead"));
    let (mut sns, topic, _) = Sns::with_hook(&hook, policy, &[("RedrivePolicy", &redrive)]).await;
    sns.queue("dead").await;
    sns.publish(&topic, "tea").await;
    sns.ended(1).await;
    sns.server.clock().advance(5 * SECOND);
    let ended = sns.ended(2).await;
    let follows = ended[1].follows.as_deref().unwrap();
    assert!(
        follows.contains("to the dead-letter queue") && follows.contains("in the last of 2 attempts"),
        "{follows}"
    );
    let dead = sns.bodies("dead").await;
    let sent = hook.arrived();
    assert_eq!(dead, [notifications(&sent)[0].body.clone()], "exactly what the hook would have got");
    let requests = sns.wire.get("/_mock/requests?service=sns").await.content(200);
    assert!(requests.to_string().contains("moved from http://"), "{requests}");
    let metrics = sns.server.metrics().await;
    assert!(metrics.contains("sqs_mock_sns_deliveries_total{outcome=\"dead_lettered\"} 1"));
    assert!(metrics.contains("sqs_mock_outgoing_requests_total{kind=\"Notification\",status=\"503\"} 2"));
}

/// "outside the range of 200–4xx": redirects and errors of the client are final.
#[tokio::test]
async fn status_that_blames_the_request_is_not_tried_again() {
    for answer in [301_u16, 404, 410] {
        let hook = Hook::answering(move |number, _| async move {
            let mut response = status(if number == 0 { 200 } else { answer });
            response.headers_mut().insert("location", "/elsewhere".parse().unwrap());
            response
        })
        .await;
        let redrive = format!(r#"{{"deadLetterTargetArn":"{}"}}"#, queue_arn("dead"));
        let (mut sns, topic, _) = Sns::with_hook(&hook, "", &[RAW, ("RedrivePolicy", &redrive)]).await;
        sns.queue("dead").await;
        sns.publish(&topic, "tea").await;
        assert_eq!(sns.ended(1).await[0].status, Some(answer));
        assert_eq!(sns.bodies("dead").await, ["tea"], "{answer}");
        assert_eq!(hook.arrived().len(), 2, "redirects are not followed");
    }
}

#[tokio::test]
async fn nothing_is_sent_to_a_destination_that_is_not_allowed() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("news", &[]).await;
    let hook = Hook::start().await;
    sns.subscribe_hook(&topic, &hook, "/", &[]).await;
    for url in
        ["http://169.254.169.254/latest", "http://[fd00:ec2::254]/", "http://10.0.0.1/", "http://2852039166/"]
    {
        sns.subscribe(&topic, ("http", url), &[]).await;
    }
    let refused = || {
        let mut all = sns.server.deliveries();
        all.retain(|one| one.error.as_ref().is_some_and(|error| error.contains("allowed")));
        all
    };
    until("the requests are refused", || refused().len() == 4).await;
    let refused = refused();
    assert!(refused.iter().all(|one| one.status.is_none() && one.attempt == 1), "{refused:?}");
    assert!(refused.iter().any(|one| one.error.as_ref().unwrap().contains("--deliver-to")), "{refused:?}");
    sns.publish(&topic, "tea").await;
    assert_eq!(hook.wait_for(2).await[1].json()["Message"], "tea", "other subscribers get it");
}

#[tokio::test]
async fn hook_that_hangs_keeps_no_other_waiting() {
    let hangs = Hook::answering(|number, _| async move {
        if number > 0 {
            std::future::pending::<()>().await;
        }
        status(200)
    })
    .await;
    let hook = Hook::start().await;
    let mut sns = Sns::start().await;
    let topic = sns.topic("news", &[]).await;
    sns.subscribe_hook(&topic, &hangs, "/", &[RAW]).await;
    sns.subscribe_hook(&topic, &hook, "/", &[RAW]).await;
    for number in 0..50 {
        sns.publish(&topic, &number.to_string()).await;
    }
    hook.wait_for(51).await;
    let seen = hangs.arrived().len();
    assert!(seen <= 9, "{seen} requests, more than its places");
    let waiting: Vec<_> = sns.server.topic("news").subscriptions().iter().map(|one| one.waiting).collect();
    assert!(waiting.contains(&50), "{waiting:?}");
}

#[tokio::test]
async fn ended_subscription_gets_no_retry() {
    let hook = answering(&[500]).await;
    let (mut sns, topic, arn) = Sns::with_hook(&hook, "", &[]).await;
    sns.publish(&topic, "tea").await;
    sns.ended(1).await;
    sns.ask("Unsubscribe", &[("SubscriptionArn", &arn)]).await;
    let other = Hook::start().await;
    sns.subscribe_hook(&topic, &other, "/", &[]).await;
    sns.server.clock().advance(60 * SECOND);
    sns.publish(&topic, "coffee").await;
    other.wait_for(2).await;
    assert_eq!(hook.arrived().len(), 2, "the confirmation and the first attempt");
    let metrics = sns.server.metrics().await;
    assert!(metrics.contains("sqs_mock_sns_deliveries_total{outcome=\"dropped\"} 1"), "{metrics}");
}

#[tokio::test]
async fn hook_that_was_unsubscribed_by_a_link_can_restore_its_subscription() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("news", &[]).await;
    let hook = Hook::start().await;
    let arn = sns.subscribe_hook(&topic, &hook, "/", &[]).await;
    sns.publish(&topic, "tea").await;
    let link = hook.wait_for(2).await[1].json()["UnsubscribeURL"].as_str().unwrap().to_owned();
    sns.follow(&link).await;
    let told = hook.wait_for(3).await[2].clone();
    assert_eq!(told.header("x-amz-sns-message-type"), "UnsubscribeConfirmation");
    let message = told.json();
    assert!(message["Message"].as_str().unwrap().contains(&format!("deactivate subscription {arn}.")));
    assert!(sns.is_verified(&message, OF_CONFIRMATION).await);
    assert!(sns.server.topic("news").subscriptions().is_empty());
    let link = message["SubscribeURL"].as_str().unwrap().to_owned();
    assert_eq!(sns.follow(&link).await.value("SubscriptionArn"), arn);
    sns.publish(&topic, "coffee").await;
    assert_eq!(hook.wait_for(4).await[3].json()["Message"], "coffee");
    sns.ask("Unsubscribe", &[("SubscriptionArn", &arn)]).await;
    assert!(sns.server.topic("news").subscriptions().is_empty());
    assert_eq!(hook.arrived().len(), 4, "the owner knows");
}

#[tokio::test]
async fn password_of_a_url_is_sent_and_not_shown() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("news", &[]).await;
    let hook = Hook::start().await;
    let url = hook.url("/").replace("http://", "http://ann:se%20cret@");
    let parameters =
        [("TopicArn", &*topic), ("Protocol", "http"), ("Endpoint", &url), ("ReturnSubscriptionArn", "true")];
    let arn = sns.ask("Subscribe", &parameters).await.value("SubscriptionArn");
    assert_eq!(hook.wait_for(1).await[0].header("authorization"), "Basic YW5uOnNlIGNyZXQ=");
    let shown = sns.ask("GetSubscriptionAttributes", &[("SubscriptionArn", &arn)]).await.entries();
    let masked = url.replace("se%20cret", "****");
    assert_eq!(shown["Endpoint"], masked);
    let listed = sns.ask("ListSubscriptionsByTopic", &[("TopicArn", &topic)]).await.value("Endpoint");
    assert_eq!(listed, masked);
    until("the request ends", || !sns.server.deliveries().is_empty()).await;
    let recorded = sns.server.sns_requests();
    let everywhere =
        format!("{:?} {:?} {recorded:?}", sns.server.deliveries(), sns.server.topic("news").subscriptions());
    assert!(everywhere.contains("****") && !everywhere.contains("se%20cret"), "{everywhere}");
}

/// U13 and 2.3.
#[tokio::test]
async fn policy_of_a_topic_is_in_effect_for_its_subscriptions() {
    let mut sns = Sns::start().await;
    let policy = r#"{"http":{"defaultHealthyRetryPolicy":{"numRetries":7},"defaultRequestPolicy":{"headerContentType":"application/json"}}}"#;
    let topic = sns.topic("news", &[("DeliveryPolicy", policy)]).await;
    let shown = sns.ask("GetTopicAttributes", &[("TopicArn", &topic)]).await.entries();
    let effective: Value = serde_json::from_str(&shown["EffectiveDeliveryPolicy"]).unwrap();
    assert_eq!(effective["http"]["defaultHealthyRetryPolicy"]["numRetries"], 7);
    assert_eq!(effective["http"]["defaultHealthyRetryPolicy"]["minDelayTarget"], 20);
    assert_eq!(effective["http"]["disableSubscriptionOverrides"], false);
    let hook = Hook::start().await;
    let arn = sns.subscribe_hook(&topic, &hook, "/", &[]).await;
    let shown = sns.ask("GetSubscriptionAttributes", &[("SubscriptionArn", &arn)]).await.entries();
    let effective: Value = serde_json::from_str(&shown["EffectiveDeliveryPolicy"]).unwrap();
    assert_eq!(effective["healthyRetryPolicy"]["numRetries"], 7);
    assert_eq!(hook.arrived()[0].header("content-type"), "application/json");
    let bad = [
        ("TopicArn", &*topic),
        ("AttributeName", "DeliveryPolicy"),
        ("AttributeValue", r#"{"http":{"a":1}}"#),
    ];
    let expected = refused("DeliveryPolicy: Unexpected JSON member: a");
    assert_eq!(sns.refusal("SetTopicAttributes", &bad).await, expected);
}

#[tokio::test]
async fn deliveries_are_listed_over_http() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("news", &[]).await;
    let hook = Hook::start().await;
    sns.subscribe_hook(&topic, &hook, "/", &[]).await;
    sns.publish(&topic, "tea").await;
    sns.ended(1).await;
    let all = sns.wire.get("/_mock/deliveries?source=news").await.content(200);
    assert_eq!(
        (&all["total"], &all["deliveries"][0]["kind"]),
        (&2.into(), &"SubscriptionConfirmation".into())
    );
    let one = sns.wire.get("/_mock/deliveries?kind=Notification&after=1").await.content(200);
    assert_eq!((&one["total"], &one["deliveries"][0]["status"]), (&1.into(), &200.into()));
    let error = sns.wire.get("/_mock/deliveries?kind=Letter").await.content(400);
    assert!(error["error"].as_str().unwrap().contains("kind must be one of Notification,"), "{error}");
    sns.server.reset();
    assert!(sns.server.deliveries().is_empty());
}

#[tokio::test]
async fn shutdown_waits_for_the_answer_of_a_hook() {
    let hook = Hook::answering(|number, _| async move {
        if number > 0 {
            tokio::time::sleep(SECOND / 2).await;
        }
        status(200)
    })
    .await;
    let mut sns = Sns::start().await;
    let topic = sns.topic("news", &[]).await;
    sns.subscribe_hook(&topic, &hook, "/", &[]).await;
    sns.publish(&topic, "tea").await;
    hook.wait_for(2).await;
    let start = tokio::time::Instant::now();
    sns.server.shutdown().await;
    assert!(start.elapsed() < 10 * SECOND);
}
