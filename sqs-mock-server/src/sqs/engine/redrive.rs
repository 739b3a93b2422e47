//! Redrive policies and redrive allow policies.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html>

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sqs_client::wire::limits;
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::error::invalid_value;

use crate::service::arn::QueueArn;

const TARGET: &str = "deadLetterTargetArn";
const COUNT: &str = "maxReceiveCount";

/// The dead-letter queue of a queue, and its limit of receives.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RedrivePolicy {
    /// The dead-letter queue.
    pub target: Arc<QueueArn>,
    /// Maximum number of deliveries of a message.
    pub max_receive_count: u32,
}

impl RedrivePolicy {
    /// Parses the JSON document.
    ///
    /// # Errors
    /// `InvalidParameterValue` with the reason.
    pub(crate) fn parse(text: &str) -> Result<Self, ServiceError> {
        let refuse = |reason: &str| invalid_value("RedrivePolicy", text, reason);
        let Ok(document) = serde_json::from_str::<Map<String, Value>>(text) else {
            return Err(refuse("Redrive policy is not a valid JSON map."));
        };
        let missing =
            |name: &str| refuse(&format!("Redrive policy does not contain mandatory attribute: {name}."));
        let count = document.get(COUNT).ok_or_else(|| missing(COUNT))?;
        let target = document.get(TARGET).ok_or_else(|| missing(TARGET))?;
        if document.len() > 2 {
            return Err(refuse(&format!("Only following attributes are supported: [{COUNT}, {TARGET}].")));
        }
        let target = target.as_str().and_then(|arn| arn.parse().ok());
        let target = target.ok_or_else(|| refuse("Invalid value for deadLetterTargetArn."))?;
        let max_receive_count = receive_count(count).ok_or_else(|| {
            let shown = count.as_str().map_or_else(|| count.to_string(), str::to_owned);
            refuse(&format!(
                "Invalid value for {COUNT}: {shown}, valid values are from 1 to 1000 both inclusive."
            ))
        })?;
        Ok(Self { target: Arc::new(target), max_receive_count })
    }

    /// Checks the policy of `source`. The target says by its redrive allow policy whether it `allows_source`; `None` if
    /// there is no such queue.
    ///
    /// # Errors
    /// `InvalidParameterValue` with the reason.
    pub(crate) fn check(&self, source: &QueueArn, allows_source: Option<bool>) -> Result<(), ServiceError> {
        let refuse = |reason: &str| Err(invalid_value("RedrivePolicy", self, reason));
        match allows_source {
            _ if !self.target.is_neighbour_of(source) => refuse("Dead letter target does not exist."),
            None => refuse("Dead letter target does not exist."),
            Some(_) if self.target.is_fifo() != source.is_fifo() => {
                refuse("Dead-letter queue must be same type of queue as the source..")
            }
            Some(false) => refuse("Dead letter target does not allow redrive from the source queue."),
            Some(true) => Ok(()),
        }
    }
}

/// A number, or a string with a number.
fn receive_count(value: &Value) -> Option<u32> {
    let count = value.as_i64().or_else(|| value.as_str()?.parse().ok())?;
    limits::MAX_RECEIVE_COUNT.contains(&count).then(|| u32::try_from(count).ok()).flatten()
}

impl fmt::Display for RedrivePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let document = json!({ TARGET: self.target.to_string(), COUNT: self.max_receive_count });
        write!(f, "{document}")
    }
}

/// The queues that may use a queue as their dead-letter queue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum RedriveAllowPolicy {
    /// All of the same kind, account and region.
    AllowAll,
    /// None.
    DenyAll,
    /// The listed queues, at most 10.
    ByQueue(Vec<QueueArn>),
}

impl RedriveAllowPolicy {
    /// Parses the JSON document.
    ///
    /// # Errors
    /// `InvalidParameterValue` with the reason.
    pub(crate) fn parse(text: &str) -> Result<Self, ServiceError> {
        let format = "Amazon SQS can't create the redrive allow policy, as it's in an unsupported format.";
        let refuse = |reason: &str| invalid_value("RedriveAllowPolicy", text, reason);
        let document: Map<String, Value> = serde_json::from_str(text).map_err(|_| refuse(format))?;
        let known = ["redrivePermission", "sourceQueueArns"];
        let permission = document.get(known[0]).and_then(Value::as_str).ok_or_else(|| refuse(format))?;
        if document.keys().any(|key| !known.contains(&key.as_str())) {
            return Err(refuse(format));
        }
        match (permission, document.get(known[1])) {
            ("allowAll", None) => Ok(Self::AllowAll),
            ("denyAll", None) => Ok(Self::DenyAll),
            ("allowAll" | "denyAll", Some(_)) => {
                Err(refuse("sourceQueueArns is only allowed with the redrivePermission byQueue."))
            }
            ("byQueue", Some(Value::Array(arns)))
                if (1..=limits::MAX_REDRIVE_SOURCES).contains(&arns.len()) =>
            {
                let arns = arns.iter().map(|arn| arn.as_str().and_then(|arn| arn.parse().ok()));
                arns.collect::<Option<_>>().map(Self::ByQueue).ok_or_else(|| refuse(format))
            }
            ("byQueue", _) => Err(refuse("sourceQueueArns must have 1 to 10 elements with byQueue.")),
            _ => Err(refuse(format)),
        }
    }

    /// Whether `source` may use the queue as its dead-letter queue.
    pub(crate) fn allows(&self, source: &QueueArn) -> bool {
        match self {
            Self::AllowAll => true,
            Self::DenyAll => false,
            Self::ByQueue(sources) => sources.contains(source),
        }
    }
}

impl fmt::Display for RedriveAllowPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let document = match self {
            Self::AllowAll => json!({ "redrivePermission": "allowAll" }),
            Self::DenyAll => json!({ "redrivePermission": "denyAll" }),
            Self::ByQueue(sources) => {
                let sources: Vec<_> = sources.iter().map(ToString::to_string).collect();
                json!({ "redrivePermission": "byQueue", "sourceQueueArns": sources })
            }
        };
        write!(f, "{document}")
    }
}

#[cfg(test)]
#[path = "redrive_tests.rs"]
mod tests;
