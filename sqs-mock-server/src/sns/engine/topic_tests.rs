//! Topics and subscriptions. Quotes are of the contract.

use std::collections::BTreeMap;

use crate::control::arn::TopicArn;
use crate::control::clock::Timestamp;
use crate::control::seed::{Seed, Uuid, uuid};
use crate::query::QueryError;
use crate::sns::engine::message::{Draft, Message};
use crate::sns::engine::settings::read_tags;
use crate::sns::engine::subscription::{Confirmation, Endpoint, Protocol, State, Subscription};
use crate::sns::engine::topic::{NewSubscription, Topic};

const ACCOUNT: &str = "000000000000";

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn topic(name: &str, attributes: &[(&str, &str)]) -> Result<Topic, QueryError> {
    Topic::new(TopicArn::new("us-east-1", ACCOUNT, name), attributes, BTreeMap::new())
}

fn id(number: u64) -> Uuid {
    uuid(&mut Seed(number).generator("ids"))
}

fn subscribe(
    topic: &mut Topic,
    (protocol, endpoint): (Protocol, &str),
    attributes: &[(&str, &str)],
) -> Result<Subscription, QueryError> {
    let number: u64 = endpoint.bytes().map(u64::from).sum();
    let endpoint = Endpoint::read(protocol, endpoint)?;
    let new =
        NewSubscription { endpoint, owner: ACCOUNT, attributes, token: "t".repeat(288), id: id(number) };
    Ok(topic.subscribe(NOW, new)?)
}

fn queue(name: &str) -> String {
    format!("arn:aws:sqs:us-east-1:{ACCOUNT}:{name}")
}

fn text<T: std::fmt::Debug>(result: Result<T, impl Into<QueryError> + std::fmt::Debug>) -> String {
    result.unwrap_err().into().message
}

/// 2.3: "A fresh standard topic returns exactly 8".
#[test]
fn fresh_topic_has_the_attributes_of_aws() {
    let standard = topic("a", &[]).unwrap().shown();
    let names: Vec<_> = standard.keys().map(String::as_str).collect();
    let expected = [
        "DisplayName",
        "EffectiveDeliveryPolicy",
        "Owner",
        "Policy",
        "SubscriptionsConfirmed",
        "SubscriptionsDeleted",
        "SubscriptionsPending",
        "TopicArn",
    ];
    assert_eq!(names, expected);
    let policy = r#"{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{"Sid":"__default_statement_ID","Effect":"Allow","Principal":{"AWS":"*"},"Action":["SNS:GetTopicAttributes","SNS:SetTopicAttributes","SNS:AddPermission","SNS:RemovePermission","SNS:DeleteTopic","SNS:Subscribe","SNS:ListSubscriptionsByTopic","SNS:Publish"],"Resource":"arn:aws:sns:us-east-1:000000000000:a","Condition":{"StringEquals":{"AWS:SourceOwner":"000000000000"}}}]}"#;
    assert_eq!(standard["Policy"], policy);
    let fifo = topic("a.fifo", &[("FifoTopic", "true")]).unwrap().shown();
    assert_eq!((&*fifo["FifoTopic"], &*fifo["ContentBasedDeduplication"]), ("true", "false"));
    assert_eq!(fifo.len(), 10);
}

/// 2.2: the second `CreateTopic`.
#[test]
fn topic_is_created_again_only_with_what_it_has() {
    let tags = |pairs: &[(&str, &str)]| read_tags(pairs).unwrap();
    let mut topic = topic("a", &[("DisplayName", "A")]).unwrap();
    topic.set(|settings| settings.tag(tags(&[("k", "v"), ("l", "w")]))).unwrap();
    for attributes in [&[][..], &[("DisplayName", "A")], &[("FifoTopic", "false")]] {
        for given in [&[][..], &[("k", "v")], &[("l", "w"), ("k", "v")]] {
            topic.settings().check_same(attributes, &tags(given)).unwrap();
        }
    }
    let other = "Invalid parameter: Attributes Reason: Topic already exists with different attributes";
    for attributes in [("DisplayName", "B"), ("SignatureVersion", "1")] {
        assert_eq!(text(topic.settings().check_same(&[attributes], &BTreeMap::new())), other);
    }
    let other = "Invalid parameter: Tags Reason: Topic already exists with different tags";
    assert_eq!(text(topic.settings().check_same(&[], &tags(&[("m", "x")]))), other);
}

