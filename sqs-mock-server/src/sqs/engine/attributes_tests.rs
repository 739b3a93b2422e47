use std::sync::Arc;

use sqs_client::types::QueueAttributeName as Name;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::*;
use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::seed::Seed;
use crate::sqs::engine::Settings;
use crate::sqs::engine::change::{Creation, QueueId};
use crate::sqs::engine::queue::Queue;

fn requested(attributes: &[(Name, &str)]) -> Requested {
    attributes.iter().map(|(name, value)| (name.clone(), (*value).to_owned())).collect()
}

fn set(attributes: &Attributes, name: Name, value: &str) -> Result<Attributes, ServiceError> {
    attributes.changed(&requested(&[(name, value)]))
}

fn refusal(result: Result<Attributes, ServiceError>) -> (ErrorCode, String) {
    let error = result.unwrap_err();
    (error.code, error.message.unwrap_or_default())
}

fn render(attributes: &Attributes, names: &[Name]) -> Requested {
    let id = QueueId { arn: Arc::new(QueueArn::new("us-east-1", "000000000000", "a")), incarnation: 0 };
    let at = Timestamp::from_millis(1_700_000_000_999);
    let creation = Creation { at, seed: Seed(1), attributes: attributes.clone(), tags: Tags::default() };
    Queue::new(id, creation, Settings::default(), false).render(at, names)
}

fn shown(attributes: &Attributes, name: &Name) -> Option<String> {
    render(attributes, std::slice::from_ref(name)).remove(name)
}

fn all(attributes: &Attributes) -> Vec<(String, String)> {
    let rendered = render(attributes, &[Name::All]);
    let mut rendered: Vec<_> = rendered.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    rendered.sort();
    rendered
}

