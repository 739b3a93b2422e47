use super::*;

fn full(name: &str) -> Bench {
    let mut bench = Bench::new(name, &[]);
    for (id, text) in ["g/in flight", "h/visible"].into_iter().enumerate() {
        let deduplication_id = bench.queue.attributes().is_fifo().then(|| id.to_string());
        bench
            .queue
            .send(bench.now, Room::default(), NewMessage { deduplication_id, ..message(text) })
            .unwrap();
    }
    bench
}

#[test]
fn purge_drops_visible_delayed_and_in_flight_messages() {
    for name in ["a", "a.fifo"] {
        let mut bench = full(name);
        let taken = bench.receive_one();
        drop(bench.queue.purge(bench.now).unwrap());
        assert_eq!(bench.counts(), [0, 0, 0]);
        bench.pass(100);
        assert!(bench.receive().is_empty());
        bench.delete(&taken).unwrap();
    }
}

#[test]
fn second_purge_has_to_wait_sixty_seconds() {
    let mut bench = Bench::standard();
    drop(bench.queue.purge(bench.now).unwrap());
    bench.pass(59);
    let (code, text) = refusal(bench.queue.purge(bench.now).map(drop));
    assert_eq!(code.status(), 403);
    assert_eq!(text, "Only one PurgeQueue operation on orders is allowed every 60 seconds.");
    bench.pass(1);
    assert!(bench.queue.purge(bench.now).is_ok());
}

#[test]
fn relaxed_timing_lets_a_purge_follow_another() {
    let settings = Settings { relaxed_timing: true, ..Settings::default() };
    let mut bench = Bench::with("orders", &[], settings);
    drop(bench.queue.purge(bench.now).unwrap());
    assert!(bench.queue.purge(bench.now).is_ok());
}

#[test]
fn deduplication_ids_can_be_used_again_after_a_purge() {
    let mut bench = full("a.fifo");
    drop(bench.queue.purge(bench.now).unwrap());
    bench
        .queue
        .send(
            bench.now,
            Room::default(),
            NewMessage { deduplication_id: Some("0".to_owned()), ..message("g/a") },
        )
        .unwrap();
    assert_eq!(bench.counts(), [1, 0, 0]);
}

#[test]
fn handle_from_before_a_purge_reaches_no_later_message() {
    let mut bench = Bench::standard();
    bench.send("a");
    let taken = bench.receive_one();
    drop(bench.queue.purge(bench.now).unwrap());
    bench.send("b");
    bench.delete(&taken).unwrap();
    assert_eq!(bench.counts(), [1, 0, 0]);
}

#[test]
fn closed_queue_is_empty_and_says_so() {
    let mut bench = full("a");
    assert!(!bench.queue.is_deleted());
    drop(bench.queue.close());
    assert!(bench.queue.is_deleted());
    assert!(bench.receive().is_empty());
}
