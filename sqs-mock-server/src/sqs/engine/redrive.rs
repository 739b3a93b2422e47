//! Redrive policies and redrive allow policies.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html>
//!
//! Messages in transit between queues: dead letters, and messages of a move task.
//!
//! A message leaves one queue as a value and enters the other in a separate call, so no caller needs two queues at
//! once.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use sqs_client::wire::limits;
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::error::invalid_value;

use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::seed::Uuid;
use crate::sqs::engine::change::{QueueChange, QueueId};
use crate::sqs::engine::messages::{Core, Slot, StoredMessage};
use crate::sqs::engine::move_task::{FailureReason, MoveStatus};
use crate::sqs::engine::order_standard::ServerSample;
use crate::sqs::engine::queue::Queue;

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

/// A message in transit to another queue.
#[derive(Debug)]
#[must_use = "the message is in no queue any more"]
pub(crate) struct InTransit {
    /// Boxed, because a queue that refuses the message returns it as an error.
    pub(crate) message: Box<StoredMessage>,
    source: QueueId,
    destination: Arc<QueueArn>,
}

impl InTransit {
    /// The queue to which it goes.
    pub(crate) fn destination(&self) -> &Arc<QueueArn> {
        &self.destination
    }
}

impl Queue {
    /// Removes a message that was received too often.
    pub(crate) fn move_to_dead_letters(&mut self, now: Timestamp, slot: Slot) -> Option<InTransit> {
        let destination = Arc::clone(&self.attributes.redrive.as_ref()?.target);
        let message = Box::new(self.store.remove(now, slot)?);
        Some(InTransit { message, source: self.id.clone(), destination })
    }

    /// Stores a dead letter. It keeps its id and receive count, and on standard queues its age.
    ///
    /// # Errors
    /// The queue was deleted meanwhile; the letter is returned for [`Queue::take_back`].
    pub(crate) fn accept_dead_letter(&mut self, now: Timestamp, letter: InTransit) -> Result<(), InTransit> {
        let now = self.settle(now);
        if self.deleted {
            return Err(letter);
        }
        let InTransit { message, source, .. } = letter;
        let StoredMessage { mut core, group, ticket, .. } = *message;
        core.source = Some(Arc::clone(&source.arn));
        core.receives_elsewhere = core.receives;
        if self.fifo.is_some() {
            core.deduplication_id = Some(core.id.to_string().into());
        }
        self.put(now, core, group.as_deref(), (source, ticket, None));
        Ok(())
    }

    /// Removes an available message for a move task, to `destination` or else to its source queue.
    ///
    /// # Errors
    /// The final status of the task: there is no message, or no destination for it. Nothing is removed.
    pub(crate) fn take_for_move(
        &mut self,
        now: Timestamp,
        destination: Option<&Arc<QueueArn>>,
    ) -> Result<InTransit, MoveStatus> {
        let now = self.settle(now);
        let slot = self.store.next(now, ServerSample::ALL).ok_or(MoveStatus::Completed)?;
        let message = self.store.get(slot).ok_or(MoveStatus::Completed)?;
        let destination = destination.or(message.core.source.as_ref()).map(Arc::clone);
        let destination = destination.ok_or(MoveStatus::Failed(FailureReason::UnknownSource))?;
        let message = self.store.remove(now, slot).ok_or(MoveStatus::Completed)?;
        Ok(InTransit { message: Box::new(message), source: self.id.clone(), destination })
    }

    /// Stores a message of a move task as a new message: id, times and receive count start anew.
    ///
    /// # Errors
    /// The queue was deleted meanwhile, or it is a FIFO queue and the message has no group. The message is returned for
    /// [`Queue::take_back`].
    pub(crate) fn accept_moving(
        &mut self,
        now: Timestamp,
        moving: InTransit,
        task: Uuid,
    ) -> Result<(), InTransit> {
        let now = self.settle(now);
        let lacks_group = self.fifo.is_some() && moving.message.group.is_none();
        if self.deleted || lacks_group {
            return Err(moving);
        }
        let InTransit { message, source, .. } = moving;
        let StoredMessage { core, group, ticket, .. } = *message;
        let id = self.ids.of(self.next_ticket);
        let core =
            Core { id, sent: now, born: now, receives: 0, receives_elsewhere: 0, source: None, ..core };
        self.put(now, core, group.as_deref(), (source, ticket, Some(task)));
        Ok(())
    }

    /// Puts a message back into its old position, because its destination was deleted or rejected it. For readers, a
    /// message in transit has not left its queue, unless the queue was purged meanwhile.
    pub(crate) fn take_back(&mut self, now: Timestamp, message: InTransit) {
        let now = self.settle(now);
        let slot = self.store.put_back(now, *message.message);
        if !self.deleted {
            self.record_stored(slot, None);
        }
    }

    /// On a FIFO queue, retention starts at the arrival. The delay of a queue applies to sent messages, not to moved
    /// ones.
    fn put(
        &mut self,
        now: Timestamp,
        mut core: Core,
        group: Option<&str>,
        (from, left, task): (QueueId, u64, Option<Uuid>),
    ) {
        if self.fifo.is_some() {
            core.born = now;
        }
        let ticket = self.take_ticket();
        let slot = self.store.insert(now, ticket, (core, group), Duration::ZERO);
        if self.changes.is_some()
            && let Some(message) = self.store.stored(slot)
        {
            let message = Box::new(message);
            self.record(|_| QueueChange::MessageMoved { from, ticket: left, task, message });
        }
    }
}

