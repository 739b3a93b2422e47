use super::*;

fn with(texts: &[&str]) -> Bench {
    let mut bench = Bench::fifo();
    for text in texts {
        bench.send(text);
    }
    bench
}

#[test]
fn receive_takes_all_messages_of_a_group_before_the_next_group() {
    let mut bench = with(&["g/1", "h/2", "g/3", "h/4"]);
    assert_eq!(bench.bodies(3, 30), ["1", "3", "2"]);
}

#[test]
fn message_in_flight_locks_only_its_group() {
    let mut bench = with(&["g/1", "g/2", "h/3"]);
    assert_eq!(bench.bodies(1, 30), ["1"]);
    assert_eq!(bench.bodies(10, 30), ["3"]);
    bench.send("g/4");
    assert!(bench.receive().is_empty());
    assert_eq!(bench.counts(), [2, 2, 0]);
}

#[test]
fn group_unlocks_when_the_last_message_in_flight_is_deleted() {
    let mut bench = with(&["g/1", "g/2", "g/3"]);
    let taken = messages(bench.try_receive(2, None));
    bench.delete(&taken[1]).unwrap();
    assert!(bench.receive().is_empty());
    bench.delete(&taken[0]).unwrap();
    assert_eq!(bench.bodies(10, 30), ["3"]);
}

#[test]
fn message_returns_to_the_head_after_its_visibility_timeout() {
    let mut bench = with(&["g/1", "g/2", "g/3"]);
    assert_eq!(bench.bodies(2, 30), ["1", "2"]);
    bench.pass(30);
    assert_eq!(bench.bodies(10, 30), ["1", "2", "3"]);
}

#[test]
fn visible_message_ahead_of_one_in_flight_is_delivered_alone() {
    let mut bench = with(&["g/1", "g/2", "g/3"]);
    let taken = messages(bench.try_receive(2, None));
    bench.hide(&taken[0], 0).unwrap();
    assert_eq!(bench.bodies(10, 30), ["1"]);
}

#[test]
fn visible_message_behind_one_in_flight_is_not_delivered() {
    let mut bench = with(&["g/1", "g/2", "g/3"]);
    let taken = messages(bench.try_receive(2, None));
    bench.hide(&taken[1], 0).unwrap();
    assert!(bench.receive().is_empty());
}

#[test]
fn message_with_extended_timeout_blocks_all_behind_it() {
    let mut bench = with(&["g/1", "g/2", "g/3"]);
    let taken = bench.receive();
    bench.hide(&taken[1], 60).unwrap();
    bench.pass(30);
    assert_eq!(bench.bodies(10, 100), ["1"]);
    bench.pass(30);
    assert!(bench.receive().is_empty());
    bench.pass(70);
    assert_eq!(bench.bodies(10, 30), ["1", "2", "3"]);
}

#[test]
fn receives_with_timeout_zero_take_groups_in_turn() {
    let mut bench = with(&["g/1", "g/2", "h/3", "i/4"]);
    let walk: Vec<_> = (0..4).map(|_| bench.bodies(1, 0).concat()).collect();
    assert_eq!(walk, ["1", "3", "4", "1"]);
    assert_eq!(bench.bodies(10, 0), ["3", "4", "1", "2"]);
}

#[test]
fn sequence_numbers_have_twenty_digits_and_increase_by_multiples_of_256() {
    let mut bench = Bench::fifo();
    let mut number = |text| bench.send(text).sequence_number.unwrap();
    let (first, second) = (number("g/1"), number("h/2"));
    assert_eq!(first.to_string().len(), 20);
    assert!(second > first);
    assert_eq!((second.0 - first.0) % 256, 0);
    let delivery = bench.receive().remove(0);
    assert_eq!(delivery.message.sequence_number, Some(first));
    assert_eq!(delivery.message.group.as_deref(), Some("g"));
}

#[test]
fn fifo_message_without_group_is_rejected() {
    let mut bench = Bench::fifo();
    let error = bench.queue.send(START, Room::default(), message("a")).unwrap_err();
    assert_eq!(error.code, ErrorCode::MissingParameter);
    assert_eq!(error.message.as_deref(), Some("The request must contain the parameter MessageGroupId."));
}

#[test]
fn fifo_message_without_deduplication_id_is_rejected() {
    let mut bench = Bench::new("a.fifo", &[]);
    let error = bench.queue.send(START, Room::default(), message("g/a")).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidParameterValue);
    assert!(error.message.unwrap().starts_with("The queue should either have ContentBasedDeduplication"));
}

#[test]
fn delay_of_zero_uses_the_delay_of_a_fifo_queue() {
    let mut bench = Bench::fifo();
    bench.set(Name::DelaySeconds, "10");
    let message = NewMessage { delay: Some(Duration::ZERO), ..message("g/a") };
    bench.queue.send(START, Room::default(), message).unwrap();
    assert_eq!(bench.counts(), [0, 0, 1]);
}

#[test]
fn group_is_removed_with_its_last_message_and_can_be_reused() {
    let mut bench = with(&["g/1"]);
    let delivery = bench.receive_one();
    bench.delete(&delivery).unwrap();
    bench.send("g/2");
    assert_eq!(bench.bodies(10, 30), ["2"]);
}
