//! The attributes of a queue: typed, with defaults. `change` sets them, `render` formats them.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>

mod change;
mod encryption;
mod render;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde::Deserialize;
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::limits;

pub(crate) use encryption::Encryption;
pub(crate) use render::all_names;

use super::policy::Policy;
use super::redrive::{RedriveAllowPolicy, RedrivePolicy};
use crate::service::text_enum::text_enum;

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

text_enum! {
    /// The scope in which deduplication ids are unique.
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(crate) enum DeduplicationScope {
        /// The whole queue.
        #[default]
        Queue => "queue",
        /// Each message group.
        MessageGroup => "messageGroup",
    }
}

text_enum! {
    /// The scope of a FIFO queue's throughput quota, if it has one.
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub(crate) enum ThroughputLimit {
        /// The whole queue.
        #[default]
        PerQueue => "perQueue",
        /// Each message group.
        PerMessageGroupId => "perMessageGroupId",
    }
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
    pub(crate) fn allows_source(&self, source: &crate::service::arn::QueueArn) -> bool {
        self.redrive_allow.as_ref().is_none_or(|policy| policy.allows(source))
    }
}

/// Parses an integer within a range.
fn number(value: &str, range: &RangeInclusive<i32>) -> Option<u32> {
    let number = value.parse().ok().filter(|number| range.contains(number))?;
    u32::try_from(number).ok()
}

/// Parses `true` or `false`, case-insensitive.
fn flag(value: &str) -> Option<bool> {
    value.to_ascii_lowercase().parse().ok()
}

#[cfg(test)]
mod tests;
