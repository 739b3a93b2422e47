//! A topic of a config file.

use std::collections::BTreeMap;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use strum::VariantArray as _;

use crate::config::file::Problem;
use crate::config::problems_of_home;
use crate::config::units::ByteSize;
use crate::control::arn::{QueueArn, TopicArn, is_fifo_name};
use crate::query::QueryError;
use crate::sns::engine;
use crate::sns::engine::settings::{MAX_DISPLAY_NAME, MAXIMUM_MESSAGE_SIZES, read_tags};
use crate::sns::engine::subscription::{Endpoint, Protocol};
use crate::sns::engine::topic::Topic;

/// An initial topic. Sizes have units; all other values are as in `CreateTopic`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TopicDefinition {
    pub(crate) name: String,
    /// The default is the server's.
    pub(crate) region: Option<String>,
    /// The default is the server's.
    pub(crate) account: Option<String>,
    display_name: Option<String>,
    policy: Option<String>,
    delivery_policy: Option<String>,
    archive_policy: Option<String>,
    signature_version: Option<u64>,
    tracing_config: Option<String>,
    kms_master_key_id: Option<String>,
    maximum_message_size: Option<ByteSize>,
    content_based_deduplication: Option<bool>,
    fifo_throughput_scope: Option<String>,
    #[serde(default)]
    pub(crate) tags: BTreeMap<String, String>,
}

const ONLY_FIFO: &str = "only FIFO topics have this attribute; their names end in .fifo";

/// An attribute: its name in the file, its name in requests, and its value there.
type Attribute = (&'static str, &'static str, Option<String>);

impl TopicDefinition {
    /// The attributes for `CreateTopic`.
    pub(crate) fn attributes(&self) -> Vec<(&'static str, String)> {
        let kind = is_fifo_name(&self.name).then(|| ("FifoTopic", "true".to_owned()));
        self.table().into_iter().filter_map(|(_, name, value)| Some((name, value?))).chain(kind).collect()
    }

    fn table(&self) -> [Attribute; 10] {
        let size = self.maximum_message_size.map(|ByteSize(size)| size.to_string());
        let version = self.signature_version.map(|version| version.to_string());
        let deduplication = self.content_based_deduplication.map(|flag| flag.to_string());
        [
            ("display_name", "DisplayName", self.display_name.clone()),
            ("policy", "Policy", self.policy.clone()),
            ("delivery_policy", "DeliveryPolicy", self.delivery_policy.clone()),
            ("archive_policy", "ArchivePolicy", self.archive_policy.clone()),
            ("signature_version", "SignatureVersion", version),
            ("tracing_config", "TracingConfig", self.tracing_config.clone()),
            ("kms_master_key_id", "KmsMasterKeyId", self.kms_master_key_id.clone()),
            ("maximum_message_size", "MaximumMessageSize", size),
            ("content_based_deduplication", "ContentBasedDeduplication", deduplication),
            ("fifo_throughput_scope", "FifoThroughputScope", self.fifo_throughput_scope.clone()),
        ]
    }

    /// The problems of this topic, whose path in the file is `at`.
    pub(crate) fn problems(&self, at: &str) -> Vec<Problem> {
        let path = |key: &str| format!("{at}.{key}");
        let mut found = problems_of_home(at, self.region.as_deref(), self.account.as_deref());
        let fifo = is_fifo_name(&self.name);
        let kind = [("FifoTopic", if fifo { "true" } else { "false" })];
        if engine::created(&self.name, &kind, ("", "")).is_err() {
            let text = format!(
                "{:?} is not a topic name; allowed are 1 to 256 letters, digits, hyphens and underscores, and .fifo \
                 at the end for a FIFO topic",
                self.name
            );
            found.push(Problem::new(path("name"), text));
        }
        let arn = TopicArn::new("", "", &self.name);
        for (key, name, value) in self.table() {
            let Some(value) = value else { continue };
            if let Err(error) = Topic::new(arn.clone(), &[(name, &value)], BTreeMap::new()) {
                let text = explain(name, &value, fifo).unwrap_or_else(|| reason(&error, name));
                found.push(Problem::new(path(key), text));
            }
        }
        let tags: Vec<_> = self.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let tags = read_tags(&tags).err();
        found.extend(tags.map(|error| Problem::new(path("tags"), reason(&error, "Tags"))));
        found
    }
}

