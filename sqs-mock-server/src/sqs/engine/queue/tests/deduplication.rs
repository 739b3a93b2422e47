use super::*;

fn explicit(text: &str, id: &str) -> NewMessage {
    NewMessage { deduplication_id: Some(id.to_owned()), ..message(text) }
}

#[test]
fn duplicate_within_five_minutes_returns_the_result_of_the_original() {
    let mut bench = Bench::fifo();
    let original = bench.send("g/a");
    bench.pass(299);
    assert_eq!(bench.send("g/a"), original);
    assert_eq!(bench.counts(), [1, 0, 0]);
}

#[test]
fn duplicates_do_not_extend_the_deduplication_window() {
    let mut bench = Bench::fifo();
    let original = bench.send("g/a");
    bench.pass(200);
    bench.send("g/a");
    bench.pass(100);
    assert_ne!(bench.send("g/a"), original);
    assert_eq!(bench.counts(), [2, 0, 0]);
}

#[test]
fn receive_and_delete_do_not_end_the_deduplication_window() {
    let mut bench = Bench::fifo();
    let original = bench.send("g/a");
    let delivery = bench.receive_one();
    assert_eq!(bench.send("g/a"), original);
    bench.delete(&delivery).unwrap();
    assert_eq!(bench.send("g/a"), original);
    assert_eq!(bench.counts(), [0, 0, 0]);
}

#[test]
fn explicit_id_overrides_the_content_hash() {
    let mut bench = Bench::fifo();
    let original = bench.queue.send(bench.now, Room::default(), explicit("g/a", "1")).unwrap();
    assert_ne!(bench.queue.send(bench.now, Room::default(), explicit("g/a", "2")).unwrap(), original);
    let repeat = bench.queue.send(bench.now, Room::default(), explicit("g/other body", "1")).unwrap();
    assert_eq!(repeat, Sent { original: Some(START), ..original });
    assert_eq!(bench.counts(), [2, 0, 0]);
    let delivered: Vec<_> =
        bench.receive().iter().map(|delivery| delivery.message.deduplication_id.clone().unwrap()).collect();
    assert_eq!(delivered, ["1".into(), "2".into()]);
}

#[test]
fn content_based_id_is_the_hash_of_the_body() {
    let mut bench = Bench::fifo();
    bench.send("g/same");
    let id = bench.receive_one().message.deduplication_id.unwrap();
    assert_eq!(&*id, "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5");
}

#[test]
fn scope_queue_deduplicates_across_groups() {
    let mut bench = Bench::fifo();
    let original = bench.send("g/a");
    assert_eq!(bench.send("h/a"), original);
}

#[test]
fn scope_message_group_deduplicates_within_a_group() {
    let attributes = [(Name::ContentBasedDeduplication, "true"), (Name::DeduplicationScope, "messageGroup")];
    let mut bench = Bench::new("a.fifo", &attributes);
    let original = bench.send("g/a");
    assert_ne!(bench.send("h/a"), original);
    assert_eq!(bench.send("g/a"), original);
}

#[test]
fn changed_scope_has_no_effect_on_an_existing_queue() {
    let mut bench = Bench::fifo();
    let original = bench.send("g/a");
    bench.set(Name::DeduplicationScope, "messageGroup");
    assert_eq!(bench.send("h/a"), original);
    assert_eq!(bench.send("g/a"), original);
}
