use sqs_client::wire::service_error::ErrorCode;

use super::*;

fn queue() -> QueueArn {
    QueueArn::new("us-east-1", "000000000000", "a")
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn with(
    policy: Option<&Policy>,
    label: &str,
    accounts: &[&str],
    actions: &[&str],
) -> Result<Policy, ServiceError> {
    Policy::with_permission(policy, &queue(), label, &texts(accounts), &texts(actions))
}

#[test]
fn first_permission_makes_the_policy() {
    let policy = with(None, "l", &["111122223333"], &["SendMessage"]).unwrap();
    let expected = json!({
        "Version": "2008-10-17",
        "Id": "arn:aws:sqs:us-east-1:000000000000:a/SQSDefaultPolicy",
        "Statement": [{
            "Sid": "l",
            "Effect": "Allow",
            "Principal": { "AWS": "arn:aws:iam::111122223333:root" },
            "Action": "SQS:SendMessage",
            "Resource": "arn:aws:sqs:us-east-1:000000000000:a",
        }],
    });
    assert_eq!(Value::Object(policy.document()), expected);
}

#[test]
fn several_accounts_and_actions_are_lists() {
    let policy = with(None, "l", &["111122223333", "444455556666"], &["SendMessage", "*"]).unwrap();
    let statement = &policy.document()["Statement"][0];
    let principals = json!(["arn:aws:iam::111122223333:root", "arn:aws:iam::444455556666:root"]);
    assert_eq!(statement["Principal"]["AWS"], principals);
    assert_eq!(statement["Action"], json!(["SQS:SendMessage", "SQS:*"]));
}

#[test]
fn repeated_label_is_refused() {
    let policy = with(None, "l", &["1"], &["*"]).unwrap();
    let error = with(Some(&policy), "l", &["2"], &["*"]).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidParameterValue);
    let text = "Value l for parameter Label is invalid. Reason: Already exists.";
    assert_eq!(error.message.as_deref(), Some(text));
}

#[test]
fn eighth_action_is_over_the_limit() {
    assert!(with(None, "l", &["1"], &["*"; 7]).is_ok());
    let error = with(None, "l", &["1"], &["*"; 8]).unwrap_err();
    assert_eq!(error.code, ErrorCode::OverLimit);
    assert_eq!(error.message.as_deref(), Some("8 Actions were found, maximum allowed is 7."));
}

#[test]
fn twenty_first_statement_is_over_the_limit() {
    let mut policy = None;
    for number in 0..20 {
        policy = Some(with(policy.as_ref(), &number.to_string(), &["1"], &["*"]).unwrap());
    }
    assert_eq!(with(policy.as_ref(), "l", &["1"], &["*"]).unwrap_err().code, ErrorCode::OverLimit);
}

#[test]
fn statement_that_was_set_by_hand_stays() {
    let policy = Policy::parse(r#"{"Version":"2012-10-17","Statement":{"Sid":"own"}}"#).unwrap();
    let more = with(Some(&policy), "l", &["1"], &["*"]).unwrap();
    let less = Policy::without_permission(Some(&more), "l").unwrap().unwrap();
    assert_eq!(less.document()["Statement"], json!([{ "Sid": "own" }]));
    assert_eq!(Policy::without_permission(Some(&less), "own").unwrap(), None);
}

#[test]
fn document_is_shown_as_it_was_written() {
    let text = r#"{ "Version": "2012-10-17",  "Id": "x" }"#;
    let policy = Policy::parse(text).unwrap();
    assert_eq!(policy.to_string(), text);
    assert_eq!(policy, Policy::parse(r#"{"Id":"x","Version":"2012-10-17"}"#).unwrap());
}

#[test]
fn what_is_no_object_is_refused() {
    for text in ["", "x", "[]", "1"] {
        assert_eq!(Policy::parse(text).unwrap_err().code, ErrorCode::InvalidAttributeValue);
    }
}

#[test]
fn too_long_policy_is_over_the_limit() {
    let long = |length: usize| format!(r#"{{"Id":"{}"}}"#, "x".repeat(length - 9));
    assert!(Policy::parse(&long(8_192)).is_ok());
    assert_eq!(Policy::parse(&long(8_193)).unwrap_err().code, ErrorCode::OverLimit);
    let policy = Policy::parse(&long(8_100)).unwrap();
    assert_eq!(with(Some(&policy), "l", &["1"], &["*"]).unwrap_err().code, ErrorCode::OverLimit);
}
