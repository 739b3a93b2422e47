//! Memory of messages, and errors at its limit.

use super::*;

pub(super) const ROOMY: usize = 1 << 20;

pub(super) fn bench(name: &str, ceiling: usize) -> Bench {
    let attributes: &[_] =
        if name.ends_with(".fifo") { &[(Name::ContentBasedDeduplication, "true")] } else { &[] };
    Bench { room: Room { ceiling, elsewhere: 0 }, ..Bench::new(name, attributes) }
}

impl Bench {
    pub(super) fn bytes(&self) -> usize {
        self.queue.stored_bytes()
    }
}

#[test]
fn larger_messages_take_more_memory() {
    let mut bench = bench("orders", ROOMY);
    bench.send("small");
    let small = bench.bytes();
    bench.send(&"x".repeat(1005));
    assert_eq!(bench.bytes(), 2 * small + 1000);
}

#[test]
fn message_over_the_memory_limit_is_rejected_until_others_are_deleted() {
    let mut bench = bench("orders", ROOMY);
    let big = "x".repeat(ROOMY / 2);
    bench.send(&big);
    let error = bench.try_send(&big).unwrap_err();
    assert_eq!(error.code, ErrorCode::OverLimit);
    let text = error.message.unwrap();
    for part in [ROOMY.to_string(), bench.bytes().to_string(), "--max-memory".to_owned()] {
        assert!(text.contains(&part), "{part}: {text}");
    }
    assert_eq!(bench.counts(), [1, 0, 0]);
    let received = bench.receive_one();
    bench.delete(&received).unwrap();
    bench.send(&big);
}

#[test]
fn messages_of_other_queues_count_toward_the_memory_limit() {
    let mut bench = bench("orders", ROOMY);
    bench.room.elsewhere = ROOMY / 2;
    let error = bench.try_send(&"x".repeat(ROOMY / 2)).unwrap_err();
    assert_eq!(error.code, ErrorCode::OverLimit);
    bench.room.elsewhere = 0;
    bench.send(&"x".repeat(ROOMY / 2));
}

#[test]
fn removed_messages_take_no_memory() {
    let mut bench = bench("orders", ROOMY);
    bench.send("purged");
    drop(bench.queue.purge(bench.now).unwrap());
    assert_eq!(bench.bytes(), 0, "purge");
    bench.send("too old");
    bench.pass(345_600);
    assert_eq!((bench.counts(), bench.bytes()), ([0; 3], 0), "retention");
    bench.send("deleted with its queue");
    drop(bench.queue.close(bench.now));
    assert_eq!(bench.bytes(), 0, "deletion of the queue");
}

#[test]
fn many_expired_messages_count_as_freed_before_they_are_dropped() {
    let mut bench = bench("orders", 64 * ROOMY);
    for _ in 0..2 {
        for number in 0..3000 {
            bench.send(&number.to_string());
        }
        bench.pass(345_600);
        assert_eq!((bench.counts(), bench.bytes()), ([0; 3], 0));
        assert!(bench.queue.take_expired().is_some() && bench.queue.take_expired().is_none());
        bench.send("another");
        drop(bench.queue.purge(bench.now).unwrap());
        assert_eq!(bench.bytes(), 0);
    }
}

#[test]
fn dead_letter_returned_after_a_purge_has_its_bytes_and_turn_again() {
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:000000000000:dead","maxReceiveCount":1}"#;
    let mut bench = Bench::new("orders", &[(Name::RedrivePolicy, policy)]);
    bench.send("g/poison");
    bench.bodies(1, 0);
    let letter = bench.dead_letters().pop().unwrap();
    drop(bench.queue.purge(bench.now).unwrap());
    assert_eq!((bench.counts(), bench.bytes()), ([0; 3], 0));
    for text in ["h/a", "i/b", "j/c"] {
        bench.send(text);
    }
    let before = bench.bytes();
    bench.queue.take_back(bench.now, letter);
    assert!(bench.bytes() > before);
    bench.set(Name::RedrivePolicy, "");
    assert_eq!(bench.bodies(10, 30), ["poison", "a", "b", "c"]);
}

#[test]
fn moved_dead_letter_counts_in_the_dead_letter_queue() {
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:000000000000:dead","maxReceiveCount":1}"#;
    let attributes = [(Name::RedrivePolicy, policy), (Name::VisibilityTimeout, "0")];
    let (mut source, mut dead) = (Bench::new("orders", &attributes), bench("dead", ROOMY));
    source.send("again and again");
    let before = source.bytes();
    assert_eq!(source.receive().len(), 1);
    let letter = source.dead_letters().pop().unwrap();
    assert_eq!(source.bytes(), 0, "the letter is in no queue");
    dead.queue.accept_dead_letter(dead.now, letter).unwrap();
    assert_eq!(dead.bytes(), before);
}

#[test]
fn deleting_a_backlog_frees_its_lists() {
    let mut bench = Bench::standard();
    for round in 0..2 {
        for number in 0..2000 {
            bench.send(&format!("tenant-{}/{number}", number % 7));
        }
        for _ in 0..200 {
            for delivery in bench.receive() {
                bench.delete(&delivery).unwrap();
            }
        }
        assert_eq!((round, bench.counts()), (round, [0; 3]));
        let shown = format!("{:?}", bench.queue.store);
        assert!(shown.len() < 2000, "the lists must be empty: {} characters", shown.len());
    }
}

/// Before, a slab of 150 bytes for each message of the largest backlog was kept.
#[test]
fn backlog_that_is_drained_to_one_message_gives_its_memory_back() {
    for name in ["orders", "orders.fifo"] {
        let mut bench = bench(name, usize::MAX);
        for number in 0..20_000 {
            bench.send(&format!("tenant-{number}/{number}"));
        }
        let full = bench.queue.store.allocated();
        while bench.counts()[0] > 1 {
            for delivery in bench.receive() {
                if bench.counts()[0] + bench.counts()[1] > 1 {
                    bench.delete(&delivery).unwrap();
                }
            }
        }
        let left = bench.queue.store.allocated();
        assert!(left * 5 < full, "{name}: {left} of {full} places");
    }
}
