//! Tests of filters, counts and effects of faults.
use std::time::Duration;

use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;

use super::*;
use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::faults::fault::{Damage, Plan};
use crate::control::operation::SnsAction;
use crate::control::seed::Seed;

fn faults() -> Faults {
    Faults::new(Seed(7))
}

fn request(action: Action) -> Request<'static> {
    Request {
        service: ServiceName::Sqs,
        operation: action.as_str(),
        resource: Some(Resource::Queue(QueueArn::new("us-east-1", "000000000000", "orders"))),
        account: "000000000000",
        region: "us-east-1",
        caller: "",
        number: None,
        time: Timestamp::from_millis(0),
        entries: Vec::new(),
        can_redeliver: action == Action::ReceiveMessage,
    }
}

/// A batch with one entry for each pair of group and body.
fn batch(entries: &[(&'static str, &'static str)]) -> Request<'static> {
    let ids = ["0", "1", "2", "3"];
    let entries = entries.iter().zip(ids).enumerate().map(|(index, ((group, body), id))| Entry {
        index,
        id: Some(id),
        group: Some(group),
        body: Some(body),
        ..Entry::default()
    });
    Request { entries: entries.collect(), ..request(Action::SendMessageBatch) }
}

fn plan(faults: &Faults, request: &Request<'_>) -> Plan {
    faults.plan(|| request.clone())
}

fn is_rejected(faults: &Faults, request: &Request<'_>) -> bool {
    plan(faults, request).rejection.is_some()
}

fn failing(faults: &Faults, request: &Request<'_>) -> Vec<usize> {
    plan(faults, request).failing.iter().map(|failed| failed.index).collect()
}

#[test]
fn fault_without_conditions_affects_every_action() {
    let faults = faults();
    let injected = faults.inject(Fault::throttle());
    for action in Action::ALL {
        assert!(is_rejected(&faults, &request(action)), "{action}");
    }
    assert_eq!(injected.hits(), 23);
}

#[test]
fn fault_with_a_rate_affects_requests_above_it() {
    let faults = faults();
    let injected = faults.inject(Fault::throttle().above(300));
    let accepted = |millis: std::ops::Range<u64>, per_milli: usize| {
        let at = |millis| Request { time: Timestamp::from_millis(millis), ..request(Action::SendMessage) };
        millis
            .flat_map(|millis| vec![millis; per_milli])
            .filter(|millis| !is_rejected(&faults, &at(*millis)))
            .count()
    };
    assert_eq!(accepted(0..1, 100), 30, "a burst is a tenth of the rate");
    assert_eq!(accepted(1..1_001, 1), 300);
    assert_eq!(accepted(5_000..5_001, 100), 30, "unused requests are not saved");
    assert_eq!(injected.hits(), 70 + 700 + 70);
    let json: Fault = r#"{"effect":"throttle","above":0}"#.parse().unwrap();
    faults.clear();
    faults.inject(json);
    assert_eq!(accepted(0..10, 1), 0);
}

#[test]
fn all_conditions_must_hold() {
    let table: [(Fault, bool); 9] = [
        (Fault::throttle().on(Action::SendMessageBatch), true),
        (Fault::throttle().on(Action::SendMessage).on(Action::SendMessageBatch), true),
        (Fault::throttle().on(Action::SendMessage), false),
        (Fault::throttle().queue("orders"), true),
        (Fault::throttle().queue("order"), false),
        (Fault::throttle().group("b").body_contains("tea"), false),
        (Fault::throttle().group("a").body_contains("tea"), true),
        (Fault::throttle().when(|request| request.entries.len() == 2).entry(1), true),
        (Fault::throttle().when_entry(|entry| entry.id == Some("2")), false),
    ];
    for (fault, expected) in table {
        let faults = faults();
        let description = format!("{fault:?}");
        faults.inject(fault);
        assert_eq!(
            is_rejected(&faults, &batch(&[("a", "green tea"), ("b", "coffee")])),
            expected,
            "{description}"
        );
    }
}

#[test]
fn fault_skips_requests_and_then_affects_a_limited_number() {
    let faults = faults();
    let injected = faults.inject(Fault::reset_before().on(Action::ListQueues).skip(2).times(3));
    let affected: Vec<_> = (0..7).map(|_| is_rejected(&faults, &request(Action::ListQueues))).collect();
    assert_eq!(affected, [false, false, true, true, true, false, false]);
    assert!(injected.is_spent());
    assert!(!is_rejected(&faults, &request(Action::SendMessage)));
}

