//! Which requests are struck, how often, and how.

use std::time::Duration;

use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;

use super::*;
use crate::service::clock::Timestamp;
use crate::service::seed::Seed;

fn faults() -> Faults {
    Faults::new(Seed(7))
}

fn request(action: Action) -> Request<'static> {
    Request {
        action,
        queue: Some("orders"),
        account: "000000000000",
        region: "us-east-1",
        time: Timestamp::from_millis(0),
        entries: Vec::new(),
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

fn is_refused(faults: &Faults, request: &Request<'_>) -> bool {
    faults.plan(request).unapplied.is_some()
}

fn failing(faults: &Faults, request: &Request<'_>) -> Vec<usize> {
    faults.plan(request).failing.iter().map(|failed| failed.index).collect()
}

#[test]
fn fault_without_further_words_strikes_everything() {
    let faults = faults();
    assert!(faults.is_empty());
    let injected = faults.inject(Fault::throttle());
    assert!(!faults.is_empty());
    for action in Action::ALL {
        assert!(is_refused(&faults, &request(action)), "{action}");
    }
    assert_eq!(injected.hits(), 23);
}

/// From logs of AWS.
#[test]
fn throttling_and_denied_keys_are_told_in_the_words_of_the_service() {
    let text = |fault: Fault, action| {
        let faults = faults();
        faults.inject(fault);
        match faults.plan(&request(action)).unapplied {
            Some(Unapplied::Refused(error)) => error.message.unwrap_or_default(),
            other => panic!("{other:?} is no refusal"),
        }
    };
    assert_eq!(text(Fault::throttle(), Action::SendMessage), "Request is throttled.");
    for action in [Action::ChangeMessageVisibility, Action::ChangeMessageVisibilityBatch] {
        assert_eq!(
            text(Fault::throttle(), action),
            "Request throttled because message visibility configuration was updated too recently. Wait a short while \
             and then retry the operation."
        );
        assert_eq!(text(Fault::throttle().message("own words"), action), "own words");
    }
    let denied = text(Fault::error(ErrorCode::KmsAccessDenied), Action::ReceiveMessage);
    let begin = "The ciphertext refers to a customer master key that does not exist, does not exist in this region, or \
                 you are not allowed to access. (Service: AWSKMS; Status Code: 400; Error Code: AccessDeniedException;";
    assert!(denied.starts_with(begin) && denied.ends_with("; Proxy: null)"), "{denied}");
}

#[test]
fn fault_with_a_rate_strikes_what_exceeds_it() {
    let faults = faults();
    let injected = faults.inject(Fault::throttle().above(300));
    let accepted = |millis: std::ops::Range<u64>, per_milli: usize| {
        let at = |millis| Request { time: Timestamp::from_millis(millis), ..request(Action::SendMessage) };
        millis
            .flat_map(|millis| vec![millis; per_milli])
            .filter(|millis| !is_refused(&faults, &at(*millis)))
            .count()
    };
    assert_eq!(accepted(0..1, 100), 30, "a tenth may come at once");
    assert_eq!(accepted(1..1_001, 1), 300);
    assert_eq!(accepted(5_000..5_001, 100), 30, "what was not used is lost");
    assert_eq!(injected.hits(), 70 + 700 + 70);
    let json: Fault = r#"{"effect":"throttle","above":0}"#.parse().unwrap();
    faults.clear();
    faults.inject(json);
    assert_eq!(accepted(0..10, 1), 0);
}

#[test]
fn each_filter_has_to_hold() {
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
            is_refused(&faults, &batch(&[("a", "green tea"), ("b", "coffee")])),
            expected,
            "{description}"
        );
    }
}

#[test]
fn fault_spares_the_first_and_then_strikes_so_often() {
    let faults = faults();
    let injected = faults.inject(Fault::reset_before().on(Action::ListQueues).skip(2).times(3));
    let struck: Vec<_> = (0..7).map(|_| is_refused(&faults, &request(Action::ListQueues))).collect();
    assert_eq!(struck, [false, false, true, true, true, false, false]);
    assert!(injected.is_spent());
    assert!(!is_refused(&faults, &request(Action::SendMessage)));
}

