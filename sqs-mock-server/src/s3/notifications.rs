//! Notifications about changes of a bucket, without the server: which are configured, which match, and their JSON.
//!
//! ```text
//! PUT ?notification -> RequestedRule -> Configuration::check -> the targets exist -> Configuration, test message to each target
//! a change of an object -> Configuration::rule_for(event, key) -> Event::json -> a message to the target of the rule
//! ```
//! Source: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventNotifications.html>

use std::collections::BTreeSet;
use std::fmt;

use s3s::S3ErrorCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::control::clock::Timestamp;
use crate::s3::outbox::bucket_arn;

/// The text of the error `MalformedXML`.
pub(crate) const MALFORMED_XML: &str =
    "The XML you provided was not well-formed or did not validate against our published schema";

/// An error of a notification configuration, with the elements that name the faulty part.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Fault {
    pub(crate) code: S3ErrorCode,
    pub(crate) message: &'static str,
    /// Names and contents of further elements of the error, such as `ArgumentName`.
    pub(crate) elements: Vec<(String, String)>,
}

impl Fault {
    fn plain(message: &'static str) -> Self {
        Self { code: S3ErrorCode::InvalidArgument, message, elements: Vec::new() }
    }

    fn argument(message: &'static str, name: &str, value: &str) -> Self {
        let elements = [("ArgumentName", name), ("ArgumentValue", value)];
        let elements = elements.map(|(element, text)| (element.to_owned(), text.to_owned())).into();
        Self { elements, ..Self::plain(message) }
    }
}

/// The message, and the contents of the further elements in parentheses.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)?;
        let contents: Vec<_> = self.elements.iter().map(|(_, text)| text.as_str()).collect();
        if contents.is_empty() { Ok(()) } else { write!(f, " ({})", contents.join(", ")) }
    }
}

/// The documented maximum number of rules. The text of its error is not recorded.
const MAX_RULES: usize = 100;

/// A valid configuration.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Configuration {
    pub(crate) rules: Vec<Rule>,
    /// Whether the bucket also sends its events to `EventBridge`.
    pub(crate) event_bridge: bool,
}

/// Why S3 cannot send notifications to a target.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum UnusableTarget {
    /// It does not exist.
    Missing,
    /// Its policy does not allow S3 to send notifications of the bucket.
    Denied,
}

impl Configuration {
    /// Checks rules in the order of their document, except for their targets. `new_id` creates the ids of rules without
    /// one.
    ///
    /// # Errors
    /// The first fault.
    pub(crate) fn check(
        rules: Vec<RequestedRule>,
        event_bridge: bool,
        region: &str,
        mut new_id: impl FnMut() -> String,
    ) -> Result<Self, Fault> {
        if !rules.iter().all(RequestedRule::is_well_formed) {
            return Err(Fault { code: S3ErrorCode::MalformedXML, ..Fault::plain(MALFORMED_XML) });
        }
        if rules.len() > MAX_RULES {
            return Err(Fault::plain("A bucket can have at most 100 notification configurations."));
        }
        for rule in &rules {
            rule.kind.parse_arn(&rule.arn)?;
        }
        let mut ids = BTreeSet::new();
        if !rules.iter().filter_map(|rule| rule.id.clone()).all(|id| ids.insert(id)) {
            // The text is not recorded.
            return Err(Fault::plain("Same ID used for multiple configurations. IDs must be unique"));
        }
        let rules = rules.into_iter().map(|rule| rule.checked(region, &mut new_id));
        let rules = rules.collect::<Result<Vec<_>, _>>()?;
        let overlaps = |(at, rule): (usize, &Rule)| rules.iter().skip(at + 1).any(|next| rule.overlaps(next));
        if rules.iter().enumerate().any(overlaps) {
            return Err(Fault::plain(
                "Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the prefixes \
                 are overlapping for the same event type.",
            ));
        }
        Ok(Self { rules, event_bridge })
    }

    /// Checks the targets; `problem` says whether one cannot be used.
    ///
    /// # Errors
    /// One fault for all unusable targets. Its texts about topics and permissions are not recorded.
    pub(crate) fn check_targets(
        &self,
        problem: impl Fn(&Target) -> Option<UnusableTarget>,
    ) -> Result<(), Fault> {
        let unusable = self.rules.iter().filter_map(|Rule { target, .. }| Some((target, problem(target)?)));
        let mut elements = Vec::new();
        for (number, (Target { kind, arn }, problem)) in (1..).zip(unusable) {
            let [_, _, resource, _] = kind.names();
            let text = match problem {
                UnusableTarget::Missing => format!("The destination {resource} does not exist"),
                UnusableTarget::Denied => format!(
                    "Permissions on the destination {resource} do not allow S3 to publish notifications from this bucket"
                ),
            };
            elements.push((format!("ArgumentName{number}"), arn.clone()));
            elements.push((format!("ArgumentValue{number}"), text));
        }
        if elements.is_empty() {
            return Ok(());
        }
        Err(Fault { elements, ..Fault::plain("Unable to validate the following destination configurations") })
    }

