//! Dead letters between queues.

use sqs_client::operation::delete_queue::DeleteQueueInput;
use sqs_client::operation::set_queue_attributes::SetQueueAttributesInput;
use sqs_client::types::MessageSystemAttributeName as Name;

use super::*;
use crate::sqs::engine::inspect::WhyEmpty;
use crate::sqs::engine::receive::Receive;
use crate::sqs::ops::receive as poll;

/// A source whose messages become visible at once, with `most` as its limit of receives.
async fn source_and_dead(rig: &Rig, most: u32) -> (String, String) {
    let dead = rig.queue("dead", &[]).await;
    let policy = redrive_to("dead", most);
    let source = rig.queue("source", &[("VisibilityTimeout", "0"), ("RedrivePolicy", &policy)]).await;
    (source, dead)
}

#[tokio::test]
async fn message_received_too_often_moves_to_the_dead_letter_queue() {
    let rig = rig();
    let (source, dead) = source_and_dead(&rig, 1).await;
    let sent = rig.send(&source, "poison").await;
    assert_eq!(rig.bodies(&source).await, ["poison"]);
    assert!(rig.bodies(&source).await.is_empty());
    let input = receive(&dead).message_system_attribute_names(Name::All);
    let letter = rig.call(input).await.unwrap().messages.unwrap().remove(0);
    assert_eq!((letter.message_id, letter.body.as_deref()), (sent.message_id, Some("poison")));
    let attributes = letter.attributes.unwrap();
    assert_eq!(attributes.get(&Name::ApproximateReceiveCount).map(String::as_str), Some("2"));
    assert_eq!(attributes.get(&Name::DeadLetterQueueSourceArn), Some(&arn("source")));
}

#[tokio::test]
async fn receive_finds_messages_behind_a_thousand_dead_letters() {
    let rig = rig();
    let (source, dead) = source_and_dead(&rig, 1).await;
    for number in 0..1_000 {
        rig.send(&source, &number.to_string()).await;
    }
    for _ in 0..100 {
        rig.call(receive(&source).visibility_timeout(30)).await.expect("an answer");
    }
    rig.pass(30).await;
    rig.send(&source, "fresh").await;
    assert_eq!(rig.bodies(&source).await, ["fresh"]);
    assert_eq!(rig.attribute(&dead, "ApproximateNumberOfMessages").await.as_deref(), Some("1000"));
}

#[tokio::test(start_paused = true)]
async fn arriving_dead_letter_ends_a_long_poll() {
    let rig = rig();
    let (source, dead) = source_and_dead(&rig, 1).await;
    rig.send(&source, "poison").await;
    rig.receive(&source).await;
    let parked = rig.park(long_poll(&dead, 20)).await;
    rig.receive(&source).await;
    assert_eq!(parked.bodies().await, ["poison"]);
    assert_eq!(rig.now(), START);
}

#[tokio::test]
async fn message_is_delivered_without_limit_if_the_dead_letter_queue_was_deleted() {
    let rig = rig();
    let (source, dead) = source_and_dead(&rig, 1).await;
    rig.send(&source, "poison").await;
    rig.call(DeleteQueueInput::builder().queue_url(&dead)).await.unwrap();
    for _ in 0..3 {
        assert_eq!(rig.bodies(&source).await, ["poison"]);
    }
}

#[tokio::test]
async fn why_empty_names_no_dead_letters_that_a_receive_delivers() {
    let rig = rig();
    let (source, dead) = source_and_dead(&rig, 1).await;
    rig.send(&source, "poison").await;
    rig.receive(&source).await;
    let queue = arn("source").parse().unwrap();
    assert_eq!(rig.service.why_empty(&queue), WhyEmpty::DeadLetters { available: 1 });
    rig.call(DeleteQueueInput::builder().queue_url(&dead)).await.unwrap();
    assert_eq!(rig.service.why_empty(&queue), WhyEmpty::NotEmpty { available: 1 }, "a deleted target");
    let own = redrive_to("source", 1);
    let set = SetQueueAttributesInput::builder().queue_url(&source).attributes("RedrivePolicy".into(), &own);
    rig.call(set).await.unwrap();
    assert_eq!(rig.service.why_empty(&queue), WhyEmpty::NotEmpty { available: 1 }, "the queue itself");
}

#[tokio::test]
async fn dead_letter_returns_if_its_queue_is_deleted_meanwhile() {
    let rig = rig();
    let (source, dead) = source_and_dead(&rig, 1).await;
    rig.send(&source, "poison").await;
    rig.receive(&source).await;
    let queue = rig.service.shared.find_arn(&arn("source").parse().unwrap()).unwrap();
    let request = Receive {
        at_most: 1,
        visibility_timeout: None,
        attempt_id: None,
        wait: Some(Duration::from_secs(1)),
        redeliver: false,
        dead_letter_queue_exists: true,
        room: crate::sqs::engine::Room::default(),
    };
    let mut letters =
        queue.unless_deleted(|queue| queue.receive(START, &request)).unwrap().unwrap().dead_letters;
    rig.call(DeleteQueueInput::builder().queue_url(&dead)).await.unwrap();
    poll::forward(&rig.service.shared, &queue, letters.remove(0));
    assert_eq!(rig.bodies(&source).await, ["poison"]);
}

