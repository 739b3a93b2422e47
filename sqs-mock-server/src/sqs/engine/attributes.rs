//! The attributes of a queue: typed, with defaults. `changed` sets them, `show` formats them.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::time::Duration;

use serde::Deserialize;
use sqs_client::types::{QueueAttributeName, QueueAttributeName as Name};
use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::error::{invalid_parameter, unknown_attribute};
use strum::{EnumString, IntoStaticStr};

use crate::control::arn::is_fifo_name;
use crate::sqs::engine::policy::Policy;
use crate::sqs::engine::redrive::{RedriveAllowPolicy, RedrivePolicy};
use crate::sqs::engine::{invalid_attribute, invalid_attribute_because};

/// Attributes as a request sends them.
pub(crate) type Requested = HashMap<QueueAttributeName, String>;

/// The attributes of a queue that can be set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attributes {
    /// Attributes of FIFO queues; `None` for a standard queue.
    pub fifo: Option<FifoAttributes>,
    /// `DelaySeconds`.
    pub delay: Duration,
    /// `MaximumMessageSize`, in bytes.
    pub maximum_message_size: usize,
    /// `MessageRetentionPeriod`.
    pub retention: Duration,
    /// `ReceiveMessageWaitTimeSeconds`.
    pub receive_wait: Duration,
    /// `VisibilityTimeout`.
    pub visibility_timeout: Duration,
    /// `Policy`.
    pub policy: Option<Policy>,
    /// `RedrivePolicy`.
    pub redrive: Option<RedrivePolicy>,
    /// `RedriveAllowPolicy`; without it, every queue is allowed.
    pub redrive_allow: Option<RedriveAllowPolicy>,
    /// The three attributes of encryption at rest.
    pub encryption: Encryption,
}

/// Attributes that only FIFO queues have.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct FifoAttributes {
    /// `ContentBasedDeduplication`.
    pub content_based_deduplication: bool,
    /// `DeduplicationScope`.
    pub deduplication_scope: DeduplicationScope,
    /// `FifoThroughputLimit`.
    pub throughput_limit: ThroughputLimit,
}

/// The scope in which deduplication ids are unique.
#[derive(Clone, Copy, Debug, Default, Deserialize, EnumString, Eq, IntoStaticStr, PartialEq)]
#[serde(rename_all = "camelCase")]
#[strum(const_into_str, serialize_all = "camelCase")]
pub(crate) enum DeduplicationScope {
    /// The whole queue.
    #[default]
    Queue,
    /// Each message group.
    MessageGroup,
}

/// The scope of a FIFO queue's throughput quota, if it has one.
#[derive(Clone, Copy, Debug, Default, Deserialize, EnumString, Eq, IntoStaticStr, PartialEq)]
#[serde(rename_all = "camelCase")]
#[strum(const_into_str, serialize_all = "camelCase")]
pub(crate) enum ThroughputLimit {
    /// The whole queue.
    #[default]
    PerQueue,
    /// Each message group.
    PerMessageGroupId,
}

impl Attributes {
    /// The attributes of a new standard queue.
    pub(crate) fn standard() -> Self {
        Self {
            fifo: None,
            delay: Duration::ZERO,
            maximum_message_size: limits::MAX_MESSAGE_BYTES,
            retention: Duration::from_hours(4 * 24),
            receive_wait: Duration::ZERO,
            visibility_timeout: Duration::from_secs(30),
            policy: None,
            redrive: None,
            redrive_allow: None,
            encryption: Encryption::default(),
        }
    }

    /// The attributes of a new FIFO queue.
    pub(crate) fn fifo() -> Self {
        Self { fifo: Some(FifoAttributes::default()), ..Self::standard() }
    }

    /// Whether the queue is a FIFO queue.
    pub(crate) fn is_fifo(&self) -> bool {
        self.fifo.is_some()
    }

    /// Whether `source` may use this queue as its dead-letter queue.
    pub(crate) fn allows_source(&self, source: &crate::control::arn::QueueArn) -> bool {
        self.redrive_allow.as_ref().is_none_or(|policy| policy.allows(source))
    }

    /// The attributes of a new queue.
    ///
    /// # Errors
    /// `InvalidParameterValue` if name and `FifoQueue` disagree; otherwise as [`changed`](Self::changed).
    pub(crate) fn create(name: &str, requested: &Requested) -> Result<Self, ServiceError> {
        let fifo = requested.get(&Name::FifoQueue).is_some_and(|value| flag(value) == Some(true));
        let start = match (is_fifo_name(name), fifo) {
            (true, true) => Self::fifo(),
            (false, false) => Self::standard(),
            (true, false) => {
                let text =
                    "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length";
                return Err(invalid_parameter(text));
            }
            (false, true) => {
                let text = "The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, \
                            must end with .fifo suffix and be 1 to 80 in length";
                return Err(invalid_parameter(text));
            }
        };
        start.changed(requested)
    }

