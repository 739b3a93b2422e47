use sqs_client::wire::service_error::ErrorCode;

use super::*;

const DEAD: &str = "arn:aws:sqs:us-east-1:000000000000:dead";

fn source(name: &str) -> QueueArn {
    QueueArn::new("us-east-1", "000000000000", name)
}

fn reason<T: fmt::Debug>(result: Result<T, ServiceError>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidParameterValue);
    error.message.unwrap().split_once(" is invalid. Reason: ").unwrap().1.to_owned()
}

#[test]
fn max_receive_count_can_be_a_string_and_is_returned_as_a_number() {
    for count in ["5", "\"5\""] {
        let text = format!(r#"{{"maxReceiveCount":{count},"deadLetterTargetArn":"{DEAD}"}}"#);
        let policy = RedrivePolicy::parse(&text).unwrap();
        assert_eq!(policy.to_string(), format!(r#"{{"deadLetterTargetArn":"{DEAD}","maxReceiveCount":5}}"#));
    }
}

#[test]
fn invalid_redrive_policy_is_rejected_with_the_reason() {
    let count = |count: &str| format!(r#"{{"maxReceiveCount":{count},"deadLetterTargetArn":"{DEAD}"}}"#);
    let range = |count: &str| {
        format!("Invalid value for maxReceiveCount: {count}, valid values are from 1 to 1000 both inclusive.")
    };
    let cases = [
        ("x".to_owned(), "Redrive policy is not a valid JSON map.".to_owned()),
        // According to a log, AWS reports this attribute first.
        ("{}".to_owned(), "Redrive policy does not contain mandatory attribute: maxReceiveCount.".to_owned()),
        (count("0"), range("0")),
        (count("1001"), range("1001")),
        (count("\"many\""), range("many")),
        (
            format!(r#"{{"deadLetterTargetArn":"{DEAD}"}}"#),
            "Redrive policy does not contain mandatory attribute: maxReceiveCount.".to_owned(),
        ),
        (
            r#"{"maxReceiveCount":1}"#.to_owned(),
            "Redrive policy does not contain mandatory attribute: deadLetterTargetArn.".to_owned(),
        ),
        (
            format!(r#"{{"maxReceiveCount":1,"deadLetterTargetArn":"{DEAD}","x":1}}"#),
            "Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn].".to_owned(),
        ),
        (
            r#"{"maxReceiveCount":1,"deadLetterTargetArn":"dead"}"#.to_owned(),
            "Invalid value for deadLetterTargetArn.".to_owned(),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(reason(RedrivePolicy::parse(&text)), expected, "{text}");
    }
}

#[test]
fn target_must_exist_in_the_same_region_and_have_the_same_kind() {
    let policy = RedrivePolicy { target: Arc::new(DEAD.parse().unwrap()), max_receive_count: 1 };
    let target = Some(true);
    assert!(policy.check(&source("a"), target).is_ok());
    assert!(policy.check(&source("dead"), target).is_ok(), "a queue can be its own dead-letter queue");
    assert_eq!(reason(policy.check(&source("a"), None)), "Dead letter target does not exist.");
    let elsewhere = QueueArn::new("eu-west-1", "000000000000", "a");
    assert_eq!(reason(policy.check(&elsewhere, target)), "Dead letter target does not exist.");
    let kind = "Dead-letter queue must be same type of queue as the source..";
    assert_eq!(reason(policy.check(&source("a.fifo"), target)), kind);
    assert!(policy.check(&source("a"), Some(false)).is_err());
}

#[test]
fn redrive_allow_policies_are_parsed_and_returned_unchanged() {
    let by_queue = format!(r#"{{"redrivePermission":"byQueue","sourceQueueArns":["{DEAD}"]}}"#);
    for text in [r#"{"redrivePermission":"allowAll"}"#, r#"{"redrivePermission":"denyAll"}"#, &by_queue] {
        assert_eq!(RedriveAllowPolicy::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn invalid_redrive_allow_policy_is_rejected() {
    let eleven = vec![format!("\"{DEAD}\""); 11].join(",");
    let bad = [
        r#"{"redrivePermission":"byQueue"}"#.to_owned(),
        r#"{"redrivePermission":"byQueue","sourceQueueArns":[]}"#.to_owned(),
        r#"{"redrivePermission":"byQueue","sourceQueueArns":["x"]}"#.to_owned(),
        format!(r#"{{"redrivePermission":"byQueue","sourceQueueArns":[{eleven}]}}"#),
        format!(r#"{{"redrivePermission":"allowAll","sourceQueueArns":["{DEAD}"]}}"#),
        format!(r#"{{"redrivePermission":"denyAll","sourceQueueArns":["{DEAD}"]}}"#),
        r#"{"redrivePermission":"some"}"#.to_owned(),
        r#"{"redrivePermission":"allowAll","x":1}"#.to_owned(),
        "{}".to_owned(),
        "[]".to_owned(),
    ];
    for text in bad {
        reason(RedriveAllowPolicy::parse(&text));
    }
}

#[test]
fn only_listed_sources_are_allowed() {
    assert!(RedriveAllowPolicy::AllowAll.allows(&source("a")));
    assert!(!RedriveAllowPolicy::DenyAll.allows(&source("a")));
    let by_queue = RedriveAllowPolicy::ByQueue(vec![source("a")]);
    assert!(by_queue.allows(&source("a")));
    assert!(!by_queue.allows(&source("b")));
}