    /// The rule that selects an event, by its name in messages, of the object with this key. No two rules do.
    pub(crate) fn rule_for(&self, event: &str, key: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.selects(event, key))
    }
}

/// The names by which rules select events.
pub(crate) const SELECTABLE: [&str; 31] = [
    "s3:ObjectCreated:*",
    "s3:ObjectCreated:Put",
    "s3:ObjectCreated:Post",
    "s3:ObjectCreated:Copy",
    "s3:ObjectCreated:CompleteMultipartUpload",
    "s3:ObjectRemoved:*",
    "s3:ObjectRemoved:Delete",
    "s3:ObjectRemoved:DeleteMarkerCreated",
    "s3:ObjectTagging:*",
    "s3:ObjectTagging:Put",
    "s3:ObjectTagging:Delete",
    "s3:ObjectAcl:Put",
    "s3:ObjectRestore:*",
    "s3:ObjectRestore:Post",
    "s3:ObjectRestore:Completed",
    "s3:ObjectRestore:Delete",
    "s3:Replication:*",
    "s3:Replication:OperationFailedReplication",
    "s3:Replication:OperationNotTracked",
    "s3:Replication:OperationMissedThreshold",
    "s3:Replication:OperationReplicatedAfterThreshold",
    "s3:LifecycleExpiration:*",
    "s3:LifecycleExpiration:Delete",
    "s3:LifecycleExpiration:DeleteMarkerCreated",
    "s3:LifecycleTransition",
    "s3:IntelligentTiering",
    "s3:ReducedRedundancyLostObject",
    "s3:ObjectAnnotation:*",
    "s3:ObjectAnnotation:Put",
    "s3:ObjectAnnotation:Delete",
    "s3:ObjectRetention:Put",
];

/// A change of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    /// The name of its event in messages: one of those below.
    pub(crate) name: &'static str,
    pub(crate) object: Changed<'a>,
}

/// The object of an event, after the change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Changed<'a> {
    /// Size in bytes, and `ETag` without quotes.
    Stored {
        size: u64,
        etag: &'a str,
    },
    /// Only its tags are new.
    Tags {
        etag: &'a str,
    },
    Deleted,
}

/// The names of the events that this server causes.
pub(crate) const PUT: &str = "ObjectCreated:Put";

/// By a form of a web page.
pub(crate) const POST: &str = "ObjectCreated:Post";

pub(crate) const COPY: &str = "ObjectCreated:Copy";

pub(crate) const COMPLETE: &str = "ObjectCreated:CompleteMultipartUpload";

pub(crate) const DELETE: &str = "ObjectRemoved:Delete";

pub(crate) const TAGGING_PUT: &str = "ObjectTagging:Put";

pub(crate) const TAGGING_DELETE: &str = "ObjectTagging:Delete";

/// The version of the structure of events.
const EVENT_VERSION: &str = "2.6";

/// That of events about tags:
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html>.
const TAGGING_VERSION: &str = "2.3";

/// The user in events, since the server does not know users. Both ids are those of the examples of AWS.
const PRINCIPAL_ID: &str = "AWS:AIDAJDPLRKLG7UEXAMPLE";

/// The owner of all buckets and objects.
pub(crate) const OWNER_ID: &str = "A3NL1KOZZKExample";

/// The address of callers in events: the server is local.
const SOURCE_IP: &str = "127.0.0.1";

/// A change of an object, as its target learns of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event<'a> {
    pub(crate) change: Change<'a>,
    /// The end of the operation.
    pub(crate) time: Timestamp,
    pub(crate) region: &'a str,
    /// The header `x-amz-request-id` of the response.
    pub(crate) request_id: &'a str,
    /// The header `x-amz-id-2` of the response.
    pub(crate) host_id: &'a str,
    /// The id of the rule.
    pub(crate) configuration_id: &'a str,
    pub(crate) bucket: &'a str,
    pub(crate) key: &'a str,
    /// Grows with each change of a key.
    pub(crate) sequence: u64,
}

/// Whether the name `narrow` is `wide`, or matches its wildcard.
pub(crate) fn covers(wide: &str, narrow: &str) -> bool {
    wide == narrow || wide.strip_suffix('*').is_some_and(|start| narrow.starts_with(start))
}