#[test]
fn probability_is_drawn_from_the_seed() {
    let run = |seed: u64| {
        let faults = Faults::new(Seed(seed));
        faults.inject(Fault::throttle().probability(0.25));
        (0..1000).map(|_| is_refused(&faults, &request(Action::SendMessage))).collect::<Vec<_>>()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let hits = run(1).iter().filter(|struck| **struck).count();
    assert!((200..300).contains(&hits), "{hits}");
    for (probability, expected) in [(0.0, false), (1.0, true), (-1.0, false), (7.0, true), (f64::NAN, false)]
    {
        let faults = faults();
        faults.inject(Fault::throttle().probability(probability));
        assert_eq!(is_refused(&faults, &request(Action::SendMessage)), expected, "{probability}");
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
    assert_eq!(faults.plan(&message).omitted, ["0", "3"]);
}

#[test]
fn blame_follows_the_code_unless_it_is_said() {
    let blamed = |fault: Fault| {
        let faults = faults();
        faults.inject(fault);
        faults.plan(&batch(&[("a", "1")])).failing[0].sender_fault
    };
    assert!(!blamed(Fault::fail_entries(ErrorCode::InternalFailure)));
    assert!(blamed(Fault::fail_entries(ErrorCode::InvalidMessageContents)));
    assert!(blamed(Fault::fail_entries(ErrorCode::InternalFailure).sender_fault(true)));
}

#[test]
fn first_rule_decides_and_later_ones_do_not_count() {
    let faults = faults();
    let first = faults.inject(Fault::reset_after());
    let second = faults.inject(Fault::throttle());
    let entries = faults.inject(Fault::fail_entries(ErrorCode::InternalFailure).times(1));
    let plan = faults.plan(&batch(&[("a", "1")]));
    assert!(plan.unapplied.is_none() && plan.ending == Ending::Lost && plan.failing.len() == 1);
    assert_eq!((first.hits(), second.hits(), entries.hits()), (1, 0, 1));
    first.remove();
    assert!(is_refused(&faults, &batch(&[("a", "1")])));
    faults.clear();
    assert!(faults.is_empty() && !is_refused(&faults, &request(Action::ListQueues)));
}

#[test]
fn redelivery_counts_only_where_something_is_received() {
    let faults = faults();
    let redelivery = faults.inject(Fault::redeliver());
    let refusal = faults.inject(Fault::throttle().times(1));
    assert!(is_refused(&faults, &request(Action::ReceiveMessage)));
    assert_eq!((redelivery.hits(), refusal.hits()), (0, 1));
    assert!(!faults.plan(&request(Action::ReceiveMessage)).redeliver.is_empty());
    assert!(faults.plan(&request(Action::SendMessage)).redeliver.is_empty());
    assert_eq!(redelivery.hits(), 1);
}

#[test]
fn endless_latencies_do_not_overflow() {
    let faults = faults();
    for _ in 0..2 {
        faults.inject(Fault::latency(Duration::MAX));
    }
    assert_eq!(faults.plan(&request(Action::SendMessage)).latency, Duration::MAX);
}

#[test]
fn latencies_add_up() {
    let faults = faults();
    faults.inject(Fault::latency(Duration::from_millis(5)));
    faults.inject(Fault::latency_between(Duration::from_millis(20), Duration::from_millis(10)));
    let latencies: Vec<_> = (0..20).map(|_| faults.plan(&request(Action::SendMessage)).latency).collect();
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
        r#"{"effect":"latency","latency_ms":10,"max_latency_ms":20}"#,
        r#"{"effect":"reset_after"}"#,
        r#"{"effect":"truncate"}"#,
        r#"{"effect":"corrupt"}"#,
    ];
    for text in texts {
        let fault: Fault = text.parse().unwrap();
        let written = serde_json::to_value(&fault).unwrap();
        let read: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(without_code(written), without_code(read), "{text}");
    }
    let json = |effect: &str| {
        serde_json::to_value(format!(r#"{{"effect":"{effect}"}}"#).parse::<Fault>().unwrap()).unwrap()
    };
    assert_eq!(json("redeliver")["actions"][0], "ReceiveMessage");
    assert_eq!(json("throttle")["code"], "RequestThrottled", "it is an error like others");
}

/// A code has two names.
fn without_code(mut spec: serde_json::Value) -> serde_json::Value {
    if let Some(code) = spec.get_mut("code") {
        let name = code.as_str().unwrap();
        *code = ErrorCode::from_name(name).shape().into();
    }
    spec
}

#[test]
fn text_that_is_no_fault_is_refused_with_the_reason() {
    let table = [
        ("", "has to be a JSON object"),
        ("{", "EOF"),
        (r#"{"effect":"explode"}"#, "unknown variant `explode`, expected one of `error`, `throttle`"),
        (r#"{"effect":"error"}"#, "`code` is missing"),
        (r#"{"effect":"error","code":"Oops"}"#, "\"Oops\" is no code of SQS"),
        (r#"{"effect":"throttle","code":"OverLimit"}"#, "`code` does not belong to this effect"),
        (r#"{"effect":"status","status":99}"#, "between 200 and 599"),
        (r#"{"effect":"latency","latency_ms":9,"max_latency_ms":8}"#, "at least `latency_ms`, 9"),
        (r#"{"effect":"truncate","actions":["Send"]}"#, "there is no \"Send\""),
        (r#"{"effect":"truncate","probability":1.5}"#, "between 0 and 1, not 1.5"),
        (r#"{"effect":"truncate","action":"SendMessage"}"#, "unknown field `action`"),
        (r#"["throttle"]"#, "has to be a JSON object"),
        (r#"{"effect":"redeliver","actions":["SendMessage"]}"#, "cannot strike SendMessage"),
        (
            r#"{"effect":"fail_entries","code":"OverLimit","actions":["SendMessage"]}"#,
            "cannot strike SendMessage",
        ),
        (r#"{"effect":"status","status":204}"#, "have a body"),
        (r#"{"effect":"truncate","times":0}"#, "`times` must be at least 1"),
        (r#"{"effect":"truncate","queue":""}"#, "`queue` must not be empty"),
    ];
    for (text, reason) in table {
        let error = text.parse::<Fault>().unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}
