//! Faults, filters and messages, row by row.
use s3s::S3ErrorCode;

use super::*;
use crate::control::clock::Timestamp;

const QUEUE: &str = "arn:aws:sqs:us-east-1:000000000000:orders";

const TOPIC: &str = "arn:aws:sns:us-east-1:000000000000:orders";

const OVERLAP: &str = "Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the \
                       prefixes are overlapping for the same event type.";

fn rule(kind: TargetKind, arn: &str, events: &[&str], filter: &[(&str, &str)]) -> RequestedRule {
    RequestedRule {
        id: None,
        kind,
        arn: arn.to_owned(),
        events: events.iter().map(|event| (*event).to_owned()).collect(),
        filter: filter
            .iter()
            .map(|(name, value)| (Some((*name).to_owned()), Some((*value).to_owned())))
            .collect(),
    }
}

fn to_queue(events: &[&str], filter: &[(&str, &str)]) -> RequestedRule {
    rule(TargetKind::Queue, QUEUE, events, filter)
}

fn check(rules: Vec<RequestedRule>) -> Result<Configuration, Fault> {
    Configuration::check(rules, false, "us-east-1", || "new".to_owned())
}

fn elements(fault: &Fault) -> Vec<(&str, &str)> {
    fault.elements.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

#[test]
fn faults_of_a_rule_have_the_texts_of_s3() {
    let created = ["s3:ObjectCreated:*"];
    let arn = "The ARN could not be parsed";
    let region =
        "The notification destination service region is not valid for the bucket location constraint";
    let fifo = "arn:aws:sqs:us-east-1:000000000000:orders.fifo";
    let (long, long_arn) = ("x".repeat(1_025), format!("{TOPIC}{}", "x".repeat(2_048)));
    for (rule, message, argument) in [
        (rule(TargetKind::Queue, "orders", &created, &[]), arn, Some(("Queue", "orders"))),
        (rule(TargetKind::Queue, TOPIC, &created, &[]), arn, Some(("Queue", TOPIC))),
        (
            rule(TargetKind::Queue, "arn:aws:sqs:us-east-1::q", &created, &[]),
            arn,
            Some(("Queue", "arn:aws:sqs:us-east-1::q")),
        ),
        (rule(TargetKind::Topic, "", &created, &[]), arn, Some(("Topic", ""))),
        (rule(TargetKind::Topic, &long_arn, &created, &[]), arn, Some(("Topic", &*long_arn))),
        (
            RequestedRule { id: Some("x".repeat(256)), ..to_queue(&created, &[]) },
            "The ID of a notification configuration can have at most 255 bytes.",
            None,
        ),
        (rule(TargetKind::Function, QUEUE, &created, &[]), arn, Some(("CloudFunction", QUEUE))),
        (
            to_queue(&created, &[("Colour", "x")]),
            "filter rule name must be either prefix or suffix",
            Some(("FilterRule.Name", "Colour")),
        ),
        (
            to_queue(&created, &[("prefix", "a"), ("Prefix", "b")]),
            "Cannot specify more than one prefix rule in a filter.",
            Some(("FilterRule.Name", "Prefix")),
        ),
        (
            to_queue(&created, &[("suffix", &long)]),
            "Size of filter rule value cannot exceed 1024 bytes in UTF-8 representation",
            Some(("FilterRule.Value", &long)),
        ),
        (
            to_queue(&["s3:ObjectBaked:*"], &[]),
            "The event is not supported for notifications",
            Some(("Event", "s3:ObjectBaked:*")),
        ),
        (rule(TargetKind::Queue, fifo, &created, &[]), "FIFO SQS queues are not supported.", None),
        (rule(TargetKind::Queue, "arn:aws:sqs:eu-west-1:000000000000:orders", &created, &[]), region, None),
    ] {
        let fault = check(vec![rule.clone()]).unwrap_err();
        assert_eq!((&fault.code, fault.message), (&S3ErrorCode::InvalidArgument, message), "{rule:?}");
        let expected = argument.map(|(name, value)| vec![("ArgumentName", name), ("ArgumentValue", value)]);
        assert_eq!(elements(&fault), expected.unwrap_or_default(), "{rule:?}");
    }
}

#[test]
fn rule_without_events_or_with_half_a_filter_is_malformed() {
    let mut no_name = to_queue(&["s3:ObjectCreated:*"], &[]);
    no_name.filter = vec![(None, Some("x".to_owned()))];
    let mut no_value = to_queue(&["s3:ObjectCreated:*"], &[]);
    no_value.filter = vec![(Some("prefix".to_owned()), None)];
    let bad_arn = rule(TargetKind::Queue, "x", &["s3:ObjectCreated:*"], &[]);
    let too_many = to_queue(&["s3:ObjectCreated:*"; 32], &[]);
    for rule in [no_name, no_value, to_queue(&[], &[]), too_many] {
        let fault = check(vec![bad_arn.clone(), rule]).unwrap_err();
        assert_eq!((fault.code, fault.elements.len()), (S3ErrorCode::MalformedXML, 0));
    }
}

#[test]
fn bucket_has_at_most_a_hundred_rules() {
    let rules = |count: usize| {
        let prefixes: Vec<_> = (0..count).map(|number| format!("{number:03}")).collect();
        check(
            prefixes.iter().map(|prefix| to_queue(&["s3:ObjectCreated:*"], &[("prefix", prefix)])).collect(),
        )
    };
    assert_eq!(rules(100).unwrap().rules.len(), 100);
    let message = "A bucket can have at most 100 notification configurations.";
    assert_eq!(rules(101).unwrap_err().message, message);
}

#[test]
fn two_rules_must_not_have_the_same_id() {
    let rule = |id: Option<&str>, prefix| RequestedRule {
        id: id.map(str::to_owned),
        ..to_queue(&["s3:ObjectCreated:*"], &[("prefix", prefix)])
    };
    let fault = check(vec![rule(Some("a"), "1"), rule(Some("b"), "2"), rule(Some("a"), "3")]).unwrap_err();
    let text = "Same ID used for multiple configurations. IDs must be unique";
    assert_eq!((fault.code, fault.message), (S3ErrorCode::InvalidArgument, text));
    assert_eq!(
        check(vec![rule(Some("a"), "1"), rule(Some("A"), "2"), rule(None, "3")]).unwrap().rules.len(),
        3
    );
}

#[test]
fn first_faulty_arn_is_reported_before_other_faults() {
    let rules = vec![
        to_queue(&["s3:ObjectBaked:*"], &[("Colour", "x")]),
        rule(TargetKind::Queue, "first", &["s3:ObjectCreated:*"], &[]),
        rule(TargetKind::Queue, "second", &["s3:ObjectCreated:*"], &[]),
    ];
    let fault = check(rules).unwrap_err();
    assert_eq!(elements(&fault), [("ArgumentName", "Queue"), ("ArgumentValue", "first")]);
}

#[test]
fn rules_for_a_common_event_must_not_share_keys() {
    let put = "s3:ObjectCreated:Put";
    for (one, other, is_ambiguous) in [
        ((put, "", ""), (put, "", ""), true),
        ((put, "", ""), ("s3:ObjectCreated:*", "a", "b"), true),
        ((put, "a/", ".jpg"), (put, "a/b/", ".jpg"), true),
        ((put, "a/", ".jpg"), (put, "a/", "x.jpg"), true),
        ((put, "a/", ""), (put, "", ".jpg"), true),
        ((put, "a/", ".jpg"), (put, "a/", ".png"), false),
        ((put, "a/", ".jpg"), (put, "b/", ".jpg"), false),
        ((put, "", ""), ("s3:ObjectCreated:Copy", "", ""), false),
        ((put, "", ""), ("s3:ObjectRemoved:*", "", ""), false),
        (("s3:ObjectCreated:*", "", ""), ("s3:ObjectCreated:*", "", ""), true),
    ] {
        let [first, second] = [one, other]
            .map(|(event, prefix, suffix)| to_queue(&[event], &[("prefix", prefix), ("suffix", suffix)]));
        let to_topic = RequestedRule { kind: TargetKind::Topic, arn: TOPIC.to_owned(), ..second.clone() };
        for second in [second, to_topic] {
            let result = check(vec![first.clone(), second]).map_err(|fault| fault.message);
            assert_eq!(result.err(), is_ambiguous.then_some(OVERLAP), "{one:?} {other:?}");
        }
    }
}

#[test]
fn all_unusable_targets_are_reported_with_numbers() {
    let topic = rule(TargetKind::Topic, TOPIC, &["s3:ObjectRemoved:*"], &[]);
    let configuration = check(vec![to_queue(&["s3:ObjectCreated:*"], &[]), topic]).unwrap();
    assert_eq!(configuration.check_targets(|_| None), Ok(()));
    let fault = configuration.check_targets(|_| Some(UnusableTarget::Missing)).unwrap_err();
    assert_eq!(fault.message, "Unable to validate the following destination configurations");
    let expected = [
        ("ArgumentName1", QUEUE),
        ("ArgumentValue1", "The destination queue does not exist"),
        ("ArgumentName2", TOPIC),
        ("ArgumentValue2", "The destination topic does not exist"),
    ];
    assert_eq!(elements(&fault), expected);
    let denied = |target: &Target| (target.kind == TargetKind::Queue).then_some(UnusableTarget::Denied);
    let fault = configuration.check_targets(denied).unwrap_err();
    let text =
        "Permissions on the destination queue do not allow S3 to publish notifications from this bucket";
    assert_eq!(elements(&fault), [("ArgumentName1", QUEUE), ("ArgumentValue1", text)]);
}

#[test]
fn missing_ids_are_generated_and_empty_filter_values_kept() {
    let named =
        RequestedRule { id: Some("mine".to_owned()), ..to_queue(&["s3:ObjectRemoved:*"], &[("SUFFIX", "")]) };
    let rules = check(vec![to_queue(&["s3:ObjectCreated:*"], &[("pReFiX", "a/")]), named]).unwrap().rules;
    let filters = [
        KeyFilter { prefix: Some("a/".to_owned()), suffix: None },
        KeyFilter { prefix: None, suffix: Some(String::new()) },
    ];
    let found: Vec<_> = rules.iter().map(|rule| (rule.id.as_str(), &rule.filter)).collect();
    assert_eq!(found, [("new", &filters[0]), ("mine", &filters[1])]);
    assert_eq!(check(Vec::new()), Ok(Configuration::default()));
}

#[test]
fn rules_select_events_by_name_and_keys_by_prefix_and_suffix() {
    let (put, completed) = (PUT, COMPLETE);
    for (event, prefix, suffix, change, key, expected) in [
        ("s3:ObjectCreated:*", "", "", put, "a", true),
        ("s3:ObjectCreated:*", "", "", completed, "a", true),
        ("s3:ObjectCreated:*", "", "", DELETE, "a", false),
        ("s3:ObjectCreated:Put", "", "", put, "a", true),
        ("s3:ObjectCreated:Put", "", "", completed, "a", false),
        ("s3:ObjectCreated:Put", "", "", POST, "a", false),
        ("s3:ObjectCreated:Post", "", "", POST, "a", true),
        ("s3:ObjectRemoved:Delete", "", "", DELETE, "a", true),
        ("s3:ObjectRemoved:*", "", "", DELETE, "a", true),
        ("s3:ObjectAcl:Put", "", "", put, "a", false),
        ("s3:ObjectCreated:*", "images/", ".jpg", put, "images/a.jpg", true),
        ("s3:ObjectCreated:*", "images/", ".jpg", put, "images/a.JPG", false),
        ("s3:ObjectCreated:*", "images/", ".jpg", put, "other/a.jpg", false),
        ("s3:ObjectCreated:*", "*", "", put, "a", false),
        ("s3:ObjectCreated:*", "*", "?", put, "*a?", true),
    ] {
        let rule = to_queue(&[event], &[("prefix", prefix), ("suffix", suffix)]);
        let configuration = check(vec![rule]).unwrap();
        assert_eq!(configuration.rule_for(change, key).is_some(), expected, "{event} {prefix} {key}");
    }
}

#[test]
fn test_message_has_no_records() {
    let time = Timestamp::from_millis(1_413_215_822_089);
    let expected = r#"{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2014-10-13T15:57:02.089Z","#
        .to_owned()
        + r#""Bucket":"photos","RequestId":"5582815E1AEA5ADF","HostId":"8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR="}"#;
    let host = "8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR=";
    assert_eq!(test_message(time, "photos", "5582815E1AEA5ADF", host), expected);
}

fn deleted() -> Change<'static> {
    Change { name: DELETE, object: Changed::Deleted }
}

