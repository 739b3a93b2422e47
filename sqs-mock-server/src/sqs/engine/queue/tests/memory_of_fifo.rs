//! What a FIFO queue takes of memory beside its messages.

use super::memory::{ROOMY, bench};
use super::*;

#[test]
fn deduplication_id_takes_memory_until_it_is_forgotten() {
    let memory = Memory::new(ROOMY);
    let mut bench = bench("orders.fifo", &memory);
    bench.send("g/once");
    let received = bench.receive_one();
    bench.delete(&received).unwrap();
    assert!(memory.used() > 0, "the id is remembered");
    bench.pass(299);
    assert_eq!(bench.counts(), [0; 3]);
    assert!(memory.used() > 0, "the id is still remembered");
    bench.pass(1);
    assert_eq!(bench.counts(), [0; 3]);
    assert_eq!(memory.used(), 0);
}

#[test]
fn receive_attempt_takes_memory_until_it_is_forgotten() {
    let memory = Memory::new(ROOMY);
    let mut bench = bench("orders.fifo", &memory);
    bench.send("g/x");
    bench.pass(300);
    assert_eq!(bench.counts(), [1, 0, 0]);
    let before = memory.used();
    assert_eq!(bench.receive_attempt("a"), 1);
    assert!(memory.used() > before);
    bench.pass(300);
    assert_eq!(bench.counts(), [1, 0, 0]);
    assert_eq!(memory.used(), before);
}

#[test]
fn repeat_over_the_ceiling_gets_the_answer_of_its_original() {
    let memory = Memory::new(3000);
    let mut bench = bench("orders.fifo", &memory);
    let first = bench.send("g/first");
    while bench.queue.send(bench.now, message(&format!("g/{}", memory.used()))).is_ok() {}
    assert_eq!(bench.send("g/first"), first);
}

#[test]
fn receive_attempt_is_not_remembered_without_memory() {
    let roomy = Memory::new(ROOMY);
    let mut other = bench("orders.fifo", &roomy);
    other.send("g/x");
    for (ceiling, again) in [(ROOMY, 1), (roomy.used(), 0)] {
        let memory = Memory::new(ceiling);
        let mut bench = bench("orders.fifo", &memory);
        bench.send("g/x");
        let received = [bench.receive_attempt("a"), bench.receive_attempt("a")];
        assert_eq!(received, [1, again], "{ceiling}: {}", memory.used());
    }
}

impl Bench {
    /// How many messages a receive with an attempt id gives.
    fn receive_attempt(&mut self, id: &str) -> usize {
        let request = Receive {
            at_most: 1,
            visibility_timeout: None,
            attempt_id: Some(id),
            waits: false,
            redeliver: false,
            dead_letter_queue_exists: false,
        };
        messages(self.queue.receive(self.now, &request).unwrap()).len()
    }
}