/// The message that a target gets when it is configured.
pub(crate) fn test_message(time: Timestamp, bucket: &str, request_id: &str, host_id: &str) -> String {
    object([
        ("Service", text("Amazon S3")),
        ("Event", text("s3:TestEvent")),
        ("Time", text(time.to_string())),
        ("Bucket", text(bucket)),
        ("RequestId", text(request_id)),
        ("HostId", text(host_id)),
    ])
}

impl Event<'_> {
    /// The message about this event, with the members in the order of recorded events.
    pub(crate) fn json(&self) -> String {
        let identity = |id: &str| object([("principalId", text(id))]);
        let bucket = object([
            ("name", text(self.bucket)),
            ("ownerIdentity", identity(OWNER_ID)),
            ("arn", text(bucket_arn(self.region, self.bucket))),
        ]);
        let (key, sequencer) = (text(encode_key(self.key)), text(format!("{:018X}", self.sequence)));
        let (version, changed) = match self.change.object {
            Changed::Stored { size, etag } => {
                let etag = ("eTag", text(etag));
                (
                    EVENT_VERSION,
                    object([("key", key), ("size", size.to_string()), etag, ("sequencer", sequencer)]),
                )
            }
            Changed::Tags { etag } => (TAGGING_VERSION, object([("key", key), ("eTag", text(etag))])),
            Changed::Deleted => (EVENT_VERSION, object([("key", key), ("sequencer", sequencer)])),
        };
        let record = object([
            ("eventVersion", text(version)),
            ("eventSource", text("aws:s3")),
            ("awsRegion", text(self.region)),
            ("eventTime", text(self.time.to_string())),
            ("eventName", text(self.change.name)),
            ("userIdentity", identity(PRINCIPAL_ID)),
            ("requestParameters", object([("sourceIPAddress", text(SOURCE_IP))])),
            (
                "responseElements",
                object([("x-amz-request-id", text(self.request_id)), ("x-amz-id-2", text(self.host_id))]),
            ),
            (
                "s3",
                object([
                    ("s3SchemaVersion", text("1.0")),
                    ("configurationId", text(self.configuration_id)),
                    ("bucket", bucket),
                    ("object", changed),
                ]),
            ),
        ]);
        object([("Records", format!("[{record}]"))])
    }
}

/// A key as in a form, except that slashes stay.
fn encode_key(key: &str) -> String {
    let parts =
        key.split('/').map(|part| form_urlencoded::byte_serialize(part.as_bytes()).collect::<String>());
    parts.collect::<Vec<_>>().join("/")
}

/// A JSON object of members whose values are JSON. Maps of `serde_json` sort their members.
fn object<const N: usize>(members: [(&str, String); N]) -> String {
    format!("{{{}}}", members.map(|(name, value)| format!("{}:{value}", text(name))).join(","))
}

/// A JSON string.
fn text(text: impl Into<String>) -> String {
    Value::String(text.into()).to_string()
}

/// The maximum length of an id in bytes. Each event has the id of its rule. The text of the error is not recorded.
const MAX_ID: usize = 255;

/// The maximum length of an ARN in bytes, which is the longest that AWS documents for any resource.
const MAX_ARN: usize = 2048;

/// The maximum length of a prefix or suffix in bytes, which is that of a key.
const MAX_VALUE: usize = 1024;

/// A rule as a request sends it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RequestedRule {
    pub(crate) id: Option<String>,
    pub(crate) kind: TargetKind,
    pub(crate) arn: String,
    pub(crate) events: Vec<String>,
    /// Names and values of the filter rules.
    pub(crate) filter: Vec<(Option<String>, Option<String>)>,
}

/// A valid rule.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) target: Target,
    /// Such as `s3:ObjectCreated:*`.
    pub(crate) events: Vec<String>,
    pub(crate) filter: KeyFilter,
}

/// A target of notifications.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) struct Target {
    pub(crate) kind: TargetKind,
    pub(crate) arn: String,
}

/// The kind of a target.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) enum TargetKind {
    Queue,
    Topic,
    Function,
}

/// The keys of a rule. An empty text differs from an absent one only in the configuration that is returned.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct KeyFilter {
    pub(crate) prefix: Option<String>,
    pub(crate) suffix: Option<String>,
}

impl RequestedRule {
    pub(crate) fn is_well_formed(&self) -> bool {
        let is_complete = |(name, value): &(Option<_>, Option<_>)| name.is_some() && value.is_some();
        (1..=SELECTABLE.len()).contains(&self.events.len()) && self.filter.iter().all(is_complete)
    }

