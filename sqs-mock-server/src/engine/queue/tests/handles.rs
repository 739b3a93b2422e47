use super::*;

const EXPIRED: &str = "for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.";
const GONE: &str = "Reason: Message does not exist or is not available for visibility timeout change.";

fn both() -> [Bench; 2] {
    let mut benches = [Bench::standard(), Bench::fifo()];
    for bench in &mut benches {
        bench.send("g/a");
    }
    benches
}

#[test]
fn text_that_is_no_handle_is_not_found() {
    for mut bench in both() {
        let (code, text) = refusal(bench.queue.delete(bench.now, "x"));
        assert_eq!(code.status(), 404);
        assert_eq!(text, "The input receipt handle \"x\" is not a valid receipt handle.");
        let changed = bench.queue.change_visibility(bench.now, "x", Duration::ZERO);
        assert_eq!(refusal(changed).0, ErrorCode::ReceiptHandleIsInvalid);
    }
}

#[test]
fn handle_of_another_queue_is_invalid() {
    let [mut standard, mut fifo] = both();
    let delivery = fifo.receive_one();
    assert_eq!(refusal(standard.delete(&delivery)).0, ErrorCode::ReceiptHandleIsInvalid);
}

#[test]
fn message_in_flight_is_deleted_and_deleting_it_again_is_fine() {
    for mut bench in both() {
        let delivery = bench.receive_one();
        bench.delete(&delivery).unwrap();
        assert_eq!(bench.counts(), [0, 0, 0]);
        bench.delete(&delivery).unwrap();
        bench.send("g/b");
        bench.delete(&delivery).unwrap();
        assert_eq!(bench.counts(), [1, 0, 0]);
    }
}

#[test]
fn standard_message_is_deleted_after_its_visibility_ran_out() {
    let [mut bench, _] = both();
    let delivery = bench.receive_one();
    bench.pass(31);
    bench.delete(&delivery).unwrap();
    assert_eq!(bench.counts(), [0, 0, 0]);
}

#[test]
fn fifo_handle_expires_with_the_visibility() {
    let [_, mut bench] = both();
    let delivery = bench.receive_one();
    bench.pass(30);
    let (code, text) = refusal(bench.delete(&delivery));
    assert_eq!(code, ErrorCode::InvalidParameterValue);
    assert!(text.ends_with(EXPIRED), "{text}");
    assert_eq!(bench.counts(), [1, 0, 0]);
}

#[test]
fn extended_message_is_deleted_after_its_first_timeout() {
    for mut bench in both() {
        let delivery = bench.receive_one();
        bench.hide(&delivery, 100).unwrap();
        bench.pass(60);
        bench.delete(&delivery).unwrap();
        assert_eq!(bench.counts(), [0, 0, 0]);
    }
}

/// Not recorded: on standard queues AWS says that the message may survive; on FIFO queues nothing is known.
#[test]
fn handle_older_than_a_later_receive_does_not_delete() {
    let [mut standard, mut fifo] = both();
    for (bench, accepted) in [(&mut standard, true), (&mut fifo, false)] {
        let first = bench.receive_one();
        bench.pass(30);
        let second = bench.receive_one();
        assert_eq!(bench.delete(&first).is_ok(), accepted);
        assert_eq!(bench.counts(), [0, 1, 0]);
        bench.delete(&second).unwrap();
        assert_eq!(bench.counts(), [0, 0, 0]);
    }
}

#[test]
fn visibility_of_a_deleted_message_cannot_be_changed() {
    for mut bench in both() {
        let delivery = bench.receive_one();
        bench.delete(&delivery).unwrap();
        let (code, text) = refusal(bench.hide(&delivery, 10));
        assert_eq!(code, ErrorCode::InvalidParameterValue);
        assert!(text.ends_with(GONE), "{text}");
    }
}

#[test]
fn standard_message_can_be_hidden_again_after_its_visibility_ran_out() {
    let [mut bench, _] = both();
    let delivery = bench.receive_one();
    bench.pass(31);
    bench.hide(&delivery, 10).unwrap();
    assert_eq!(bench.counts(), [0, 1, 0]);
    bench.delete(&delivery).unwrap();
    assert_eq!(bench.counts(), [0, 0, 0]);
}

/// Not recorded.
#[test]
fn fifo_message_is_not_hidden_again_after_its_visibility_ran_out() {
    let [_, mut bench] = both();
    let delivery = bench.receive_one();
    bench.pass(31);
    bench.hide(&delivery, 10).unwrap();
    assert_eq!(bench.counts(), [1, 0, 0]);
}

#[test]
fn older_handle_makes_a_standard_message_visible() {
    let [mut bench, _] = both();
    let first = bench.receive_one();
    bench.pass(30);
    bench.receive_one();
    bench.hide(&first, 0).unwrap();
    assert_eq!(bench.counts(), [1, 0, 0]);
}

#[test]
fn changed_visibility_is_set_not_added_and_not_remembered() {
    for mut bench in both() {
        let delivery = bench.receive_one();
        bench.pass(20);
        bench.hide(&delivery, 15).unwrap();
        bench.pass(14);
        assert!(bench.receive().is_empty());
        bench.pass(1);
        bench.receive_one();
        bench.pass(29);
        assert!(bench.receive().is_empty());
        bench.pass(1);
        assert_eq!(bench.receive_one().receive_count, 3);
    }
}

#[test]
fn twelve_hours_count_from_the_receive() {
    for mut bench in both() {
        let delivery = bench.receive_one();
        bench.hide(&delivery, 43_200).unwrap();
        bench.now = bench.now + Duration::from_millis(1);
        let (code, text) = refusal(bench.hide(&delivery, 43_200));
        assert_eq!(code, ErrorCode::InvalidParameterValue);
        assert_eq!(
            text,
            "Value 43200 for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the \
             message is beyond the limit [43200 seconds]"
        );
        bench.hide(&delivery, 43_199).unwrap();
        bench.pass(43_198);
        bench.hide(&delivery, 1).unwrap();
        assert!(bench.hide(&delivery, 2).is_err());
        bench.hide(&delivery, 0).unwrap();
    }
}
