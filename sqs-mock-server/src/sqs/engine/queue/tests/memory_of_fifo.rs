//! Memory of a FIFO queue besides its messages.

use super::*;
use crate::sqs::engine::queue::tests::memory::ROOMY;
use crate::sqs::engine::queue::tests::memory::bench;

#[test]
fn deduplication_id_takes_memory_until_it_expires() {
    let mut bench = bench("orders.fifo", ROOMY);
    bench.send("g/once");
    let received = bench.receive_one();
    bench.delete(&received).unwrap();
    assert!(bench.bytes() > 0, "the id is remembered");
    bench.pass(299);
    assert_eq!(bench.counts(), [0; 3]);
    assert!(bench.bytes() > 0, "the id is still remembered");
    bench.pass(1);
    assert_eq!(bench.counts(), [0; 3]);
    assert_eq!(bench.bytes(), 0);
}

#[test]
fn receive_attempt_takes_memory_until_it_expires() {
    let mut bench = bench("orders.fifo", ROOMY);
    bench.send("g/x");
    bench.pass(300);
    assert_eq!(bench.counts(), [1, 0, 0]);
    let before = bench.bytes();
    assert_eq!(bench.receive_attempt("a"), 1);
    assert!(bench.bytes() > before);
    bench.pass(300);
    assert_eq!(bench.counts(), [1, 0, 0]);
    assert_eq!(bench.bytes(), before);
}

#[test]
fn duplicate_over_the_memory_limit_returns_the_result_of_the_original() {
    let mut bench = bench("orders.fifo", 3000);
    let first = bench.send("g/first");
    while bench.try_send(&format!("g/{}", bench.bytes())).is_ok() {}
    assert_eq!(bench.send("g/first"), first);
}

#[test]
fn id_of_a_rejected_message_is_not_remembered() {
    let mut bench = bench("orders.fifo", 0);
    assert!(bench.try_send("g/x").is_err());
    bench.room = Room::default();
    assert_eq!(bench.try_send("g/x").unwrap().original, None);
    bench.room = Room { ceiling: 0, elsewhere: 0 };
    assert_eq!(bench.try_send("g/x").unwrap().original, Some(START));
}

#[test]
fn receive_attempt_over_the_memory_limit_is_not_stored() {
    let mut other = bench("orders.fifo", ROOMY);
    other.send("g/x");
    for (ceiling, again) in [(ROOMY, 1), (other.bytes(), 0)] {
        let mut bench = bench("orders.fifo", ceiling);
        bench.send("g/x");
        let received = [bench.receive_attempt("a"), bench.receive_attempt("a")];
        assert_eq!(received, [1, again], "{ceiling}: {}", bench.bytes());
    }
}

impl Bench {
    /// How many messages a receive with an attempt id returns.
    fn receive_attempt(&mut self, id: &str) -> usize {
        let request = Receive {
            at_most: 1,
            visibility_timeout: None,
            attempt_id: Some(id),
            wait: Some(Duration::ZERO),
            redeliver: false,
            dead_letter_queue_exists: false,
            room: self.room,
        };
        messages(self.queue.receive(self.now, &request).unwrap()).len()
    }
}
