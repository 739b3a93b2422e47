//! Sections 2.4 to 2.6 and 2.11: subscriptions.

use super::*;

/// 2.4: "200, confirmed at once"; also for a well-formed ARN of an unknown queue.
#[tokio::test]
async fn queue_is_subscribed_at_once() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let arn = sns.subscribe(&topic, ("sqs", &queue_arn("none")), &[]).await;
    assert!(arn.starts_with(&format!("{topic}:")) && arn.len() == topic.len() + 37, "{arn}");
    assert_eq!(sns.subscribe(&topic, ("sqs", &queue_arn("none")), &[]).await, arn);
    let shown = sns.ask("GetSubscriptionAttributes", &[("SubscriptionArn", &arn)]).await.entries();
    let expected = [
        ("ConfirmationWasAuthenticated", "true"),
        ("Endpoint", &*queue_arn("none")),
        ("Owner", ACCOUNT),
        ("PendingConfirmation", "false"),
        ("Protocol", "sqs"),
        ("RawMessageDelivery", "false"),
        ("SubscriptionArn", &arn),
        ("SubscriptionPrincipal", "arn:aws:iam::000000000000:root"),
        ("TopicArn", &topic),
    ];
    let shown: Vec<_> = shown.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(shown, expected);
    let counts = sns.ask("GetTopicAttributes", &[("TopicArn", &topic)]).await.entries();
    assert_eq!(counts["SubscriptionsConfirmed"], "1");
}

/// 2.4.
#[tokio::test]
async fn invalid_subscriptions_get_the_errors_of_aws() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    for (protocol, endpoint, text) in [
        ("sqs", "http://localhost/000000000000/q", "SQS endpoint ARN"),
        ("pigeon", "x", "Amazon SNS does not support this protocol string: pigeon"),
        (
            "sqs",
            &queue_arn("q.fifo"),
            "Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics",
        ),
    ] {
        let parameters = [("TopicArn", &*topic), ("Protocol", protocol), ("Endpoint", endpoint)];
        assert_eq!(sns.refusal("Subscribe", &parameters).await, refused(text));
    }
}

/// 2.5: "`FilterPolicy`: failed to parse JSON. ..", with a prefix that depends on the action.
#[tokio::test]
async fn attributes_are_validated_and_returned_as_given() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let arn = sns.subscribe_queue(&topic, "q", &[("RawMessageDelivery", "True")]).await;
    let policy = r#"{ "kind": ["green"] }"#;
    let subscription = ("SubscriptionArn", &*arn);
    let set = |name: &'static str, value: &'static str| [("AttributeName", name), ("AttributeValue", value)];
    sns.ask("SetSubscriptionAttributes", &[&[subscription][..], &set("FilterPolicy", policy)].concat()).await;
    let shown = sns.ask("GetSubscriptionAttributes", &[subscription]).await.entries();
    assert_eq!((&*shown["RawMessageDelivery"], &*shown["FilterPolicy"]), ("true", policy));
    assert_eq!(shown["FilterPolicyScope"], "MessageAttributes");
    let bad = [&[subscription][..], &set("FilterPolicy", "{x")].concat();
    let (status, code, text) = sns.refusal("SetSubscriptionAttributes", &bad).await;
    assert_eq!((status, &*code), (400, "InvalidParameter"));
    assert!(text.starts_with("Invalid parameter: FilterPolicy: failed to parse JSON."), "{text}");
    let bad = [
        ("TopicArn", &*topic),
        ("Protocol", "sqs"),
        ("Endpoint", &*queue_arn("r")),
        ("Attributes.entry.1.key", "RawMessageDelivery"),
        ("Attributes.entry.1.value", "wrongvalue"),
    ];
    let text = "Attributes Reason: RawMessageDelivery: Invalid value [wrongvalue]. Must be true or false.";
    assert_eq!(sns.refusal("Subscribe", &bad).await, refused(text));
}

/// 2.1 and 2.6.
#[tokio::test]
async fn unsubscribed_queue_gets_nothing() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let arn = sns.subscribe_queue(&topic, "q", &[]).await;
    let subscription = ("SubscriptionArn", &*arn);
    let answer = sns.ask("Unsubscribe", &[subscription]).await;
    assert!(!answer.text().contains("UnsubscribeResult"), "{}", answer.text());
    sns.ask("Unsubscribe", &[subscription]).await;
    sns.publish(&topic, "tea").await;
    assert!(sns.bodies("q").await.is_empty());
    assert_eq!(sns.refusal("GetSubscriptionAttributes", &[subscription]).await, not_found("Subscription"));
    let set = [subscription, ("AttributeName", "RawMessageDelivery"), ("AttributeValue", "true")];
    assert_eq!(sns.refusal("SetSubscriptionAttributes", &set).await, not_found("Subscription"));
    assert_eq!(sns.refusal("Unsubscribe", &[("SubscriptionArn", &topic)]).await, refused("SubscriptionId"));
    assert_eq!(
        sns.refusal("Unsubscribe", &[("SubscriptionArn", "")]).await,
        refused("SubscriptionArn Reason: no value for required parameter")
    );
}

