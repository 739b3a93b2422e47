//! Renders attributes as `GetQueueAttributes` returns them.

use std::time::Duration;

use sqs_client::types::QueueAttributeName as Name;
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::error::unknown_attribute;

use super::{Attributes, DeduplicationScope, FifoAttributes, Requested, ThroughputLimit};
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::sqs::engine::Counts;

/// Read-only facts about a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    /// The queue.
    pub arn: &'a QueueArn,
    /// When it was created.
    pub created: Timestamp,
    /// When its attributes were last changed.
    pub modified: Timestamp,
    /// Number of messages.
    pub counts: Counts,
}

/// The attributes that `All` stands for, in no particular order.
const SHOWN: [Name; 21] = [
    Name::ApproximateNumberOfMessages,
    Name::ApproximateNumberOfMessagesDelayed,
    Name::ApproximateNumberOfMessagesNotVisible,
    Name::ContentBasedDeduplication,
    Name::CreatedTimestamp,
    Name::DeduplicationScope,
    Name::DelaySeconds,
    Name::FifoQueue,
    Name::FifoThroughputLimit,
    Name::KmsDataKeyReusePeriodSeconds,
    Name::KmsMasterKeyId,
    Name::LastModifiedTimestamp,
    Name::MaximumMessageSize,
    Name::MessageRetentionPeriod,
    Name::Policy,
    Name::QueueArn,
    Name::ReceiveMessageWaitTimeSeconds,
    Name::RedriveAllowPolicy,
    Name::RedrivePolicy,
    Name::SqsManagedSseEnabled,
    Name::VisibilityTimeout,
];

impl Attributes {
    /// The requested attributes; those that are not set are omitted.
    ///
    /// # Errors
    /// `InvalidAttributeName` for an unknown name.
    pub(crate) fn render(&self, names: &[Name], facts: &Facts<'_>) -> Result<Requested, ServiceError> {
        if let Some(unknown) = names.iter().find(|name| **name != Name::All && !SHOWN.contains(name)) {
            return Err(unknown_attribute(unknown.as_str()));
        }
        let names = if names.contains(&Name::All) { &SHOWN } else { names };
        let shown = names.iter().filter_map(|name| Some((name.clone(), self.show(name, facts)?)));
        Ok(shown.collect())
    }

    /// The first attribute, by name, whose value in a repeated `CreateQueue` differs from the current value.
    pub(crate) fn first_difference(&self, requested: &Self, given: &Requested) -> Option<Name> {
        let mut names: Vec<_> = given.keys().collect();
        names.sort_unstable();
        names.into_iter().find(|name| self.show_set(name) != requested.show_set(name)).cloned()
    }

    /// The attributes as a request would set them, by name.
    #[cfg(feature = "durable")]
    pub(crate) fn to_requested(&self) -> std::collections::BTreeMap<Name, String> {
        SHOWN.into_iter().filter_map(|name| Some((name.clone(), self.show_set(&name)?))).collect()
    }

    fn show(&self, name: &Name, facts: &Facts<'_>) -> Option<String> {
        Some(match name {
            Name::ApproximateNumberOfMessages => facts.counts.available.to_string(),
            Name::ApproximateNumberOfMessagesDelayed => facts.counts.delayed.to_string(),
            Name::ApproximateNumberOfMessagesNotVisible => facts.counts.in_flight.to_string(),
            Name::CreatedTimestamp => facts.created.as_secs().to_string(),
            Name::LastModifiedTimestamp => facts.modified.as_secs().to_string(),
            Name::QueueArn => facts.arn.to_string(),
            _ => return self.show_set(name),
        })
    }

    /// Renders an attribute that can be set.
    fn show_set(&self, name: &Name) -> Option<String> {
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

impl FifoAttributes {
    fn show(self, name: &Name) -> Option<String> {
        Some(match name {
            Name::FifoQueue => true.to_string(),
            Name::ContentBasedDeduplication => self.content_based_deduplication.to_string(),
            Name::DeduplicationScope => self.deduplication_scope.as_str().to_owned(),
            Name::FifoThroughputLimit => self.throughput_limit.as_str().to_owned(),
            _ => return None,
        })
    }
}

impl DeduplicationScope {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::MessageGroup => "messageGroup",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Queue, Self::MessageGroup].into_iter().find(|scope| scope.as_str() == text)
    }
}

impl ThroughputLimit {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::PerQueue => "perQueue",
            Self::PerMessageGroupId => "perMessageGroupId",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        [Self::PerQueue, Self::PerMessageGroupId].into_iter().find(|limit| limit.as_str() == text)
    }
}
