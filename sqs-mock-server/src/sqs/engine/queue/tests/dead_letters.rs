use super::*;

fn policy(target: &str, count: u32) -> String {
    let arn = QueueArn::new("eu-west-1", "000000000000", target);
    format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":{count}}}"#)
}

fn with_policy(suffix: &str, count: u32) -> (Bench, Bench) {
    let mut source = if suffix.is_empty() { Bench::standard() } else { Bench::fifo() };
    source.set(Name::RedrivePolicy, &policy(&format!("dead{suffix}"), count));
    let target = Bench::new(&format!("dead{suffix}"), &[]);
    (source, target)
}

/// Receives from `source`, whose only message is a dead letter, and moves it to `target`.
fn move_dead_letters(source: &mut Bench, target: &mut Bench) {
    target.now = source.now;
    for letter in source.dead_letters() {
        assert_eq!(letter.destination(), target.queue.arn());
        target.queue.accept_dead_letter(target.now, letter).unwrap();
    }
}

#[test]
fn message_moves_when_another_receive_would_exceed_the_limit() {
    let (mut source, mut target) = with_policy("", 1);
    let sent = source.send("a");
    source.receive_one();
    source.pass(30);
    assert_eq!(source.counts(), [1, 0, 0], "it moves only on a receive");
    move_dead_letters(&mut source, &mut target);
    assert_eq!(source.counts(), [0, 0, 0]);
    let letter = target.receive_one();
    assert_eq!(
        (letter.message.id, letter.message.sent, letter.message.first_received),
        (sent.id, START, Some(START))
    );
    assert_eq!(letter.message.receive_count, 2);
    assert_eq!(letter.message.dead_letter_source.as_ref(), Some(source.queue.arn()));
}

#[test]
fn receive_returns_messages_behind_dead_letters() {
    let (mut source, _) = with_policy("", 1);
    source.send("a");
    source.bodies(1, 0);
    source.send("b");
    let received = source.try_receive(10, None);
    assert_eq!(received.dead_letters.len(), 1);
    assert_eq!(bodies(&received.messages), ["b"]);
}

#[test]
fn receive_moves_a_limited_number_of_dead_letters() {
    let most = crate::sqs::engine::receive::MAX_DEAD_LETTERS;
    let (mut source, _) = with_policy("", 1);
    for _ in 0..=2 * most {
        source.send("exhausted");
    }
    while !source.bodies(10, 30).is_empty() {}
    source.pass(30);
    source.send("fresh");
    for _ in 0..2 {
        let received = source.try_receive(10, None);
        assert!(received.is_cut_short());
        assert_eq!(received.dead_letters.len(), most);
    }
    let received = source.try_receive(10, None);
    assert!(!received.is_cut_short());
    assert_eq!(received.dead_letters.len(), 1);
    assert_eq!(bodies(&received.messages), ["fresh"]);
}

#[test]
fn dead_letters_of_a_group_move_in_one_receive() {
    let most = crate::sqs::engine::receive::MAX_DEAD_LETTERS;
    let (mut source, _) = with_policy(".fifo", 1);
    for group in 0..=most / 10 {
        for number in 0..10 {
            source.send(&format!("{group}/{group}-{number}"));
        }
    }
    while !source.bodies(10, 30).is_empty() {}
    source.pass(30);
    let received = source.try_receive(10, None);
    assert_eq!(received.dead_letters.len(), most.next_multiple_of(10));
}

#[test]
fn message_is_delivered_without_limit_while_the_target_is_missing() {
    let (mut source, _) = with_policy("", 1);
    source.send("a");
    for count in 1..4 {
        let request = Receive {
            at_most: 1,
            visibility_timeout: Some(Duration::ZERO),
            attempt_id: None,
            wait: Some(Duration::from_secs(1)),
            redeliver: false,
            dead_letter_queue_exists: false,
            room: Room::default(),
        };
        let delivery = messages(source.queue.receive(source.now, &request).unwrap()).remove(0);
        assert_eq!(delivery.message.receive_count, count);
    }
}

#[test]
fn target_deleted_meanwhile_returns_the_dead_letter() {
    let (mut source, mut target) = with_policy("", 1);
    source.send("a");
    source.bodies(1, 0);
    let letter = source.dead_letters().remove(0);
    drop(target.queue.close(target.now));
    let letter = target.queue.accept_dead_letter(source.now, letter).unwrap_err();
    source.queue.take_back(source.now, letter);
    assert_eq!(source.counts(), [1, 0, 0]);
}

#[test]
fn fifo_dead_letter_keeps_its_group_and_has_its_message_id_as_deduplication_id() {
    let (mut source, mut target) = with_policy(".fifo", 1);
    let sent = source.send("g/a");
    source.receive_one();
    source.pass(30);
    move_dead_letters(&mut source, &mut target);
    let letter = target.receive_one();
    assert_eq!(letter.message.group.as_deref(), Some("g"));
    assert_eq!(letter.message.deduplication_id.as_deref(), Some(sent.id.to_string().as_str()));
    assert_eq!(letter.message.sent, START);
}

#[test]
fn dead_letter_unlocks_its_group() {
    let (mut source, mut target) = with_policy(".fifo", 1);
    source.send("g/a");
    source.bodies(1, 0);
    source.send("g/b");
    let received = source.try_receive(10, None);
    assert_eq!(bodies(&received.messages), ["b"]);
    target.queue.accept_dead_letter(source.now, received.dead_letters.into_iter().next().unwrap()).unwrap();
}

#[test]
fn retention_restarts_for_fifo_dead_letters_only() {
    for (suffix, survives) in [("", false), (".fifo", true)] {
        let (mut source, mut target) = with_policy(suffix, 1);
        source.send("g/a");
        source.bodies(1, 0);
        source.pass(3 * 24 * 3600);
        move_dead_letters(&mut source, &mut target);
        target.pass(24 * 3600);
        assert_eq!(target.counts(), [usize::from(survives), 0, 0]);
        target.pass(3 * 24 * 3600);
        assert_eq!(target.counts(), [0, 0, 0]);
    }
}

#[test]
fn dead_letters_expire_by_their_own_age() {
    let (mut source, mut target) = with_policy("", 1);
    source.send("old");
    source.pass(100);
    source.bodies(1, 0);
    target.now = source.now;
    target.send("young");
    move_dead_letters(&mut source, &mut target);
    assert_eq!(target.queue.store.oldest(), Some(START));
    target.pass(4 * 24 * 3600 - 100);
    assert_eq!(target.bodies(10, 0), ["young"]);
}
