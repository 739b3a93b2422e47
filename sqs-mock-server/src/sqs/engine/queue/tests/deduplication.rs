use super::*;

fn explicit(text: &str, id: &str) -> NewMessage {
    NewMessage { deduplication_id: Some(id.to_owned()), ..message(text) }
}

#[test]
fn repeat_within_five_minutes_gets_the_answer_of_the_original() {
    let mut bench = Bench::fifo();
    let original = bench.send("g/a");
    bench.pass(299);
    assert_eq!(bench.send("g/a"), original);
    assert_eq!(bench.counts(), [1, 0, 0]);
}

#[test]
fn window_counts_from_the_first_send_and_no_repeat_extends_it() {
    let mut bench = Bench::fifo();
    let original = bench.send("g/a");
    bench.pass(200);
    bench.send("g/a");
    bench.pass(100);
    assert_ne!(bench.send("g/a"), original);
    assert_eq!(bench.counts(), [2, 0, 0]);
}

#[test]
fn receiving_and_deleting_do_not_end_the_window() {
    let mut bench = Bench::fifo();
    let original = bench.send("g/a");
    let delivery = bench.receive_one();
    assert_eq!(bench.send("g/a"), original);
    bench.delete(&delivery).unwrap();
    assert_eq!(bench.send("g/a"), original);
    assert_eq!(bench.counts(), [0, 0, 0]);
}

#[test]
fn explicit_id_comes_before_the_content() {
    let mut bench = Bench::fifo();
    let original = bench.queue.send(bench.now, Room::default(), explicit("g/a", "1")).unwrap();
    assert_ne!(bench.queue.send(bench.now, Room::default(), explicit("g/a", "2")).unwrap(), original);
    let repeat = bench.queue.send(bench.now, Room::default(), explicit("g/other body", "1")).unwrap();
    assert_eq!(repeat, Sent { original: Some(START), ..original });
    assert_eq!(bench.counts(), [2, 0, 0]);
    let delivered: Vec<_> =
        bench.receive().iter().map(|message| message.deduplication_id.clone().unwrap()).collect();
    assert_eq!(delivered, ["1".into(), "2".into()]);
}

#[test]
fn content_id_is_the_hash_of_the_body() {
    let mut bench = Bench::fifo();
    bench.send("g/same");
    let id = bench.receive_one().deduplication_id.unwrap();
    assert_eq!(&*id, "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5");
}

#[test]
fn scope_queue_ignores_the_group() {
    let mut bench = Bench::fifo();
    let original = bench.send("g/a");
    assert_eq!(bench.send("h/a"), original);
}

#[test]
fn scope_message_group_tells_groups_apart() {
    let attributes = [(Name::ContentBasedDeduplication, "true"), (Name::DeduplicationScope, "messageGroup")];
    let mut bench = Bench::new("a.fifo", &attributes);
    let original = bench.send("g/a");
    assert_ne!(bench.send("h/a"), original);
    assert_eq!(bench.send("g/a"), original);
}

#[test]
fn changing_the_scope_later_changes_nothing() {
    let mut bench = Bench::fifo();
    let original = bench.send("g/a");
    bench.set(Name::DeduplicationScope, "messageGroup");
    assert_eq!(bench.send("h/a"), original);
    assert_eq!(bench.send("g/a"), original);
}