    /// The attributes of a queue of an earlier process, from [`to_requested`](Self::to_requested).
    ///
    /// # Errors
    /// As [`create`](Self::create).
    #[cfg(feature = "durable")]
    pub(crate) fn restore(name: &str, mut requested: Requested) -> Result<Self, ServiceError> {
        let policy = requested.remove(&Name::Policy);
        let policy = policy.map(|text| Policy::stored(&text)).transpose()?;
        Ok(Self { policy, ..Self::create(name, &requested)? })
    }

    /// These attributes with the requested changes.
    ///
    /// # Errors
    /// `InvalidAttributeName` for names that are unknown or belong to the other kind of queue, `InvalidAttributeValue`
    /// for invalid values, `InvalidParameterValue` for invalid redrive policies. On error, nothing changes.
    pub(crate) fn changed(&self, requested: &Requested) -> Result<Self, ServiceError> {
        Encryption::check(requested)?;
        let mut changed = self.clone();
        let mut entries: Vec<_> = requested.iter().collect();
        // Sorted, so that a request with several errors always fails with the same one.
        entries.sort_unstable();
        for (name, value) in entries {
            changed.set(name, value)?;
        }
        changed.encryption.forget_reuse_without_key();
        changed.check_throughput()?;
        Ok(changed)
    }

    fn set(&mut self, name: &Name, value: &str) -> Result<(), ServiceError> {
        let set = match name {
            Name::DelaySeconds => assign(&mut self.delay, seconds(name, value)),
            Name::MaximumMessageSize => {
                let size = number(name, value).and_then(|size| usize::try_from(size).ok());
                assign(&mut self.maximum_message_size, size)
            }
            Name::MessageRetentionPeriod => assign(&mut self.retention, seconds(name, value)),
            Name::ReceiveMessageWaitTimeSeconds => assign(&mut self.receive_wait, seconds(name, value)),
            Name::VisibilityTimeout => assign(&mut self.visibility_timeout, seconds(name, value)),
            Name::Policy => return given(value, Policy::parse).map(|policy| self.policy = policy),
            Name::RedrivePolicy => {
                return given(value, RedrivePolicy::parse).map(|policy| self.redrive = policy);
            }
            Name::RedriveAllowPolicy => {
                return given(value, RedriveAllowPolicy::parse).map(|policy| self.redrive_allow = policy);
            }
            Name::KmsMasterKeyId => self.encryption.set_key(value),
            Name::KmsDataKeyReusePeriodSeconds => {
                assign(&mut self.encryption.reuse_seconds, number(name, value).map(Some))
            }
            Name::SqsManagedSseEnabled => self.encryption.set_managed(value),
            Name::FifoQueue
            | Name::ContentBasedDeduplication
            | Name::DeduplicationScope
            | Name::FifoThroughputLimit => return self.set_fifo(name, value),
            other => return Err(unknown_attribute(other.as_str())),
        };
        set.ok_or_else(|| invalid_attribute(name.as_str()))
    }

    fn set_fifo(&mut self, name: &Name, value: &str) -> Result<(), ServiceError> {
        let fifo = self.fifo.as_mut().ok_or_else(|| not_on_standard(name))?;
        let set = match (name, value) {
            (Name::ContentBasedDeduplication, _) => {
                assign(&mut fifo.content_based_deduplication, flag(value))
            }
            (Name::DeduplicationScope, _) => assign(&mut fifo.deduplication_scope, value.parse().ok()),
            (Name::FifoThroughputLimit, _) => assign(&mut fifo.throughput_limit, value.parse().ok()),
            _ if flag(value) == Some(true) => Some(()),
            _ => {
                let reason = "Modifying queue type is not supported.";
                return Err(invalid_attribute_because(name.as_str(), reason));
            }
        };
        set.ok_or_else(|| invalid_attribute(name.as_str()))
    }

