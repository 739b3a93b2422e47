//! Sets attributes from a request, all or none.

use std::ops::RangeInclusive;
use std::time::Duration;

use sqs_client::types::QueueAttributeName as Name;
use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::error::{invalid_parameter, unknown_attribute};

use super::{
    Attributes, DeduplicationScope, Encryption, FifoAttributes, Requested, ThroughputLimit, flag, number,
};
use crate::service::arn::is_fifo_name;
use crate::sqs::engine::policy::Policy;
use crate::sqs::engine::redrive::{RedriveAllowPolicy, RedrivePolicy};
use crate::sqs::engine::refusal::{invalid_attribute, invalid_attribute_because};

impl Attributes {
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
            Name::DelaySeconds => assign(&mut self.delay, seconds(value, &limits::DELAY_SECONDS)),
            Name::MaximumMessageSize => {
                let size = number(value, &limits::MAXIMUM_MESSAGE_SIZE);
                assign(&mut self.maximum_message_size, size.and_then(|size| usize::try_from(size).ok()))
            }
            Name::MessageRetentionPeriod => {
                assign(&mut self.retention, seconds(value, &limits::RETENTION_SECONDS))
            }
            Name::ReceiveMessageWaitTimeSeconds => {
                assign(&mut self.receive_wait, seconds(value, &limits::WAIT_TIME_SECONDS))
            }
            Name::VisibilityTimeout => {
                assign(&mut self.visibility_timeout, seconds(value, &limits::VISIBILITY_TIMEOUT_SECONDS))
            }
            Name::Policy => return given(value, Policy::parse).map(|policy| self.policy = policy),
            Name::RedrivePolicy => {
                return given(value, RedrivePolicy::parse).map(|policy| self.redrive = policy);
            }
            Name::RedriveAllowPolicy => {
                return given(value, RedriveAllowPolicy::parse).map(|policy| self.redrive_allow = policy);
            }
            Name::KmsMasterKeyId => self.encryption.set_key(value),
            Name::KmsDataKeyReusePeriodSeconds => self.encryption.set_reuse(value),
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
            (Name::DeduplicationScope, _) => {
                assign(&mut fifo.deduplication_scope, DeduplicationScope::from_text(value))
            }
            (Name::FifoThroughputLimit, _) => {
                assign(&mut fifo.throughput_limit, ThroughputLimit::from_text(value))
            }
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

fn seconds(value: &str, range: &RangeInclusive<i32>) -> Option<Duration> {
    number(value, range).map(|seconds| Duration::from_secs(seconds.into()))
}
