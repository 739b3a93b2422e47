//! A queue of a config file.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use sqs_client::types::QueueAttributeName as Name;
use sqs_client::wire::limits;
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate;
use toml::de::DeValue;

use super::section::Section;
use super::spot::Spotted;
use super::value::{self, Read};
use crate::service::arn::is_fifo_name;
use crate::sqs::engine::Attributes;
use crate::sqs::engine::Tags;

/// A queue that is to be there from the start.
#[derive(Clone, Debug)]
pub(crate) struct QueueDefinition {
    pub(crate) name: Spotted<String>,
    /// The server's own when absent.
    pub(crate) region: Option<String>,
    /// The server's own when absent.
    pub(crate) account: Option<String>,
    /// As in `CreateQueue`, without the redrive policy.
    pub(crate) attributes: HashMap<Name, String>,
    pub(crate) tags: HashMap<String, String>,
    pub(crate) dead_letters: Option<DeadLetters>,
}

/// Where the dead letters of a queue go.
#[derive(Clone, Debug)]
pub(crate) struct DeadLetters {
    /// Name of a queue in the same account and region.
    pub(crate) queue: Spotted<String>,
    pub(crate) max_receive_count: i64,
}

/// How the text of an attribute is made from a value.
type Convert = fn(&DeValue<'_>) -> Read<String>;

/// Every attribute that can be set, by its name in the file. Those that need another one come after it.
const ATTRIBUTES: [(&str, Name, Convert); 13] = [
    ("visibility_timeout", Name::VisibilityTimeout, |v| seconds(v, &limits::VISIBILITY_TIMEOUT_SECONDS)),
    ("delay", Name::DelaySeconds, |v| seconds(v, &limits::DELAY_SECONDS)),
    ("message_retention_period", Name::MessageRetentionPeriod, |v| seconds(v, &limits::RETENTION_SECONDS)),
    ("receive_message_wait_time", Name::ReceiveMessageWaitTimeSeconds, |v| {
        seconds(v, &limits::WAIT_TIME_SECONDS)
    }),
    ("maximum_message_size", Name::MaximumMessageSize, message_size),
    ("policy", Name::Policy, value::text),
    ("redrive_allow_policy", Name::RedriveAllowPolicy, value::text),
    ("sqs_managed_sse_enabled", Name::SqsManagedSseEnabled, flag),
    ("kms_master_key_id", Name::KmsMasterKeyId, value::text),
    ("kms_data_key_reuse_period", Name::KmsDataKeyReusePeriodSeconds, |v| {
        seconds(v, &limits::KMS_REUSE_SECONDS)
    }),
    ("content_based_deduplication", Name::ContentBasedDeduplication, flag),
    ("deduplication_scope", Name::DeduplicationScope, |v| word(v, &["messageGroup", "queue"])),
    ("fifo_throughput_limit", Name::FifoThroughputLimit, |v| word(v, &["perQueue", "perMessageGroupId"])),
];

const FIFO_ONLY: [Name; 3] =
    [Name::ContentBasedDeduplication, Name::DeduplicationScope, Name::FifoThroughputLimit];

fn seconds(value: &DeValue<'_>, range: &RangeInclusive<i32>) -> Read<String> {
    value::seconds(value, range).map(|seconds| seconds.to_string())
}

fn flag(value: &DeValue<'_>) -> Read<String> {
    value::flag(value).map(|flag| flag.to_string())
}

fn word(value: &DeValue<'_>, words: &[&str]) -> Read<String> {
    value::word(value, words).map(str::to_owned)
}

fn message_size(value: &DeValue<'_>) -> Read<String> {
    let (least, most) = (limits::MAXIMUM_MESSAGE_SIZE.start(), limits::MAXIMUM_MESSAGE_SIZE.end());
    let size = value::size(value)?;
    let legal = i32::try_from(size).is_ok_and(|size| limits::MAXIMUM_MESSAGE_SIZE.contains(&size));
    if legal {
        Ok(size.to_string())
    } else {
        Err(format!("{size} is out of range; allowed are {least} to {most} bytes"))
    }
}

impl QueueDefinition {
    /// Reads one `[[queues]]`, and notes whatever is wrong; `None` when there is not even a name.
    pub(super) fn read(mut section: Section<'_, '_>) -> Option<Self> {
        let name = section.required("name", |value| {
            let name = value::text(value)?;
            validate::queue::name(&name).map_err(|error| format!("{name:?} is no name: {}", text(error)))?;
            Ok(name)
        });
        let region = section.get("region", value::region);
        let account = section.get("account", value::account);
        let attributes = read_attributes(&mut section, name.as_ref().map(|name| name.value.as_str()));
        let tags = section.section("tags").map(read_tags).unwrap_or_default();
        let dead_letters = read_dead_letters(&mut section);
        section.finish();
        Some(Self { name: name?, region, account, attributes, tags, dead_letters })
    }
}

fn read_attributes(section: &mut Section<'_, '_>, name: Option<&str>) -> HashMap<Name, String> {
    let fifo = name.is_some_and(is_fifo_name);
    let mut attributes = HashMap::new();
    for (key, attribute, convert) in ATTRIBUTES {
        let Some(value) = section.get(key, convert) else { continue };
        if FIFO_ONLY.contains(&attribute) && !fifo && name.is_some() {
            section.fault_at(key, "only FIFO queues have it, whose names end in .fifo");
        } else {
            attributes.insert(attribute, value);
        }
    }
    check(section, &attributes, fifo);
    if fifo {
        attributes.insert(Name::FifoQueue, "true".to_owned());
    }
    attributes
}

/// Asks the engine about one attribute after the other, together with those before it that are right.
fn check(section: &Section<'_, '_>, attributes: &HashMap<Name, String>, fifo: bool) {
    let start = if fifo { Attributes::fifo() } else { Attributes::standard() };
    let mut right = HashMap::new();
    for (key, name, _) in ATTRIBUTES {
        let Some(value) = attributes.get(&name) else { continue };
        right.insert(name.clone(), value.clone());
        if let Err(refusal) = start.changed(&right) {
            right.remove(&name);
            section.fault_at(key, text(refusal));
        }
    }
}

fn read_tags(section: Section<'_, '_>) -> HashMap<String, String> {
    let whole = section.whole();
    let tags: HashMap<_, _> = section.entries(value::text).into_iter().collect();
    if let Err(refusal) = validate::tags::tags(&tags) {
        whole.fault(text(refusal));
    } else if let Err(refusal) = Tags::new(tags.clone()) {
        whole.fault(text(refusal));
    }
    tags
}

fn read_dead_letters(section: &mut Section<'_, '_>) -> Option<DeadLetters> {
    let queue = section.spotted("dead_letter_queue", value::text);
    let count = section.get("max_receive_count", |value| value::number(value, &limits::MAX_RECEIVE_COUNT));
    match (section.has("dead_letter_queue"), section.has("max_receive_count")) {
        (true, false) => section.fault_at("dead_letter_queue", "it needs max_receive_count as well"),
        (false, true) => section.fault_at("max_receive_count", "it needs dead_letter_queue as well"),
        _ => {}
    }
    Some(DeadLetters { queue: queue?, max_receive_count: count? })
}

fn text(refusal: ServiceError) -> String {
    refusal.message.unwrap_or_else(|| refusal.code.to_string())
}