#[test]
fn new_standard_queue_has_twelve_attributes() {
    let expected = [
        ("ApproximateNumberOfMessages", "0"),
        ("ApproximateNumberOfMessagesDelayed", "0"),
        ("ApproximateNumberOfMessagesNotVisible", "0"),
        ("CreatedTimestamp", "1700000000"),
        ("DelaySeconds", "0"),
        ("LastModifiedTimestamp", "1700000000"),
        ("MaximumMessageSize", "1048576"),
        ("MessageRetentionPeriod", "345600"),
        ("QueueArn", "arn:aws:sqs:us-east-1:000000000000:a"),
        ("ReceiveMessageWaitTimeSeconds", "0"),
        ("SqsManagedSseEnabled", "true"),
        ("VisibilityTimeout", "30"),
    ];
    assert_eq!(
        all(&Attributes::standard()),
        expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
}

#[test]
fn new_fifo_queue_has_four_more_attributes() {
    let standard = all(&Attributes::standard());
    let mut more = all(&Attributes::fifo());
    more.retain(|attribute| !standard.contains(attribute));
    let expected = [
        ("ContentBasedDeduplication", "false"),
        ("DeduplicationScope", "queue"),
        ("FifoQueue", "true"),
        ("FifoThroughputLimit", "perQueue"),
    ];
    assert_eq!(more, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn attributes_not_requested_or_not_set_are_omitted() {
    assert!(render(&Attributes::standard(), &[]).is_empty());
    assert!(render(&Attributes::standard(), &[Name::Policy, Name::FifoQueue]).is_empty());
}

#[test]
fn unknown_attribute_is_rejected() {
    let (code, text) = refusal(set(&Attributes::standard(), Name::from("Colour"), "red"));
    assert_eq!((code, text.as_str()), (ErrorCode::InvalidAttributeName, "Unknown Attribute Colour."));
}

#[test]
fn numbers_out_of_range_are_rejected() {
    let ranges = [
        (Name::DelaySeconds, 0, 900),
        (Name::MaximumMessageSize, 1_024, 1_048_576),
        (Name::MessageRetentionPeriod, 60, 1_209_600),
        (Name::ReceiveMessageWaitTimeSeconds, 0, 20),
        (Name::VisibilityTimeout, 0, 43_200),
        (Name::KmsDataKeyReusePeriodSeconds, 60, 86_400),
    ];
    let standard = Attributes::standard();
    let with_key = set(&standard, Name::KmsMasterKeyId, "k").unwrap();
    for (name, low, high) in ranges {
        for value in [low, high] {
            let changed = set(&with_key, name.clone(), &value.to_string()).unwrap();
            assert_eq!(shown(&changed, &name), Some(value.to_string()));
        }
        for value in [(low - 1).to_string(), (high + 1).to_string(), String::new(), "ten".to_owned()] {
            let (code, text) = refusal(set(&standard, name.clone(), &value));
            assert_eq!(code, ErrorCode::InvalidAttributeValue, "{name}={value}");
            assert_eq!(text, format!("Invalid value for the parameter {name}."));
        }
    }
}

#[test]
fn read_only_attributes_cannot_be_set() {
    for name in [Name::QueueArn, Name::CreatedTimestamp, Name::ApproximateNumberOfMessages, Name::All] {
        assert_eq!(refusal(set(&Attributes::standard(), name, "1")).0, ErrorCode::InvalidAttributeName);
    }
}

#[test]
fn invalid_value_leaves_all_attributes_unchanged() {
    let changes = requested(&[(Name::DelaySeconds, "5"), (Name::VisibilityTimeout, "-1")]);
    let attributes = Attributes::standard();
    assert!(attributes.changed(&changes).is_err());
    assert_eq!(attributes, Attributes::standard());
}

#[test]
fn create_is_rejected_when_name_and_fifo_attribute_disagree() {
    let fifo = requested(&[(Name::FifoQueue, "true")]);
    assert!(Attributes::create("a.fifo", &fifo).unwrap().is_fifo());
    assert!(!Attributes::create("a", &Requested::new()).unwrap().is_fifo());
    assert_eq!(refusal(Attributes::create("a", &fifo)).0, ErrorCode::InvalidParameterValue);
    assert_eq!(refusal(Attributes::create("a.fifo", &Requested::new())).0, ErrorCode::InvalidParameterValue);
}

#[test]
fn fifo_attributes_are_rejected_on_a_standard_queue() {
    let standard = Attributes::standard();
    for name in [Name::FifoQueue, Name::ContentBasedDeduplication] {
        let (code, text) = refusal(set(&standard, name.clone(), "false"));
        assert_eq!((code, text), (ErrorCode::InvalidAttributeName, format!("Unknown Attribute {name}.")));
    }
    for (name, value) in [(Name::DeduplicationScope, "queue"), (Name::FifoThroughputLimit, "perQueue")] {
        let (code, text) = refusal(set(&standard, name.clone(), value));
        assert_eq!(code, ErrorCode::InvalidAttributeName);
        assert_eq!(text, format!("You can specify the {name} only when FifoQueue is set to true."));
    }
}

#[test]
fn kind_of_a_queue_cannot_be_changed() {
    let fifo = Attributes::fifo();
    assert_eq!(set(&fifo, Name::FifoQueue, "true").unwrap(), fifo);
    let (code, text) = refusal(set(&fifo, Name::FifoQueue, "false"));
    assert_eq!(code, ErrorCode::InvalidAttributeValue);
    assert_eq!(
        text,
        "Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported."
    );
}

#[test]
fn throughput_per_group_requires_deduplication_per_group() {
    let fifo = Attributes::fifo();
    let limit = (Name::FifoThroughputLimit, "perMessageGroupId");
    assert_eq!(refusal(set(&fifo, limit.0.clone(), limit.1)).0, ErrorCode::InvalidAttributeValue);
    let both = requested(&[limit, (Name::DeduplicationScope, "messageGroup")]);
    assert!(fifo.changed(&both).is_ok());
}

#[test]
fn booleans_are_returned_in_lower_case() {
    let changed = set(&Attributes::fifo(), Name::ContentBasedDeduplication, "True").unwrap();
    assert_eq!(shown(&changed, &Name::ContentBasedDeduplication).as_deref(), Some("true"));
    assert!(set(&Attributes::fifo(), Name::ContentBasedDeduplication, "yes").is_err());
}

#[test]
fn kms_key_disables_managed_encryption_permanently() {
    let with_key = set(&Attributes::standard(), Name::KmsMasterKeyId, "alias/aws/sqs").unwrap();
    assert_eq!(shown(&with_key, &Name::SqsManagedSseEnabled).as_deref(), Some("false"));
    let without = set(&with_key, Name::KmsMasterKeyId, "").unwrap();
    assert_eq!(shown(&without, &Name::KmsMasterKeyId), None);
    assert_eq!(shown(&without, &Name::SqsManagedSseEnabled).as_deref(), Some("false"));
}

#[test]
fn kms_and_managed_encryption_together_are_rejected() {
    let both = requested(&[(Name::KmsMasterKeyId, "k"), (Name::SqsManagedSseEnabled, "true")]);
    assert_eq!(refusal(Attributes::standard().changed(&both)).0, ErrorCode::InvalidAttributeName);
}

/// Inferred, not observed on AWS.
#[test]
fn reuse_period_without_a_key_is_ignored() {
    let reuse = |attributes: &Attributes| shown(attributes, &Name::KmsDataKeyReusePeriodSeconds);
    let without = set(&Attributes::standard(), Name::KmsDataKeyReusePeriodSeconds, "600").unwrap();
    assert_eq!(reuse(&without), None);
    assert_eq!(reuse(&set(&without, Name::KmsMasterKeyId, "k").unwrap()), None);
    let both = requested(&[(Name::KmsMasterKeyId, "k"), (Name::KmsDataKeyReusePeriodSeconds, "600")]);
    let with_key = Attributes::standard().changed(&both).unwrap();
    assert_eq!(reuse(&with_key).as_deref(), Some("600"));
    assert_eq!(reuse(&set(&with_key, Name::KmsMasterKeyId, "").unwrap()), None);
    assert!(set(&Attributes::standard(), Name::KmsDataKeyReusePeriodSeconds, "59").is_err());
}

#[test]
fn repeated_create_is_compared_with_current_values() {
    let current = set(&Attributes::standard(), Name::DelaySeconds, "5").unwrap();
    let compare = |attributes: &[(Name, &str)]| {
        let given = requested(attributes);
        current.first_difference(&Attributes::create("a", &given).unwrap(), &given)
    };
    assert_eq!(compare(&[]), None);
    assert_eq!(compare(&[(Name::DelaySeconds, "5"), (Name::VisibilityTimeout, "30")]), None);
    assert_eq!(
        compare(&[(Name::VisibilityTimeout, "31"), (Name::DelaySeconds, "6")]),
        Some(Name::DelaySeconds)
    );
}

#[test]
fn empty_value_removes_a_policy() {
    for (name, value) in [(Name::Policy, r#"{"Statement":[]}"#), (Name::RedriveAllowPolicy, ALLOW)] {
        let with = set(&Attributes::standard(), name.clone(), value).unwrap();
        assert!(shown(&with, &name).is_some());
        assert_eq!(shown(&set(&with, name.clone(), "").unwrap(), &name), None);
    }
}

const ALLOW: &str = r#"{"redrivePermission":"allowAll"}"#;

#[test]
fn kms_key_id_over_2048_bytes_is_rejected() {
    let standard = Attributes::standard();
    assert!(set(&standard, Name::KmsMasterKeyId, &"k".repeat(2048)).is_ok());
    assert!(set(&standard, Name::KmsMasterKeyId, &"k".repeat(2049)).is_err());
}
