use std::cell::Cell;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngAlgorithm;
use proptest::test_runner::TestCaseError;
use proptest::test_runner::TestCaseResult;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::*;

/// Default number of cases; the environment variable `PROPTEST_CASES` overrides it.
const CASES: u32 = 2_000;

const KEYS: [&str; 5] = ["a", "b", "c", "a.b", "a.c"];
const TEXTS: [&str; 9] = ["", "x", "y", "xy", "Xy", "x*y", "Éx", "10.0.0.1", "10.0.1.1"];
const NUMBERS: [&str; 9] = ["-2.5", "-1", "0", "1", "1.0", "1.000001", "1.1", "10", "1e1"];

fn text() -> impl Strategy<Value = Value> {
    select(&TEXTS[..]).prop_map(|text| json!(text))
}

fn number() -> impl Strategy<Value = Value> + Clone {
    select(&NUMBERS[..]).prop_map(|number| serde_json::from_str(number).expect("a number"))
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![5 => text(), 4 => number(), 1 => any::<bool>().prop_map(Value::Bool), 1 => Just(Value::Null)]
}

/// One value, or a list of them.
fn one_or_list(value: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    prop_oneof![value.clone(), prop::collection::vec(value, 1..3).prop_map(Value::Array)]
}

fn range() -> impl Strategy<Value = Value> {
    let lower = (select(vec![">", ">="]), number());
    let upper = (select(vec!["<", "<="]), number());
    prop_oneof![
        1 => number().prop_map(|value| json!(["=", value])),
        2 => prop_oneof![lower.clone(), upper.clone()].prop_map(|(operator, value)| json!([operator, value])),
        2 => (lower, upper).prop_filter("bounds", |((_, lower), (_, upper))| lower.as_f64() < upper.as_f64())
            .prop_map(|((above, lower), (below, upper))| json!([above, lower, below, upper])),
    ]
}

fn wildcard() -> impl Strategy<Value = Value> {
    select(vec!["", "*", "x*", "*y", "x*y", "*.0.*", r"x\*y", "*É*"]).prop_map(|pattern| json!(pattern))
}

fn anything_but() -> impl Strategy<Value = Value> {
    let affix = || text().prop_filter("empty", |text| text != "");
    prop_oneof![
        one_or_list(text().boxed()),
        one_or_list(number().boxed()),
        one_or_list(affix().boxed()).prop_map(|list| json!({ "prefix": list })),
        one_or_list(affix().boxed()).prop_map(|list| json!({ "suffix": list })),
        one_or_list(text().boxed()).prop_map(|list| json!({ "equals-ignore-case": list })),
        one_or_list(wildcard().boxed()).prop_map(|list| json!({ "wildcard": list })),
    ]
}

fn affix() -> impl Strategy<Value = Value> {
    prop_oneof![text(), text().prop_map(|text| json!({ "equals-ignore-case": text }))]
}

fn rule() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => scalar(),
        1 => affix().prop_map(|text| json!({ "prefix": text })),
        1 => affix().prop_map(|text| json!({ "suffix": text })),
        1 => text().prop_map(|text| json!({ "equals-ignore-case": text })),
        1 => wildcard().prop_map(|pattern| json!({ "wildcard": pattern })),
        2 => range().prop_map(|range| json!({ "numeric": range })),
        1 => select(vec!["10.0.0.0/24", "10.0.0.0/16", "0.0.0.0/0", "10.0.1.1/32"]).prop_map(|block| json!({ "cidr": block })),
        4 => anything_but().prop_map(|excluded| json!({ "anything-but": excluded })),
        4 => any::<bool>().prop_map(|exists| json!({ "exists": exists })),
    ]
}

fn rules() -> impl Strategy<Value = Value> {
    prop::collection::vec(rule(), 1..6).prop_map(Value::Array)
}

/// A policy whose values are rules or policies.
fn policy_of(value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let plain =
        prop::collection::btree_map(select(&KEYS[..]), value, 1..3).prop_map(|map| json!(map)).boxed();
    let branches = prop::collection::vec(plain.clone(), 2..4);
    let with_or = (plain.clone(), branches).prop_map(|(mut policy, branches)| {
        policy["$or"] = json!(branches);
        policy
    });
    prop_oneof![4 => plain, 1 => with_or].boxed()
}

