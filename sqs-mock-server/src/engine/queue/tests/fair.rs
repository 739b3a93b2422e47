use super::*;

fn flood(bench: &mut Bench, group: &str, messages: usize) {
    for number in 0..messages {
        bench.send(&format!("{group}/{group}{number}"));
    }
}

/// A queue in which `loud` has 30 of 30 messages in flight and 70 more waiting before one of `calm`.
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
fn tenant_is_quiet_again_when_its_backlog_has_drained() {
    let mut bench = noisy();
    while !bench.receive().is_empty() {}
    bench.pass(31);
    flood(&mut bench, "late", 1);
    assert_eq!(bench.bodies(1, 30), ["loud0"]);
}

#[test]
fn tenant_is_quiet_again_after_five_minutes_without_sends() {
    let mut bench = noisy();
    assert_eq!(bench.bodies(1, 1000), ["c"]);
    bench.pass(299);
    bench.send("calm/d");
    assert_eq!(bench.bodies(1, 1000), ["d"]);
    bench.pass(1);
    bench.send("calm/e");
    assert_eq!(bench.bodies(1, 1000), ["loud30"]);
}