    fn check_throughput(&self) -> Result<(), ServiceError> {
        let illegal = |fifo: &FifoAttributes| {
            fifo.throughput_limit == ThroughputLimit::PerMessageGroupId
                && fifo.deduplication_scope == DeduplicationScope::Queue
        };
        if self.fifo.as_ref().is_some_and(illegal) {
            let reason = "The perMessageGroupId value is allowed only when the value for DeduplicationScope is \
                          messageGroup.";
            return Err(invalid_attribute_because(Name::FifoThroughputLimit.as_str(), reason));
        }
        Ok(())
    }

    /// The first attribute, by name, whose value in a repeated `CreateQueue` differs from the current value.
    pub(crate) fn first_difference(&self, requested: &Self, given: &Requested) -> Option<Name> {
        let mut names: Vec<_> = given.keys().collect();
        names.sort_unstable();
        names.into_iter().find(|name| self.show(name) != requested.show(name)).cloned()
    }

    /// The attributes as a request would set them, by name.
    #[cfg(feature = "durable")]
    pub(crate) fn to_requested(&self) -> std::collections::BTreeMap<Name, String> {
        all_names().filter_map(|name| Some((name.clone(), self.show(&name)?))).collect()
    }

    /// An attribute, if it can be set and is set.
    pub(crate) fn show(&self, name: &Name) -> Option<String> {
        let seconds = |duration: Duration| duration.as_secs().to_string();
        Some(match name {
            Name::DelaySeconds => seconds(self.delay),
            Name::KmsDataKeyReusePeriodSeconds => self.encryption.reuse_seconds?.to_string(),
            Name::KmsMasterKeyId => self.encryption.kms_key.as_deref()?.to_owned(),
            Name::MaximumMessageSize => self.maximum_message_size.to_string(),
            Name::MessageRetentionPeriod => seconds(self.retention),
            Name::Policy => self.policy.as_ref()?.to_string(),
            Name::ReceiveMessageWaitTimeSeconds => seconds(self.receive_wait),
            Name::RedriveAllowPolicy => self.redrive_allow.as_ref()?.to_string(),
            Name::RedrivePolicy => self.redrive.as_ref()?.to_string(),
            Name::SqsManagedSseEnabled => self.encryption.managed.to_string(),
            Name::VisibilityTimeout => seconds(self.visibility_timeout),
            _ => return self.fifo.as_ref()?.show(name),
        })
    }
}

/// The range of an attribute that is a number, and its unit.
pub(crate) fn range(name: &Name) -> Option<(RangeInclusive<i32>, &'static str)> {
    Some(match name {
        Name::DelaySeconds => (limits::DELAY_SECONDS, "seconds"),
        Name::KmsDataKeyReusePeriodSeconds => (limits::KMS_REUSE_SECONDS, "seconds"),
        Name::MaximumMessageSize => (limits::MAXIMUM_MESSAGE_SIZE, "bytes"),
        Name::MessageRetentionPeriod => (limits::RETENTION_SECONDS, "seconds"),
        Name::ReceiveMessageWaitTimeSeconds => (limits::WAIT_TIME_SECONDS, "seconds"),
        Name::VisibilityTimeout => (limits::VISIBILITY_TIMEOUT_SECONDS, "seconds"),
        _ => return None,
    })
}

/// Parses an integer within the range of an attribute.
fn number(name: &Name, value: &str) -> Option<u32> {
    let number =
        value.parse().ok().filter(|number| range(name).is_some_and(|(range, _)| range.contains(number)))?;
    u32::try_from(number).ok()
}

/// Parses `true` or `false`, case-insensitive.
fn flag(value: &str) -> Option<bool> {
    value.to_ascii_lowercase().parse().ok()
}

fn not_on_standard(name: &Name) -> ServiceError {
    match name {
        Name::FifoQueue | Name::ContentBasedDeduplication => unknown_attribute(name.as_str()),
        _ => {
            let text = format!("You can specify the {name} only when FifoQueue is set to true.");
            ServiceError::new(ErrorCode::InvalidAttributeName, text)
        }
    }
}

fn assign<T>(place: &mut T, value: Option<T>) -> Option<()> {
    *place = value?;
    Some(())
}

/// An empty value removes the attribute.
fn given<T>(value: &str, parse: fn(&str) -> Result<T, ServiceError>) -> Result<Option<T>, ServiceError> {
    if value.is_empty() { Ok(None) } else { parse(value).map(Some) }
}

fn seconds(name: &Name, value: &str) -> Option<Duration> {
    number(name, value).map(|seconds| Duration::from_secs(seconds.into()))
}

/// Maximum length of a KMS key id: <https://docs.aws.amazon.com/kms/latest/APIReference/API_DescribeKey.html>
const MAX_KEY_BYTES: usize = 2048;

