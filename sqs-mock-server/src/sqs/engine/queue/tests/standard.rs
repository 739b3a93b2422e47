use super::*;

#[test]
fn messages_are_received_in_the_order_they_were_sent() {
    let mut bench = Bench::standard();
    for body in ["a", "b", "c"] {
        bench.send(body);
    }
    assert_eq!(bench.bodies(2, 30), ["a", "b"]);
    assert_eq!(bench.bodies(10, 30), ["c"]);
    assert_eq!(bench.counts(), [0, 3, 0]);
}

#[test]
fn receive_hides_a_message_until_its_visibility_timeout() {
    let mut bench = Bench::standard();
    bench.send("a");
    let first = bench.receive_one();
    bench.pass(29);
    assert!(bench.receive().is_empty());
    bench.pass(1);
    let second = bench.receive_one();
    assert_ne!(first.receipt_handle, second.receipt_handle);
    assert_eq!((first.message.receive_count, second.message.receive_count), (1, 2));
    assert_eq!(second.message.first_received, Some(START));
    assert_eq!(second.message.sent, START);
}

#[test]
fn timeout_of_the_receive_overrides_the_timeout_of_the_queue() {
    let mut bench = Bench::standard();
    bench.send("a");
    assert_eq!(bench.bodies(1, 5), ["a"]);
    bench.pass(5);
    assert_eq!(bench.bodies(1, 5), ["a"]);
}

#[test]
fn receive_with_timeout_zero_returns_each_message_once() {
    let mut bench = Bench::standard();
    for body in ["a", "b", "c"] {
        bench.send(body);
    }
    assert_eq!(bench.bodies(10, 0), ["a", "b", "c"]);
    assert_eq!(bench.counts(), [3, 0, 0]);
    assert_eq!(bench.bodies(2, 0), ["a", "b"]);
}

/// Recorded by `LocalStack` as `test_inflight_message_requeue`.
#[test]
fn message_returns_ahead_of_later_messages_after_its_timeout() {
    let mut bench = Bench::standard();
    bench.send("a");
    bench.receive_one();
    bench.pass(15);
    bench.send("b");
    bench.pass(30);
    assert_eq!(bench.bodies(1, 30), ["a"]);
}

#[test]
fn messages_return_in_the_order_they_were_sent() {
    let mut bench = Bench::standard();
    for body in ["a", "b", "c", "d", "e"] {
        bench.send(body);
    }
    for timeout in [30, 20, 10] {
        bench.bodies(1, timeout);
    }
    bench.pass(10);
    assert_eq!(bench.bodies(1, 20), ["c"]);
    bench.pass(20);
    assert_eq!(bench.bodies(10, 30), ["a", "b", "c", "d", "e"]);
}

#[test]
fn delayed_message_is_ordered_by_the_end_of_its_delay() {
    let mut bench = Bench::standard();
    let delayed = NewMessage { delay: Some(Duration::from_secs(5)), ..message("late") };
    bench.queue.send(bench.now, Room::default(), delayed).unwrap();
    bench.send("a");
    bench.pass(5);
    assert_eq!(bench.bodies(10, 30), ["a", "late"]);
    bench.pass(30);
    assert_eq!(bench.bodies(10, 30), ["a", "late"]);
}

/// Documented for the metric `ApproximateAgeOfOldestMessage`.
#[test]
fn message_received_three_times_moves_to_the_back_of_the_queue() {
    let mut bench = Bench::standard();
    for body in ["a", "b", "c"] {
        bench.send(body);
    }
    let received: Vec<_> = (0..10).flat_map(|_| bench.bodies(1, 0)).collect();
    assert_eq!(received, ["a", "a", "a", "b", "b", "b", "c", "c", "c", "a"]);
}

/// With a scan per message, this would take minutes.
#[test]
fn hundred_thousand_messages_return_ahead_of_as_many_others() {
    const MANY: usize = 100_000;
    let mut bench = Bench::standard();
    for number in 0..2 * MANY {
        bench.send(&number.to_string());
    }
    for _ in 0..MANY / 10 {
        assert_eq!(bench.receive().len(), 10);
    }
    bench.pass(30);
    assert_eq!(bench.counts(), [2 * MANY, 0, 0]);
    let order: Vec<_> = (0..MANY / 10).flat_map(|_| bench.bodies(10, 60)).collect();
    assert!(order.iter().map(|body| body.parse::<usize>().unwrap()).eq(0..MANY));
}

#[test]
fn group_of_a_standard_queue_is_returned_but_not_locked() {
    let mut bench = Bench::standard();
    bench.send("g/a");
    bench.send("g/b");
    let first = bench.receive_one();
    assert_eq!(first.message.group.as_deref(), Some("g"));
    assert_eq!(first.message.sequence_number, None);
    assert_eq!(bench.bodies(10, 30), ["b"]);
}

#[test]
fn time_that_runs_backwards_is_ignored() {
    let mut bench = Bench::standard();
    bench.pass(10);
    bench.send("a");
    bench.now = START;
    let delivery = bench.receive_one();
    assert_eq!(delivery.message.sent, START + Duration::from_secs(10));
    assert_eq!(delivery.message.first_received, Some(delivery.message.sent));
}
