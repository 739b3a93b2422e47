//! Operators, keys and variables of conditions.

use super::*;

#[test]
fn operators_compare_values_by_their_type() {
    let account = "aws:SourceAccount";
    let (arn, time, seconds) = ("aws:SourceArn", "aws:CurrentTime", "aws:EpochTime");
    for (operator, negated, key, value, expected) in [
        ("StringEquals", "StringNotEquals", arn, json!(TOPIC), true),
        ("StringEquals", "StringNotEquals", arn, json!("ARN:aws:sns:us-east-1:444455556666:sales"), false),
        ("StringEquals", "StringNotEquals", arn, json!("arn:aws:sns:*"), false),
        ("StringEquals", "StringNotEquals", account, json!(["999999999999", "444455556666"]), true),
        ("StringEquals", "StringNotEquals", account, json!(444_455_556_666_u64), true),
        ("StringEquals", "StringNotEquals", account, json!([]), false),
        ("StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase", arn, json!(TOPIC.to_uppercase()), true),
        ("StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase", arn, json!("arn:aws:sns:*"), false),
        ("StringLike", "StringNotLike", arn, json!("arn:aws:sns:*:sale?"), true),
        ("StringLike", "StringNotLike", arn, json!("arn:aws:SNS:*"), false),
        ("ArnEquals", "ArnNotEquals", arn, json!("arn:aws:sns:us-east-1:444455556666:s*"), true),
        ("ArnLike", "ArnNotLike", arn, json!("arn:aws:sns:*:*:sales"), true),
        ("ArnLike", "ArnNotLike", arn, json!("arn:aws:sns:*:sales"), false),
        ("ArnLike", "ArnNotLike", arn, json!("arn:aws:sns:us-*6:*:sales"), false),
        ("ArnLike", "ArnNotLike", account, json!("*"), false),
        ("NumericEquals", "NumericNotEquals", seconds, json!(1_795_428_000), true),
        ("NumericEquals", "NumericNotEquals", seconds, json!("1795428000.0"), true),
        ("NumericEquals", "NumericNotEquals", seconds, json!("now"), false),
        ("NumericLessThan", "NumericGreaterThanEquals", seconds, json!("1795428001"), true),
        ("NumericGreaterThan", "NumericLessThanEquals", seconds, json!("1795428000"), false),
        ("DateEquals", "DateNotEquals", time, json!("2026-11-23T10:00:00Z"), true),
        ("DateEquals", "DateNotEquals", time, json!("1795428000"), true),
        ("DateEquals", "DateNotEquals", time, json!("noon"), false),
        ("DateLessThan", "DateGreaterThanEquals", time, json!("2026-11-24"), true),
        ("DateGreaterThan", "DateLessThanEquals", seconds, json!("2026-11-23"), true),
        ("BinaryEquals", "StringNotEquals", account, json!("444455556666"), true),
    ] {
        assert_eq!(holds(&json!({ operator: { key: value } })), expected, "{operator} {key} {value}");
        assert_eq!(holds(&json!({ negated: { key: value } })), !expected, "{negated} {key} {value}");
    }
}

#[test]
fn bool_compares_truth_values() {
    for (key, value, expected) in [
        ("aws:SecureTransport", json!("true"), true),
        ("aws:SecureTransport", json!(true), true),
        ("aws:SecureTransport", json!("false"), false),
        ("aws:PrincipalIsAWSService", json!("True"), true),
        ("aws:ViaAWSService", json!("false"), true),
    ] {
        assert_eq!(holds(&json!({ "Bool": { key: value } })), expected, "{key} {value}");
    }
}

#[test]
fn absent_key_fails_positive_operators_and_meets_negated_and_optional_ones() {
    let operators = [
        ("StringEquals", false),
        ("StringLike", false),
        ("StringEqualsIgnoreCase", false),
        ("ArnLike", false),
        ("Bool", false),
        ("NumericLessThan", false),
        ("DateGreaterThan", false),
        ("IpAddress", false),
        ("StringNotEquals", true),
        ("StringNotLike", true),
        ("StringNotEqualsIgnoreCase", true),
        ("ArnNotEquals", true),
        ("NumericNotEquals", true),
        ("DateNotEquals", true),
        ("NotIpAddress", true),
        ("StringEqualsIfExists", true),
        ("ArnLikeIfExists", true),
        ("BoolIfExists", true),
        ("StringNotEqualsIfExists", true),
        ("ForAllValues:StringEquals", true),
        ("ForAllValues:StringNotEquals", true),
        ("ForAnyValue:StringEquals", false),
        ("ForAnyValue:StringNotEquals", false),
        ("ForAnyValue:StringEqualsIfExists", true),
    ];
    for (operator, expected) in operators {
        for key in ["aws:PrincipalArn", "aws:SourceIp", "aws:PrincipalTag/team", "aws:Nonsense"] {
            assert_eq!(holds(&json!({ operator: { key: "1" } })), expected, "{operator} {key}");
        }
    }
}

#[test]
fn optional_and_quantified_operators_compare_keys_that_exist() {
    for operator in ["StringEqualsIfExists", "ForAllValues:StringLike", "ForAnyValue:StringEquals"] {
        assert!(holds(&json!({ operator: { "aws:SourceArn": TOPIC } })), "{operator}");
        assert!(!holds(&json!({ operator: { "aws:SourceArn": BUCKET } })), "{operator}");
    }
    for operator in ["StringNotEqualsIfExists", "ForAllValues:StringNotEquals", "ForAnyValue:StringNotLike"] {
        assert!(!holds(&json!({ operator: { "aws:SourceArn": TOPIC } })), "{operator}");
        assert!(holds(&json!({ operator: { "aws:SourceArn": BUCKET } })), "{operator}");
    }
}

