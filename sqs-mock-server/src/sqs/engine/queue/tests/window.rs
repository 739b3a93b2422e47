use super::*;

/// A FIFO queue with a receive window of two messages.
fn narrow(messages: &[&str]) -> Bench {
    let settings = Settings { receive_window: 2, ..Settings::default() };
    let by_content = [(Name::ContentBasedDeduplication, "true")];
    let mut bench = Bench::with("orders.fifo", &by_content, settings);
    for text in messages {
        bench.send(text);
    }
    bench
}

#[test]
fn group_beyond_the_window_waits_until_a_message_is_deleted() {
    let mut bench = narrow(&["g/a", "g/b", "h/c"]);
    let first = bench.receive_one();
    assert!(bench.receive().is_empty());
    bench.queue.take_wakeups();
    bench.delete(&first).unwrap();
    // One receive for each group that became ready.
    assert_eq!(bench.queue.take_wakeups().receivable, 2);
    assert_eq!(bench.bodies(10, 30), ["b", "c"]);
}

#[test]
fn messages_of_the_same_group_beyond_the_window_wait_too() {
    let mut bench = narrow(&["g/a", "g/b", "g/c"]);
    assert_eq!(bench.bodies(10, 30), ["a", "b"]);
}

#[test]
fn window_keeps_its_size_after_the_queue_was_empty() {
    let mut bench = narrow(&["g/a", "g/b", "h/c", "h/d"]);
    for _ in 0..2 {
        while let taken @ [_, ..] = &*bench.receive() {
            for delivery in taken {
                bench.delete(delivery).unwrap();
            }
        }
        bench.pass(300);
        for text in ["g/a", "g/b", "h/c"] {
            bench.send(text);
        }
        assert_eq!(bench.bodies(10, 0), ["a", "b"]);
    }
    drop(bench.queue.purge(bench.now).unwrap());
    bench.send("h/d");
    assert_eq!(bench.bodies(10, 30), ["d"]);
}

#[test]
fn group_keeps_its_turn_when_its_next_message_enters_the_window() {
    let mut bench = narrow(&["g/a", "g/b", "h/c", "g/d"]);
    let policy =
        r#"{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:000000000000:dead.fifo","maxReceiveCount":1}"#;
    bench.set(Name::RedrivePolicy, policy);
    assert_eq!(bench.bodies(2, 0), ["a", "b"]);
    let received = bench.try_receive(1, None);
    assert_eq!(received.dead_letters.len(), 2);
    let delivered = received.messages;
    assert_eq!(bodies(&delivered), ["d"]);
}

#[test]
fn window_of_aws_has_120_000_messages() {
    let mut bench = Bench::fifo();
    for number in 0..120_000 {
        bench.send(&format!("g/{number}"));
    }
    bench.send("h/beyond");
    let first = bench.receive_one();
    assert!(bench.receive().is_empty());
    bench.delete(&first).unwrap();
    assert_eq!(bench.bodies(10, 30).len(), 10);
    assert_eq!(bench.bodies(10, 30), ["beyond"]);
}
