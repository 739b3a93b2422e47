use super::*;

const TWELVE_HOURS: u64 = 43_200;

fn both() -> [Bench; 2] {
    let mut benches = [Bench::standard(), Bench::fifo()];
    for bench in &mut benches {
        bench.send("g/a");
    }
    benches
}

/// The error for a handle `h` in a single request and in a batch entry.
fn texts(refusal: HandleRefusal) -> [(ErrorCode, String); 2] {
    let [request, entry] = [refusal.of_request("h"), refusal.of_entry("h")];
    [request, entry].map(|error| (error.code, error.message.unwrap_or_default()))
}

/// The texts of entries are from recordings or logs of AWS.
#[test]
fn handle_errors_of_requests_and_batch_entries_have_different_texts() {
    let [request, entry] = texts(HandleRefusal::Expired);
    let text = "Value h for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.";
    assert_eq!(request, (ErrorCode::InvalidParameterValue, text.to_owned()));
    let text = "The receipt handle has expired";
    assert_eq!(entry, (ErrorCode::ReceiptHandleIsInvalid, text.to_owned()));

    let [request, entry] = texts(HandleRefusal::Gone);
    let text = "Message does not exist or is not available for visibility timeout change";
    let prefix = "Value h for parameter ReceiptHandle is invalid. Reason:";
    assert_eq!(request, (ErrorCode::InvalidParameterValue, format!("{prefix} {text}.")));
    assert_eq!(entry, (ErrorCode::ReceiptHandleIsInvalid, text.to_owned()));
}

#[test]
fn text_that_is_not_a_handle_fails_with_status_404() {
    for mut bench in both() {
        assert_eq!(bench.queue.delete(bench.now, "x"), Err(HandleRefusal::NotAHandle));
        let changed = bench.queue.change_visibility(bench.now, "x", Duration::ZERO);
        assert_eq!(changed, Err(HandleRefusal::NotAHandle));
    }
    let [request, entry] = texts(HandleRefusal::NotAHandle);
    assert_eq!(request.0.status(), 404);
    assert_eq!(request.1, "The input receipt handle \"h\" is not a valid receipt handle.");
    assert_eq!(request, entry);
}

/// The text is from a log of AWS.
#[test]
fn handle_of_another_queue_is_rejected() {
    let [mut standard, mut fifo] = both();
    let delivery = fifo.receive_one();
    assert_eq!(standard.delete(&delivery), Err(HandleRefusal::OtherQueue));
    let [(code, text), _] = texts(HandleRefusal::OtherQueue);
    assert_eq!(code, ErrorCode::ReceiptHandleIsInvalid);
    assert_eq!(text, "The receipt handle \"h\" is not valid for this queue.");
}

#[test]
fn deleting_a_message_twice_succeeds() {
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
fn standard_message_can_be_deleted_after_its_visibility_timeout() {
    let [mut bench, _] = both();
    let delivery = bench.receive_one();
    bench.pass(31);
    bench.delete(&delivery).unwrap();
    assert_eq!(bench.counts(), [0, 0, 0]);
}

#[test]
fn fifo_handle_expires_with_the_visibility_timeout() {
    let [_, mut bench] = both();
    let delivery = bench.receive_one();
    bench.pass(30);
    assert_eq!(bench.delete(&delivery), Err(HandleRefusal::Expired));
    assert_eq!(bench.counts(), [1, 0, 0]);
}

#[test]
fn message_with_extended_timeout_can_be_deleted_after_the_first_timeout() {
    for mut bench in both() {
        let delivery = bench.receive_one();
        bench.hide(&delivery, 100).unwrap();
        bench.pass(60);
        bench.delete(&delivery).unwrap();
        assert_eq!(bench.counts(), [0, 0, 0]);
    }
}

/// A log of AWS has "The receipt handle has expired" after 55,000 seconds. The limit of 12 hours is inferred.
#[test]
fn standard_handle_expires_twelve_hours_after_its_receive() {
    for passed in [TWELVE_HOURS - 1, TWELVE_HOURS] {
        let [mut bench, _] = both();
        let delivery = bench.receive_one();
        bench.pass(passed);
        let expected = if passed < TWELVE_HOURS { Ok(()) } else { Err(HandleRefusal::Expired) };
        assert_eq!(bench.hide(&delivery, 0), expected);
        assert_eq!(bench.delete(&delivery), expected);
        // Also if the message no longer exists.
        assert_eq!(bench.delete(&delivery), expected);
    }
}

/// A maintainer of a client verified this on AWS. According to the documentation, such a delete may have no effect.
#[test]
fn older_handle_deletes_a_standard_message() {
    let [mut bench, _] = both();
    let first = bench.receive_one();
    bench.pass(30);
    bench.receive_one();
    bench.delete(&first).unwrap();
    assert_eq!(bench.counts(), [0, 0, 0]);
}

/// Not recorded from AWS.
#[test]
fn older_handle_is_expired_on_a_fifo_queue() {
    let [_, mut bench] = both();
    let first = bench.receive_one();
    bench.pass(30);
    let second = bench.receive_one();
    assert_eq!(bench.delete(&first), Err(HandleRefusal::Expired));
    assert_eq!(bench.hide(&first, 0), Err(HandleRefusal::Expired));
    assert_eq!(bench.counts(), [0, 1, 0]);
    bench.delete(&second).unwrap();
    assert_eq!(bench.counts(), [0, 0, 0]);
}

#[test]
fn visibility_of_a_deleted_message_cannot_be_changed() {
    for mut bench in both() {
        let delivery = bench.receive_one();
        bench.delete(&delivery).unwrap();
        assert_eq!(bench.hide(&delivery, 10), Err(HandleRefusal::Gone));
    }
}

#[test]
fn standard_message_can_be_hidden_after_its_visibility_timeout() {
    let [mut bench, _] = both();
    let delivery = bench.receive_one();
    bench.pass(31);
    bench.hide(&delivery, 10).unwrap();
    assert_eq!(bench.counts(), [0, 1, 0]);
    bench.delete(&delivery).unwrap();
    assert_eq!(bench.counts(), [0, 0, 0]);
}

/// From a log of AWS.
#[test]
fn visibility_change_with_an_expired_fifo_handle_is_rejected() {
    let [_, mut bench] = both();
    let delivery = bench.receive_one();
    bench.pass(31);
    assert_eq!(bench.hide(&delivery, 10), Err(HandleRefusal::Expired));
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
fn changed_visibility_timeout_counts_from_now_and_for_one_receive() {
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
        assert_eq!(bench.receive_one().message.receive_count, 3);
    }
}

#[test]
fn visibility_timeout_is_limited_to_twelve_hours_after_the_receive() {
    for mut bench in both() {
        let delivery = bench.receive_one();
        bench.hide(&delivery, 43_200).unwrap();
        bench.now = bench.now + Duration::from_millis(1);
        let refusal = bench.hide(&delivery, 43_200).unwrap_err();
        let [(code, text), _] = texts(refusal);
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
