//! Renders attributes as `GetQueueAttributes` returns them.

use std::time::Duration;

use sqs_client::types::QueueAttributeName as Name;

use super::{Attributes, FifoAttributes, Requested};

/// All names, in no particular order.
pub(crate) fn all_names() -> impl Iterator<Item = Name> {
    Name::values().iter().copied().map(Name::from)
}

impl Attributes {
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
