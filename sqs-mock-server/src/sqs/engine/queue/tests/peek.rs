use super::*;
use crate::sqs::engine::inspect::PAGE;
use crate::sqs::engine::inspect::Visibility;

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
    let mut walk = Walk::new(0, 3, is_shown);
    assert!(!bench.queue.walk(bench.now, &mut walk));
    let peeked = walk.into_messages();
    assert_eq!(peeked.iter().map(|message| &*message.payload.body).collect::<Vec<_>>(), ["2", "3", "4"]);
    assert_eq!(looks.get(), 5);
}

/// Sends `count` messages, numbered, of one group on FIFO queues.
fn filled(mut bench: Bench, count: usize) -> Bench {
    for number in 0..count {
        bench.send(&format!("g/{number}"));
    }
    bench
}

fn numbers(peeked: &[PeekedMessage]) -> Vec<usize> {
    peeked.iter().map(|message| message.body().parse().unwrap()).collect()
}

#[test]
fn walk_reads_a_page_at_a_time_and_finds_all_messages_in_order() {
    let count = 2 * PAGE + 500;
    let mut bench = filled(Bench::standard(), count);
    let reads = std::cell::Cell::new(0);
    let mut walk = Walk::new(0, usize::MAX, |_| {
        reads.set(reads.get() + 1);
        true
    });
    let mut pages = Vec::new();
    while bench.queue.walk(bench.now, &mut walk) {
        pages.push(reads.take());
    }
    pages.push(reads.take());
    assert_eq!(pages, [PAGE, PAGE, 500]);
    assert!(numbers(&walk.into_messages()).into_iter().eq(0..count));
}

#[test]
fn skipped_and_hidden_messages_count_as_read() {
    let mut bench = filled(Bench::standard(), 3 * PAGE);
    let mut skipping = Walk::new(2 * PAGE + 1, 2, |_| true);
    let mut hiding = Walk::new(0, 1, |visibility| visibility != Visibility::Visible);
    for is_more in [true, true, false] {
        assert_eq!(bench.queue.walk(bench.now, &mut skipping), is_more);
    }
    for is_more in [true, true, true, false] {
        assert_eq!(bench.queue.walk(bench.now, &mut hiding), is_more);
    }
    assert_eq!(numbers(&skipping.into_messages()), [2 * PAGE + 1, 2 * PAGE + 2]);
    assert!(hiding.into_messages().is_empty());
}

#[test]
fn lock_of_a_group_extends_to_later_pages_until_it_is_released() {
    let mut bench = filled(Bench::fifo(), 3 * PAGE);
    let lock = bench.receive_one();
    let mut walk = Walk::new(0, usize::MAX, |_| true);
    bench.queue.walk(bench.now, &mut walk);
    bench.queue.walk(bench.now, &mut walk);
    bench.delete(&lock).unwrap();
    while bench.queue.walk(bench.now, &mut walk) {}
    let seen: Vec<_> = walk.into_messages().iter().map(|message| message.visibility).collect();
    let locked = Visibility::GroupLockedBy { id: lock.message.id, until: at(30) };
    assert!(seen[1..2 * PAGE].iter().all(|visibility| *visibility == locked));
    assert!(seen[2 * PAGE..].iter().all(|visibility| *visibility == Visibility::Visible));
}

#[test]
fn message_deleted_or_sent_between_pages_does_not_disturb_the_walk() {
    let mut bench = filled(Bench::standard(), PAGE + 10);
    let first = bench.receive_one();
    let mut walk = Walk::new(0, usize::MAX, |_| true);
    assert!(bench.queue.walk(bench.now, &mut walk));
    bench.delete(&first).unwrap();
    bench.send(&(PAGE + 10).to_string());
    assert!(!bench.queue.walk(bench.now, &mut walk));
    assert!(numbers(&walk.into_messages()).into_iter().eq(0..=PAGE + 10));
}
