use std::time::Duration;

use super::*;
use crate::control::caller::Secret;
use crate::control::faults::fault::Fault;

fn parse(text: &str) -> Config {
    Config::parse(text, "sqs.toml").unwrap()
}

/// All errors, one per line.
fn faults(text: &str) -> String {
    let error = Config::parse(text, "sqs.toml").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    error.to_string()
}

/// The only error of a file with one queue.
fn fault_of_queue(name: &str, rest: &str) -> String {
    faults(&format!("[[queues]]\nname = \"{name}\"\n{rest}"))
}

#[test]
fn empty_file_has_the_defaults() {
    let file = parse("# nothing\n");
    assert_eq!(format!("{file:?}"), format!("{:?}", Config::default()));
}

#[test]
fn durations_are_seconds_or_have_units() {
    for (text, expected) in [
        ("5", 5_000),
        ("\"5s\"", 5_000),
        ("\"90 s\"", 90_000),
        ("\"250ms\"", 250),
        ("\"2m\"", 120_000),
        ("\"1h\"", 3_600_000),
        ("\"1.5h\"", 5_400_000),
        ("\"1h 30m\"", 5_400_000),
        ("\"4d\"", 345_600_000),
    ] {
        let file = parse(&format!("limits.grace = {text}"));
        assert_eq!(file.limits.grace, Duration::from_millis(expected), "{text}");
    }
    for text in ["-1", "\"\"", "\"5\"", "\"1 giraffe\"", "\"-1s\"", "1.5", "true", "[5]"] {
        assert!(
            faults(&format!("limits.grace = {text}")).starts_with("sqs.toml:1:16: limits.grace: "),
            "{text}"
        );
    }
}

#[test]
fn time_limit_of_more_than_a_year_is_refused() {
    assert_eq!(parse("limits.grace = \"365d\"").limits.grace, Duration::from_hours(365 * 24));
    for name in ["head_timeout", "body_timeout", "body_idle_timeout", "write_timeout", "grace"] {
        let fault = faults(&format!("limits.{name} = \"300000000000y\""));
        let expected = format!("limits.{name}: 300000000000years is too long; allowed is at most 365d");
        assert!(fault.ends_with(&expected), "{fault}");
    }
}

#[test]
fn sizes_are_bytes_or_have_a_unit() {
    assert_eq!(parse("limits.max_memory = 4096").limits.max_memory, 4096);
    assert_eq!(parse("limits.max_memory = \"3MiB\"").limits.max_memory, 3 << 20);
    for text in
        ["0", "-1", "\"3MB\"", "\"3\\u00a0MiB\"", "1.5", "\"99999999999GiB\"", "9223372036854775808000"]
    {
        assert!(faults(&format!("limits.max_memory = {text}")).contains("limits.max_memory: "), "{text}");
    }
}

#[test]
fn error_names_position_key_and_allowed_values() {
    assert_eq!(
        faults("# ports\n  port = 70000"),
        "sqs.toml:2:10: port: 70000 is not allowed; allowed is a whole number from 0 to 65535"
    );
    assert_eq!(
        fault_of_queue("orders", "visibility_timeout = \"13h\""),
        "sqs.toml:3:22: queues[0].visibility_timeout: 46800 seconds is out of range; allowed are 0 to 43200 whole seconds"
    );
    assert_eq!(
        fault_of_queue("orders", "maximum_message_size = 1"),
        "sqs.toml:3:24: queues[0].maximum_message_size: 1 bytes is out of range; allowed are 1024 to 1048576 whole bytes"
    );
    assert_eq!(
        fault_of_queue("orders", "delay = \"5 giraffes\""),
        "sqs.toml:3:9: queues[0].delay: \"5 giraffes\" is not allowed; allowed is a whole number of seconds, or a text with units, such as \"90s\", \"1h 30m\" or \"4d\""
    );
    assert_eq!(
        fault_of_queue("a.fifo", "deduplication_scope = \"Queue\""),
        "sqs.toml:3:23: queues[0].deduplication_scope: \"Queue\" is not allowed; allowed is `queue` or `messageGroup`"
    );
}

#[test]
fn column_counts_characters() {
    assert!(faults("'ä' = 1").starts_with("sqs.toml:1:1: ä: "));
    assert!(faults("host = 'ä'; x").starts_with("sqs.toml:1:11: "), "{}", faults("host = 'ä'; x"));
}

#[test]
fn all_invalid_values_are_reported_in_the_order_of_the_file() {
    let text = faults(
        "region = 'Mars!'\n[[queues]]\nname = 'a'\ndelay = 901\n[[queues]]\nname = ''\naccount = '1'\n[limits]\n\
         max_queues = 0\nbody_timeout = '0s'",
    );
    let paths: Vec<_> = text.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
    let expected = [
        "region",
        "queues[0].delay",
        "queues[1].name",
        "queues[1].account",
        "limits.max_queues",
        "limits.body_timeout",
    ];
    assert_eq!(paths, expected, "{text}");
}

