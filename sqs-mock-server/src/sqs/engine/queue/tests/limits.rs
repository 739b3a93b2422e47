use super::*;

fn full(name: &str) -> Bench {
    let settings = Settings { max_in_flight: 2, ..Settings::default() };
    let mut bench = Bench::with(name, &[], settings);
    for text in ["a/1", "b/2", "c/3"] {
        let deduplication_id = bench.queue.attributes().is_fifo().then(|| text.to_owned());
        bench
            .queue
            .send(bench.now, Room::default(), NewMessage { deduplication_id, ..message(text) })
            .unwrap();
    }
    assert_eq!(bench.receive().len(), 2);
    bench
}

#[test]
fn standard_queue_reports_too_many_messages_in_flight() {
    let mut bench = full("a");
    let received = bench.try_receive(1, None);
    assert!(received.messages.is_empty() && received.is_over_limit, "{received:?}");
    assert_eq!(received.wake_at, Some(START + Duration::from_secs(30)));
    bench.pass(30);
    assert_eq!(bench.receive().len(), 2);
}

#[test]
fn fifo_queue_with_too_many_messages_in_flight_returns_nothing() {
    let mut bench = full("a.fifo");
    let received = bench.try_receive(1, None);
    assert!(received.messages.is_empty() && !received.is_over_limit, "{received:?}");
    assert!(received.wake_at.is_some());
}

#[test]
fn default_limit_of_messages_in_flight_is_that_of_aws() {
    assert_eq!(Settings::default().max_in_flight, 120_000);
}

#[test]
fn delete_below_the_in_flight_limit_wakes_a_receive() {
    let settings = Settings { max_in_flight: 1, ..Settings::default() };
    let mut bench = Bench::with("a", &[], settings);
    bench.send("1");
    bench.send("2");
    let first = bench.receive_one();
    bench.queue.take_wakeups();
    assert!(bench.try_receive(1, None).is_over_limit);
    assert_eq!(bench.queue.take_wakeups().receivable, 0);
    bench.delete(&first).unwrap();
    assert_eq!(bench.queue.take_wakeups().receivable, 1);
    assert_eq!(bench.queue.take_wakeups().receivable, 0);
}

#[test]
fn purge_wakes_no_receive_when_none_reached_the_in_flight_limit() {
    let mut bench = full("a");
    bench.queue.take_wakeups();
    drop(bench.queue.purge(bench.now).unwrap());
    assert_eq!(bench.queue.take_wakeups().receivable, 0);
}
