//! The statements that SNS and S3 need, the order of statements, and the texts of denials.

use super::*;

#[test]
fn statements_for_sns_and_s3_allow_deliveries_from_their_sources_only() {
    let send = |principal: Value, condition: Value| {
        json!({
            "Effect": "Allow", "Principal": principal, "Action": "sqs:SendMessage", "Resource": QUEUE,
            "Condition": condition,
        })
    };
    let sns = json!({ "Service": "sns.amazonaws.com" });
    let s3 = json!({ "Service": "s3.amazonaws.com" });
    let account = json!({ "aws:SourceAccount": "444455556666" });
    let of_bucket =
        json!({ "ArnLike": { "aws:SourceArn": "arn:aws:s3:*:*:photos" }, "StringEquals": account });
    for (statement, deliverer, stranger) in [
        (send(sns, json!({ "ArnEquals": { "aws:SourceArn": TOPIC } })), SNS, S3),
        (send(json!("*"), json!({ "ArnEquals": { "aws:SourceArn": TOPIC } })), SNS, S3),
        (send(json!({ "AWS": "*" }), json!({ "ArnLike": { "aws:SourceArn": TOPIC } })), SNS, S3),
        (send(json!("*"), json!({ "StringEquals": { "AWS:sourceARN": TOPIC } })), SNS, S3),
        (send(json!("*"), json!({ "StringLike": { "aws:SourceArn": "arn:aws:sns:*:sales" } })), SNS, S3),
        (send(s3, of_bucket), S3, SNS),
        (send(json!("*"), json!({ "ArnEquals": { "aws:SourceArn": BUCKET } })), S3, SNS),
    ] {
        assert_eq!(denial_by(statement.clone(), deliverer), None, "{statement}");
        let others = [
            stranger,
            service("sns.amazonaws.com", "arn:aws:sns:us-east-1:444455556666:other"),
            service("s3.amazonaws.com", "arn:aws:s3:::other"),
            Principal::Account("444455556666"),
            Principal::Account("999999999999"),
        ];
        for other in others {
            assert!(denial_by(statement.clone(), other).is_some(), "{other} {statement}");
        }
    }
}

#[test]
fn missing_or_empty_policy_denies() {
    for policy in [None, Some(&policy(json!([])))] {
        for principal in [SNS, S3, Principal::Account("111122223333")] {
            let why = denial(policy, &request(principal)).unwrap();
            assert!(!why.is_explicit, "{principal}");
        }
    }
}

#[test]
fn statement_that_denies_wins_whatever_its_place() {
    let (allow, deny) = (statement(json!({})), statement(json!({ "Effect": "Deny" })));
    for statements in [json!([allow, deny]), json!([deny, allow]), json!([deny])] {
        assert!(denial_by(statements, SNS).unwrap().is_explicit);
    }
    let other = statement(json!({ "Effect": "Deny", "Action": "sqs:ReceiveMessage" }));
    assert_eq!(denial_by(json!([other, allow]), SNS), None);
}

#[test]
fn demand_for_encryption_does_not_hit_deliveries_and_callers() {
    let condition = json!({ "Bool": { "aws:SecureTransport": "false" } });
    let deny = statement(json!({ "Effect": "Deny", "Condition": condition }));
    for principal in [SNS, S3, Principal::Account("444455556666")] {
        let statements = json!([deny, statement(json!({}))]);
        assert_eq!(denial_by(statements, principal), None, "{principal}");
    }
}

#[test]
fn denial_names_the_statement_and_what_is_missing() {
    let sns = format!("sns.amazonaws.com for {TOPIC} may not call sqs:SendMessage: ");
    let none = format!("{sns}no statement of the policy allows it; the closest, ");
    let other_action = statement(json!({ "Action": "sqs:ReceiveMessage" }));
    let other_topic = statement(
        json!({ "Sid": "topics", "Condition": { "ArnLike": { "aws:SourceArn": ["arn:aws:sns:*:*:a", "b"] } } }),
    );
    let user = statement(json!({ "Condition": { "StringEquals": { "aws:PrincipalArn": "x" } } }));
    let deny = |members: Value| {
        let mut deny = statement(members);
        deny["Effect"] = json!("Deny");
        deny
    };
    let allow = statement(json!({}));
    for (statements, expected) in [
        (json!([]), format!("{sns}no statement of the policy allows anything")),
        (
            json!([allow, deny(json!({ "Sid": "lock" }))]),
            format!("{sns}statement \"lock\" of the policy denies it"),
        ),
        (json!([allow, deny(json!({ "Sid": "" }))]), format!("{sns}statement 2 of the policy denies it")),
        (
            statement(json!({ "Principal": { "AWS": "111122223333" } })),
            format!("{none}statement 1, is for another principal"),
        ),
        (json!([other_action]), format!("{none}statement 1, is for another action")),
        (json!([other_action, other_action]), format!("{none}statement 2, is for another action")),
        (
            json!([other_topic, user]),
            format!(
                "{none}statement 2, requires StringEquals aws:PrincipalArn \"x\", but aws:PrincipalArn is absent"
            ),
        ),
        (
            json!([user, other_topic]),
            format!(
                "{none}statement \"topics\", requires ArnLike aws:SourceArn [\"arn:aws:sns:*:*:a\",\"b\"], but \
                 aws:SourceArn is {TOPIC:?}"
            ),
        ),
        (statement(json!({ "Resource": "x" })), format!("{none}statement 1, is for another resource")),
        (
            json!([other_action, other_topic, other_action]),
            format!(
                "{none}statement \"topics\", requires ArnLike aws:SourceArn [\"arn:aws:sns:*:*:a\",\"b\"], but \
                 aws:SourceArn is {TOPIC:?}"
            ),
        ),
        (
            json!([user]),
            format!(
                "{none}statement 1, requires StringEquals aws:PrincipalArn \"x\", but aws:PrincipalArn is absent"
            ),
        ),
    ] {
        assert_eq!(reason(Some(&policy(statements.clone())), SNS), expected, "{statements}");
    }
    let expected = "account 444455556666 may not call sqs:SendMessage: there is no policy that allows it";
    assert_eq!(reason(None, Principal::Account("444455556666")), expected);
}
