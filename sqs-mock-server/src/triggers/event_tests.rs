//! Events, filters and answers.

use serde_json::json;
use sqs_client::lambda::SqsEvent;
use sqs_client::primitives::Blob;
use sqs_client::types::MessageAttributeValue;

use super::*;

fn queue(name: &str) -> QueueArn {
    QueueArn::new("eu-west-1", "123456789012", name)
}

fn message(id: &str, body: &str, group: Option<&str>) -> Message {
    let group = group.map(|group| (MessageSystemAttributeName::MessageGroupId, group.to_owned()));
    Message::builder()
        .message_id(id)
        .receipt_handle(format!("handle of {id}"))
        .body(body)
        .md5_of_body("0cc175b9c0f1b6a831c399e269772661")
        .set_attributes(Some(group.into_iter().collect()))
        .build()
}

fn record(id: &str, body: &str, group: Option<&str>) -> Record {
    let queue = queue(if group.is_some() { "jobs.fifo" } else { "orders" });
    Record::of(message(id, body, group), &queue, &queue.to_string())
}

/// The ids of each batch of each chain.
fn ids(chains: &[Chain]) -> Vec<Vec<Vec<&str>>> {
    chains
        .iter()
        .map(|chain| {
            chain.iter().map(|batch| batch.records.iter().map(|one| &*one.message_id).collect()).collect()
        })
        .collect()
}