fn event<'a>(change: Change<'a>, key: &'a str) -> Event<'a> {
    Event {
        change,
        time: Timestamp::from_millis(0),
        region: "us-east-1",
        request_id: "C3D13FE58DE4C810",
        host_id: "FMyUVURIY8",
        configuration_id: "rule",
        bucket: "photos",
        key,
        sequence: 0x55AE_D6DC_D902_81E5,
    }
}

#[test]
fn event_has_the_members_of_recorded_events_in_their_order() {
    let put = Change {
        name: PUT,
        object: Changed::Stored { size: 1024, etag: "d41d8cd98f00b204e9800998ecf8427e" },
    };
    let expected = [
        r#"{"Records":[{"eventVersion":"2.6","eventSource":"aws:s3","awsRegion":"us-east-1","#,
        r#""eventTime":"1970-01-01T00:00:00.000Z","eventName":"ObjectCreated:Put","#,
        r#""userIdentity":{"principalId":"AWS:AIDAJDPLRKLG7UEXAMPLE"},"#,
        r#""requestParameters":{"sourceIPAddress":"127.0.0.1"},"#,
        r#""responseElements":{"x-amz-request-id":"C3D13FE58DE4C810","x-amz-id-2":"FMyUVURIY8"},"#,
        r#""s3":{"s3SchemaVersion":"1.0","configurationId":"rule","#,
        r#""bucket":{"name":"photos","ownerIdentity":{"principalId":"A3NL1KOZZKExample"},"arn":"arn:aws:s3:::photos"},"#,
        r#""object":{"key":"a/b","size":1024,"eTag":"d41d8cd98f00b204e9800998ecf8427e","#,
        r#""sequencer":"0055AED6DCD90281E5"}}}]}"#,
    ];
    assert_eq!(event(put, "a/b").json(), expected.concat());
}

#[test]
fn event_of_a_deleted_object_has_neither_size_nor_tag() {
    let json = event(deleted(), "a").json();
    assert!(json.ends_with(r#""object":{"key":"a","sequencer":"0055AED6DCD90281E5"}}}]}"#), "{json}");
    assert!(json.contains(r#""eventName":"ObjectRemoved:Delete""#), "{json}");
}

#[test]
fn keys_are_encoded_as_in_forms_except_slashes() {
    for (key, encoded) in [
        ("a@b", "a%40b"),
        ("a b", "a+b"),
        ("a/b c/ü", "a/b+c/%C3%BC"),
        ("a+b", "a%2Bb"),
        ("a.b-c_d*", "a.b-c_d*"),
    ] {
        let json = event(deleted(), key).json();
        assert!(json.contains(&format!(r#""key":"{encoded}""#)), "{json}");
    }
}
