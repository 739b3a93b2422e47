//! Messages of other services.

use std::collections::HashMap;

use sqs_client::operation::delete_queue::DeleteQueueInput;
use sqs_client::operation::purge_queue::PurgeQueueInput;
use sqs_client::operation::set_queue_attributes::SetQueueAttributesInput;
use sqs_client::types::MessageAttributeValue;
use sqs_client::types::MessageSystemAttributeName as Name;
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::checksum::md5_of_attributes;

use super::*;
use crate::control::delivery::Delivery;
use crate::control::delivery::Queues as _;
use crate::control::delivery::Source;
use crate::control::delivery::Undelivered;
use crate::control::policies::Policies;
use crate::sqs::engine::inspect::WhyEmpty;

fn queue_arn(name: &str) -> QueueArn {
    QueueArn::new(REGION, ACCOUNT, name)
}

fn delivery<'a>(queue: &'a QueueArn, body: &'a str) -> Delivery<'a> {
    let arn = "arn:aws:sns:us-east-1:000000000000:a";
    Delivery {
        queue,
        source: Source { service: "sns.amazonaws.com", arn, account: ACCOUNT },
        body,
        attributes: None,
        group: None,
        deduplication_id: None,
        trace_header: None,
        sender: "AIDAEXAMPLE",
        keeps_size_limit: false,
    }
}

#[tokio::test(start_paused = true)]
async fn delivery_wakes_a_parked_receive() {
    let rig = rig();
    let url = rig.queue("a", &[]).await;
    let parked = rig.park(long_poll(&url, 20)).await;
    rig.service.deliver(delivery(&queue_arn("a"), "tea")).unwrap();
    assert_eq!(parked.bodies().await, ["tea"]);
}

#[tokio::test(start_paused = true)]
async fn delivered_message_has_the_attributes_of_a_sent_one() {
    let rig = rig();
    let url = rig.queue("a", &[]).await;
    let arn = queue_arn("a");
    let attributes = HashMap::from([("kind".to_owned(), MessageAttributeValue::string("green"))]);
    let message = Delivery {
        attributes: Some(&attributes),
        group: Some("g"),
        trace_header: Some("Root=1"),
        ..delivery(&arn, "tea")
    };
    rig.service.deliver(message).unwrap();
    let input = receive(&url).message_attribute_names("All").message_system_attribute_names(Name::All);
    let received = rig.call(input).await.unwrap().messages.unwrap().remove(0);
    assert_eq!(received.message_attributes, Some(attributes.clone()));
    let md5 = md5_of_attributes(&attributes).unwrap();
    assert_eq!(received.md5_of_message_attributes.as_deref(), Some(md5.as_str()));
    let system = received.attributes.unwrap();
    assert_eq!(system[&Name::SenderId], "AIDAEXAMPLE");
    assert_eq!(system[&Name::MessageGroupId], "g");
    assert_eq!(system[&Name::AwsTraceHeader], "Root=1");
}

#[tokio::test(start_paused = true)]
async fn delivery_with_a_known_deduplication_id_is_not_stored_again() {
    let rig = rig();
    let url = rig.queue("a.fifo", &[("FifoQueue", "true")]).await;
    let arn = queue_arn("a.fifo");
    for body in ["one", "two"] {
        let message = Delivery { group: Some("g"), deduplication_id: Some("d"), ..delivery(&arn, body) };
        rig.service.deliver(message).unwrap();
    }
    assert_eq!(rig.bodies(&url).await, ["one"]);
    let refused = rig.service.deliver(delivery(&arn, "three"));
    assert!(matches!(refused, Err(Undelivered::Refused(_))), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn delivery_to_a_missing_or_deleted_queue_fails() {
    let rig = rig();
    assert_eq!(rig.service.deliver(delivery(&queue_arn("none"), "tea")), Err(Undelivered::NoQueue));
    let url = rig.queue("a", &[]).await;
    rig.call(DeleteQueueInput::builder().queue_url(&url)).await.unwrap();
    assert_eq!(rig.service.deliver(delivery(&queue_arn("a"), "tea")), Err(Undelivered::NoQueue));
}

#[tokio::test(start_paused = true)]
async fn delivery_with_too_many_attributes_or_without_memory_is_refused() {
    let rig = rig_with(Settings { max_memory: 4_000, ..Settings::default() });
    rig.queue("a", &[]).await;
    let arn = queue_arn("a");
    let attributes: HashMap<_, _> =
        (0..11).map(|number| (format!("a{number}"), MessageAttributeValue::number(number))).collect();
    let message = Delivery { attributes: Some(&attributes), ..delivery(&arn, "tea") };
    assert!(matches!(rig.service.deliver(message), Err(Undelivered::Refused(_))));
    let refused = rig.service.deliver(delivery(&arn, &"x".repeat(4_000)));
    assert!(matches!(&refused, Err(Undelivered::Unavailable(error)) if error.code == ErrorCode::OverLimit));
}

#[tokio::test(start_paused = true)]
async fn only_a_delivery_that_keeps_the_size_limit_of_the_queue_is_refused_over_it() {
    let rig = rig();
    rig.queue("a", &[("MaximumMessageSize", "1024")]).await;
    let arn = queue_arn("a");
    let body = "x".repeat(1_025);
    rig.service.deliver(delivery(&arn, &body)).unwrap();
    let refused = rig.service.deliver(Delivery { keeps_size_limit: true, ..delivery(&arn, &body) });
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("Message must be shorter than 1024 bytes."), "{text}");
    let fits = Delivery { keeps_size_limit: true, ..delivery(&arn, &body[1..]) };
    assert_eq!(rig.service.deliver(fits).map(|_| ()), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn denied_delivery_explains_an_empty_queue_until_its_topic_delivers_or_the_queue_is_deleted() {
    let rig = rig_with(Settings { policies: Policies::Enforce, ..Settings::default() });
    let arn = queue_arn("a");
    let is_denied = || matches!(rig.service.why_empty(&arn), WhyEmpty::Denied { .. });
    let url = rig.queue("a", &[]).await;
    assert!(matches!(rig.service.deliver(delivery(&arn, "tea")), Err(Undelivered::Denied(_))));
    assert!(is_denied());
    let policy = r#"{"Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:*","Resource":"*"}}"#;
    let set = |policy: &str| {
        let input = SetQueueAttributesInput::builder().queue_url(&url);
        rig.call(input.attributes(QueueAttributeName::Policy, policy))
    };
    set(policy).await.unwrap();
    let of_another_topic =
        Source { arn: "arn:aws:sns:us-east-1:000000000000:b", ..delivery(&arn, "").source };
    for (source, explained) in [(of_another_topic, true), (delivery(&arn, "").source, false)] {
        rig.service.deliver(Delivery { source, ..delivery(&arn, "milk") }).unwrap();
        assert_eq!(rig.bodies(&url).await, ["milk"]);
        rig.pass(60).await;
        rig.call(PurgeQueueInput::builder().queue_url(&url)).await.unwrap();
        assert_eq!(is_denied(), explained);
    }
    set("").await.unwrap();
    assert!(rig.service.deliver(delivery(&arn, "tea")).is_err() && is_denied());
    rig.call(DeleteQueueInput::builder().queue_url(&url)).await.unwrap();
    rig.pass(60).await;
    rig.queue("a", &[]).await;
    assert!(!is_denied());
}
