//! Restored queues.

use super::*;

/// For readers, a dead letter is in its queue until the other queue has it. A later message may have taken its slot.
#[test]
fn message_in_transit_is_restored_with_the_later_one_in_its_slot() {
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:000000000000:dead","maxReceiveCount":1}"#;
    let mut bench = Bench::new("orders", &[(Name::RedrivePolicy, policy)]);
    bench.send("poison");
    bench.bodies(1, 0);
    let letters = bench.dead_letters();
    assert_eq!(letters.len(), 1);
    bench.send("later");
    let later = bench.receive_one();
    let state = bench.state_of_changes();
    let id = bench.queue.id().clone();
    bench.queue = Queue::restore(bench.now, id, state, Settings::default());
    assert_eq!(bench.counts(), [1, 1, 0]);
    bench.delete(&later).unwrap();
    bench.set(Name::RedrivePolicy, "");
    assert_eq!(bench.bodies(10, 30), ["poison"]);
    bench.send("last");
    assert_eq!(bench.bodies(10, 30), ["last"]);
}
