//! A topic of a config file.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Problem;
use super::rules::problems_of_home;
use crate::service::arn::{TopicArn, is_fifo_name};
use crate::service::query_error::QueryError;
use crate::sns::engine::arn;
use crate::sns::engine::settings::read_tags;
use crate::sns::engine::topic::Topic;
use crate::sns::engine::{MAX_DISPLAY_NAME, MAXIMUM_MESSAGE_SIZES};
use crate::units::ByteSize;

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
    pub(super) fn problems(&self, at: &str) -> Vec<Problem> {
        let path = |key: &str| format!("{at}.{key}");
        let mut found = problems_of_home(at, self.region.as_deref(), self.account.as_deref());
        let fifo = is_fifo_name(&self.name);
        let kind = [("FifoTopic", if fifo { "true" } else { "false" })];
        if arn::created(&self.name, &kind, ("", "")).is_err() {
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