/// The allowed values, which the messages of SNS omit.
fn explain(name: &str, value: &str, fifo: bool) -> Option<String> {
    Some(match name {
        "DisplayName" => {
            let length = value.chars().count();
            format!("it has {length} characters; allowed are at most {MAX_DISPLAY_NAME}")
        }
        "MaximumMessageSize" => {
            let (least, most) = MAXIMUM_MESSAGE_SIZES.into_inner();
            format!("{value} bytes is out of range; allowed are {least} to {most} bytes")
        }
        "SignatureVersion" => format!("{value} is not allowed; allowed are 1 and 2"),
        "ContentBasedDeduplication" | "FifoThroughputScope" | "ArchivePolicy" if !fifo => {
            ONLY_FIFO.to_owned()
        }
        "TracingConfig" => format!("{value:?} is not allowed; allowed is `PassThrough` or `Active`"),
        "FifoThroughputScope" => format!("{value:?} is not allowed; allowed is `Topic` or `MessageGroup`"),
        "ArchivePolicy" => "the text is not allowed; allowed is a JSON object".to_owned(),
        _ => return None,
    })
}

/// The text of an error about an attribute without the names of parameters.
pub(crate) fn reason(error: &QueryError, attribute: &str) -> String {
    let (mut text, own) = (error.message.as_str(), format!("{attribute}: "));
    let prefixes = ["Attributes Reason: ", "Tags Reason: ", "Endpoint Reason: ", &own];
    // AWS writes the first prefix twice in one text.
    for prefix in ["Invalid parameter: ", "Invalid parameter: "].into_iter().chain(prefixes) {
        text = text.strip_prefix(prefix).unwrap_or(text);
    }
    text.to_owned()
}

/// An initial subscription.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubscriptionDefinition {
    /// A name or an ARN.
    pub(crate) topic: String,
    /// A name or an ARN. Other endpoints have `protocol` and `endpoint` instead.
    pub(crate) queue: Option<String>,
    protocol: Option<String>,
    endpoint: Option<String>,
    raw: Option<bool>,
    #[serde(default, deserialize_with = "json_text")]
    filter_policy: Option<String>,
    filter_policy_scope: Option<Scope>,
    #[serde(default, deserialize_with = "json_text")]
    delivery_policy: Option<String>,
    /// A name or an ARN.
    pub(crate) dead_letter_queue: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum Scope {
    MessageAttributes,
    MessageBody,
}

/// JSON, given as a text or as a table.
fn json_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(Some(text)),
        table @ Value::Object(_) => Ok(Some(table.to_string())),
        _ => Err(D::Error::invalid_type(Unexpected::Other("another type"), &"a table or a text with JSON")),
    }
}

impl SubscriptionDefinition {
    /// The topic; of a name, in this region and account.
    pub(crate) fn topic_arn(&self, region: &str, account: &str) -> TopicArn {
        arn_of_topic(&self.topic).unwrap_or_else(|| TopicArn::new(region, account, &self.topic))
    }

    /// The endpoint; of the name of a queue, in the region and account of the topic. `None` if it is not valid.
    pub(crate) fn endpoint(&self, topic: &TopicArn) -> Option<Endpoint> {
        match (&self.queue, &self.protocol, &self.endpoint) {
            (Some(queue), ..) => Some(Endpoint::Queue(queue_arn(queue, topic))),
            (None, Some(protocol), Some(endpoint)) => {
                Endpoint::read(Protocol::find(protocol).ok()?, endpoint).ok()
            }
            _ => None,
        }
    }

    /// The attributes for `Subscribe`.
    pub(crate) fn attributes(&self, topic: &TopicArn) -> Vec<(&'static str, String)> {
        self.table(topic).into_iter().filter_map(|(_, name, value)| Some((name, value?))).collect()
    }

    /// All attributes: the name in the file, the name in requests, and the value there.
    fn table(&self, topic: &TopicArn) -> [(&'static str, &'static str, Option<String>); 5] {
        let scope = self.filter_policy_scope.map(|scope| match scope {
            Scope::MessageAttributes => "MessageAttributes".to_owned(),
            Scope::MessageBody => "MessageBody".to_owned(),
        });
        let redrive = self.dead_letter_queue.as_ref();
        let redrive =
            redrive.map(|queue| json!({ "deadLetterTargetArn": queue_arn(queue, topic) }).to_string());
        [
            ("filter_policy_scope", "FilterPolicyScope", scope),
            ("filter_policy", "FilterPolicy", self.filter_policy.clone()),
            ("delivery_policy", "DeliveryPolicy", self.delivery_policy.clone()),
            ("raw", "RawMessageDelivery", self.raw.map(|raw| raw.to_string())),
            ("dead_letter_queue", "RedrivePolicy", redrive),
        ]
    }

