//! What messages take of memory, and what happens when there is no more.

use super::*;
use crate::sqs::engine::Memory;

pub(super) const ROOMY: usize = 1 << 20;

pub(super) fn bench(name: &str, memory: &Memory) -> Bench {
    let attributes: &[_] =
        if name.ends_with(".fifo") { &[(Name::ContentBasedDeduplication, "true")] } else { &[] };
    Bench::in_memory(name, attributes, Settings::default(), memory.clone())
}

#[test]
fn bigger_messages_take_more() {
    let memory = Memory::new(ROOMY);
    let mut bench = bench("orders", &memory);
    bench.send("small");
    let small = memory.used();
    bench.send(&"x".repeat(1005));
    assert_eq!(memory.used(), 2 * small + 1000);
    assert_eq!(bench.queue.stored_bytes(), memory.used());
}

#[test]
fn message_beyond_the_ceiling_is_refused_until_there_is_room() {
    let memory = Memory::new(ROOMY);
    let mut bench = bench("orders", &memory);
    let big = "x".repeat(ROOMY / 2);
    bench.send(&big);
    let error = bench.queue.send(bench.now, message(&big)).unwrap_err();
    assert_eq!(error.code, ErrorCode::OverLimit);
    let text = error.message.unwrap();
    for part in [ROOMY.to_string(), memory.used().to_string(), "--max-memory".to_owned()] {
        assert!(text.contains(&part), "{part}: {text}");
    }
    assert_eq!(bench.counts(), [1, 0, 0]);
    let received = bench.receive_one();
    bench.delete(&received).unwrap();
    bench.send(&big);
}

#[test]
fn ceiling_is_one_for_all_queues() {
    let memory = Memory::new(ROOMY);
    let (mut one, mut other) = (bench("one", &memory), bench("other", &memory));
    one.send(&"x".repeat(ROOMY / 2));
    let error = other.queue.send(other.now, message(&"x".repeat(ROOMY / 2))).unwrap_err();
    assert_eq!(error.code, ErrorCode::OverLimit);
    drop(one);
    other.send(&"x".repeat(ROOMY / 2));
}

#[test]
fn what_is_gone_takes_nothing() {
    let memory = Memory::new(ROOMY);
    let mut bench = bench("orders", &memory);
    bench.send("purged");
    drop(bench.queue.purge(bench.now).unwrap());
    assert_eq!(memory.used(), 0, "purge");
    bench.send("too old");
    bench.pass(345_600);
    assert_eq!((bench.counts(), memory.used()), ([0; 3], 0), "retention");
    bench.send("deleted with its queue");
    drop(bench.queue.close());
    assert_eq!(memory.used(), 0, "the end of the queue");
}

#[test]
fn great_many_messages_take_nothing_once_they_are_gone_whoever_still_holds_them() {
    let memory = Memory::new(64 * ROOMY);
    let mut bench = bench("orders", &memory);
    for _ in 0..2 {
        for number in 0..3000 {
            bench.send(&number.to_string());
        }
        bench.pass(345_600);
        assert_eq!((bench.counts(), memory.used()), ([0; 3], 0), "expired, but not dropped");
        let expired = bench.queue.take_expired();
        assert!(expired.is_some() && bench.queue.take_expired().is_none());
        bench.send("another");
        let before = memory.used();
        drop(expired);
        assert_eq!(memory.used(), before, "given back twice");
        let purged = bench.queue.purge(bench.now).unwrap();
        assert_eq!(memory.used(), 0, "purged, but not dropped");
        drop(purged);
        assert_eq!((memory.used(), bench.queue.stored_bytes()), (0, 0));
    }
}

#[test]
fn letter_that_comes_back_after_a_purge_counts_again_and_has_its_old_turn() {
    let memory = Memory::new(ROOMY);
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:000000000000:dead","maxReceiveCount":1}"#;
    let attributes = [(Name::RedrivePolicy, policy)];
    let mut bench = Bench::in_memory("orders", &attributes, Settings::default(), memory.clone());
    bench.send("g/poison");
    bench.bodies(1, 0);
    let letter = bench.dead_letters().pop().unwrap();
    drop(bench.queue.purge(bench.now).unwrap());
    assert_eq!((bench.counts(), memory.used()), ([0; 3], 0));
    for text in ["h/a", "i/b", "j/c"] {
        bench.send(text);
    }
    let before = memory.used();
    bench.queue.take_back(bench.now, letter);
    assert!(memory.used() > before);
    assert_eq!(memory.used(), bench.queue.stored_bytes());
    bench.set(Name::RedrivePolicy, "");
    assert_eq!(bench.bodies(10, 30), ["poison", "a", "b", "c"]);
}

#[test]
fn dead_letter_takes_its_bytes_along() {
    let memory = Memory::new(ROOMY);
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:000000000000:dead","maxReceiveCount":1}"#;
    let attributes = [(Name::RedrivePolicy, policy), (Name::VisibilityTimeout, "0")];
    let mut source = Bench::in_memory("orders", &attributes, Settings::default(), memory.clone());
    let mut dead = bench("dead", &memory);
    source.send("again and again");
    let before = memory.used();
    assert_eq!(source.receive().len(), 1);
    let letter = source.dead_letters().pop().unwrap();
    assert_eq!(memory.used(), 0, "it is on its way");
    dead.queue.accept_dead_letter(dead.now, letter).unwrap();
    assert_eq!((memory.used(), source.queue.stored_bytes()), (before, 0));
}

#[test]
fn places_of_a_backlog_go_with_its_last_message() {
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
        assert!(shown.len() < 2000, "its lists are empty: {} characters", shown.len());
    }
}
