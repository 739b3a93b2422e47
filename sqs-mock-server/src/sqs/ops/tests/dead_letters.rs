//! Dead letters, from queue to queue.

use sqs_client::operation::delete_queue::DeleteQueueInput;
use sqs_client::operation::set_queue_attributes::SetQueueAttributesInput;
use sqs_client::types::MessageSystemAttributeName as Name;

use super::super::poll;
use super::*;
use crate::sqs::engine::Receive;

/// A source whose messages are visible again at once and may be received `most` times.
async fn source_and_dead(rig: &Rig, most: u32) -> (String, String) {
    let dead = rig.queue("dead", &[]).await;
    let policy = redrive_to("dead", most);
    let source = rig.queue("source", &[("VisibilityTimeout", "0"), ("RedrivePolicy", &policy)]).await;
    (source, dead)
}

#[tokio::test]
async fn message_received_too_often_goes_to_the_dead_letter_queue() {
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
async fn receive_finds_what_is_behind_a_thousand_spent_messages() {
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
async fn dead_letter_ends_a_long_poll_at_its_queue() {
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
async fn without_its_dead_letter_queue_a_message_stays_and_is_delivered() {
    let rig = rig();
    let (source, dead) = source_and_dead(&rig, 1).await;
    rig.send(&source, "poison").await;
    rig.call(DeleteQueueInput::builder().queue_url(&dead)).await.unwrap();
    for _ in 0..3 {
        assert_eq!(rig.bodies(&source).await, ["poison"]);
    }
}

#[tokio::test]
async fn dead_letter_whose_queue_goes_meanwhile_comes_back() {
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
async fn queue_that_is_its_own_dead_letter_queue_goes_on_delivering() {
    let rig = rig();
    let policy = redrive_to("loop", 1);
    let url = rig.queue("loop", &[("VisibilityTimeout", "0"), ("RedrivePolicy", &policy)]).await;
    rig.send(&url, "again").await;
    for _ in 0..3 {
        assert_eq!(rig.bodies(&url).await, ["again"]);
    }
}

#[tokio::test(start_paused = true)]
async fn queues_that_are_each_others_dead_letter_queue_deliver_before_they_bury() {
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
async fn polls_at_both_of_two_such_queues_rest_once_they_have_a_message() {
    let rig = rig();
    let one = rig.queue("one", &[]).await;
    let two = rig.queue("two", &[("RedrivePolicy", &redrive_to("one", 1))]).await;
    let policy = redrive_to("two", 1);
    let set = SetQueueAttributesInput::builder().queue_url(&one).attributes("RedrivePolicy".into(), &policy);
    rig.call(set).await.unwrap();
    rig.send(&one, "poison").await;
    rig.receive(&one).await;
    rig.pass(30).await;
    // The poll at the first buries the message and goes on; the one at the second gets it.
    let parked = rig.park(long_poll(&two, 20)).await;
    assert!(rig.call(long_poll(&one, 5)).await.unwrap().messages.is_none());
    assert_eq!(parked.bodies().await, ["poison"]);
    assert_eq!(rig.now().saturating_since(START), Duration::from_secs(35));
}

#[tokio::test]
async fn redrive_policy_must_name_a_queue_that_can_take_dead_letters() {
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
