//! The effect of a fault.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::service::operation::{Operation, ServiceName};

/// What a fault does. The fields of a variant are those of its JSON.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Effect {
    /// The service rejects the request.
    Error { code: String, message: Option<String> },
    /// The service rejects the request with its own error code for too many requests.
    Throttle { message: Option<String> },
    /// The response does not come from the service, as if from a proxy.
    Status {
        status: u16,
        #[serde(default)]
        body: String,
    },
    /// Entries of a batch fail.
    FailEntries { code: String, message: Option<String>, sender_fault: Option<bool> },
    /// Entries of a batch are applied, but missing in the response.
    OmitEntries {},
    /// The request is delayed.
    Latency {
        #[serde(rename = "latency_ms")]
        least: Millis,
        #[serde(rename = "max_latency_ms")]
        most: Option<Millis>,
    },
    /// The connection breaks before the request is applied.
    ResetBefore {},
    /// The connection breaks after the request is applied.
    ResetAfter {},
    /// The response ends early.
    Truncate {},
    /// A checksum in the response is wrong.
    Corrupt {},
    /// Received messages are delivered again.
    Redeliver {},
    /// Bodies are slow.
    Pace { bytes_per_second: u64 },
}

/// How a fault damages the response to a request that is applied.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Damage {
    /// One checksum is wrong; without a checksum, the body is.
    Corrupted,
    /// The connection breaks within the response.
    Truncated,
    /// The connection breaks before the response.
    Lost,
}

/// A time, in milliseconds in JSON.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(from = "u64", into = "u64")]
pub(super) struct Millis(pub(super) Duration);

impl From<u64> for Millis {
    fn from(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }
}

impl From<Millis> for u64 {
    fn from(Millis(duration): Millis) -> Self {
        Self::try_from(duration.as_millis()).unwrap_or(Self::MAX)
    }
}

impl Effect {
    /// The service of an effect that only one service has.
    pub(super) fn service(&self) -> Option<ServiceName> {
        match self {
            Self::Redeliver {} => Some(ServiceName::Sqs),
            Self::Pace { .. } => Some(ServiceName::S3),
            _ => None,
        }
    }

    /// Whether it affects entries of batches, which SQS and SNS have.
    pub(super) fn is_of_entries(&self) -> bool {
        matches!(self, Self::FailEntries { .. } | Self::OmitEntries {})
    }

    /// Whether requests for this operation can have this effect.
    pub(super) fn applies_to(&self, operation: Operation) -> bool {
        match self {
            _ if self.is_of_entries() => operation.name.ends_with("Batch"),
            Self::Redeliver {} => operation.name == "ReceiveMessage",
            _ => true,
        }
    }

    /// The error text, if the effect has one.
    pub(super) fn message_mut(&mut self) -> Option<&mut Option<String>> {
        match self {
            Self::Error { message, .. } | Self::Throttle { message } | Self::FailEntries { message, .. } => {
                Some(message)
            }
            _ => None,
        }
    }
}