/// `KmsMasterKeyId`, `KmsDataKeyReusePeriodSeconds` and `SqsManagedSseEnabled`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Encryption {
    /// Id, ARN or alias of a KMS key.
    pub kms_key: Option<Box<str>>,
    /// How long a data key is reused, in seconds, if this was set together with a key.
    pub reuse_seconds: Option<u32>,
    /// Whether SQS encrypts with its own keys.
    pub managed: bool,
}

impl Default for Encryption {
    fn default() -> Self {
        Self { kms_key: None, reuse_seconds: None, managed: true }
    }
}

impl Encryption {
    /// A request can enable only one of the two kinds of encryption.
    pub(crate) fn check(requested: &Requested) -> Result<(), ServiceError> {
        let kms = requested.get(&Name::KmsMasterKeyId).is_some_and(|key| !key.is_empty());
        let managed =
            requested.get(&Name::SqsManagedSseEnabled).is_some_and(|value| flag(value) == Some(true));
        if kms && managed {
            let text = "You can use one type of server-side encryption (SSE) at one time. You can either enable KMS \
                        SSE or SQS SSE.";
            return Err(ServiceError::new(ErrorCode::InvalidAttributeName, text));
        }
        Ok(())
    }

    /// A key turns managed encryption off. Removing the key does not turn it on again.
    pub(crate) fn set_key(&mut self, key: &str) -> Option<()> {
        if key.len() > MAX_KEY_BYTES {
            return None;
        }
        self.kms_key = (!key.is_empty()).then(|| key.into());
        self.managed &= self.kms_key.is_none();
        Some(())
    }

    pub(crate) fn set_managed(&mut self, value: &str) -> Option<()> {
        self.managed = flag(value)?;
        if self.managed {
            self.kms_key = None;
        }
        Some(())
    }

    pub(crate) fn forget_reuse_without_key(&mut self) {
        self.reuse_seconds = self.reuse_seconds.filter(|_| self.kms_key.is_some());
    }
}

/// All names, in no particular order.
pub(crate) fn all_names() -> impl Iterator<Item = Name> {
    Name::values().iter().copied().map(Name::from)
}

impl FifoAttributes {
    fn show(self, name: &Name) -> Option<String> {
        Some(match name {
            Name::FifoQueue => true.to_string(),
            Name::ContentBasedDeduplication => self.content_based_deduplication.to_string(),
            Name::DeduplicationScope => self.deduplication_scope.into_str().to_owned(),
            Name::FifoThroughputLimit => self.throughput_limit.into_str().to_owned(),
            _ => return None,
        })
    }
}

/// A limit of this server that bounds memory. AWS recommends at most 50 tags and accepts more; its limit is unknown.
const MAX_TAGS: usize = 1_000;

/// The tags of a queue.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tags(BTreeMap<String, String>);

impl Tags {
    /// The tags of a new queue.
    ///
    /// # Errors
    /// See [`add`](Self::add).
    pub(crate) fn new(tags: HashMap<String, String>) -> Result<Self, ServiceError> {
        let mut new = Self::default();
        new.add(tags)?;
        Ok(new)
    }

    /// Tags, sorted by key.
    pub(crate) fn all(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// Adds tags, all or none. Values of existing keys are replaced.
    ///
    /// # Errors
    /// `InvalidParameterValue` for more than 1,000 tags on a queue.
    pub(crate) fn add(&mut self, tags: HashMap<String, String>) -> Result<(), ServiceError> {
        let count = self.0.len() + tags.keys().filter(|key| !self.0.contains_key(*key)).count();
        if count > MAX_TAGS {
            let text = format!("Too many tags added for queue. Maximum allowed is {MAX_TAGS}.");
            return Err(ServiceError::new(ErrorCode::InvalidParameterValue, text));
        }
        self.0.extend(tags);
        Ok(())
    }

    /// Removes tags. Unknown keys are ignored.
    pub(crate) fn remove<'a>(&mut self, keys: impl IntoIterator<Item = &'a str>) {
        for key in keys {
            self.0.remove(key);
        }
    }

    /// The first of `tags`, by key, that is absent or has another value.
    pub(crate) fn first_other<'t>(&self, tags: &'t Self) -> Option<&'t str> {
        let differs = |(key, value): &(&String, &String)| self.0.get(*key) != Some(*value);
        tags.0.iter().find(differs).map(|(key, _)| key.as_str())
    }
}

#[cfg(test)]
#[path = "attributes_tests.rs"]
mod tests;
