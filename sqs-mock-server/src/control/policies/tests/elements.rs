//! Principals, actions and resources of statements.

use super::*;

#[test]
fn principals_match_services_and_accounts() {
    let account = Principal::Account("444455556666");
    for (principal, sns, caller) in [
        (json!("*"), true, true),
        (json!({ "AWS": "*" }), true, true),
        (json!({ "Service": "sns.amazonaws.com" }), true, false),
        (json!({ "Service": ["s3.amazonaws.com", "sns.amazonaws.com"] }), true, false),
        (json!({ "Service": "s3.amazonaws.com" }), false, false),
        (json!({ "Service": "sns.us-east-1.amazonaws.com" }), false, false),
        (json!({ "AWS": "444455556666" }), false, true),
        (json!({ "AWS": "arn:aws:iam::444455556666:root" }), false, true),
        (json!({ "AWS": ["arn:aws:iam::999999999999:root", "444455556666"] }), false, true),
        (json!({ "AWS": "arn:aws:iam::999999999999:root" }), false, false),
        (json!({ "AWS": "arn:aws:iam::999999999999:role/worker" }), false, false),
        (json!({ "AWS": "AIDACKCEVSQ6C2EXAMPLE" }), false, false),
        (json!({ "Federated": "cognito-identity.amazonaws.com" }), false, false),
        (json!({ "AWS": "444455556666", "Service": "sns.amazonaws.com" }), true, true),
    ] {
        for (who, expected) in [(SNS, sns), (account, caller)] {
            let normal = json!({ "Principal": principal });
            assert_eq!(allows(normal, who), expected, "{who}: Principal {principal}");
            let inverse = json!({ "Principal": null, "NotPrincipal": principal });
            assert_eq!(allows(inverse, who), !expected, "{who}: NotPrincipal {principal}");
        }
    }
}

#[test]
fn users_and_roles_of_an_account_count_in_favour_of_its_callers() {
    let account = Principal::Account("444455556666");
    for arn in
        ["arn:aws:iam::444455556666:role/worker", "arn:aws:sts::444455556666:assumed-role/worker/session"]
    {
        let named = json!({ "Principal": { "AWS": arn } });
        assert!(allows(named, account), "{arn}");
        for member in ["Principal", "NotPrincipal"] {
            let mut members = json!({ "Effect": "Deny", "Principal": null });
            members[member] = json!({ "AWS": arn });
            let statements = json!([statement(json!({})), statement(members)]);
            assert_eq!(denial_by(statements, account), None, "{member} {arn}");
        }
    }
}

#[test]
fn actions_match_by_wildcards_in_any_case() {
    for (action, expected) in [
        (json!("sqs:SendMessage"), true),
        (json!("SQS:sendmessage"), true),
        (json!("SQS:*"), true),
        (json!("sqs:Send*"), true),
        (json!("sqs:S?ndMessage"), true),
        (json!("*"), true),
        (json!(["sqs:ReceiveMessage", "sqs:SendMessage"]), true),
        (json!("sqs:ReceiveMessage"), false),
        (json!("sqs:SendMessageBatch"), false),
        (json!("sns:SendMessage"), false),
    ] {
        assert_eq!(allows(json!({ "Action": action }), SNS), expected, "Action {action}");
        let inverse = json!({ "Action": null, "NotAction": action });
        assert_eq!(allows(inverse, SNS), !expected, "NotAction {action}");
    }
}

#[test]
fn resources_match_by_wildcards_in_exact_case() {
    for (resource, expected) in [
        (json!(QUEUE), true),
        (json!("*"), true),
        (json!("arn:aws:sqs:*"), true),
        (json!("arn:aws:sqs:us-east-1:111122223333:order?"), true),
        (json!("arn:aws:sqs:*:${aws:ResourceAccount}:orders"), true),
        (json!(["arn:aws:sqs:us-east-1:111122223333:other", QUEUE]), true),
        (json!("arn:aws:sqs:us-east-1:111122223333:Orders"), false),
        (json!("arn:aws:sqs:us-east-1:999999999999:orders"), false),
        (json!("orders"), false),
    ] {
        assert_eq!(allows(json!({ "Resource": resource }), SNS), expected, "Resource {resource}");
        let inverse = json!({ "Resource": null, "NotResource": resource });
        assert_eq!(allows(inverse, SNS), !expected, "NotResource {resource}");
    }
    assert!(allows(json!({ "Resource": null }), SNS), "without Resource, the policy is about its own queue");
}
