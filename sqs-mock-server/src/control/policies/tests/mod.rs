//! The rules of evaluation, row by row.

mod conditions;
mod decisions;
mod elements;

use serde_json::Value;
use serde_json::json;

use super::*;
use crate::control::clock::Timestamp;

const QUEUE: &str = "arn:aws:sqs:us-east-1:111122223333:orders";
const TOPIC: &str = "arn:aws:sns:us-east-1:444455556666:sales";
const BUCKET: &str = "arn:aws:s3:::photos";
const SNS: Principal<'static> = service("sns.amazonaws.com", TOPIC);
const S3: Principal<'static> = service("s3.amazonaws.com", BUCKET);
/// 2026-11-23T10:00:00Z.
const NOW: Timestamp = Timestamp::from_millis(1_795_428_000_000);

const fn service(name: &'static str, source_arn: &'static str) -> Principal<'static> {
    Principal::Service { name, source_arn, source_account: "444455556666" }
}

fn request(principal: Principal<'_>) -> Context<'_> {
    Context { principal, action: "sqs:SendMessage", resource: QUEUE, time: NOW }
}

fn policy(statements: Value) -> Document {
    policy_of("2012-10-17", statements)
}

fn policy_of(version: &str, statements: Value) -> Document {
    let mut document = json!({ "Version": version });
    document["Statement"] = statements;
    serde_json::from_value(document).unwrap()
}

/// A statement that allows everything, with other or further members; `null` removes one.
fn statement(members: Value) -> Value {
    let mut statement = json!({ "Effect": "Allow", "Principal": "*", "Action": "sqs:*", "Resource": "*" });
    let (Value::Object(all), Value::Object(members)) = (&mut statement, members) else {
        panic!("not objects")
    };
    all.extend(members);
    all.retain(|_, value| !value.is_null());
    statement
}

fn denial_by(statements: Value, principal: Principal<'_>) -> Option<Why> {
    denial(Some(&policy(statements)), &request(principal))
}

fn allows(members: Value, principal: Principal<'_>) -> bool {
    denial_by(statement(members), principal).is_none()
}

/// Whether a statement with this condition allows a delivery by SNS.
fn holds(condition: &Value) -> bool {
    allows(json!({ "Condition": condition }), SNS)
}

fn reason(policy: Option<&Document>, principal: Principal<'_>) -> String {
    denial(policy, &request(principal)).map_or("allowed".to_owned(), |why| why.to_string())
}
