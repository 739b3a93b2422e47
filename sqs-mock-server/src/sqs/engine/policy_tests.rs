use serde_json::json;
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

fn shown(text: &str) -> String {
    Policy::parse(text).unwrap().to_string()
}

/// A policy with one statement, in which one member is replaced.
fn statement(member: &str, value: serde_json::Value) -> String {
    let mut statement = json!({ "Effect": "Allow", "Principal": "*", "Action": "sqs:*", "Resource": "*" });
    statement[member] = value;
    json!({ "Statement": [statement] }).to_string()
}

fn is_rejected(text: &str) -> bool {
    let Err(error) = Policy::parse(text) else { return false };
    assert_eq!(error.code, ErrorCode::InvalidAttributeValue, "{text}");
    assert_eq!(error.message.as_deref(), Some("Invalid value for the parameter Policy."), "{text}");
    true
}

#[test]
fn first_permission_creates_the_policy() {
    let policy = with(None, "l", &["111122223333"], &["SendMessage"]).unwrap();
    let expected = r#"{"Version":"2008-10-17","Id":"arn:aws:sqs:us-east-1:000000000000:a/SQSDefaultPolicy","#
        .to_owned()
        + r#""Statement":[{"Sid":"l","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:root"},"#
        + r#""Action":"SQS:SendMessage","Resource":"arn:aws:sqs:us-east-1:000000000000:a"}]}"#;
    assert_eq!(policy.to_string(), expected);
}

#[test]
fn several_accounts_and_actions_become_lists() {
    let policy = with(None, "l", &["111122223333", "444455556666"], &["SendMessage", "*"]).unwrap();
    let document: serde_json::Value = serde_json::from_str(&policy.to_string()).unwrap();
    let statement = &document["Statement"][0];
    let principals = json!(["arn:aws:iam::111122223333:root", "arn:aws:iam::444455556666:root"]);
    assert_eq!(statement["Principal"]["AWS"], principals);
    assert_eq!(statement["Action"], json!(["SQS:SendMessage", "SQS:*"]));
}

#[test]
fn repeated_label_is_rejected() {
    let policy = with(None, "l", &["1"], &["*"]).unwrap();
    let error = with(Some(&policy), "l", &["2"], &["*"]).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidParameterValue);
    let text = "Value l for parameter Label is invalid. Reason: Already exists.";
    assert_eq!(error.message.as_deref(), Some(text));
}

#[test]
fn twenty_first_statement_is_over_the_limit() {
    let mut policy = None;
    for number in 0..20 {
        policy = Some(with(policy.as_ref(), &number.to_string(), &["1"], &["*"]).unwrap());
    }
    assert_eq!(with(policy.as_ref(), "l", &["1"], &["*"]).unwrap_err().code, ErrorCode::OverLimit);
}

/// From recordings of AWS, 2017 to 2025.
#[test]
fn policy_is_returned_compact_and_in_a_fixed_order() {
    let text = r#" { "Statement": [ { "Condition": { "Bool": { "aws:SecureTransport": "true" } }, "Resource": ["*"],
        "Action": ["sqs:SendMessage"], "Principal": { "AWS": ["*"] }, "Effect": "Allow", "Sid": "s" } ],
        "Id": "i", "Version": "2012-10-17" } "#;
    let expected = r#"{"Version":"2012-10-17","Id":"i","Statement":[{"Sid":"s","Effect":"Allow","#.to_owned()
        + r#""Principal":{"AWS":"*"},"Action":"sqs:SendMessage","Resource":"*","#
        + r#""Condition":{"Bool":{"aws:SecureTransport":"true"}}}]}"#;
    assert_eq!(shown(text), expected);
    assert_eq!(shown(&expected), expected, "the returned policy can be set");
}