#[test]
fn wrong_types_and_missing_settings_are_reported_at_their_positions() {
    for (text, expected) in [
        (
            "port = true",
            "sqs.toml:1:8: port: type boolean is not allowed; allowed is a whole number from 0 to 65535",
        ),
        (
            "one_minute_rules = 1",
            "sqs.toml:1:20: one_minute_rules: type integer is not allowed; allowed is true or false",
        ),
        ("account = 12", "sqs.toml:1:11: account: type integer is not allowed; allowed is a string"),
        (
            "[limits]\ngrace = {}",
            "sqs.toml:2:9: limits.grace: type table is not allowed; allowed is a whole number of ",
        ),
        (
            "cors_origins = ['a', 5]",
            "sqs.toml:1:22: cors_origins[1]: type integer is not allowed; allowed is a string",
        ),
        ("limits = ['1KiB']", "sqs.toml:1:10: limits: type array is not allowed; allowed is a table"),
        ("queues = [['a']]", "sqs.toml:1:11: queues[0]: type array is not allowed; allowed is a table"),
        ("limits = 5", "sqs.toml:1:10: limits: type integer is not allowed; allowed is a table"),
        ("\n[[queues]]\ndelay = 3", "sqs.toml:2:1: queues[0]: `name` is missing"),
        ("auth = 'basic'", "sqs.toml:1:8: auth: 'basic' is not allowed; allowed is `none` or `sigv4`"),
    ] {
        let text = faults(text);
        assert!(text.starts_with(expected), "{text}\n{expected}");
    }
}

#[test]
fn unknown_setting_is_rejected_with_a_list_of_known_settings() {
    let text = faults("colour = 1");
    assert!(
        text.starts_with("sqs.toml:1:1: colour: unknown setting; known are account, admin_token, "),
        "{text}"
    );
    for (typo, meant) in
        [("prot = 1", "port"), ("[[queue]]\nname = 'q'", "queues"), ("auto_craete = true", "auto_create")]
    {
        let text = faults(typo);
        assert!(text.ends_with(&format!("unknown setting; did you mean {meant}?")), "{text}");
    }
    for name in ["visibility_timout", "VisibilityTimeout", "visibility-timeout", "visibility_timeout_seconds"]
    {
        let text = fault_of_queue("orders", &format!("{name} = 5"));
        assert!(text.ends_with("did you mean visibility_timeout?"), "{text}");
    }
}

#[test]
fn syntax_error_does_not_quote_the_file() {
    let text = faults("port = 1\n[keys]\nAKID = \"top secret\nhost = \"x\"\n");
    assert!(text.starts_with("sqs.toml:3:"), "{text}");
    assert!(!text.contains("top secret"), "{text}");
    assert!(faults("port = 1\nport = 2").starts_with("sqs.toml:2:1: duplicate key"));
}

#[test]
fn secrets_appear_neither_in_errors_nor_in_debug() {
    for (text, expected) in [
        ("AKID = [\"top secret\"]", "type array is not allowed; allowed is a string"),
        ("AKID = { is = \"top secret\" }", "type table is not allowed; allowed is a string"),
        ("AKID = \"\"", "allowed is a secret that is not empty"),
    ] {
        let text = faults(&format!("[keys]\n{text}"));
        assert!(text.starts_with(&format!("sqs.toml:2:8: keys.AKID: {expected}")), "{text}");
    }
    for text in ["keys = 'top secret'", "port = 'top secret'", "admin_token = ['top secret']"] {
        let text = faults(text);
        assert!(text.contains(": type ") && !text.contains("top secret"), "{text}");
    }
    let file = parse("auth = \"sigv4\"\n[keys]\nAKID = \"top secret\"");
    assert!(!format!("{file:?}").contains("top secret"));
    assert_eq!(file.keys["AKID"], Secret::from("top secret"));
}

#[test]
fn queue_settings_become_attributes() {
    let file = parse(
        r#"
        [[queues]]
        name = "orders.fifo"
        visibility_timeout = "2m"
        delay = 3
        content_based_deduplication = true
        deduplication_scope = "messageGroup"
        fifo_throughput_limit = "perMessageGroupId"
        policy = '{"Statement":[]}'
        tags = { team = "shop" }
        "#,
    );
    let queue = &file.queues[0];
    let mut attributes: Vec<_> =
        queue.attributes().iter().map(|(name, value)| format!("{name}={value}")).collect();
    attributes.sort();
    let expected = [
        "ContentBasedDeduplication=true",
        "DeduplicationScope=messageGroup",
        "DelaySeconds=3",
        "FifoQueue=true",
        "FifoThroughputLimit=perMessageGroupId",
        "Policy={\"Statement\":[]}",
        "VisibilityTimeout=120",
    ];
    assert_eq!(attributes, expected);
    assert_eq!(queue.tags, [("team".to_owned(), "shop".to_owned())].into());
}

