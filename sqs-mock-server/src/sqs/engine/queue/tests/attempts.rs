//! Receive attempts. Details of replays are not recorded from AWS; these tests follow its documentation and a log.

use super::*;

fn try_attempt(bench: &mut Bench, id: &str) -> Result<Received, ServiceError> {
    let request = Receive {
        at_most: 2,
        visibility_timeout: None,
        attempt_id: Some(id),
        wait: Some(Duration::from_secs(1)),
        redeliver: false,
        dead_letter_queue_exists: true,
        room: Room::default(),
    };
    bench.queue.receive(bench.now, &request)
}

fn attempt(bench: &mut Bench, id: &str) -> Vec<Delivery> {
    messages(try_attempt(bench, id).unwrap())
}

fn handles(deliveries: &[Delivery]) -> Vec<&str> {
    deliveries.iter().map(|delivery| delivery.receipt_handle.as_str()).collect()
}

fn three() -> Bench {
    let mut bench = Bench::fifo();
    for text in ["g/1", "g/2", "h/3"] {
        bench.send(text);
    }
    bench
}

#[test]
fn retried_attempt_returns_the_same_messages_and_handles() {
    let mut bench = three();
    let first = attempt(&mut bench, "x");
    let again = attempt(&mut bench, "x");
    assert_eq!(bodies(&again), ["1", "2"]);
    assert_eq!(handles(&again), handles(&first));
    assert_eq!(again[0].message.receive_count, 1);
}

#[test]
fn another_attempt_returns_other_messages() {
    let mut bench = three();
    attempt(&mut bench, "x");
    assert_eq!(bodies(&attempt(&mut bench, "y")), ["3"]);
}

#[test]
fn retried_attempt_restarts_the_visibility_timeout() {
    let mut bench = three();
    attempt(&mut bench, "x");
    bench.pass(20);
    attempt(&mut bench, "x");
    bench.pass(20);
    assert_eq!(bench.counts(), [1, 2, 0]);
    assert_eq!(bodies(&attempt(&mut bench, "x")), ["1", "2"]);
}

/// The text is from a log of AWS.
#[test]
fn retry_after_a_delete_or_visibility_change_is_rejected() {
    let changes: [fn(&mut Bench, &[Delivery]); 3] = [
        |bench, first| bench.delete(&first[0]).unwrap(),
        |bench, first| bench.hide(&first[1], 100).unwrap(),
        |bench, first| bench.hide(&first[1], 0).unwrap(),
    ];
    for change in changes {
        let mut bench = three();
        let first = attempt(&mut bench, "x");
        change(&mut bench, &first);
        let (code, text) = refusal(try_attempt(&mut bench, "x").map(drop));
        assert_eq!(code, ErrorCode::InvalidParameterValue);
        assert_eq!(
            text,
            "Value x for parameter ReceiveRequestAttemptId is invalid. Reason: The receiveRequestAttemptId is not \
             valid anymore since the receive call is not retryable."
        );
        assert_eq!(bodies(&attempt(&mut bench, "y")).last().unwrap(), "3");
    }
}

/// Inferred: a deleted message cannot be returned again, however much time has passed.
#[test]
fn retry_after_a_delete_is_rejected_for_five_minutes() {
    let mut bench = three();
    let first = attempt(&mut bench, "x");
    bench.delete(&first[0]).unwrap();
    bench.pass(299);
    assert!(try_attempt(&mut bench, "x").is_err());
    bench.pass(1);
    assert_eq!(bodies(&attempt(&mut bench, "x")), ["3", "2"]);
}

#[test]
fn retry_after_the_visibility_timeout_is_a_new_receive() {
    let mut bench = three();
    let first = attempt(&mut bench, "x");
    bench.pass(30);
    bench.bodies(1, 0);
    let again = attempt(&mut bench, "x");
    assert_eq!(bodies(&again), ["1", "2"]);
    assert_ne!(handles(&again), handles(&first));
}

#[test]
fn attempt_expires_after_five_minutes() {
    let mut bench = three();
    bench.set(Name::VisibilityTimeout, "600");
    attempt(&mut bench, "x");
    bench.pass(299);
    assert_eq!(bodies(&attempt(&mut bench, "x")), ["1", "2"]);
    bench.pass(1);
    assert_eq!(bodies(&attempt(&mut bench, "x")), ["3"]);
}

#[test]
fn attempt_id_is_ignored_on_a_standard_queue() {
    let mut bench = Bench::standard();
    bench.send("a");
    bench.send("b");
    assert_eq!(attempt(&mut bench, "x").len(), 2);
    assert!(attempt(&mut bench, "x").is_empty());
}