    pub(crate) fn checked(self, region: &str, new_id: impl FnOnce() -> String) -> Result<Rule, Fault> {
        if self.id.as_ref().is_some_and(|id| id.len() > MAX_ID) {
            return Err(Fault::plain("The ID of a notification configuration can have at most 255 bytes."));
        }
        let filter = KeyFilter::of(self.filter)?;
        let unknown = self.events.iter().find(|event| !SELECTABLE.contains(&event.as_str()));
        if let Some(event) = unknown {
            return Err(Fault::argument("The event is not supported for notifications", "Event", event));
        }
        if self.arn.ends_with(".fifo") {
            let [.., no_fifo] = self.kind.names();
            return Err(Fault::plain(no_fifo));
        }
        if self.kind.parse_arn(&self.arn)? != region {
            let text =
                "The notification destination service region is not valid for the bucket location constraint";
            return Err(Fault::plain(text));
        }
        let target = Target { kind: self.kind, arn: self.arn };
        Ok(Rule { id: self.id.unwrap_or_else(new_id), target, events: self.events, filter })
    }
}

impl Rule {
    /// Whether the rule selects an event, by its name in messages, of the object with this key.
    pub(crate) fn selects(&self, event: &str, key: &str) -> bool {
        let (prefix, suffix) = self.filter.sides();
        let mut selectors = self.events.iter().filter_map(|selector| selector.strip_prefix("s3:"));
        // Prefix and suffix may share characters of the key.
        key.starts_with(prefix) && key.ends_with(suffix) && selectors.any(|selector| covers(selector, event))
    }

    /// Whether both rules can select the same event of the same key, whatever their targets.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let ((prefix, suffix), (other_prefix, other_suffix)) = (self.filter.sides(), other.filter.sides());
        let is_common =
            |one: &String| other.events.iter().any(|other| covers(one, other) || covers(other, one));
        (prefix.starts_with(other_prefix) || other_prefix.starts_with(prefix))
            && (suffix.ends_with(other_suffix) || other_suffix.ends_with(suffix))
            && self.events.iter().any(is_common)
    }
}

impl TargetKind {
    /// The element of the ARN in requests, the service, the kind of resource in texts, and the text about FIFO
    /// resources, of which that about topics is inferred.
    pub(crate) fn names(self) -> [&'static str; 4] {
        match self {
            Self::Queue => ["Queue", "sqs", "queue", "FIFO SQS queues are not supported."],
            Self::Topic => ["Topic", "sns", "topic", "FIFO SNS topics are not supported."],
            Self::Function => ["CloudFunction", "lambda", "function", "FIFO SQS queues are not supported."],
        }
    }

    /// The region of a target, from its ARN.
    pub(crate) fn parse_arn(self, arn: &str) -> Result<&str, Fault> {
        let [element, service, ..] = self.names();
        let mut parts = arn.splitn(6, ':');
        match [(); 6].map(|()| parts.next().unwrap_or_default()) {
            ["arn", partition, found, region, account, name]
                if arn.len() <= MAX_ARN
                    && found == service
                    && ![partition, region, account, name].contains(&"") =>
            {
                Ok(region)
            }
            _ => Err(Fault::argument("The ARN could not be parsed", element, arn)),
        }
    }
}

impl KeyFilter {
    /// The filter of complete filter rules, whose names have any case.
    fn of(rules: Vec<(Option<String>, Option<String>)>) -> Result<Self, Fault> {
        let mut filter = Self::default();
        for (name, value) in rules {
            let name = name.unwrap_or_default();
            let (side, repeated) = match name.to_ascii_lowercase().as_str() {
                "prefix" => (&mut filter.prefix, "Cannot specify more than one prefix rule in a filter."),
                "suffix" => (&mut filter.suffix, "Cannot specify more than one suffix rule in a filter."),
                _ => {
                    let text = "filter rule name must be either prefix or suffix";
                    return Err(Fault::argument(text, "FilterRule.Name", &name));
                }
            };
            if side.is_some() {
                return Err(Fault::argument(repeated, "FilterRule.Name", &name));
            }
            if let Some(value) = value.as_deref().filter(|value| value.len() > MAX_VALUE) {
                let text = "Size of filter rule value cannot exceed 1024 bytes in UTF-8 representation";
                return Err(Fault::argument(text, "FilterRule.Value", value));
            }
            *side = value;
        }
        Ok(filter)
    }

    fn sides(&self) -> (&str, &str) {
        (self.prefix.as_deref().unwrap_or_default(), self.suffix.as_deref().unwrap_or_default())
    }
}

#[cfg(test)]
#[path = "notifications_tests.rs"]
mod tests;