    /// The problems of this subscription, whose path in the file is `at`.
    pub(crate) fn problems(&self, at: &str) -> Vec<Problem> {
        let problem = |key: &str, text: String| Problem::new(format!("{at}.{key}"), text);
        let not_named = |kind, text| format!("{text:?} is neither the name nor the ARN of a {kind}");
        let mut found = Vec::new();
        if self.topic.contains(':') && arn_of_topic(&self.topic).is_none() {
            found.push(problem("topic", not_named("topic", &self.topic)));
        }
        for (key, queue) in [("queue", &self.queue), ("dead_letter_queue", &self.dead_letter_queue)] {
            let queue = queue.as_ref().filter(|queue| queue.contains([':', '/']));
            if let Some(queue) = queue.filter(|queue| queue.parse::<QueueArn>().is_err()) {
                found.push(problem(key, not_named("queue", queue)));
            }
        }
        found.extend(self.problem_of_endpoint().map(|(key, text)| match key {
            "" => Problem::new(at, text),
            key => problem(key, text),
        }));
        if found.is_empty() {
            found.extend(self.problems_of_attributes().into_iter().map(|(key, text)| problem(key, text)));
        }
        found
    }

    fn problem_of_endpoint(&self) -> Option<(&'static str, String)> {
        let (protocol, endpoint) = match (&self.queue, &self.protocol, &self.endpoint) {
            (Some(_), None, None) => return None,
            (Some(_), Some(_), _) => return Some(("protocol", "cannot be combined with queue".to_owned())),
            (Some(_), None, Some(_)) => {
                return Some(("endpoint", "cannot be combined with queue".to_owned()));
            }
            (None, Some(protocol), Some(endpoint)) => (protocol, endpoint),
            (None, Some(_), None) => return Some(("protocol", "requires endpoint".to_owned())),
            (None, None, Some(_)) => return Some(("endpoint", "requires protocol".to_owned())),
            (None, None, None) => return Some(("", "requires queue, or protocol and endpoint".to_owned())),
        };
        let Ok(protocol) = Protocol::find(protocol) else {
            let all = Protocol::VARIANTS.iter().map(Protocol::into_str).collect::<Vec<_>>().join(", ");
            return Some(("protocol", format!("{protocol:?} is not allowed; allowed are {all}")));
        };
        let allowed = match protocol {
            Protocol::Sqs => "the ARN of a queue",
            Protocol::Http => "a URL with http",
            Protocol::Https => "a URL with https",
            Protocol::Email | Protocol::EmailJson => "an email address",
            _ => "a text of 1 to 2048 bytes",
        };
        let is_legal = Endpoint::read(protocol, endpoint).is_ok();
        (!is_legal).then(|| ("endpoint", format!("{endpoint:?} is not allowed; allowed is {allowed}")))
    }

    /// Validates one attribute at a time, a filter policy together with its scope.
    fn problems_of_attributes(&self) -> Vec<(&'static str, String)> {
        let arn = self.topic_arn("", "");
        let Some(endpoint) = self.endpoint(&arn) else { return Vec::new() };
        let table = self.table(&arn);
        let Ok(topic) = Topic::new(arn, &[], BTreeMap::new()) else { return Vec::new() };
        if let Err(error) = topic.check_subscription(&endpoint, &[]) {
            let key = if self.queue.is_some() { "queue" } else { "protocol" };
            return vec![(key, reason(&error, ""))];
        }
        let scope = table.iter().find_map(|(_, name, value)| {
            Some((*name, value.as_deref()?)).filter(|(name, _)| *name == "FilterPolicyScope")
        });
        let mut found = Vec::new();
        for (key, name, value) in &table {
            let Some(value) = value else { continue };
            let attributes: Vec<_> = scope.into_iter().chain([(*name, value.as_str())]).collect();
            if let Err(error) = topic.check_subscription(&endpoint, &attributes) {
                found.push((*key, reason(&error, name)));
            }
        }
        found
    }
}

fn arn_of_topic(text: &str) -> Option<TopicArn> {
    TopicArn::of(text).filter(|arn| arn.to_string() == text)
}

/// A queue by its ARN, or by its name in the region and account of a topic.
fn queue_arn(text: &str, topic: &TopicArn) -> QueueArn {
    text.parse().unwrap_or_else(|_| QueueArn::new(&topic.region, &topic.account, text))
}
