use super::*;
use crate::sqs::engine::Visibility;

fn at(seconds: u64) -> Timestamp {
    START + Duration::from_secs(seconds)
}

#[test]
fn peek_shows_visibility_and_does_not_receive() {
    let mut bench = Bench::standard();
    bench.send("in flight");
    bench.receive_one();
    bench.send("visible");
    let delay = Some(Duration::from_secs(5));
    bench.queue.send(bench.now, Room::default(), NewMessage { delay, ..message("delayed") }).unwrap();
    let peeked = bench.queue.peek(bench.now, 0, 10);
    let seen: Vec<_> = peeked.iter().map(|message| (&*message.payload.body, message.visibility)).collect();
    let expected = [
        ("in flight", Visibility::InFlightUntil(at(30))),
        ("visible", Visibility::Visible),
        ("delayed", Visibility::DelayedUntil(at(5))),
    ];
    assert_eq!(seen, expected);
    assert_eq!((peeked[0].first_received, peeked[1].first_received), (Some(START), None));
    assert_eq!(bench.counts(), [1, 1, 1]);
}

#[test]
fn message_of_a_locked_group_names_the_locking_message() {
    let mut bench = Bench::fifo();
    let lock = bench.send("g/1");
    bench.send("g/2");
    bench.send("h/3");
    bench.bodies(1, 30);
    let seen: Vec<_> = bench.queue.peek(bench.now, 1, 10).iter().map(|message| message.visibility).collect();
    assert_eq!(seen, [Visibility::GroupLockedBy { id: lock.id, until: at(30) }, Visibility::Visible]);
}

#[test]
fn peek_returns_the_requested_range() {
    let mut bench = Bench::standard();
    for body in ["a", "b", "c", "d"] {
        bench.send(body);
    }
    let peeked = bench.queue.peek(bench.now, 1, 2);
    assert_eq!(peeked.iter().map(|message| &*message.payload.body).collect::<Vec<_>>(), ["b", "c"]);
}

#[test]
fn peek_stops_at_the_last_requested_message() {
    let mut bench = Bench::standard();
    for number in 0..1_000 {
        bench.send(&number.to_string());
    }
    bench.bodies(2, 30);
    let looks = std::cell::Cell::new(0);
    let is_shown = |visibility| {
        looks.set(looks.get() + 1);
        visibility == Visibility::Visible
    };
    let peeked = bench.queue.peek_shown(bench.now, 3, is_shown);
    assert_eq!(peeked.iter().map(|message| &*message.payload.body).collect::<Vec<_>>(), ["2", "3", "4"]);
    assert_eq!(looks.get(), 5);
}
