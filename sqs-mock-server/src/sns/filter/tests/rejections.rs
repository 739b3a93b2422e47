use super::*;

/// The text after `FilterPolicy: `, the same in both scopes.
fn reason(policy: &str) -> String {
    let [one, other] =
        [FilterScope::MessageAttributes, FilterScope::MessageBody].map(|scope| fault(policy, scope));
    assert_eq!(one, other, "{policy}");
    one.strip_prefix("FilterPolicy: ").unwrap_or_else(|| panic!("{policy}: {one}")).to_owned()
}

fn assert_reasons(cases: &[(&str, &str)]) {
    for (policy, expected) in cases {
        assert_eq!(reason(policy), *expected, "{policy}");
    }
}

/// The policies have one key with one rule: the argument of an operator.
fn assert_arguments(operator: &str, cases: &[(&str, &str)]) {
    for (argument, expected) in cases {
        let policy = format!(r#"{{"key":[{{"{operator}":{argument}}}]}}"#);
        assert_eq!(reason(&policy), *expected, "{policy}");
    }
}

#[test]
fn policies_against_the_grammar_are_rejected() {
    assert_reasons(&[
        ("[]", "Filter is not an object"),
        (r#""a""#, "Filter is not an object"),
        (r#"{"key":[["value"]]}"#, "Match value must be String, number, true, false, or null"),
        (r#"{"key":[{"wrong-operator":true}]}"#, "Unrecognized match type wrong-operator"),
        (r#"{"key":[{"EXISTS":true}]}"#, "Unrecognized match type EXISTS"),
        (r#"{"key":[{"NUMERIC":["=",1]}]}"#, "Unrecognized match type NUMERIC"),
        (r#"{"key":[{"suffix":"value","prefix":"value2"}]}"#, "Only one key allowed in match expression"),
        (r#"{"key":[{}]}"#, "Match expression name not found"),
        (r#"{"key":[]}"#, "Empty arrays are not allowed"),
        (r#"{"key":{}}"#, "Empty objects are not allowed"),
        (r#"{"$or":[{"a":[1]},{}]}"#, "Empty objects are not allowed"),
        (r#"{"$or":[{"a":[1]}]}"#, "Unrecognized match type a"),
        (r#"{"key_a":"value_one"}"#, r#""key_a" must be an object or an array"#),
        (r#"{"key":{"suffix":"value"}}"#, r#""suffix" must be an object or an array"#),
        (r#"{"key":{"suffix":"value","xsuffix":"x"}}"#, r#""suffix" must be an object or an array"#),
    ]);
}

#[test]
fn arguments_that_are_not_strings_are_rejected() {
    for argument in ["100", "null", "[]", r#"["a"]"#] {
        for operator in ["prefix", "suffix", "equals-ignore-case", "wildcard"] {
            let expected = format!("{operator} match pattern must be a string");
            assert_arguments(operator, &[(argument, &expected)]);
        }
    }
    for operator in ["prefix", "suffix"] {
        let unsupported = format!("Unsupported {operator} pattern: wildcard");
        assert_arguments(
            operator,
            &[
                (r#"{"wildcard":"x"}"#, unsupported.as_str()),
                (r#"{"equals-ignore-case":1}"#, "equals-ignore-case match pattern must be a string"),
            ],
        );
    }
    assert_arguments(
        "exists",
        &[
            ("null", "exists match pattern must be either true or false."),
            (r#""no""#, "exists match pattern must be either true or false."),
        ],
    );
}

#[test]
fn invalid_blocks_of_addresses_are_rejected() {
    let width = |width: u8| format!("Malformed CIDR, mask bits must be from 0 to {width}");
    assert_arguments(
        "cidr",
        &[
            (r#"["bad-filter"]"#, "prefix match pattern must be a string"),
            (r#""bad-filter""#, "Malformed CIDR, one '/' required"),
            (r#""10.0.0.0/8/8""#, "Malformed CIDR, one '/' required"),
            (r#""bad-/64filter""#, "Malformed CIDR, mask bits must be an integer"),
            (r#""bad-filter/64""#, "Nonstandard IP address: bad-filter"),
            (r#""xx.11.xx/8""#, "Nonstandard IP address: xx.11.xx"),
            (r#""xxxx:db8:1234:1a00::/64""#, "Nonstandard IP address: xxxx:db8:1234:1a00::"),
            (r#""10.0.0.0/33""#, &width(32)),
            (r#""10.0.0.0/-1""#, &width(32)),
            (r#""::/129""#, &width(128)),
        ],
    );
}

#[test]
fn invalid_ranges_are_rejected() {
    assert_arguments(
        "numeric",
        &[
            ("10", "Value of numeric must be an array."),
            ("[]", "Invalid member in numeric match: ]"),
            (r#"[1,"<="]"#, "Invalid member in numeric match: 1"),
            ("[[]]", "Invalid member in numeric match: ["),
            (r#"["operator"]"#, "Unrecognized numeric range operator: operator"),
            (r#"["=","000"]"#, "Value of equals must be numeric"),
            (r#"[">="]"#, "Value of >= must be numeric"),
            (r#"[">","20","<","30"]"#, "Value of > must be numeric"),
            (r#"[">",20,"<="]"#, "Value of <= must be numeric"),
            (r#"[">",20,"<","30"]"#, "Value of < must be numeric"),
            (r#"[">=",1,">",2]"#, "Bad numeric range operator: >"),
            (r#"[">",20,"test"]"#, "Bad numeric range operator: test"),
            (r#"[">",20,30]"#, "Bad value in numeric range: 30"),
            (r#"[">",3,"<",1]"#, "Bottom must be less than top"),
            (r#"["<",100,">",10]"#, "Too many elements in numeric expression"),
            (r#"["=",100,"=",10]"#, "Too many elements in numeric expression"),
            (r#"[">",20,"<",30,"<",50]"#, "Too many terms in numeric range expression"),
        ],
    );
}

#[test]
fn invalid_arguments_of_anything_but_are_rejected() {
    let value = "Value of anything-but must be an array or single string/number value.";
    let affix = "prefix/suffix match pattern must be a string";
    let mixed =
        "Inside anything but list, either all values are number or string, mixed type is not supported";
    let no_text = "Inside anything-but/equals-ignore-case list, number|start|null|boolean is not supported.";
    assert_arguments(
        "anything-but",
        &[
            (r#"{"wrong-operator":null}"#, "Unsupported anything-but pattern: wrong-operator"),
            (r#"{"exists":false}"#, "Unsupported anything-but pattern: exists"),
            ("{}", "Anything-But expression name not found"),
            (r#"{"prefix":false}"#, affix),
            (r#"{"suffix":["a",1]}"#, affix),
            (r#"{"prefix":""}"#, "Null prefix/suffix not allowed"),
            (r#"{"suffix":["a",""]}"#, "Null prefix/suffix not allowed"),
            (r#"{"prefix":{"equals-ignore-case":"x"}}"#, value),
            ("null", value),
            ("true", value),
            (r#"["a",null]"#, "Inside anything but list, start|null|boolean is not supported."),
            (r#"[["a"]]"#, "Inside anything but list, start|null|boolean is not supported."),
            (r#"["a",1]"#, mixed),
            ("[]", mixed),
            (r#"{"equals-ignore-case":123}"#, no_text),
            (r#"{"equals-ignore-case":[123]}"#, no_text),
            (r#"{"wildcard":[]}"#, "Empty arrays are not allowed"),
            (r#"{"wildcard":1}"#, "wildcard match pattern must be a string"),
            (r#"{"wildcard":["*a",null]}"#, "wildcard match pattern must be a string"),
        ],
    );
}

#[test]
fn invalid_wildcards_are_rejected() {
    let too_complex = "Rule is too complex - try using fewer wildcard characters or fewer repeating character \
                       sequences after a wildcard character";
    assert_arguments(
        "wildcard",
        &[
            (r#""arn:aws:events:us-east-1:**:event-bus/*""#, "Consecutive wildcard characters at pos 26"),
            (r#""*:*:*:*:*:event-bus/*""#, too_complex),
        ],
    );
}

#[test]
fn text_that_is_not_json_is_rejected_with_its_position() {
    let tokens = "was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')";
    for (policy, expected, position) in [
        (
            "{invalid}",
            "Unexpected character ('i' (code 105)): was expecting double-quote to start field name",
            (1, 2),
        ),
        (
            "{\n \"a\":[1],b",
            "Unexpected character ('b' (code 98)): was expecting double-quote to start field name",
            (2, 10),
        ),
        ("invalid", &format!("Unrecognized token 'invalid': {tokens}"), (1, 1)),
        (r#"{"a":nope}"#, &format!("Unrecognized token 'nope': {tokens}"), (1, 7)),
        (r#"{"é":[1,é]}"#, &format!("Unrecognized token 'é': {tokens}"), (1, 10)),
        ("", "Unexpected end-of-input", (1, 0)),
        (r#"{"a":["#, "Unexpected end-of-input", (1, 6)),
        (r#"{"a":[1 2]}"#, "Unexpected character ('2' (code 50)): expected `,` or `]`", (1, 9)),
        ("{}}", "Unexpected character ('}' (code 125)): trailing characters", (1, 3)),
    ] {
        let (line, column) = position;
        let source = "REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled)";
        let expected = format!(
            "failed to parse JSON. {expected}\n at [Source: {source}; line: {line}, column: {column}]"
        );
        assert_eq!(reason(policy), expected, "{policy}");
    }
}

#[test]
fn deeply_nested_policies_are_rejected() {
    for levels in [128, 30_000] {
        let policy = format!("{}[1]{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        assert!(reason(&policy).contains("recursion limit exceeded"), "{levels}");
    }
}

#[test]
fn nested_policies_require_the_scope_of_bodies() {
    for policy in [r#"{"a":{"b":[1]}}"#, r#"{"$or":[{"a":[1]},{"b":{"c":[1]}}]}"#] {
        let expected = "Filter policy scope MessageAttributes does not support nested filter policy";
        assert_eq!(fault(policy, FilterScope::MessageAttributes), expected);
        parse(policy, FilterScope::MessageBody);
    }
}

#[test]
fn unknown_scopes_are_rejected() {
    for scope in [FilterScope::MessageAttributes, FilterScope::MessageBody] {
        assert_eq!(FilterScope::parse(scope.into_str()), Ok(scope));
    }
    let expected =
        "FilterPolicyScope: Invalid value [RandomValue]. Please use either MessageBody or MessageAttributes";
    assert_eq!(FilterScope::parse("RandomValue").unwrap_err(), expected);
}
