use super::*;

const TOO_COMPLEX: &str = "FilterPolicy: Filter policy is too complex";

fn list(rules: usize) -> String {
    let rules: Vec<_> = (0..rules).map(|rule| rule.to_string()).collect();
    format!("[{}]", rules.join(","))
}

fn assert_limit(accepted: &str, rejected: &str, reason: &str, scope: FilterScope) {
    parse(accepted, scope);
    assert_eq!(fault(rejected, scope), reason, "{rejected:.200}");
}

#[test]
fn five_top_level_keys_are_accepted() {
    let keys = |count: usize| {
        let keys: Vec<_> = (0..count).map(|key| format!(r#""k{key}":[1]"#)).collect();
        format!("{{{}}}", keys.join(","))
    };
    let reason = "FilterPolicy: Filter policy can not have more than 5 keys";
    for scope in [FilterScope::MessageAttributes, FilterScope::MessageBody] {
        assert_limit(&keys(5), &keys(6), reason, scope);
    }
    let nested = keys(5).replacen("[1]", &keys(6), 1);
    parse(&nested, FilterScope::MessageBody);
    let branches =
        |count: usize| format!(r#"{{"$or":[{},{{"a":[1],"b":[1],"c":[1]}}],"z":[1]}}"#, keys(count));
    assert_limit(&branches(4), &branches(5), reason, FilterScope::MessageAttributes);
}

#[test]
fn combinations_count_rules_times_depth() {
    let scope = FilterScope::MessageBody;
    assert_limit(
        &format!(r#"{{"k":{}}}"#, list(150)),
        &format!(r#"{{"k":{}}}"#, list(151)),
        TOO_COMPLEX,
        scope,
    );
    let two = |left, right| format!(r#"{{"a":{},"b":{}}}"#, list(left), list(right));
    assert_limit(&two(3, 50), &two(100, 51), TOO_COMPLEX, scope);
    // 12 * 6 * 3 = 216, and 12 * 6 * 2 = 144.
    let nested = |last| {
        let (c, e, f) = (list(4), list(3), list(last));
        format!(r#"{{"key_a":{{"key_b":{{"key_c":{c}}}}},"key_d":{{"key_e":{e}}},"key_f":{f}}}"#)
    };
    assert_limit(&nested(2), &nested(3), TOO_COMPLEX, scope);
}

#[test]
fn combinations_of_or_are_added() {
    // 3 * (6 + 4 * (4 + 7)) = 150, and 4 * (6 + 4 * (4 + 4)) = 152.
    let policy = |lists: [usize; 5]| {
        let [always, first, second, left, right] = lists.map(list);
        let nested = format!(r#""$or":[{{"d":{left}}},{{"e":{right}}}]"#);
        format!(r#"{{"a":{always},"$or":[{{"b":{first}}},{{"c":{second},{nested}}}]}}"#)
    };
    let (accepted, rejected) = (policy([3, 6, 4, 4, 7]), policy([4, 6, 4, 4, 4]));
    assert_limit(&accepted, &rejected, TOO_COMPLEX, FilterScope::MessageAttributes);
    // (3 + 2) * 4 * (2 + 6) = 160.
    let (m, n, scope, source, kind) = (list(3), list(2), list(2), list(1), list(3));
    let nested = format!(
        r#"{{"$or":[{{"m":{m}}},{{"n":{n}}}],"d":{{"s":{scope},"$or":[{{"source":{source}}},{{"type":{kind}}}]}}}}"#
    );
    assert_eq!(fault(&nested, FilterScope::MessageBody), TOO_COMPLEX);
}

#[test]
fn three_wildcards_are_accepted_in_a_pattern() {
    let policy = |pattern: &str| format!(r#"{{"a":[{{"wildcard":"{pattern}"}}]}}"#);
    let [accepted, rejected] = ["*a*b*", "*a*b*c*"].map(policy);
    let reason = fault(&rejected, FilterScope::MessageBody);
    assert!(reason.starts_with("FilterPolicy: Rule is too complex"), "{reason}");
    parse(&accepted, FilterScope::MessageBody);
}

#[test]
fn points_of_wildcards_are_limited() {
    let patterns = |single: usize, several: usize| {
        let single = (0..single).map(|n| format!(r#"{{"wildcard":"{n}*"}}"#));
        let several = (0..several).map(|n| format!(r#"{{"anything-but":{{"wildcard":"*{n}*"}}}}"#));
        format!("[{}]", single.chain(several).collect::<Vec<_>>().join(","))
    };
    // 10 * 10 = 100; 5 * 5 + 5 * (3 * 5) = 100; 10 * 10 + 1.
    let both = format!(r#"{{"a":{},"b":{}}}"#, patterns(5, 0), patterns(0, 5));
    let once_for_both_branches = format!(r#"{{"a":{},"$or":[{{"b":[1]}},{{"c":[1]}}]}}"#, patterns(10, 0));
    for policy in [format!(r#"{{"a":{}}}"#, patterns(10, 0)), both, once_for_both_branches] {
        parse(&policy, FilterScope::MessageBody);
    }
    let reason =
        fault(&format!(r#"{{"a":{},"b":{}}}"#, patterns(10, 0), patterns(1, 0)), FilterScope::MessageBody);
    assert!(reason.starts_with("FilterPolicy: Rule is too complex"), "{reason}");
}

#[test]
fn policies_of_256_kib_are_accepted() {
    let policy = |bytes: usize| format!(r#"{{"a":["{}"]}}"#, "x".repeat(bytes - 10));
    let reason = "FilterPolicy: Filter policy has 262145 bytes; the maximum is 262144";
    assert_limit(&policy(262_144), &policy(262_145), reason, FilterScope::MessageBody);
}
