use super::*;

fn flood(bench: &mut Bench, group: &str, messages: usize) {
    for number in 0..messages {
        bench.send(&format!("{group}/{group}{number}"));
    }
}

/// A queue in which `loud` has all 30 messages in flight, and 70 more ahead of one of `calm`.
fn noisy() -> Bench {
    let mut bench = Bench::standard();
    flood(&mut bench, "loud", 100);
    for _ in 0..3 {
        assert_eq!(bench.receive().len(), 10);
    }
    bench.send("calm/c");
    bench
}

#[test]
fn quiet_tenant_is_served_before_a_noisy_one() {
    let mut bench = noisy();
    assert_eq!(bench.bodies(2, 30), ["c", "loud30"]);
}

#[test]
fn tenant_with_few_messages_in_flight_is_not_noisy() {
    let mut bench = Bench::standard();
    flood(&mut bench, "loud", 40);
    assert_eq!(messages(bench.try_receive(10, None)).len(), 10);
    bench.send("calm/c");
    assert_eq!(bench.bodies(1, 30), ["loud10"]);
}

#[test]
fn messages_without_a_group_are_never_noisy() {
    let mut bench = Bench::standard();
    for number in 0..100 {
        bench.send(&format!("{number}"));
    }
    for _ in 0..3 {
        assert_eq!(bench.receive().len(), 10);
    }
    bench.send("calm/c");
    assert_eq!(bench.bodies(1, 30), ["30"]);
}

#[test]
fn tenant_stays_noisy_until_its_backlog_is_drained() {
    let mut bench = noisy();
    for number in 0..1199 {
        bench.send(&format!("tenant{number}/x"));
    }
    for _ in 0..120 {
        assert!(bench.receive().iter().all(|delivery| delivery.message.group.as_deref() != Some("loud")));
    }
    // Now it has less than a tenth of the messages in flight.
    bench.send("calm/d");
    assert_eq!(bench.bodies(1, 30), ["d"]);
    let drained: Vec<_> = (0..7).flat_map(|_| bench.receive()).collect();
    for delivery in &drained {
        bench.hide(delivery, 0).unwrap();
    }
    bench.send("calm/e");
    assert_eq!(bench.bodies(1, 30), ["loud30"]);
}

#[test]
fn tenant_with_most_of_the_processing_time_is_noisy() {
    for (seconds, order) in [(29, ["slow1", "q"]), (30, ["q", "slow1"])] {
        let mut bench = Bench::standard();
        flood(&mut bench, "slow", 2);
        let slow = bench.receive_one();
        bench.pass(seconds);
        bench.delete(&slow).unwrap();
        bench.send("quick/q");
        assert_eq!(bench.bodies(2, 30), order, "{seconds}");
    }
}

#[test]
fn processing_time_ends_with_the_visibility_timeout() {
    let mut bench = Bench::standard();
    flood(&mut bench, "slow", 1);
    bench.bodies(1, 5);
    bench.pass(100);
    bench.send("quick/q");
    assert_eq!(bench.bodies(2, 30), ["slow0", "q"]);
}

#[test]
fn tenant_with_a_tenth_of_the_processing_time_is_not_noisy() {
    let mut bench = Bench::standard();
    for number in 0..10 {
        flood(&mut bench, &format!("tenant{number}"), 2);
    }
    let taken: Vec<_> = (0..20).map(|_| messages(bench.try_receive(1, Some(1000))).remove(0)).collect();
    bench.pass(40);
    for delivery in taken.iter().step_by(2) {
        bench.delete(delivery).unwrap();
    }
    for delivery in taken.iter().skip(1).step_by(2) {
        bench.hide(delivery, 0).unwrap();
    }
    bench.send("quick/q");
    assert_eq!(bench.bodies(1, 30), ["tenant01"]);
}

#[test]
fn noisy_tenant_becomes_quiet_after_five_minutes_without_sends() {
    let mut bench = noisy();
    assert_eq!(bench.bodies(1, 1000), ["c"]);
    bench.pass(299);
    bench.send("calm/d");
    assert_eq!(bench.bodies(1, 1000), ["d"]);
    bench.pass(1);
    bench.send("calm/e");
    assert_eq!(bench.bodies(1, 1000), ["loud0"]);
}
