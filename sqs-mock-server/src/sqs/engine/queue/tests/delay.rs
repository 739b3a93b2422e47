use super::*;

#[test]
fn delayed_message_is_received_after_its_delay() {
    let mut bench = Bench::standard();
    let delay = Some(Duration::from_secs(5));
    bench.queue.send(bench.now, Room::default(), NewMessage { delay, ..message("a") }).unwrap();
    assert_eq!(bench.counts(), [0, 0, 1]);
    bench.pass(4);
    assert!(bench.receive().is_empty());
    bench.pass(1);
    assert_eq!(bench.bodies(1, 30), ["a"]);
}

#[test]
fn explicit_delay_of_zero_overrides_the_delay_of_the_queue() {
    let mut bench = Bench::new("orders", &[(Name::DelaySeconds, "10")]);
    bench.send("a");
    bench
        .queue
        .send(bench.now, Room::default(), NewMessage { delay: Some(Duration::ZERO), ..message("b") })
        .unwrap();
    assert_eq!(bench.bodies(10, 30), ["b"]);
    bench.pass(10);
    assert_eq!(bench.bodies(10, 30), ["a"]);
}

#[test]
fn changed_delay_of_a_standard_queue_affects_later_messages_only() {
    let mut bench = Bench::new("orders", &[(Name::DelaySeconds, "10")]);
    bench.send("a");
    bench.set(Name::DelaySeconds, "0");
    bench.send("b");
    assert_eq!(bench.bodies(10, 30), ["b"]);
    assert_eq!(bench.counts(), [0, 1, 1]);
}

#[test]
fn changed_delay_of_a_fifo_queue_affects_existing_messages() {
    let mut bench = Bench::fifo();
    bench.send("g/a");
    bench.pass(5);
    bench.send("g/b");
    bench.set(Name::DelaySeconds, "10");
    assert_eq!(bench.counts(), [0, 0, 2]);
    bench.pass(5);
    assert_eq!(bench.counts(), [1, 0, 1]);
    bench.set(Name::DelaySeconds, "0");
    assert_eq!(bench.bodies(10, 30), ["a", "b"]);
}

#[test]
fn changed_delay_does_not_affect_received_messages() {
    let mut bench = Bench::fifo();
    bench.send("g/a");
    let delivery = bench.receive_one();
    bench.set(Name::DelaySeconds, "900");
    assert_eq!(bench.counts(), [0, 1, 0]);
    bench.hide(&delivery, 0).unwrap();
    assert_eq!(bench.counts(), [1, 0, 0]);
}

#[test]
fn delayed_message_does_not_block_other_groups() {
    let mut bench = Bench::fifo();
    bench.set(Name::DelaySeconds, "10");
    bench.send("g/a");
    bench.pass(5);
    bench.send("h/b");
    bench.send("g/c");
    bench.pass(5);
    assert_eq!(bench.bodies(10, 30), ["a"]);
    bench.pass(5);
    assert_eq!(bench.bodies(10, 30), ["b"]);
}