#[test]
fn event_has_all_members_that_aws_sends() {
    let mut message = message("7", "{\"n\": 1}", None);
    let values = [
        ("text", MessageAttributeValue::string("tea")),
        ("bytes", MessageAttributeValue::binary(Blob::new([0, 1, 2]))),
    ];
    message.message_attributes =
        Some(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
    message.md5_of_message_attributes = Some("92eb5ffee6ae2fec3ad71c777531578f".to_owned());
    let arn = queue("orders");
    let mut chains = chains(vec![Record::of(message, &arn, &arn.to_string())]);
    let batch = &mut chains[0][0];
    let bytes = batch.bytes();
    let event = batch.take_event();
    assert!(event.len() < bytes && bytes < event.len() + 2, "{bytes}");
    let value: Value = serde_json::from_slice(&event).unwrap();
    let expected = json!({ "Records": [{
        "messageId": "7",
        "receiptHandle": "handle of 7",
        "body": "{\"n\": 1}",
        "attributes": {},
        "messageAttributes": {
            "text": { "stringValue": "tea", "stringListValues": [], "binaryListValues": [], "dataType": "String" },
            "bytes": { "binaryValue": "AAEC", "stringListValues": [], "binaryListValues": [], "dataType": "Binary" },
        },
        "md5OfMessageAttributes": "92eb5ffee6ae2fec3ad71c777531578f",
        "md5OfBody": "0cc175b9c0f1b6a831c399e269772661",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:orders",
        "awsRegion": "eu-west-1",
    }] });
    assert_eq!(value, expected);
    let event: SqsEvent = serde_json::from_slice(&event).unwrap();
    assert_eq!(event.records[0].body, "{\"n\": 1}");
}

#[test]
fn messages_of_a_fifo_queue_are_split_by_group_in_order() {
    let records = [("1", "a"), ("2", "b"), ("3", "a"), ("4", "b")];
    let chains = chains(records.map(|(id, group)| record(id, "x", Some(group))).into());
    assert_eq!(ids(&chains), [[["1", "3"]], [["2", "4"]]]);
}

#[test]
fn event_has_at_most_six_megabytes() {
    let large = "x".repeat(MAX_PAYLOAD / 3);
    let records = |group| ["1", "2", "3", "4"].map(|id| record(id, &large, group)).into();
    let standard = chains(records(None));
    assert_eq!(ids(&standard), [vec![vec!["1", "2"]], vec![vec!["3", "4"]]]);
    assert!(standard.iter().flatten().all(|batch| batch.bytes() <= MAX_PAYLOAD));
    // A later batch of a group must wait for the earlier one.
    assert_eq!(ids(&chains(records(Some("a")))), [[["1", "2"], ["3", "4"]]]);
}

#[test]
fn filters_see_a_body_of_json_as_an_object_and_other_bodies_as_text() {
    let passes = |filter: Value, body: &str| {
        let filters = Filters::parse(&[filter.to_string()]).unwrap();
        filters.pass(&record("7", body, Some("table 4")))
    };
    let hot = json!({ "body": { "kind": ["hot"] } });
    assert!(passes(hot.clone(), r#"{"kind":"hot"}"#));
    assert!(!passes(hot.clone(), r#"{"kind":"cold"}"#));
    assert!(!passes(hot, "hot"));
    assert!(passes(json!({ "body": ["hot"] }), "hot"));
    assert!(passes(json!({ "body": [{ "prefix": "[1" }] }), "[1]"));
    assert!(passes(json!({ "attributes": { "MessageGroupId": ["table 4"] } }), "x"));
    assert!(passes(json!({ "messageId": ["7"], "awsRegion": ["eu-west-1"] }), "x"));
    assert!(!passes(json!({ "messageId": ["8"] }), "x"));
}

#[test]
fn message_passes_if_one_of_the_filters_matches() {
    let filters = Filters::parse(&[r#"{"body":["a"]}"#, r#"{"body":["b"]}"#].map(str::to_owned)).unwrap();
    let passing = ["a", "b", "c"].map(|body| filters.pass(&record("1", body, None)));
    assert_eq!(passing, [true, true, false]);
    assert!(Filters::default().pass(&record("1", "c", None)));
    let (at, why) = Filters::parse(&[r#"{"a":[1]}"#, r#"{"a":1}"#].map(str::to_owned)).unwrap_err();
    assert_eq!((at, &*why), (1, "\"a\" must be an object or an array"));
}

#[test]
fn only_the_path_of_the_invoke_api_is_lambda() {
    for path in ["/2015-03-31/functions/orders/invocations", "/2021-11-15/functions/a%3Ab/invocations"] {
        assert_eq!(Function::of(path), Function::Lambda, "{path}");
    }
    for path in [
        "/",
        "/orders",
        "/2015-03-31/functions//invocations",
        "/2015-03-31/functions/a/invocations/",
        "/2015-03-31/functions/a/invoke",
        "/2015-3-31/functions/a/invocations",
        "/x/2015-03-31/functions/a/invocations",
        "/2015-03-31/functions/a/b/invocations",
    ] {
        assert_eq!(Function::of(path), Function::Hook, "{path}");
    }
}

fn answer(
    function: Function,
    status: u16,
    error: Option<&str>,
    body: &str,
) -> Result<Vec<&'static str>, String> {
    let ids = BTreeSet::from(["1", "2", "3"]);
    let status = StatusCode::from_u16(status).unwrap();
    let read = function.read(&ids, true, (status, error), body.as_bytes());
    read.map(|failed| failed.into_iter().collect())
}

#[test]
fn answers_without_failures_are_a_complete_success() {
    for body in ["", " \n", "null", "{}", r#"{"batchItemFailures":null}"#, r#"{"batchItemFailures":[]}"#] {
        assert_eq!(answer(Function::Hook, 200, None, body), Ok(vec![]), "{body}");
    }
    assert_eq!(answer(Function::Hook, 204, None, ""), Ok(vec![]));
}

#[test]
fn named_messages_fail_alone() {
    let body =
        r#"{"batchItemFailures":[{"itemIdentifier":"3"},{"itemIdentifier":"1"},{"itemIdentifier":"1"}]}"#;
    assert_eq!(answer(Function::Lambda, 200, None, body), Ok(vec!["1", "3"]));
    let ids = BTreeSet::from(["1", "3"]);
    let ignored = Function::Lambda.read(&ids, false, (StatusCode::OK, None), body.as_bytes());
    assert_eq!(ignored, Ok(BTreeSet::new()), "without the setting, the body does not count");
}

#[test]
fn invalid_answers_are_a_complete_failure() {
    for (body, why) in [
        ("ok", "it is not JSON"),
        ("\"ok\"", "it is not a JSON object"),
        ("[]", "it is not a JSON object"),
        (r#"{"batchItemFailures":{}}"#, "batchItemFailures is not a list"),
        (r#"{"batchItemFailures":[{}]}"#, "has no itemIdentifier"),
        (r#"{"batchItemFailures":[{"itemIdentifier":null}]}"#, "has no itemIdentifier"),
        (r#"{"batchItemFailures":[{"id":"1"}]}"#, "has no itemIdentifier"),
        (r#"{"batchItemFailures":[{"itemIdentifier":""}]}"#, "the event has no message \"\""),
        (r#"{"batchItemFailures":[{"itemIdentifier":"1"},{"itemIdentifier":"9"}]}"#, "no message \"9\""),
    ] {
        let error = answer(Function::Hook, 200, None, body).unwrap_err();
        assert!(error.contains(why), "{body}: {error}");
    }
}

#[test]
fn errors_of_a_function_are_told_by_header_or_body() {
    let body = r#"{"errorType":"Boom","errorMessage":"no tea"}"#;
    let error = answer(Function::Lambda, 200, Some("Unhandled"), body).unwrap_err();
    assert_eq!(error, format!("the function failed (\"Unhandled\"): {body:?}"));
    let error = answer(Function::Lambda, 200, None, body).unwrap_err();
    assert_eq!(error, format!("the function failed: {body:?}"));
    // A hook may answer what it likes.
    assert_eq!(answer(Function::Hook, 200, Some("Unhandled"), body), Ok(vec![]));
    let error = answer(Function::Hook, 503, None, "later").unwrap_err();
    assert_eq!(error, "status 503 Service Unavailable: \"later\"");
}