#[test]
fn queues_follow_the_rules_of_create_queue() {
    let table = [
        ("a b", "", "queues[0].name: "),
        ("a", "policy = '[]'", "queues[0].policy: "),
        ("a", "redrive_allow_policy = '{}'", "queues[0].redrive_allow_policy: "),
        ("a", "account = '12'", "queues[0].account: "),
        ("a", "region = 'Mars!'", "queues[0].region: "),
        ("a", "content_based_deduplication = false", "queues[0].content_based_deduplication: only FIFO"),
        ("a.fifo", "fifo_throughput_limit = 'perMessageGroupId'", "queues[0].fifo_throughput_limit: "),
        ("a", "kms_master_key_id = 'k'\nsqs_managed_sse_enabled = true", "queues[0].kms_master_key_id: "),
        ("a", "tags = { 'aws:x' = 'y' }", "queues[0].tags: "),
        ("a", "dead_letter_queue = 'b'", "queues[0].dead_letter_queue: requires max_receive_count"),
        ("a", "max_receive_count = 3", "queues[0].max_receive_count: requires dead_letter_queue"),
        (
            "a",
            "dead_letter_queue = 'b'\nmax_receive_count = 1001",
            "queues[0].max_receive_count: 1001 is out of",
        ),
    ];
    for (name, rest, expected) in table {
        let text = fault_of_queue(name, rest);
        assert!(text.lines().count() == 1 && text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn each_invalid_attribute_of_a_queue_is_reported_at_its_position() {
    let text = fault_of_queue("a", "policy = '[]'\nredrive_allow_policy = '{}'\ndelay = 3");
    let places: Vec<_> = text.lines().map(|line| line.splitn(3, ": ").take(2).collect::<Vec<_>>()).collect();
    let expected =
        [["sqs.toml:3:10", "queues[0].policy"], ["sqs.toml:4:24", "queues[0].redrive_allow_policy"]];
    assert_eq!(places, expected, "{text}");
    let text = fault_of_queue(
        "a.fifo",
        "policy = '[]'\nfifo_throughput_limit = 'perMessageGroupId'\ndeduplication_scope = 'messageGroup'",
    );
    assert!(text.lines().count() == 1 && text.contains("queues[0].policy: "), "{text}");
}

#[test]
fn faults_deserialize_as_from_json() {
    let file = parse(
        r#"
        [[faults]]
        effect = "fail_entries"
        code = "InternalError"
        sender_fault = false
        actions = ["SendMessageBatch", "DeleteMessageBatch"]
        entries = [0, 0x2]
        times = 1_000
        probability = 0.5
        [[faults]]
        effect = "status"
        status = 503
        body = "busy \"proxy\""
        "#,
    );
    let json: [Fault; 2] = [
        r#"{"effect":"fail_entries","code":"InternalError","sender_fault":false,
            "actions":["SendMessageBatch","DeleteMessageBatch"],"entries":[0,2],"times":1000,"probability":0.5}"#,
        r#"{"effect":"status","status":503,"body":"busy \"proxy\""}"#,
    ]
    .map(|text| text.parse().unwrap());
    assert_eq!(format!("{:?}", file.faults), format!("{json:?}"));
}

#[test]
fn invalid_faults_are_reported_with_their_position() {
    for (fault, expected) in [
        ("effect = 'latency'", "sqs.toml:3:1: faults[1]: not a fault: missing field `latency_ms`"),
        (
            "effect = 'throttle'\nx = 1",
            "sqs.toml:3:1: faults[1]: not a fault: unknown field `x`, expected `message`; every effect also has service, ",
        ),
        (
            "effect = 'throttle'\nprobability = nan",
            "sqs.toml:3:1: faults[1]: not a fault: `probability`: invalid type: null, expected f64",
        ),
        ("effect = 1979-05-27", "sqs.toml:3:1: faults[1]: not a fault: `effect`: "),
        (
            "effect = 'latency'\nlatency_ms = '5'",
            "sqs.toml:3:1: faults[1]: not a fault: `latency_ms`: invalid type: string \"5\", expected u64",
        ),
    ] {
        let text = faults(&format!("[[faults]]\neffect = 'throttle'\n[[faults]]\n{fault}"));
        assert!(text.starts_with(expected) && text.lines().count() == 1, "{text}");
    }
    assert!(
        faults("[faults]\neffect = 'throttle'").ends_with(
            "faults: type table is not allowed; a list of tables has two brackets, as in [[faults]]"
        )
    );
    assert!(
        faults("faults = ['throttle']")
            .ends_with("faults[0]: type string is not allowed; allowed is a table")
    );
}

#[test]
fn too_many_tags_are_rejected() {
    let tags = |count: usize| (0..count).map(|tag| format!("{tag} = ''")).collect::<Vec<_>>().join("\n");
    let queue = |count| format!("[[queues]]\nname = 'a'\n[queues.tags]\n{}", tags(count));
    parse(&queue(1_000));
    assert!(faults(&queue(1_001)).contains("Maximum allowed is 1000"));
}

#[test]
fn queues_need_two_brackets() {
    assert!(
        faults("[queues]\nname = 'a'").ends_with(
            "queues: type table is not allowed; a list of tables has two brackets, as in [[queues]]"
        )
    );
}