/// From a log of AWS, which adds the version; the default version is documented.
#[test]
fn policy_without_version_gets_the_older_version() {
    assert!(shown(r#"{"Statement":[]}"#).starts_with(r#"{"Version":"2008-10-17","#));
}

/// From a recording of AWS.
#[test]
fn removing_a_permission_adds_an_empty_id_to_the_policy() {
    let allow = r#"{"Sid":"own","Effect":"Allow","Principal":"*","Action":"sqs:*","Resource":"*"}"#;
    let policy = Policy::parse(&format!(r#"{{"Statement":{allow}}}"#)).unwrap();
    let more = with(Some(&policy), "l", &["1"], &["*"]).unwrap();
    let less = Policy::without_permission(Some(&more), "l").unwrap().unwrap();
    let expected = format!(r#"{{"Version":"2008-10-17","Id":"","Statement":[{allow}]}}"#);
    assert_eq!(less.to_string(), expected);
    assert_eq!(Policy::without_permission(Some(&less), "own").unwrap(), None);
}

#[test]
fn invalid_policy_is_rejected() {
    for text in
        ["", "x", "[]", "1", "{", "{}", r#"{"Id":"x"}"#, r#"{"Statement":1}"#, r#"{"Statement":[{}]}"#]
    {
        assert!(is_rejected(text), "{text}");
    }
    for (member, value) in [
        ("Effect", json!("allow")),
        ("Principal", json!("111122223333")),
        ("Principal", json!({})),
        ("Principal", json!({ "AWS": [] })),
        ("Principal", json!({ "AWS": "someone" })),
        ("Principal", json!({ "AWS": "arn:aws:iam::1:root" })),
        ("Principal", json!({ "AWS": "arn:aws:sqs::111122223333:q" })),
        ("Principal", json!({ "Service": "sns" })),
        ("Principal", json!({ "Robot": "x" })),
        ("Principal", json!(null)),
        ("NotPrincipal", json!("*")),
        ("Action", json!("sqs:MakeCoffee")),
        ("Action", json!("sns:Publish")),
        ("Action", json!("SendMessage")),
        ("Action", json!([])),
        ("Action", json!([1])),
        ("NotAction", json!("sqs:*")),
        ("Resource", json!({})),
        ("Condition", json!({ "Bool": "true" })),
        ("Condition", json!({ "StringMatches": { "aws:SourceArn": "x" } })),
        ("Condition", json!({ "NullIfExists": { "aws:SourceArn": "true" } })),
        ("Condition", json!({ "Bool": { "aws:SecureTransport": {} } })),
        ("Colour", json!("red")),
    ] {
        assert!(is_rejected(&statement(member, value.clone())), "{member} {value}");
    }
    assert!(is_rejected(r#"{"Version":"2020-01-01","Statement":[]}"#));
}

#[test]
fn principals_and_actions_of_all_kinds_are_accepted() {
    for (member, value) in [
        ("Principal", json!({ "AWS": "111122223333" })),
        ("Principal", json!({ "AWS": ["*", "arn:aws-cn:iam::111122223333:role/path/name"] })),
        ("Principal", json!({ "AWS": "arn:aws:sts::111122223333:assumed-role/role/session" })),
        ("Principal", json!({ "AWS": "AIDACKCEVSQ6C2EXAMPLE" })),
        ("Principal", json!({ "Service": ["sns.amazonaws.com", "s3.amazonaws.com"], "AWS": "*" })),
        ("Principal", json!({ "Federated": "cognito-identity.amazonaws.com" })),
        ("Action", json!("*")),
        ("Action", json!(["SQS:sendmessage", "sqs:Send*", "sqs:DeleteMessageBatch"])),
        ("Condition", json!({ "NumericLessThan": { "x": 5 }, "StringLike": { "a": ["b", "c"] } })),
        ("Condition", json!({ "ForAllValues:StringNotLikeIfExists": { "a": "b" }, "Null": { "a": true } })),
    ] {
        assert!(!is_rejected(&statement(member, value.clone())), "{member} {value}");
    }
}

/// From a log of AWS.
#[test]
fn eighth_action_of_a_statement_is_over_the_limit() {
    assert!(Policy::parse(&statement("Action", json!(vec!["sqs:*"; 7]))).is_ok());
    let error = Policy::parse(&statement("Action", json!(vec!["sqs:*"; 8]))).unwrap_err();
    assert_eq!(error.code, ErrorCode::OverLimit);
    let text = "8 actions were found in a statement from the submitted policy, max allowed is 7";
    assert_eq!(error.message.as_deref(), Some(text));
}

/// From a log of AWS.
#[test]
fn too_long_policy_is_over_the_limit() {
    let long = |length: usize| format!(r#"{{"Id":"{}","Statement":[]}}"#, "x".repeat(length - 24));
    assert!(Policy::parse(&long(8_192)).is_ok());
    let error = Policy::parse(&long(8_193)).unwrap_err();
    assert_eq!(error.code, ErrorCode::OverLimit);
    assert_eq!(error.message.as_deref(), Some("Submitted policy is over max allowed size."));
    let policy = Policy::parse(&long(8_100)).unwrap();
    assert_eq!(with(Some(&policy), "l", &["1"], &["*"]).unwrap_err().code, ErrorCode::OverLimit);
}