/// 2.4 and 2.6: the pending subscription of a web server, confirmed by the link in the recorded request.
#[tokio::test]
async fn web_server_is_pending_until_its_link_is_opened() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    assert_eq!(sns.subscribe(&topic, ("http", "http://a.test/"), &[]).await, "pending confirmation");
    let parameters = [
        ("TopicArn", &*topic),
        ("Protocol", "http"),
        ("Endpoint", "http://a.test/"),
        ("ReturnSubscriptionArn", "true"),
    ];
    let arn = sns.ask("Subscribe", &parameters).await.value("SubscriptionArn");
    let subscription = [("SubscriptionArn", &*arn)];
    let shown = sns.ask("GetSubscriptionAttributes", &subscription).await.entries();
    assert_eq!((&*shown["PendingConfirmation"], &*shown["ConfirmationWasAuthenticated"]), ("true", "false"));
    let listed = sns.ask("ListSubscriptionsByTopic", &[("TopicArn", &topic)]).await;
    assert_eq!(listed.value("SubscriptionArn"), "PendingConfirmation");

    let records = sns.wire.get("/_mock/requests?action=Subscribe").await.content(200);
    let note = records["requests"][0]["warnings"][0].as_str().expect("a note with the link").to_owned();
    let (_, link) = note.split_once("confirm it with ").expect("a link");
    let target = link.strip_prefix(sns.server.endpoint_url()).expect("a URL of this server");
    let confirmed = sns.wire.get(target).await;
    assert_eq!(confirmed.value("SubscriptionArn"), arn);
    let shown = sns.ask("GetSubscriptionAttributes", &subscription).await.entries();
    assert_eq!((&*shown["PendingConfirmation"], &*shown["ConfirmationWasAuthenticated"]), ("false", "false"));

    let (_, token) = target.split_once("Token=").expect("a token");
    let other = topic_arn("any");
    let again = sns.ask("ConfirmSubscription", &[("TopicArn", &other), ("Token", token)]).await;
    assert_eq!(again.value("SubscriptionArn"), arn, "the token decides, not the name");
    let unknown = "0".repeat(288);
    let confirm = |token| [("TopicArn", topic.as_str()), ("Token", token)];
    assert_eq!(sns.refusal("ConfirmSubscription", &confirm(&unknown)).await, refused("Token"));
    let malformed = sns.refusal("ConfirmSubscription", &confirm("x")).await;
    assert_eq!(malformed, (400, "InvalidParameter".to_owned(), "Invalid token".to_owned()));
    let unsigned = sns.wire.get(&format!("/?Action=ConfirmSubscription&TopicArn={topic}&Token=x")).await;
    assert_eq!(unsigned.value("Message"), "Invalid parameter: Token");
}

/// 2.4: "by the topic's owner: pending, a `SubscriptionConfirmation` JSON goes to the queue".
#[tokio::test]
async fn queue_of_another_account_gets_a_request_to_confirm() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let other = "arn:aws:sqs:us-east-1:111122223333:q";
    let headers = format!("{FORM}{}", scope("sqs", "us-east-1").replace("test/", "111122223333/"));
    sns.wire.exchange("POST /", &headers, b"Action=CreateQueue&QueueName=q").await;
    assert_eq!(sns.subscribe(&topic, ("sqs", other), &[]).await, "pending confirmation");
    let form = "Action=ReceiveMessage&QueueUrl=http://x/111122223333/q";
    let body = sns.wire.exchange("POST /", &headers, form.as_bytes()).await.value("Body");
    let message: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(message["Type"], "SubscriptionConfirmation");
    let token = message["Token"].as_str().unwrap();
    let arn = sns.ask("ConfirmSubscription", &[("TopicArn", &topic), ("Token", token)]).await;
    assert!(arn.value("SubscriptionArn").starts_with(&topic));
}

/// 1.2: AWS puts these links, which need no signature, into messages. Its hosts name the region.
#[tokio::test]
async fn links_of_messages_work_in_every_region() {
    let mut sns = Sns::start().await;
    sns.region = "eu-west-1";
    let topic = sns.topic("a", &[]).await;
    assert!(topic.contains(":eu-west-1:"), "{topic}");
    sns.subscribe(&topic, ("http", "http://a.test/"), &[]).await;
    let link = sns.notes("Subscribe").await.remove(0);
    let (_, target) = link.split_once(sns.server.endpoint_url()).expect("a URL of this server");
    let arn = sns.wire.get(target).await.value("SubscriptionArn");
    assert!(arn.starts_with(&topic), "{arn}");

    sns.subscribe_queue(&topic, "q", &[]).await;
    sns.publish(&topic, "tea").await;
    let envelope: serde_json::Value = serde_json::from_str(&sns.bodies("q").await[0]).unwrap();
    let link = envelope["UnsubscribeURL"].as_str().unwrap();
    let target = link.strip_prefix(sns.server.endpoint_url()).expect("a URL of this server");
    assert_eq!(sns.wire.get(target).await.status, 200);
    let listed = sns.ask("ListSubscriptionsByTopic", &[("TopicArn", &topic)]).await;
    assert_eq!(listed.values("SubscriptionArn"), [arn]);
}

