use super::*;

fn shown(bench: &mut Bench, name: &Name) -> Option<String> {
    bench.queue.render(bench.now, std::slice::from_ref(name)).remove(name)
}

#[test]
fn attributes_show_exact_message_counts() {
    let mut bench = Bench::standard();
    for body in ["a", "b", "c"] {
        bench.send(body);
    }
    bench.receive_one();
    bench
        .queue
        .send(bench.now, Room::default(), NewMessage { delay: Some(Duration::from_secs(9)), ..message("d") })
        .unwrap();
    assert_eq!(shown(&mut bench, &Name::ApproximateNumberOfMessages).as_deref(), Some("2"));
    assert_eq!(shown(&mut bench, &Name::ApproximateNumberOfMessagesNotVisible).as_deref(), Some("1"));
    assert_eq!(shown(&mut bench, &Name::ApproximateNumberOfMessagesDelayed).as_deref(), Some("1"));
}

#[test]
fn changing_attributes_updates_the_last_modified_time() {
    let mut bench = Bench::standard();
    assert_eq!(shown(&mut bench, &Name::LastModifiedTimestamp).as_deref(), Some("1700000000"));
    bench.pass(10);
    bench.set(Name::VisibilityTimeout, "5");
    assert_eq!(shown(&mut bench, &Name::LastModifiedTimestamp).as_deref(), Some("1700000010"));
    assert_eq!(shown(&mut bench, &Name::CreatedTimestamp).as_deref(), Some("1700000000"));
}

#[test]
fn permissions_are_added_to_and_removed_from_the_policy() {
    let mut bench = Bench::standard();
    let (accounts, actions) = (["111122223333".to_owned()], ["SendMessage".to_owned()]);
    bench.queue.add_permission(bench.now, "l", &accounts, &actions).unwrap();
    assert!(shown(&mut bench, &Name::Policy).unwrap().contains("SQS:SendMessage"));
    bench.queue.remove_permission(bench.now, "l").unwrap();
    assert_eq!(shown(&mut bench, &Name::Policy), None);
    let (code, text) = refusal(bench.queue.remove_permission(bench.now, "l"));
    assert_eq!(code, ErrorCode::InvalidParameterValue);
    assert_eq!(text, "Value l for parameter Label is invalid. Reason: can't find label.");
}

#[test]
fn tags_are_replaced_and_removed() {
    let mut bench = Bench::standard();
    bench.queue.tag([("a".to_owned(), "1".to_owned()), ("b".to_owned(), String::new())].into()).unwrap();
    bench.queue.tag([("a".to_owned(), "2".to_owned())].into()).unwrap();
    bench.queue.untag(["b", "never"]);
    let tags: Vec<_> =
        bench.queue.tags().all().iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(tags, [("a", "2")]);
}

#[test]
fn same_seed_produces_the_same_ids_and_handles() {
    let run = || {
        let mut bench = Bench::fifo();
        let sent = bench.send("g/a");
        (sent, bench.receive_one().receipt_handle)
    };
    assert_eq!(run(), run());
}