#[test]
fn null_tests_whether_a_key_is_absent() {
    for (key, value, expected) in [
        ("aws:SourceArn", json!("false"), true),
        ("aws:SourceArn", json!("true"), false),
        ("aws:PrincipalArn", json!("true"), true),
        ("aws:PrincipalArn", json!(false), false),
        ("aws:PrincipalArn", json!(["true", "false"]), true),
    ] {
        assert_eq!(holds(&json!({ "Null": { key: value } })), expected, "{key} {value}");
    }
}

#[test]
fn all_operators_and_keys_of_a_condition_must_hold() {
    let [right, wrong] =
        ["444455556666", "999999999999"].map(|account| json!({ "aws:SourceAccount": account }));
    let topic = json!({ "aws:SourceArn": TOPIC });
    assert!(holds(&json!({ "StringEquals": right, "ArnLike": topic })));
    assert!(!holds(&json!({ "StringEquals": wrong, "ArnLike": topic })));
    assert!(!holds(
        &json!({ "StringEquals": { "aws:SourceArn": TOPIC, "aws:SourceAccount": "999999999999" } })
    ));
    assert!(holds(&json!({})));
}

#[test]
fn keys_of_callers_differ_from_those_of_services() {
    let account = Principal::Account("444455556666");
    for (condition, caller, sns) in [
        (json!({ "StringEquals": { "aws:PrincipalAccount": "444455556666" } }), true, false),
        (json!({ "StringEquals": { "aws:PrincipalAccount": "999999999999" } }), false, false),
        (json!({ "Null": { "aws:SourceArn": "true" } }), true, false),
        (json!({ "Null": { "aws:SourceAccount": "true" } }), true, false),
        (json!({ "Bool": { "aws:PrincipalIsAWSService": "true" } }), false, true),
        (json!({ "StringEquals": { "aws:PrincipalServiceName": "sns.amazonaws.com" } }), false, true),
        (json!({ "StringEquals": { "aws:RequestedRegion": "us-east-1" } }), true, true),
        (json!({ "StringEquals": { "aws:ResourceAccount": "111122223333" } }), true, true),
        (json!({ "Bool": { "aws:SecureTransport": "true" } }), true, true),
    ] {
        assert_eq!(allows(json!({ "Condition": condition }), account), caller, "{condition}");
        assert_eq!(holds(&condition), sns, "{condition}");
    }
}

#[test]
fn unknown_keys_count_in_favour_of_the_request() {
    let account = Principal::Account("444455556666");
    for (principal, key) in [
        (account, "aws:PrincipalOrgID"),
        (account, "aws:PrincipalArn"),
        (account, "aws:SourceIp"),
        (account, "aws:SourceVpce"),
        (account, "aws:PrincipalTag/team"),
        (SNS, "aws:SourceOrgID"),
        (SNS, "aws:ResourceOrgID"),
    ] {
        for operator in ["StringEquals", "StringNotEquals", "Null", "IpAddress", "NotIpAddress"] {
            let condition = json!({ operator: { key: "x" } });
            assert!(allows(json!({ "Condition": condition }), principal), "{principal} {condition}");
            let deny = statement(json!({ "Effect": "Deny", "Condition": condition }));
            let denial = denial_by(json!([statement(json!({})), deny]), principal);
            assert_eq!(denial, None, "{principal} {condition}");
        }
    }
}

#[test]
fn variables_have_the_values_of_keys() {
    for (value, expected) in [
        ("arn:aws:sns:${aws:RequestedRegion}:${aws:SourceAccount}:sales", true),
        ("arn:aws:sns:${aws:RequestedRegion}:${ AWS:sourceaccount }:sales", true),
        ("arn:aws:sns:*:*:${aws:PrincipalTag/topic, 'sales'}", true),
        ("arn:aws:sns:*:*:${aws:SourceOrgID}", true),
        ("arn:aws:sns:*:${aws:ResourceAccount}:sales", false),
        ("arn:aws:sns:*:*:${aws:PrincipalTag/topic}", false),
        ("arn:aws:sns:*:*:${*}", false),
        ("arn:aws:sns:*:*:${aws:SourceAccount", false),
    ] {
        assert_eq!(holds(&json!({ "StringLike": { "aws:SourceArn": value } })), expected, "{value}");
    }
    let unknown = json!({ "StringNotEquals": { "aws:SourceAccount": "${aws:ResourceOrgID}" } });
    assert!(holds(&unknown));
    let deny = statement(json!({ "Effect": "Deny", "Condition": unknown }));
    assert_eq!(denial_by(json!([statement(json!({})), deny]), SNS), None);
}

#[test]
fn older_policies_have_no_variables() {
    let equals = json!({ "StringEquals": { "aws:SourceAccount": "${aws:SourceAccount}" } });
    for (version, expected) in [("2012-10-17", true), ("2008-10-17", false)] {
        let policy = policy_of(version, statement(json!({ "Condition": equals })));
        let denial = denial(Some(&policy), &request(SNS));
        assert_eq!(denial.is_none(), expected, "{version}");
    }
}