/// `ConfirmSubscription`: "Disallows unauthenticated unsubscribes of the subscription. .. then only the topic owner and the
/// subscription owner can unsubscribe the endpoint".
#[tokio::test]
async fn protected_subscription_ends_only_by_the_signature_of_an_owner() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let pending = async |sns: &mut Sns, endpoint| {
        sns.subscribe(&topic, ("http", endpoint), &[]).await;
        let link = sns.notes("Subscribe").await.remove(0);
        link.split_once("Token=").expect("a token").1.to_owned()
    };
    let protect = ("AuthenticateOnUnsubscribe", "true");
    let unsubscribe = async |sns: &mut Sns, arn: &str, headers: &str| {
        let target = format!("GET /?Action=Unsubscribe&SubscriptionArn={arn}");
        sns.wire.exchange(&target, headers, b"").await
    };

    let token = pending(&mut sns, "http://a.test/").await;
    let confirm = [("TopicArn", &*topic), ("Token", &token), protect];
    let arn = sns.ask("ConfirmSubscription", &confirm).await.value("SubscriptionArn");
    let other = scope("sns", "us-east-1").replace("test/", "111122223333/");
    for (headers, caller) in [("", "anonymous"), (&*other, "arn:aws:iam::111122223333:root")] {
        let refused = unsubscribe(&mut sns, &arn, headers).await;
        assert_eq!((refused.status, &*refused.value("Code")), (403, "AuthorizationError"));
        let text =
            format!("User: {caller} is not authorized to perform: SNS:Unsubscribe on resource: {topic}");
        assert_eq!(refused.value("Message"), text);
    }
    sns.ask("Unsubscribe", &[("SubscriptionArn", &arn)]).await;

    // A link cannot protect: its request is not signed.
    let token = pending(&mut sns, "http://b.test/").await;
    let link =
        format!("/?Action=ConfirmSubscription&TopicArn={topic}&Token={token}&AuthenticateOnUnsubscribe=true");
    let arn = sns.wire.get(&link).await.value("SubscriptionArn");
    assert_eq!(unsubscribe(&mut sns, &arn, "").await.status, 200);
    let listed = sns.ask("ListSubscriptionsByTopic", &[("TopicArn", &topic)]).await;
    assert_eq!(listed.values("SubscriptionArn"), [""; 0]);
}

#[tokio::test]
async fn credential_that_no_signature_covers_proves_nothing_where_keys_are_required() {
    let mut sns = Sns::with(MockSqs::builder().require_signatures([("AKID", "secret")])).await;
    let common = format!("{FORM}{}", scope("sns", "us-east-1"));
    // The admin API requires no signature.
    let trusted = async |sns: &mut Sns, parameters: &[(&str, &str)]| {
        let answer = sns.wire.exchange("POST /_mock/aws", &common, form(parameters).as_bytes()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer
    };
    let topic = trusted(&mut sns, &[("Action", "CreateTopic"), ("Name", "a")]).await.value("TopicArn");
    let pending = async |sns: &mut Sns, endpoint| {
        let subscribe =
            [("Action", "Subscribe"), ("TopicArn", &topic), ("Protocol", "http"), ("Endpoint", endpoint)];
        trusted(sns, &subscribe).await;
        sns.notes("Subscribe").await.remove(0).split_once("Token=").expect("a token").1.to_owned()
    };
    let forged = format!("{ACCOUNT}/20261123/us-east-1/sns/aws4_request");
    let forged = [("X-Amz-Signature", "0"), ("X-Amz-Credential", &*forged)];
    let unproven = async |sns: &mut Sns, parameters: &[(&str, &str)]| {
        let body = form(&[parameters, &forged].concat());
        sns.wire.exchange("POST /", FORM, body.as_bytes()).await
    };

    let token = pending(&mut sns, "http://a.test/").await;
    let protect = ("AuthenticateOnUnsubscribe", "true");
    let confirm =
        |token| [("Action", "ConfirmSubscription"), ("TopicArn", &*topic), ("Token", token), protect];
    let arn = trusted(&mut sns, &confirm(&token)).await.value("SubscriptionArn");
    let refused = unproven(&mut sns, &[("Action", "Unsubscribe"), ("SubscriptionArn", &arn)]).await;
    assert_eq!((refused.status, &*refused.value("Code")), (403, "AuthorizationError"));

    let token = pending(&mut sns, "http://b.test/").await;
    let arn = unproven(&mut sns, &confirm(&token)).await.value("SubscriptionArn");
    let ended = sns.wire.get(&format!("/?Action=Unsubscribe&SubscriptionArn={arn}")).await;
    assert_eq!(ended.status, 200, "a confirmation without a signature cannot protect: {}", ended.text());
}