#[cfg(test)]
mod tests {
    use sqs_client::wire::service_error::ErrorCode;

    use super::*;

    const DEAD: &str = "arn:aws:sqs:us-east-1:000000000000:dead";

    fn source(name: &str) -> QueueArn {
        QueueArn::new("us-east-1", "000000000000", name)
    }

    fn reason<T: fmt::Debug>(result: Result<T, ServiceError>) -> String {
        let error = result.unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidParameterValue);
        error.message.unwrap().split_once(" is invalid. Reason: ").unwrap().1.to_owned()
    }

    #[test]
    fn max_receive_count_can_be_a_string_and_is_returned_as_a_number() {
        for count in ["5", "\"5\""] {
            let text = format!(r#"{{"maxReceiveCount":{count},"deadLetterTargetArn":"{DEAD}"}}"#);
            let policy = RedrivePolicy::parse(&text).unwrap();
            assert_eq!(
                policy.to_string(),
                format!(r#"{{"deadLetterTargetArn":"{DEAD}","maxReceiveCount":5}}"#)
            );
        }
    }

    #[test]
    fn invalid_redrive_policy_is_rejected_with_the_reason() {
        let count = |count: &str| format!(r#"{{"maxReceiveCount":{count},"deadLetterTargetArn":"{DEAD}"}}"#);
        let range = |count: &str| {
            format!(
                "Invalid value for maxReceiveCount: {count}, valid values are from 1 to 1000 both inclusive."
            )
        };
        let cases = [
            ("x".to_owned(), "Redrive policy is not a valid JSON map.".to_owned()),
            // According to a log, AWS reports this attribute first.
            (
                "{}".to_owned(),
                "Redrive policy does not contain mandatory attribute: maxReceiveCount.".to_owned(),
            ),
            (count("0"), range("0")),
            (count("1001"), range("1001")),
            (count("\"many\""), range("many")),
            (
                format!(r#"{{"deadLetterTargetArn":"{DEAD}"}}"#),
                "Redrive policy does not contain mandatory attribute: maxReceiveCount.".to_owned(),
            ),
            (
                r#"{"maxReceiveCount":1}"#.to_owned(),
                "Redrive policy does not contain mandatory attribute: deadLetterTargetArn.".to_owned(),
            ),
            (
                format!(r#"{{"maxReceiveCount":1,"deadLetterTargetArn":"{DEAD}","x":1}}"#),
                "Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn].".to_owned(),
            ),
            (
                r#"{"maxReceiveCount":1,"deadLetterTargetArn":"dead"}"#.to_owned(),
                "Invalid value for deadLetterTargetArn.".to_owned(),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(reason(RedrivePolicy::parse(&text)), expected, "{text}");
        }
    }

    #[test]
    fn target_must_exist_in_the_same_region_and_have_the_same_kind() {
        let policy = RedrivePolicy { target: Arc::new(DEAD.parse().unwrap()), max_receive_count: 1 };
        let target = Some(true);
        assert!(policy.check(&source("a"), target).is_ok());
        assert!(policy.check(&source("dead"), target).is_ok(), "a queue can be its own dead-letter queue");
        assert_eq!(reason(policy.check(&source("a"), None)), "Dead letter target does not exist.");
        let elsewhere = QueueArn::new("eu-west-1", "000000000000", "a");
        assert_eq!(reason(policy.check(&elsewhere, target)), "Dead letter target does not exist.");
        let kind = "Dead-letter queue must be same type of queue as the source..";
        assert_eq!(reason(policy.check(&source("a.fifo"), target)), kind);
        assert!(policy.check(&source("a"), Some(false)).is_err());
    }

    #[test]
    fn redrive_allow_policies_are_parsed_and_returned_unchanged() {
        let by_queue = format!(r#"{{"redrivePermission":"byQueue","sourceQueueArns":["{DEAD}"]}}"#);
        for text in [r#"{"redrivePermission":"allowAll"}"#, r#"{"redrivePermission":"denyAll"}"#, &by_queue] {
            assert_eq!(RedriveAllowPolicy::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn invalid_redrive_allow_policy_is_rejected() {
        let eleven = vec![format!("\"{DEAD}\""); 11].join(",");
        let bad = [
            r#"{"redrivePermission":"byQueue"}"#.to_owned(),
            r#"{"redrivePermission":"byQueue","sourceQueueArns":[]}"#.to_owned(),
            r#"{"redrivePermission":"byQueue","sourceQueueArns":["x"]}"#.to_owned(),
            format!(r#"{{"redrivePermission":"byQueue","sourceQueueArns":[{eleven}]}}"#),
            format!(r#"{{"redrivePermission":"allowAll","sourceQueueArns":["{DEAD}"]}}"#),
            format!(r#"{{"redrivePermission":"denyAll","sourceQueueArns":["{DEAD}"]}}"#),
            r#"{"redrivePermission":"some"}"#.to_owned(),
            r#"{"redrivePermission":"allowAll","x":1}"#.to_owned(),
            "{}".to_owned(),
            "[]".to_owned(),
        ];
        for text in bad {
            reason(RedriveAllowPolicy::parse(&text));
        }
    }

    #[test]
    fn only_listed_sources_are_allowed() {
        assert!(RedriveAllowPolicy::AllowAll.allows(&source("a")));
        assert!(!RedriveAllowPolicy::DenyAll.allows(&source("a")));
        let by_queue = RedriveAllowPolicy::ByQueue(vec![source("a")]);
        assert!(by_queue.allows(&source("a")));
        assert!(!by_queue.allows(&source("b")));
    }
}
