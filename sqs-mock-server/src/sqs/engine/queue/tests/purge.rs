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
fn purge_removes_visible_and_in_flight_messages() {
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
fn second_purge_within_sixty_seconds_is_rejected() {
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
fn without_the_rule_a_second_purge_succeeds_and_what_aws_would_answer_is_known() {
    let settings = Settings { one_minute_rules: false, ..Settings::default() };
    let mut bench = Bench::with("orders", &[], settings);
    assert!(bench.queue.too_soon_to_purge(bench.now).is_none());
    drop(bench.queue.purge(bench.now).unwrap());
    bench.pass(59);
    let error = bench.queue.too_soon_to_purge(bench.now).unwrap();
    assert_eq!(error.code, ErrorCode::PurgeQueueInProgress);
    assert!(bench.queue.purge(bench.now).is_ok());
}

#[test]
fn deduplication_ids_can_be_reused_after_a_purge() {
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
fn handle_from_before_a_purge_does_not_delete_later_messages() {
    let mut bench = Bench::standard();
    bench.send("a");
    let taken = bench.receive_one();
    drop(bench.queue.purge(bench.now).unwrap());
    bench.send("b");
    bench.delete(&taken).unwrap();
    assert_eq!(bench.counts(), [1, 0, 0]);
}

#[test]
fn closed_queue_is_empty_and_marked_as_deleted() {
    let mut bench = full("a");
    assert!(!bench.queue.is_deleted());
    drop(bench.queue.close(bench.now));
    assert!(bench.queue.is_deleted());
    assert!(bench.receive().is_empty());
}
