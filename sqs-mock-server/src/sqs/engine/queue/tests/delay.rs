use super::*;

#[test]
fn delayed_message_comes_when_its_delay_is_over() {
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
fn explicit_zero_comes_before_the_delay_of_the_queue() {
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
fn changed_delay_of_a_standard_queue_is_for_later_messages() {
    let mut bench = Bench::new("orders", &[(Name::DelaySeconds, "10")]);
    bench.send("a");
    bench.set(Name::DelaySeconds, "0");
    bench.send("b");
    assert_eq!(bench.bodies(10, 30), ["b"]);
    assert_eq!(bench.counts(), [0, 1, 1]);
}

#[test]
fn changed_delay_of_a_fifo_queue_is_for_queued_messages_too() {
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
fn changed_delay_leaves_received_messages_alone() {
    let mut bench = Bench::fifo();
    bench.send("g/a");
    let delivery = bench.receive_one();
    bench.set(Name::DelaySeconds, "900");
    assert_eq!(bench.counts(), [0, 1, 0]);
    bench.hide(&delivery, 0).unwrap();
    assert_eq!(bench.counts(), [1, 0, 0]);
}

#[test]
fn delayed_message_keeps_back_nothing_of_other_groups() {
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
