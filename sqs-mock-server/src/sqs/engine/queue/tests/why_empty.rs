use super::*;
use crate::sqs::engine::DeliveryMode;
use crate::sqs::engine::inspect::Visibility;
use crate::sqs::engine::inspect::WhyEmpty;

fn at(seconds: u64) -> Timestamp {
    START + Duration::from_secs(seconds)
}

fn why(bench: &mut Bench) -> WhyEmpty {
    bench.queue.why_empty(bench.now, true)
}

#[test]
fn why_empty_of_a_standard_queue_names_hidden_messages_and_time() {
    let mut bench = Bench::standard();
    assert_eq!(why(&mut bench), WhyEmpty::NoMessages);
    bench.send("a");
    assert_eq!(why(&mut bench), WhyEmpty::NotEmpty { available: 1 });
    bench.receive();
    assert_eq!(why(&mut bench), WhyEmpty::InFlight { messages: 1, until: at(30) });
    let delay = Some(Duration::from_secs(5));
    bench.queue.send(bench.now, Room::default(), NewMessage { delay, ..message("b") }).unwrap();
    assert_eq!(why(&mut bench), WhyEmpty::InFlightOrDelayed { in_flight: 1, delayed: 1, until: at(5) });
    bench.pass(30);
    assert_eq!(why(&mut bench), WhyEmpty::NotEmpty { available: 2 });
}

#[test]
fn why_empty_distinguishes_delayed_messages_from_those_in_flight() {
    let mut bench = Bench::new("a", &[(Name::DelaySeconds, "10")]);
    bench.send("a");
    bench.send("b");
    assert_eq!(why(&mut bench), WhyEmpty::Delayed { messages: 2, until: at(10) });
    assert_eq!(
        why(&mut bench).to_string(),
        "all 2 messages are delayed, the first until 2023-11-14T22:13:30.000Z"
    );
}

#[test]
fn why_empty_names_the_locked_group_and_the_locking_message() {
    let mut bench = Bench::fifo();
    let lock = bench.send("g/1");
    bench.send("g/2");
    bench.bodies(1, 30);
    let expected = WhyEmpty::GroupsLocked { available: 1, group: "g".into(), by: lock.id, until: at(30) };
    assert_eq!(why(&mut bench), expected);
    bench.send("h/3");
    assert_eq!(why(&mut bench), WhyEmpty::NotEmpty { available: 2 });
}

#[test]
fn why_empty_names_the_in_flight_limit_before_other_reasons() {
    let settings = Settings { max_in_flight: 1, ..Settings::default() };
    for name in ["a", "a.fifo"] {
        let mut bench = Bench::with(name, &[], settings);
        for text in ["g/1", "h/2"] {
            let deduplication_id = bench.queue.attributes().is_fifo().then(|| text.to_owned());
            bench
                .queue
                .send(bench.now, Room::default(), NewMessage { deduplication_id, ..message(text) })
                .unwrap();
        }
        bench.receive_one();
        let expected = WhyEmpty::InFlightLimit { limit: 1, available: 1, until: at(30) };
        assert_eq!(why(&mut bench), expected, "{name}");
    }
}

#[test]
fn next_change_is_the_earlier_of_return_and_expiry() {
    let mut bench = Bench::new("a", &[(Name::MessageRetentionPeriod, "60")]);
    assert_eq!(bench.queue.next_change(bench.now), None);
    bench.send("a");
    assert_eq!(bench.queue.next_change(bench.now), Some(at(60)));
    bench.receive();
    assert_eq!(bench.queue.next_change(bench.now), Some(at(30)));
}

#[test]
fn why_empty_distinguishes_the_receive_window_from_locked_groups() {
    let settings = Settings { receive_window: 2, ..Settings::default() };
    let mut bench = Bench::with("a.fifo", &[(Name::ContentBasedDeduplication, "true")], settings);
    for text in ["g/1", "g/2", "h/3", "g/4"] {
        bench.send(text);
    }
    assert_eq!(bench.bodies(10, 30), ["1", "2"]);
    assert_eq!(why(&mut bench), WhyEmpty::BeyondWindow { available: 2, window: 2 });
    let seen: Vec<_> = bench.queue.peek(bench.now, 2, 2).iter().map(|message| message.visibility).collect();
    assert!(matches!(seen[..], [Visibility::BeyondWindow, Visibility::GroupLockedBy { .. }]), "{seen:?}");
    bench.pass(30);
    assert_eq!(why(&mut bench), WhyEmpty::NotEmpty { available: 4 });
    assert_eq!(bench.queue.peek(bench.now, 2, 1)[0].visibility, Visibility::BeyondWindow);
}

#[test]
fn why_empty_names_servers_if_the_queue_delivers_like_aws() {
    let settings = Settings { delivery: DeliveryMode::AwsLike, ..Settings::default() };
    for (name, expected) in
        [("a", WhyEmpty::OnSomeServers { available: 1 }), ("a.fifo", WhyEmpty::NotEmpty { available: 1 })]
    {
        let mut bench = Bench::with(name, &[], settings);
        assert_eq!(why(&mut bench), WhyEmpty::NoMessages);
        let deduplication_id = name.ends_with(".fifo").then(|| "1".to_owned());
        bench
            .queue
            .send(bench.now, Room::default(), NewMessage { deduplication_id, ..message("g/1") })
            .unwrap();
        assert_eq!(why(&mut bench), expected);
    }
}

#[test]
fn why_empty_names_dead_letters_that_have_not_moved_yet() {
    let target = QueueArn::new("eu-west-1", "000000000000", "dead");
    let policy = format!(r#"{{"deadLetterTargetArn":"{target}","maxReceiveCount":1}}"#);
    let mut bench = Bench::new("a", &[(Name::RedrivePolicy, policy.as_str())]);
    bench.send("1");
    assert_eq!(why(&mut bench), WhyEmpty::NotEmpty { available: 1 });
    bench.bodies(1, 0);
    assert_eq!(why(&mut bench), WhyEmpty::DeadLetters { available: 1 });
    let without_target = bench.queue.why_empty(bench.now, false);
    assert_eq!(without_target, WhyEmpty::NotEmpty { available: 1 }, "a receive delivers it without a limit");
    bench.send("2");
    assert_eq!(why(&mut bench), WhyEmpty::NotEmpty { available: 2 });
}