#[tokio::test]
async fn queue_that_is_its_own_dead_letter_queue_delivers_without_limit() {
    let rig = rig();
    let policy = redrive_to("loop", 1);
    let url = rig.queue("loop", &[("VisibilityTimeout", "0"), ("RedrivePolicy", &policy)]).await;
    rig.send(&url, "again").await;
    for _ in 0..3 {
        assert_eq!(rig.bodies(&url).await, ["again"]);
    }
}

#[tokio::test(start_paused = true)]
async fn mutual_dead_letter_queues_deliver_up_to_their_limit_before_moving() {
    let rig = rig();
    let one = rig.queue("one", &[("VisibilityTimeout", "0")]).await;
    let two = rig.queue("two", &[("VisibilityTimeout", "0"), ("RedrivePolicy", &redrive_to("one", 2))]).await;
    let policy = redrive_to("two", 2);
    let set = SetQueueAttributesInput::builder().queue_url(&one).attributes("RedrivePolicy".into(), &policy);
    rig.call(set).await.unwrap();
    rig.send(&one, "poison").await;
    for queue in [&one, &two, &one, &two] {
        for _ in 0..2 {
            assert_eq!(rig.bodies(queue).await, ["poison"]);
        }
        assert!(rig.bodies(queue).await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn mutual_dead_letter_queues_move_a_message_once_under_long_polls() {
    let rig = rig();
    let one = rig.queue("one", &[]).await;
    let two = rig.queue("two", &[("RedrivePolicy", &redrive_to("one", 1))]).await;
    let policy = redrive_to("two", 1);
    let set = SetQueueAttributesInput::builder().queue_url(&one).attributes("RedrivePolicy".into(), &policy);
    rig.call(set).await.unwrap();
    rig.send(&one, "poison").await;
    rig.receive(&one).await;
    rig.pass(30).await;
    // The poll of the first queue moves the message and continues; the poll of the second queue returns it.
    let parked = rig.park(long_poll(&two, 20)).await;
    assert!(rig.call(long_poll(&one, 5)).await.unwrap().messages.is_none());
    assert_eq!(parked.bodies().await, ["poison"]);
    assert_eq!(rig.now().saturating_since(START), Duration::from_secs(35));
}

#[tokio::test]
async fn redrive_policy_with_unsuitable_target_is_rejected() {
    let rig = rig();
    let url = rig.queue("source", &[]).await;
    rig.fifo_queue("dead.fifo").await;
    let deny = [("RedriveAllowPolicy", r#"{"redrivePermission":"denyAll"}"#)];
    rig.queue("closed", &deny).await;
    let table = [
        ("missing", "Dead letter target does not exist."),
        ("dead.fifo", "Dead-letter queue must be same type of queue as the source.."),
        ("closed", "Dead letter target does not allow redrive from the source queue."),
    ];
    for (target, reason) in table {
        let policy = redrive_to(target, 3);
        let set =
            SetQueueAttributesInput::builder().queue_url(&url).attributes("RedrivePolicy".into(), &policy);
        let text = format!("Value {policy} for parameter RedrivePolicy is invalid. Reason: {reason}");
        assert_eq!(rig.refusal(set).await, (ErrorCode::InvalidParameterValue, text.clone()), "{target}");
        let create =
            CreateQueueInput::builder().queue_name("new").attributes("RedrivePolicy".into(), &policy);
        assert_eq!(rig.refusal(create).await.1, text);
    }
    assert_eq!(rig.attribute(&url, "RedrivePolicy").await, None);
}

#[tokio::test]
async fn fifo_dead_letter_unlocks_its_group() {
    let rig = rig();
    let dead = rig.fifo_queue("dead.fifo").await;
    let policy = redrive_to("dead.fifo", 1);
    let attributes =
        [("FifoQueue", "true"), ("ContentBasedDeduplication", "true"), ("RedrivePolicy", policy.as_str())];
    let source = rig.queue("source.fifo", &attributes).await;
    rig.send_to_group(&source, "g", "poison").await;
    rig.call(receive(&source).visibility_timeout(0)).await.unwrap();
    rig.send_to_group(&source, "g", "good").await;
    assert_eq!(rig.bodies(&source).await, ["good"]);
    assert_eq!(rig.bodies(&dead).await, ["poison"]);
}
