use super::*;

const FOUR_DAYS: u64 = 4 * 24 * 3600;

#[test]
fn visible_delayed_and_in_flight_messages_expire() {
    let mut bench = Bench::standard();
    bench.send("in flight");
    let taken = bench.receive_one();
    bench.send("visible");
    bench.pass(FOUR_DAYS - 100);
    bench.send("younger");
    let delay = Some(Duration::from_mins(15));
    bench.queue.send(bench.now, Room::default(), NewMessage { delay, ..message("delayed") }).unwrap();
    bench.hide(&taken, 1000).unwrap_err();
    bench.pass(99);
    assert_eq!(bench.counts(), [3, 0, 1]);
    bench.pass(1);
    assert_eq!(bench.counts(), [1, 0, 1]);
    bench.pass(FOUR_DAYS);
    assert_eq!(bench.counts(), [0, 0, 0]);
}

#[test]
fn deleting_an_expired_message_succeeds() {
    let mut bench = Bench::new("orders", &[(Name::MessageRetentionPeriod, "60")]);
    bench.send("a");
    let delivery = messages(bench.try_receive(1, Some(100))).remove(0);
    bench.pass(60);
    assert_eq!(bench.counts(), [0, 0, 0]);
    bench.delete(&delivery).unwrap();
}

#[test]
fn group_unlocks_when_its_message_in_flight_expires() {
    let mut bench = Bench::fifo();
    bench.set(Name::MessageRetentionPeriod, "60");
    bench.send("g/a");
    assert_eq!(bench.bodies(1, 1000), ["a"]);
    bench.pass(30);
    bench.send("g/b");
    bench.pass(30);
    assert_eq!(bench.bodies(1, 30), ["b"]);
}

#[test]
fn shorter_retention_removes_old_messages_at_once() {
    let mut bench = Bench::standard();
    bench.send("a");
    bench.pass(100);
    bench.send("b");
    bench.set(Name::MessageRetentionPeriod, "60");
    assert_eq!(bench.bodies(10, 30), ["b"]);
}

#[test]
fn longer_retention_keeps_messages_longer() {
    let mut bench = Bench::standard();
    bench.send("a");
    bench.set(Name::MessageRetentionPeriod, "1209600");
    bench.pass(FOUR_DAYS);
    assert_eq!(bench.counts(), [1, 0, 0]);
}

fn aged(name: &str) -> Bench {
    let mut bench = Bench::new(name, &[(Name::MessageRetentionPeriod, "60")]);
    bench.set(Name::DelaySeconds, "5");
    for number in 0..5000 {
        let deduplication_id = name.ends_with(".fifo").then(|| number.to_string());
        let group = Some((number % 7).to_string());
        let message = NewMessage { group, deduplication_id, ..message("old") };
        bench.queue.send(bench.now, Room::default(), message).unwrap();
        bench.now = bench.now + Duration::from_millis(1);
    }
    bench.pass(5);
    assert_eq!(messages(bench.try_receive(10, Some(1000))).len(), 10);
    bench
}

#[test]
fn queue_with_only_expired_messages_is_emptied_at_once() {
    for name in ["orders", "orders.fifo"] {
        let mut bench = aged(name);
        bench.pass(60);
        assert_eq!(bench.counts(), [0, 0, 0]);
        let dropped = bench.queue.take_expired().unwrap();
        assert!(!dropped.is_large());
        assert!(bench.queue.take_expired().is_none());
        assert_eq!(bench.queue.wake_at(), None);
        let new = NewMessage {
            deduplication_id: name.ends_with(".fifo").then(|| "new".to_owned()),
            ..message("g/new")
        };
        bench.queue.send(bench.now, Room::default(), new).unwrap();
        bench.pass(5);
        assert_eq!(bench.bodies(10, 30), ["new"]);
    }
}

#[test]
fn expired_messages_are_removed_and_a_young_one_stays() {
    for name in ["orders", "orders.fifo"] {
        let mut bench = aged(name);
        bench.pass(50);
        let deduplication_id = name.ends_with(".fifo").then(|| "young".to_owned());
        bench
            .queue
            .send(bench.now, Room::default(), NewMessage { deduplication_id, ..message("g/young") })
            .unwrap();
        bench.pass(10);
        assert_eq!(bench.bodies(10, 30), ["young"]);
        assert_eq!(bench.counts(), [0, 1, 0]);
        assert!(bench.queue.take_expired().is_some());
    }
}

#[test]
fn handle_of_a_message_expired_with_many_finds_nothing() {
    let mut bench = aged("orders");
    bench.pass(10);
    let taken = messages(bench.try_receive(1, Some(1000))).remove(0);
    bench.pass(60);
    bench.delete(&taken).unwrap();
    bench.hide(&taken, 5).unwrap_err();
}
