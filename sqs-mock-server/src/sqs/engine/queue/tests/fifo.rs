use super::*;

fn with(texts: &[&str]) -> Bench {
    let mut bench = Bench::fifo();
    for text in texts {
        bench.send(text);
    }
    bench
}

#[test]
fn one_receive_takes_from_one_group_before_the_next() {
    let mut bench = with(&["g/1", "h/2", "g/3", "h/4"]);
    assert_eq!(bench.bodies(3, 30), ["1", "3", "2"]);
}

#[test]
fn message_in_flight_locks_its_group_and_no_other() {
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
fn message_returns_to_the_head_when_its_visibility_runs_out() {
    let mut bench = with(&["g/1", "g/2", "g/3"]);
    assert_eq!(bench.bodies(2, 30), ["1", "2"]);
    bench.pass(30);
    assert_eq!(bench.bodies(10, 30), ["1", "2", "3"]);
}

#[test]
fn message_made_visible_before_others_in_flight_comes_alone() {
    let mut bench = with(&["g/1", "g/2", "g/3"]);
    let taken = messages(bench.try_receive(2, None));
    bench.hide(&taken[0], 0).unwrap();
    assert_eq!(bench.bodies(10, 30), ["1"]);
}

#[test]
fn message_made_visible_behind_one_in_flight_does_not_come() {
    let mut bench = with(&["g/1", "g/2", "g/3"]);
    let taken = messages(bench.try_receive(2, None));
    bench.hide(&taken[1], 0).unwrap();
    assert!(bench.receive().is_empty());
}

#[test]
fn extended_message_keeps_back_all_behind_it() {
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
fn receives_with_timeout_zero_walk_round_the_groups() {
    let mut bench = with(&["g/1", "g/2", "h/3", "i/4"]);
    let walk: Vec<_> = (0..4).map(|_| bench.bodies(1, 0).concat()).collect();
    assert_eq!(walk, ["1", "3", "4", "1"]);
    assert_eq!(bench.bodies(10, 0), ["3", "4", "1", "2"]);
}

#[test]
fn sequence_numbers_have_twenty_digits_and_go_up_by_multiples_of_256() {
    let mut bench = Bench::fifo();
    let mut number = |text| bench.send(text).sequence_number.unwrap();
    let (first, second) = (number("g/1"), number("h/2"));
    assert_eq!(first.to_string().len(), 20);
    assert!(second > first);
    assert_eq!((second.0 - first.0) % 256, 0);
    let delivery = bench.receive().remove(0);
    assert_eq!(delivery.sequence_number, Some(first));
    assert_eq!(delivery.group.as_deref(), Some("g"));
}

#[test]
fn message_without_group_is_refused() {
    let mut bench = Bench::fifo();
    let error = bench.queue.send(START, Room::default(), message("a")).unwrap_err();
    assert_eq!(error.code, ErrorCode::MissingParameter);
    assert_eq!(error.message.as_deref(), Some("The request must contain the parameter MessageGroupId."));
}

#[test]
fn message_without_any_deduplication_id_is_refused() {
    let mut bench = Bench::new("a.fifo", &[]);
    let error = bench.queue.send(START, Room::default(), message("g/a")).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidParameterValue);
    assert!(error.message.unwrap().starts_with("The queue should either have ContentBasedDeduplication"));
}

#[test]
fn delay_of_zero_means_that_of_the_queue() {
    let mut bench = Bench::fifo();
    bench.set(Name::DelaySeconds, "10");
    let message = NewMessage { delay: Some(Duration::ZERO), ..message("g/a") };
    bench.queue.send(START, Room::default(), message).unwrap();
    assert_eq!(bench.counts(), [0, 0, 1]);
}

#[test]
fn group_is_forgotten_with_its_last_message_and_comes_back_with_the_next() {
    let mut bench = with(&["g/1"]);
    let delivery = bench.receive_one();
    bench.delete(&delivery).unwrap();
    bench.send("g/2");
    assert_eq!(bench.bodies(10, 30), ["2"]);
}
