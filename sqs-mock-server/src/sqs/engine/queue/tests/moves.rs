use std::sync::Arc;

use super::*;
use crate::control::seed::Uuid;
use crate::sqs::engine::move_task::FailureReason;
use crate::sqs::engine::move_task::MoveStatus;

/// A dead-letter queue with one letter, and its source queue `orders`.
fn with_letter() -> (Bench, Bench) {
    let mut source = Bench::standard();
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:000000000000:dead","maxReceiveCount":1}"#;
    source.set(Name::RedrivePolicy, policy);
    source.send("a");
    source.bodies(1, 0);
    let mut dead = Bench::new("dead", &[]);
    for letter in source.dead_letters() {
        dead.queue.accept_dead_letter(dead.now, letter).unwrap();
    }
    (source, dead)
}

const TASK: Uuid = Uuid::from_bytes([0; 16]);

#[test]
fn dead_letter_moves_back_to_its_source_as_a_new_message() {
    let (mut source, mut dead) = with_letter();
    let id = dead.queue.peek(dead.now, 0, 1)[0].id;
    dead.pass(100);
    source.now = dead.now;
    let moving = dead.queue.take_for_move(dead.now, None).unwrap();
    assert_eq!(moving.destination(), source.queue.arn());
    source.queue.take_wakeups();
    source.queue.accept_moving(source.now, moving, TASK).unwrap();
    assert_eq!(source.queue.take_wakeups().receivable, 1);
    let delivery = source.receive_one();
    assert_ne!(delivery.message.id, id);
    assert_eq!(
        (delivery.message.sent, delivery.message.receive_count),
        (START + Duration::from_secs(100), 1)
    );
    assert_eq!(delivery.message.dead_letter_source, None);
    assert_eq!(&*delivery.message.payload.body, "a");
    assert_eq!(dead.counts(), [0, 0, 0]);
}

#[test]
fn destination_overrides_the_source_queue() {
    let (_, mut dead) = with_letter();
    let destination = Arc::new(QueueArn::new("eu-west-1", "000000000000", "elsewhere"));
    let moving = dead.queue.take_for_move(dead.now, Some(&destination)).unwrap();
    assert_eq!(moving.destination(), &destination);
}

#[test]
fn message_without_source_queue_needs_a_destination() {
    let mut dead = Bench::new("dead", &[]);
    dead.send("sent directly");
    let stopped = dead.queue.take_for_move(dead.now, None).unwrap_err();
    assert_eq!(stopped, MoveStatus::Failed(FailureReason::UnknownSource));
    assert_eq!(dead.counts(), [1, 0, 0]);
}

#[test]
fn message_in_flight_is_not_moved() {
    let (_, mut dead) = with_letter();
    dead.receive_one();
    let stopped = dead.queue.take_for_move(dead.now, None).unwrap_err();
    assert_eq!(stopped, MoveStatus::Completed);
}

#[test]
fn destination_deleted_meanwhile_returns_the_message() {
    let (mut source, mut dead) = with_letter();
    let moving = dead.queue.take_for_move(dead.now, None).unwrap();
    drop(source.queue.close(source.now));
    let moving = source.queue.accept_moving(source.now, moving, TASK).unwrap_err();
    dead.queue.take_back(dead.now, moving);
    assert_eq!(dead.counts(), [1, 0, 0]);
    assert!(dead.receive_one().message.dead_letter_source.is_some());
}

#[test]
fn fifo_queue_accepts_no_message_without_a_group() {
    let (_, mut dead) = with_letter();
    let mut destination = Bench::fifo();
    let moving = dead.queue.take_for_move(dead.now, Some(destination.queue.arn())).unwrap();
    let moving = destination.queue.accept_moving(destination.now, moving, TASK).unwrap_err();
    dead.queue.take_back(dead.now, moving);
    assert_eq!((destination.counts(), dead.counts()), ([0, 0, 0], [1, 0, 0]));
}

#[test]
fn returned_message_keeps_its_place_in_its_group() {
    let mut dead = Bench::fifo();
    for text in ["g/a", "g/b", "h/c"] {
        dead.send(text);
    }
    let destination = Arc::new(QueueArn::new("eu-west-1", "000000000000", "gone.fifo"));
    let moving = dead.queue.take_for_move(dead.now, Some(&destination)).unwrap();
    dead.queue.take_wakeups();
    dead.queue.take_back(dead.now, moving);
    assert_eq!(dead.bodies(10, 30), ["a", "b", "c"]);
    dead.pass(30);
    assert_eq!(dead.bodies(10, 30).len(), 3);
}

#[test]
fn returned_message_keeps_its_age_and_place_in_a_standard_queue() {
    let mut dead = Bench::new("dead", &[(Name::MessageRetentionPeriod, "100")]);
    dead.send("a");
    dead.pass(50);
    dead.send("b");
    let destination = Arc::new(QueueArn::new("eu-west-1", "000000000000", "gone"));
    let moving = dead.queue.take_for_move(dead.now, Some(&destination)).unwrap();
    dead.queue.take_back(dead.now, moving);
    let bodies: Vec<_> =
        dead.queue.peek(dead.now, 0, 9).iter().map(|message| message.payload.body.to_string()).collect();
    assert_eq!(bodies, ["a", "b"]);
    assert_eq!(dead.bodies(10, 0), ["a", "b"]);
    dead.pass(50);
    assert_eq!(dead.bodies(10, 0), ["b"]);
}
