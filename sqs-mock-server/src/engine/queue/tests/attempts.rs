//! Details of replays are not recorded anywhere; these tests follow the documentation.

use super::*;

fn attempt(bench: &mut Bench, id: &str) -> Vec<Delivery> {
    let request = Receive {
        at_most: 2,
        visibility_timeout: None,
        attempt_id: Some(id),
        waits: true,
        redeliver: false,
        dead_letter_queue_exists: true,
    };
    messages(bench.queue.receive(bench.now, &request))
}

fn handles(deliveries: &[Delivery]) -> Vec<&str> {
    deliveries.iter().map(|delivery| delivery.receipt_handle.as_str()).collect()
}

fn three() -> Bench {
    let mut bench = Bench::fifo();
    for text in ["g/1", "g/2", "h/3"] {
        bench.send(text);
    }
    bench
}

#[test]
fn repeated_attempt_gets_the_same_messages_and_handles() {
    let mut bench = three();
    let first = attempt(&mut bench, "x");
    let again = attempt(&mut bench, "x");
    assert_eq!(bodies(&again), ["1", "2"]);
    assert_eq!(handles(&again), handles(&first));
    assert_eq!(again[0].receive_count, 1);
}

#[test]
fn another_attempt_gets_other_messages() {
    let mut bench = three();
    attempt(&mut bench, "x");
    assert_eq!(bodies(&attempt(&mut bench, "y")), ["3"]);
}

#[test]
fn repeat_starts_the_visibility_timeout_again() {
    let mut bench = three();
    attempt(&mut bench, "x");
    bench.pass(20);
    attempt(&mut bench, "x");
    bench.pass(20);
    assert_eq!(bench.counts(), [1, 2, 0]);
    assert_eq!(bodies(&attempt(&mut bench, "x")), ["1", "2"]);
}

#[test]
fn attempt_of_a_deleted_or_changed_message_is_a_new_one() {
    let mut bench = three();
    let first = attempt(&mut bench, "x");
    bench.delete(&first[0]).unwrap();
    assert_eq!(bodies(&attempt(&mut bench, "x")), ["3"]);
    let mut bench = three();
    let first = attempt(&mut bench, "x");
    bench.hide(&first[1], 100).unwrap();
    assert_eq!(bodies(&attempt(&mut bench, "x")), ["3"]);
}

#[test]
fn attempt_whose_visibility_ran_out_is_a_new_one() {
    let mut bench = three();
    let first = attempt(&mut bench, "x");
    bench.pass(30);
    bench.bodies(1, 0);
    let again = attempt(&mut bench, "x");
    assert_eq!(bodies(&again), ["1", "2"]);
    assert_ne!(handles(&again), handles(&first));
}

#[test]
fn attempt_is_forgotten_after_five_minutes() {
    let mut bench = three();
    bench.set(Name::VisibilityTimeout, "600");
    attempt(&mut bench, "x");
    bench.pass(299);
    assert_eq!(bodies(&attempt(&mut bench, "x")), ["1", "2"]);
    bench.pass(1);
    assert_eq!(bodies(&attempt(&mut bench, "x")), ["3"]);
}

#[test]
fn attempt_id_means_nothing_on_a_standard_queue() {
    let mut bench = Bench::standard();
    bench.send("a");
    bench.send("b");
    assert_eq!(attempt(&mut bench, "x").len(), 2);
    assert!(attempt(&mut bench, "x").is_empty());
}