fn nested_policy() -> impl Strategy<Value = Value> {
    let inner = policy_of(rules().boxed());
    let deeper = policy_of(prop_oneof![2 => rules(), 1 => inner.clone()].boxed());
    policy_of(prop_oneof![2 => rules(), 2 => inner, 1 => deeper].boxed())
}

fn body() -> impl Strategy<Value = Value> {
    let value = scalar().prop_recursive(4, 24, 4, |value| {
        let object =
            prop::collection::btree_map(select(&KEYS[..]), value.clone(), 1..4).prop_map(|map| json!(map));
        let list = prop::collection::vec(prop_oneof![value, object.clone()], 0..4).prop_map(Value::Array);
        prop_oneof![3 => object, 2 => list]
    });
    prop::collection::btree_map(select(&KEYS[..]), value, 2..6).prop_map(|map| json!(map))
}

fn attribute() -> impl Strategy<Value = MessageAttributeValue> {
    prop_oneof![
        4 => select(&TEXTS[1..]).prop_map(MessageAttributeValue::string),
        4 => select(&NUMBERS[..]).prop_map(MessageAttributeValue::number),
        3 => prop::collection::vec(scalar(), 0..4).prop_map(|list| array(&json!(list).to_string())),
        1 => scalar().prop_map(|one| array(&one.to_string())),
        1 => Just(array("[1")),
        1 => Just(MessageAttributeValue::binary(*b"x")),
    ]
}

fn attribute_map() -> impl Strategy<Value = AttributeMap> {
    prop::collection::hash_map(select(&KEYS[..]).prop_map(str::to_owned), attribute(), 0..6)
}

/// Compares both evaluators on policies within the limits. Fails if nearly all messages match, or nearly none.
fn compare<M: std::fmt::Debug>(
    policies: impl Strategy<Value = Value>,
    messages: impl Strategy<Value = M>,
    scope: FilterScope,
    evaluate: impl Fn(&FilterPolicy, &Value, &M) -> (bool, bool),
) {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let config = ProptestConfig {
        failure_persistence: None,
        max_global_rejects: cases,
        // The default takes most of the time in a debug build.
        rng_algorithm: RngAlgorithm::XorShift,
        ..ProptestConfig::with_cases(cases)
    };
    let matched = Cell::new(0_u32);
    let test = |(json, message): (Value, M)| -> TestCaseResult {
        let policy = match FilterPolicy::parse(&json.to_string(), scope) {
            Ok(policy) => policy,
            Err(fault) => {
                let is_limit = ["complex", "5 keys"].iter().any(|limit| fault.contains(limit));
                prop_assert!(is_limit, "{}", fault);
                return Err(TestCaseError::reject("limits"));
            }
        };
        let (actual, expected) = evaluate(&policy, &json, &message);
        prop_assert_eq!(actual, expected);
        matched.set(matched.get() + u32::from(actual));
        Ok(())
    };
    TestRunner::new(config).run(&(policies, messages), test).unwrap_or_else(|error| panic!("{error}"));
    let matched = matched.get();
    assert!((cases / 10..cases * 9 / 10).contains(&matched), "{matched} of {cases} matched");
}

#[test]
fn policies_match_bodies_like_the_naive_evaluator() {
    compare(nested_policy(), body(), FilterScope::MessageBody, |policy, json, body| {
        let none = HashMap::new();
        let text = body.to_string();
        (policy.matches(&FilterInput::new(&text, &none)), naive::matches_body(json, body))
    });
}

#[test]
fn policies_match_attributes_like_the_naive_evaluator() {
    let policies = policy_of(rules().boxed());
    compare(policies, attribute_map(), FilterScope::MessageAttributes, |policy, json, attributes| {
        (policy.matches(&FilterInput::new("", attributes)), naive::matches_attributes(json, attributes))
    });
}