#[test]
fn attributes_of_fifo_topics_are_refused_on_standard_topics() {
    let mut standard = topic("a", &[]).unwrap();
    for name in ["ContentBasedDeduplication", "FifoThroughputScope", "FifoTopic", "Owner", "Unknown"] {
        assert_eq!(
            text(standard.set(|settings| settings.set_attribute(name, "true"))),
            "Invalid parameter: AttributeName",
            "{name}"
        );
    }
    for name in ["ContentBasedDeduplication", "Owner", "Unknown"] {
        let unknown = format!("Invalid parameter: Attributes Reason: Unknown attribute {name}");
        assert_eq!(text(topic("a", &[(name, "true")])), unknown);
    }
    assert!(standard.set(|settings| settings.set_attribute("MaximumMessageSize", "1023")).is_err());
    standard.set(|settings| settings.set_attribute("MaximumMessageSize", "1048576")).unwrap();
    standard.set(|settings| settings.set_attribute("SQSSuccessFeedbackSampleRate", "100")).unwrap();
    standard.set(|settings| settings.set_attribute("DeliveryPolicy", r#"{"http":{}}"#)).unwrap();
    standard.set(|settings| settings.set_attribute("DeliveryPolicy", "")).unwrap();
    assert!(!standard.shown().contains_key("DeliveryPolicy"));
}

/// 2.4.
#[test]
fn endpoints_that_do_not_fit_the_topic_get_the_errors_of_aws() {
    let mut standard = topic("a", &[]).unwrap();
    let mut fifo = topic("a.fifo", &[("FifoTopic", "true")]).unwrap();
    let url = "http://localhost:9324/000000000000/q";
    assert_eq!(
        text(subscribe(&mut standard, (Protocol::Sqs, url), &[])),
        "Invalid parameter: SQS endpoint ARN"
    );
    assert_eq!(
        text(Protocol::find("carrier-pigeon")),
        "Invalid parameter: Amazon SNS does not support this protocol string: carrier-pigeon"
    );
    assert_eq!(
        text(subscribe(&mut standard, (Protocol::Sqs, &queue("q.fifo")), &[])),
        "Invalid parameter: Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS \
         topics"
    );
    assert_eq!(
        text(subscribe(&mut fifo, (Protocol::Sms, "+123"), &[])),
        "Invalid parameter: Invalid protocol type: sms"
    );
    subscribe(&mut fifo, (Protocol::Sqs, &queue("q")), &[]).expect("2.4: standard queue, FIFO topic: 200");
    assert_eq!(
        text(subscribe(&mut standard, (Protocol::Lambda, "f"), &[("RawMessageDelivery", "true")])),
        "Invalid parameter: Attributes Reason: Delivery protocol [lambda] does not support raw message delivery."
    );
}

/// 2.4: "topic + protocol + endpoint exist".
#[test]
fn endpoint_is_subscribed_again_only_with_what_it_has() {
    let mut topic = topic("a", &[]).unwrap();
    let endpoint = (Protocol::Sqs, &*queue("q"));
    let own = [("RawMessageDelivery", "true"), ("FilterPolicy", r#"{"a":["b"]}"#)];
    let first = subscribe(&mut topic, endpoint, &own).unwrap();
    for attributes in [&[][..], &own, &own[..1], &[("RawMessageDelivery", "True")]] {
        assert_eq!(subscribe(&mut topic, endpoint, attributes).unwrap().arn, first.arn);
    }
    subscribe(&mut topic, endpoint, &[("FilterPolicyScope", "MessageAttributes")]).unwrap();
    let other = "Invalid parameter: Attributes Reason: Subscription already exists with different attributes";
    for attribute in
        [("RawMessageDelivery", "false"), ("RedrivePolicy", r#"{"deadLetterTargetArn":"arn:aws:sqs:a:b:c"}"#)]
    {
        assert_eq!(text(subscribe(&mut topic, endpoint, &[attribute])), other);
    }
}

/// 2.5.
#[test]
fn invalid_attributes_of_subscriptions_get_the_texts_of_aws() {
    let mut fifo = topic("a.fifo", &[("FifoTopic", "true")]).unwrap();
    let arn = subscribe(&mut fifo, (Protocol::Sqs, &queue("q.fifo")), &[]).unwrap().arn;
    let mut set = |name, value| fifo.set_subscription_attribute(&arn.id, (name, Some(value)));
    let table = [
        (
            "RawMessageDelivery",
            "wrongvalue",
            "RawMessageDelivery: Invalid value [wrongvalue]. Must be true or false.",
        ),
        ("RawMessageDelivery", "", "RawMessageDelivery: Invalid value []. Must be true or false."),
        (
            "FilterPolicyScope",
            "RandomValue",
            "FilterPolicyScope: Invalid value [RandomValue]. Please use either MessageBody or MessageAttributes",
        ),
        (
            "RedrivePolicy",
            r#"{"deadLetterTargetArn":"x"}"#,
            "RedrivePolicy: deadLetterTargetArn is an invalid arn",
        ),
        (
            "RedrivePolicy",
            r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:d"}"#,
            "RedrivePolicy: must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic.",
        ),
        ("Endpoint", "x", "AttributeName"),
    ];
    for (name, value, expected) in table {
        assert_eq!(text(set(name, value)), format!("Invalid parameter: {expected}"));
    }
    for policy in ["{x", ""] {
        assert!(
            text(set("RedrivePolicy", policy))
                .starts_with("Invalid parameter: RedrivePolicy: failed to parse JSON."),
            "{policy:?}"
        );
    }
}

/// Terraform removes it so.
#[test]
fn redrive_policy_without_a_value_is_removed() {
    let mut topic = topic("a", &[]).unwrap();
    let policy = format!(r#"{{"deadLetterTargetArn":"{}"}}"#, queue("d"));
    let attributes = [("RedrivePolicy", &*policy)];
    let id = subscribe(&mut topic, (Protocol::Sqs, &queue("q")), &attributes).unwrap().arn.id;
    topic.set_subscription_attribute(&id, ("RedrivePolicy", None)).unwrap();
    let subscription = topic.subscription(&id).unwrap();
    assert_eq!(subscription.attributes.dead_letter_queue, None);
    assert!(!subscription.shown(None).contains_key("RedrivePolicy"));
}

/// 2.5: "\"\" removes". Terraform sends `{}` instead.
#[test]
fn empty_filter_policy_removes_the_policy() {
    let attributes = [("FilterPolicyScope", "MessageBody"), ("FilterPolicy", r#"{"a":["b"]}"#)];
    for empty in ["", "{}", " { } "] {
        let mut topic = topic("a", &[]).unwrap();
        let id = subscribe(&mut topic, (Protocol::Sqs, &queue("q")), &attributes).unwrap().arn.id;
        topic.set_subscription_attribute(&id, ("FilterPolicy", Some(empty))).unwrap();
        let shown = topic.subscription(&id).unwrap().shown(None);
        assert!(!shown.contains_key("FilterPolicy") && !shown.contains_key("FilterPolicyScope"), "{empty:?}");
        let message = Message::new(Draft { text: "no JSON", ..Draft::default() }).unwrap();
        assert_eq!(topic.recipients(&message).count(), 1, "{empty:?}");
        let again = subscribe(&mut topic, (Protocol::Sqs, &queue("q")), &[("FilterPolicy", empty)]).unwrap();
        assert_eq!(again.arn.id, id, "{empty:?}");
        let new = subscribe(&mut topic, (Protocol::Sqs, &queue("r")), &[("FilterPolicy", empty)]).unwrap();
        assert!(!new.shown(None).contains_key("FilterPolicy"), "{empty:?}");
    }
}

/// 2.5: "`FilterPolicyScope` set before any `FilterPolicy` is remembered but not returned".
#[test]
fn scope_of_filters_is_shown_with_a_policy_only() {
    let mut topic = topic("a", &[]).unwrap();
    let arn = subscribe(&mut topic, (Protocol::Sqs, &queue("q")), &[]).unwrap().arn;
    let mut set = |name, value| topic.set_subscription_attribute(&arn.id, (name, Some(value))).unwrap();
    set("FilterPolicyScope", "MessageBody");
    set("RawMessageDelivery", "TRUE");
    let shown = topic.subscription(&arn.id).unwrap().shown(None);
    assert_eq!(shown["RawMessageDelivery"], "true");
    assert!(!shown.contains_key("FilterPolicyScope") && !shown.contains_key("FilterPolicy"));
    let policy = r#"{ "a": ["b"] }"#;
    topic.set_subscription_attribute(&arn.id, ("FilterPolicy", Some(policy))).unwrap();
    let shown = topic.subscription(&arn.id).unwrap().shown(None);
    assert_eq!((&*shown["FilterPolicyScope"], &*shown["FilterPolicy"]), ("MessageBody", policy));
}

/// 2.6: "unconfirmed subscriptions vanish after 48 h".
#[test]
fn subscription_that_is_not_confirmed_in_time_vanishes() {
    let mut topic = topic("a", &[]).unwrap();
    let pending = subscribe(&mut topic, (Protocol::Http, "http://a"), &[]).unwrap();
    let State::Pending { token, .. } = &pending.state else { panic!("{pending:?}") };
    assert_eq!(pending.shown(None)["PendingConfirmation"], "true");
    assert_eq!(topic.shown()["SubscriptionsPending"], "1");
    let hours = |hours: u64| NOW + std::time::Duration::from_secs(hours * 3_600);
    topic.forget_lapsed(hours(47));
    assert!(topic.confirm(NOW, "x", Confirmation::Signed).is_none());
    assert_eq!(topic.confirm(NOW, token, Confirmation::Unsigned).unwrap().arn, pending.arn);
    topic.forget_lapsed(hours(100));
    assert_eq!(
        topic.confirm(NOW, token, Confirmation::Signed).unwrap().arn,
        pending.arn,
        "the same token again"
    );
    assert_eq!(
        topic.subscription(&pending.arn.id).unwrap().shown(None)["ConfirmationWasAuthenticated"],
        "false"
    );
    let late = subscribe(&mut topic, (Protocol::Email, "a@b"), &[]).unwrap();
    topic.forget_lapsed(hours(47));
    assert_eq!(topic.shown()["SubscriptionsPending"], "1");
    topic.forget_lapsed(hours(48));
    assert_eq!(topic.shown()["SubscriptionsPending"], "0");
    assert_eq!(topic.subscriptions().count(), 1);
    topic.unsubscribe(NOW, &late.arn.id, None).unwrap();
    assert_eq!(topic.shown()["SubscriptionsDeleted"], "0");
}

/// 2.7 and 3.5.
#[test]
fn messages_that_do_not_fit_the_topic_get_the_texts_of_aws() {
    let draft = |text| Draft { text, ..Draft::default() };
    let message = |draft| Message::new(draft).unwrap();
    let standard = topic("a", &[]).unwrap();
    let fifo = topic("a.fifo", &[("FifoTopic", "true")]).unwrap();
    let long = "a".repeat(262_145);
    standard.check(&message(draft(&long[1..]))).unwrap();
    assert_eq!(text(standard.check(&message(draft(&long)))), "Invalid parameter: Message too long");
    assert_eq!(
        text(standard.check(&message(Draft { deduplication_id: Some("d"), ..draft("a") }))),
        "Invalid parameter: MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that \
         is not valid for this topic type"
    );
    standard.check(&message(Draft { group: Some("g"), ..draft("a") })).unwrap();
    assert_eq!(
        text(fifo.check(&message(draft("a")))),
        "Invalid parameter: The MessageGroupId parameter is required for FIFO topics"
    );
    assert_eq!(
        text(fifo.check(&message(Draft { group: Some("g"), ..draft("a") }))),
        "Invalid parameter: The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId \
         provided explicitly"
    );
    let two = [message(draft(&long[..200_000])), message(draft(&long[..62_145]))];
    let error = standard.check_batch(&two).unwrap_err();
    assert_eq!(
        (&*error.code, &*error.message),
        ("BatchRequestTooLong", "The length of all the messages put together is more than the limit.")
    );
}

#[test]
fn large_message_needs_subscriptions_that_take_it() {
    let mut topic = topic("a", &[("MaximumMessageSize", "1048576")]).unwrap();
    let long = "a".repeat(262_145);
    let message = Message::new(Draft { text: &long, ..Draft::default() }).unwrap();
    subscribe(&mut topic, (Protocol::Sqs, &queue("q")), &[]).unwrap();
    topic.check(&message).unwrap();
    subscribe(&mut topic, (Protocol::Email, "a@b"), &[]).unwrap();
    assert!(text(topic.check(&message)).contains("Message too long"));
    let two_days = std::time::Duration::from_secs(48 * 3_600);
    topic.forget_lapsed(NOW + two_days);
    topic.check(&message).expect("the email address has not confirmed in time");
}

#[test]
fn invalid_messages_get_the_texts_of_aws() {
    let json = |text| Draft { text, structure: Some("json"), ..Draft::default() };
    let unparsed = "Invalid parameter: Message Structure - JSON message body failed to parse";
    let no_default = "Invalid parameter: Message Structure - No default entry in JSON message body";
    let long = "a".repeat(100);
    let subject = |subject| Draft { text: "a", subject: Some(subject), ..Draft::default() };
    for (draft, expected) in [
        (Draft::default(), "Invalid parameter: Empty message"),
        (json("x"), unparsed),
        (json("[1]"), unparsed),
        (json(r#"{"sqs":"a"}"#), no_default),
        (json(r#"{"default":1}"#), no_default),
        (subject(""), "Invalid parameter: Subject"),
        (subject(&long), "Invalid parameter: Subject"),
        (subject("a\nb"), "Invalid parameter: Subject"),
        (subject("a\u{2028}b"), "Invalid parameter: Subject"),
        (subject("a\u{85}b"), "Invalid parameter: Subject"),
    ] {
        assert_eq!(text(Message::new(draft)), expected);
    }
    for legal in [&"ä".repeat(99), "日本語 🍵"] {
        let draft = Draft { text: "a", subject: Some(legal), ..Draft::default() };
        Message::new(draft).expect("2.7: UTF-8, less than 100 characters");
    }
    let message = Message::new(json(r#"{"default":"d","default":"e","sqs":"s","http":1}"#)).unwrap();
    assert_eq!((message.text(Protocol::Sqs), message.text(Protocol::Http)), ("s", "e"));
}

/// 3.6: "the content-based id = lower-case hex sha256 of Message".
#[test]
fn content_of_a_message_with_a_structure_is_the_whole_message() {
    let attributes = [("FifoTopic", "true"), ("ContentBasedDeduplication", "true")];
    let mut topic = topic("a.fifo", &attributes).unwrap();
    let mut is_new = |text, number| {
        let draft = Draft { text, structure: Some("json"), group: Some("g"), ..Draft::default() };
        topic.publish(NOW, id(number), &mut Message::new(draft).unwrap()).is_new
    };
    assert!(is_new(r#"{"default":"d","sqs":"tea"}"#, 1));
    assert!(is_new(r#"{"default":"d","sqs":"soup"}"#, 2), "only the text for queues differs");
    assert!(!is_new(r#"{"default":"d","sqs":"tea"}"#, 3));
}

/// 3.6: the default scope is the whole topic; with `MessageGroup`, groups are apart.
#[test]
fn scope_of_deduplication_is_the_topic_or_the_group() {
    let attributes = [("FifoTopic", "true"), ("ContentBasedDeduplication", "true")];
    for (scope, second_is_new) in [("Topic", false), ("MessageGroup", true)] {
        let mut topic = topic("a.fifo", &attributes).unwrap();
        topic.set(|settings| settings.set_attribute("FifoThroughputScope", scope)).unwrap();
        let mut publish = |group, number| {
            let mut message =
                Message::new(Draft { text: "Test", group: Some(group), ..Draft::default() }).unwrap();
            let published = topic.publish(NOW, id(number), &mut message);
            (published, message.deduplication_id.unwrap())
        };
        let (first, deduplication_id) = publish("1", 1);
        assert_eq!(deduplication_id, "532eaabd9574880dbf76b9b8cc00832c20a6ec113d682299550d7a6e0f345e25");
        assert!(first.is_new);
        let (again, _) = publish("1", 2);
        assert_eq!((again.receipt, again.is_new), (first.receipt, false));
        assert_eq!(publish("2", 3).0.is_new, second_is_new, "{scope}");
    }
}

/// 2.12: "filter policies 200 per topic".
#[test]
fn topic_has_at_most_200_filter_policies() {
    let mut topic = topic("a", &[]).unwrap();
    let filter = [("FilterPolicy", r#"{"a":["b"]}"#)];
    // Lengths differ, since ids come from the sum of the bytes.
    let address = |number: u32| format!("{}@b", "x".repeat(usize::try_from(number).unwrap() + 1));
    for number in 0..200 {
        subscribe(&mut topic, (Protocol::Email, &address(number)), &filter).unwrap();
    }
    let refused = subscribe(&mut topic, (Protocol::Email, &address(200)), &filter).unwrap_err();
    assert_eq!((refused.status, &*refused.code), (403, "FilterPolicyLimitExceeded"));
    let other = subscribe(&mut topic, (Protocol::Email, &address(200)), &[]).unwrap().arn;
    let policy = (filter[0].0, Some(filter[0].1));
    assert!(topic.set_subscription_attribute(&other.id, policy).is_err());
    let first = subscribe(&mut topic, (Protocol::Email, &address(0)), &[]).unwrap().arn;
    topic.set_subscription_attribute(&first.id, policy).unwrap();
    let unknown = topic.set_subscription_attribute("x", policy).unwrap_err();
    assert_eq!((unknown.status, &*unknown.code), (404, "NotFound"));
    let confirmed = subscribe(&mut topic, (Protocol::Lambda, "f"), &[]).unwrap().arn;
    assert!(topic.set_subscription_attribute(&confirmed.id, policy).is_err());
    let two_days = std::time::Duration::from_secs(48 * 3_600);
    topic.forget_lapsed(NOW + two_days);
    topic.set_subscription_attribute(&confirmed.id, policy).expect("the others are gone");
}