#[test]
fn seed_determines_which_requests_a_probability_affects() {
    let run = |seed: u64| {
        let faults = Faults::new(Seed(seed));
        faults.inject(Fault::throttle().probability(0.25));
        (0..1000).map(|_| is_rejected(&faults, &request(Action::SendMessage))).collect::<Vec<_>>()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let hits = run(1).iter().filter(|affected| **affected).count();
    assert!((200..300).contains(&hits), "{hits}");
    for (probability, expected) in [(0.0, false), (1.0, true), (-1.0, false), (7.0, true), (f64::NAN, false)]
    {
        let faults = faults();
        faults.inject(Fault::throttle().probability(probability));
        assert_eq!(is_rejected(&faults, &request(Action::SendMessage)), expected, "{probability}");
    }
}

#[test]
fn entries_fail_one_by_one() {
    let faults = faults();
    let of_b = faults.inject(Fault::fail_entries(ErrorCode::InternalFailure).group("b").times(3));
    let message = batch(&[("a", "1"), ("b", "2"), ("b", "3"), ("a", "4")]);
    assert_eq!(failing(&faults, &message), [1, 2]);
    assert_eq!(failing(&faults, &message), [1]);
    assert_eq!((failing(&faults, &message), of_b.hits()), (Vec::new(), 3));
    faults.inject(Fault::omit_entries().entry(0).entry(3));
    assert_eq!(plan(&faults, &message).omitted, ["0", "3"]);
}

#[test]
fn first_fault_applies_and_later_ones_do_not_count() {
    let faults = faults();
    let first = faults.inject(Fault::reset_after());
    let second = faults.inject(Fault::throttle());
    let entries = faults.inject(Fault::fail_entries(ErrorCode::InternalFailure).times(1));
    let plan = plan(&faults, &batch(&[("a", "1")]));
    assert!(plan.rejection.is_none() && plan.damage == Some(Damage::Lost) && plan.failing.len() == 1);
    assert_eq!((first.hits(), second.hits(), entries.hits()), (1, 0, 1));
    first.remove();
    assert!(is_rejected(&faults, &batch(&[("a", "1")])));
    faults.clear();
    assert!(faults.list().is_empty() && !is_rejected(&faults, &request(Action::ListQueues)));
}

#[test]
fn redelivery_counts_only_requests_that_are_applied() {
    let faults = faults();
    let redelivery = faults.inject(Fault::redeliver());
    let refusal = faults.inject(Fault::throttle().times(1));
    assert!(is_rejected(&faults, &request(Action::ReceiveMessage)));
    assert_eq!((redelivery.hits(), refusal.hits()), (0, 1));
    assert!(!plan(&faults, &request(Action::ReceiveMessage)).redeliver.is_empty());
    assert!(plan(&faults, &request(Action::SendMessage)).redeliver.is_empty());
    assert_eq!(redelivery.hits(), 1);
}

#[test]
fn endless_latencies_do_not_overflow() {
    let faults = faults();
    for _ in 0..2 {
        faults.inject(Fault::latency(Duration::MAX));
    }
    assert_eq!(plan(&faults, &request(Action::SendMessage)).latency, Duration::MAX);
}

#[test]
fn latencies_add_up() {
    let faults = faults();
    faults.inject(Fault::latency(Duration::from_millis(5)));
    faults.inject(Fault::latency_between(Duration::from_millis(20), Duration::from_millis(10)));
    let latencies: Vec<_> = (0..20).map(|_| plan(&faults, &request(Action::SendMessage)).latency).collect();
    assert!(latencies.iter().all(|latency| (15..=25).contains(&latency.as_millis())), "{latencies:?}");
    assert!(latencies.windows(2).any(|pair| pair[0] != pair[1]));
}

#[test]
fn every_effect_survives_json() {
    let texts = [
        r#"{"effect":"error","code":"InternalFailure","message":"m","actions":["SendMessage"]}"#,
        r#"{"effect":"reset_before","queue":"q","group":"g","body_contains":"b","entries":[1]}"#,
        r#"{"effect":"status","status":503,"body":"<html/>","skip":1,"times":2,"probability":0.5}"#,
        r#"{"effect":"fail_entries","code":"InvalidMessageContents","message":"m","sender_fault":false}"#,
        r#"{"effect":"omit_entries"}"#,
        r#"{"effect":"throttle","message":"m"}"#,
        r#"{"effect":"latency","latency_ms":10,"max_latency_ms":20}"#,
        r#"{"effect":"reset_after"}"#,
        r#"{"effect":"truncate"}"#,
        r#"{"effect":"corrupt"}"#,
    ];
    for text in texts {
        let fault: Fault = text.parse().unwrap();
        let written = serde_json::to_value(&fault).unwrap();
        let read: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(written, read, "{text}");
    }
    let redeliver: Fault = r#"{"effect":"redeliver"}"#.parse().unwrap();
    assert_eq!(serde_json::to_value(&redeliver).unwrap()["actions"][0], "ReceiveMessage");
}

#[test]
fn error_for_an_unknown_field_lists_the_fields_of_the_effect_and_of_every_effect() {
    let everything =
        Fault::corrupt().on(Action::SendMessage).queue("q").group("g").body_contains("b").entry(1);
    let mut everything = everything.skip(1).times(1).probability(0.5).above(1);
    everything.filter.service = Some(ServiceName::Sqs);
    everything.filter.bucket = Some("b".to_owned());
    everything.filter.key_prefix = Some("k".to_owned());
    everything.filter.topic = Some("t".to_owned());
    let fields = serde_json::to_value(&everything).unwrap();
    let mut fields: Vec<_> = fields.as_object().unwrap().keys().filter(|field| *field != "effect").collect();
    let mut common = crate::control::faults::json::COMMON_FIELDS.to_vec();
    fields.sort_unstable();
    common.sort_unstable();
    assert_eq!(fields, common);
    let error = r#"{"effect":"throttle","code":"OverLimit"}"#.parse::<Fault>().unwrap_err().to_string();
    let expected =
        "not a fault: unknown field `code`, expected `message`; every effect also has service, actions, ";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn invalid_fault_is_rejected_with_the_field_and_what_is_allowed() {
    let table = [
        ("", "EOF"),
        ("{", "EOF"),
        (r#"{"effect":"explode"}"#, "unknown variant `explode`, expected one of `error`, `throttle`"),
        (r#"{"effect":"error"}"#, "missing field `code`"),
        (r#"{"effect":"error","code":"Oops"}"#, "`code`: \"Oops\" is not an error code of SQS"),
        (r#"{"effect":"throttle","code":"OverLimit"}"#, "unknown field `code`, expected `message`"),
        (
            r#"{"effect":"status","status":99}"#,
            "`status` must be from 200 to 599, except 204 and 304, not 99",
        ),
        (r#"{"effect":"latency","latency_ms":9,"max_latency_ms":8}"#, "at least `latency_ms`, 9"),
        (r#"{"effect":"truncate","actions":["Send"]}"#, "unknown action \"Send\"; there are AddPermission, "),
        (r#"{"effect":"truncate","probability":1.5}"#, "between 0 and 1, not 1.5"),
        (r#"{"effect":"truncate","action":"SendMessage"}"#, "unknown field `action`"),
        (r#"["throttle"]"#, "it must be a JSON object"),
        (
            r#"{"effect":"redeliver","actions":["SendMessage"]}"#,
            "`actions`: this effect does not apply to SendMessage",
        ),
        (
            r#"{"effect":"fail_entries","code":"OverLimit","actions":["SendMessage"]}"#,
            "`actions`: this effect does not apply to SendMessage",
        ),
        (r#"{"effect":"status","status":204}"#, "except 204 and 304"),
        (r#"{"effect":"truncate","times":0}"#, "`times` must be at least 1"),
        (r#"{"effect":"truncate","queue":""}"#, "`queue` must not be empty"),
        (r#"{"effect":"truncate","queue":"q","topic":"t"}"#, "`queue` does not belong to a fault of SNS"),
    ];
    for (text, reason) in table {
        let error = text.parse::<Fault>().unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn invalid_fault_of_sns_is_rejected_with_the_reason() {
    let long = format!(r#"{{"effect":"error","service":"sns","code":"{}"}}"#, "x".repeat(257));
    let table = [
        (r#"{"effect":"truncate","topic":""}"#, "`topic` must not be empty"),
        (r#"{"effect":"redeliver","topic":"t"}"#, "this `effect` does not apply to SNS"),
        (
            r#"{"effect":"truncate","topic":"t","actions":["SendMessage"]}"#,
            "SendMessage is not an operation of SNS",
        ),
        (&long, "`code` must have at most 256 bytes"),
    ];
    for (text, reason) in table {
        let error = text.parse::<Fault>().unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn action_that_sqs_and_sns_share_belongs_to_the_service_of_the_fault() {
    let is_hit = |fault: Fault, service, resource| {
        let request = Request { service, resource, ..request(Action::AddPermission) };
        let faults = faults();
        faults.inject(fault);
        is_rejected(&faults, &request)
    };
    let topic = || Some(Resource::Topic(crate::control::arn::TopicArn::new("r", "0", "a")));
    let read = |text: &str| text.parse::<Fault>().unwrap();
    for fault in [
        read(r#"{"effect":"throttle","service":"sns","actions":["AddPermission"]}"#),
        read(r#"{"effect":"throttle","topic":"arn:aws:sns:r:0:a","actions":["AddPermission"]}"#),
        Fault::throttle().on_sns(SnsAction::AddPermission).topic("a"),
    ] {
        assert!(is_hit(fault.clone(), ServiceName::Sns, topic()));
        assert!(!is_hit(fault, ServiceName::Sqs, request(Action::AddPermission).resource));
    }
    let of_sqs = read(r#"{"effect":"throttle","actions":["AddPermission"]}"#);
    assert!(!is_hit(of_sqs.clone(), ServiceName::Sns, topic()));
    assert!(is_hit(of_sqs, ServiceName::Sqs, None));
}
