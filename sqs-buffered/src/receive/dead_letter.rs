//! Dead letters: messages that their handler, or their redrive policy, gives up.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::FutureExt as _;
use sqs_client::client::{CallOptions, Execute, OperationError};
use sqs_client::operation::get_queue_attributes::{GetQueueAttributes, GetQueueAttributesInput};
use sqs_client::operation::get_queue_url::{GetQueueUrl, GetQueueUrlInput};
use sqs_client::types::{
    MessageAttributeValue, MessageSystemAttributeName as Name, MessageSystemAttributeNameForSends,
    MessageSystemAttributeValue, QueueAttributeName,
};
use sqs_client::wire::limits::{MAX_MESSAGE_ATTRIBUTES, MAX_MESSAGE_BYTES};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::attempt::{ATTEMPT_TIMEOUT, attempt};
use crate::entry::{Entry, is_fifo};
use crate::error::{Panicked, is_transient};
use crate::receive::delivery::Delivery;
use crate::receive::pump::Source;

/// The message attribute with the reason.
const REASON: &str = "DeadLetterReason";

/// Longer reasons are truncated to this number of characters.
const MAX_REASON_CHARS: usize = 1_024;

/// How long the redrive policy is cached: it can be changed.
const FRESH: Duration = Duration::from_mins(5);

/// How long other letters rely on a lookup that failed.
const FAILED: Duration = Duration::from_secs(10);

/// The redrive policy of a queue.
#[derive(Clone, Debug)]
struct Redrive {
    /// The URL of the dead-letter queue.
    url: Arc<str>,
    /// How many times SQS delivers a message.
    max_receives: Option<u32>,
}

/// A lookup, and until when it counts.
type Known = (Result<Redrive, String>, Instant);

/// The dead-letter queue of a queue.
#[derive(Debug, Default)]
pub(crate) struct DeadLetters {
    /// Locked during a lookup; other letters wait for the result.
    known: Mutex<Option<Known>>,
    /// Whether it was logged that no policy can be followed.
    has_warned: AtomicBool,
}

impl DeadLetters {
    /// Sends a copy of the message to the dead-letter queue: the same body, attributes and group. The error is a text
    /// for events.
    pub(crate) async fn send<H: Execute>(
        &self,
        source: &Source<H>,
        delivery: &Delivery,
        reason: &str,
    ) -> Result<(), String> {
        let url = self.redrive(source).await?.url;
        let sent = match source.client.send_letter(letter(&url, delivery, reason)).await {
            // The reason may take the room that a client below needs for an attribute of its own.
            Err(error) if !error.is_retryable() && !error.is_outcome_unknown() && !reason.is_empty() => {
                source.client.send_letter(letter(&url, delivery, "")).await
            }
            sent => sent,
        };
        if sent.is_err() {
            // It may have been deleted, or replaced by another one.
            if let Some((_, until)) = &mut *self.known.lock().await {
                *until = Instant::now();
            }
        }
        sent.map(drop).map_err(|error| error.to_string())
    }

    /// How many attempts the redrive policy allows; `None` without a policy that can be read and followed.
    pub(crate) async fn allowed_attempts<H: Execute>(&self, source: &Source<H>) -> Option<u32> {
        match self.redrive(source).await {
            Ok(redrive) => redrive.max_receives,
            Err(reason) => {
                if !self.has_warned.swap(true, Relaxed) {
                    let queue_url = &*source.url;
                    tracing::warn!(reason, queue_url, "failed messages are left to SQS, with their groups");
                }
                None
            }
        }
    }

    async fn redrive<H: Execute>(&self, source: &Source<H>) -> Result<Redrive, String> {
        let mut known = self.known.lock().await;
        if let Some((redrive, _)) = known.as_ref().filter(|(_, until)| Instant::now() < *until) {
            return redrive.clone();
        }
        let found = AssertUnwindSafe(find(source)).catch_unwind().await;
        let found = found.unwrap_or_else(|panic| Err(LookupError::new(Panicked::of(&*panic).to_string())));
        let redrive = match (found, known.take()) {
            // The policy changes rarely. A failure that passes does not change it.
            (Err(LookupError { is_transient: true, .. }), Some((Ok(old), _))) => Ok(old),
            (found, _) => found.map_err(|error| error.reason),
        };
        let fresh = if redrive.is_ok() { FRESH } else { FAILED };
        *known = Some((redrive.clone(), Instant::now() + fresh));
        redrive
    }
}

/// Why the redrive policy is unknown.
struct LookupError {
    reason: String,
    is_transient: bool,
}

impl LookupError {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_transient: false }
    }

    fn of<E: OperationError>(error: &E, arn: &str) -> Self {
        let reason = if arn.is_empty() { error.to_string() } else { format!("{arn}: {error}") };
        Self { reason, is_transient: is_transient(error) }
    }
}

async fn find<H: Execute>(source: &Source<H>) -> Result<Redrive, LookupError> {
    let handle = source.client.inner();
    let mut input = GetQueueAttributesInput::default();
    input.queue_url = Some(source.url.as_ref().to_owned());
    input.attribute_names = Some(vec![QueueAttributeName::RedrivePolicy]);
    let asked = handle.execute::<GetQueueAttributes>(&input, CallOptions::default());
    let output = attempt(ATTEMPT_TIMEOUT, asked).await.map_err(|error| LookupError::of(&error, ""))?;
    let attributes = output.attributes.unwrap_or_default();
    let policy = attributes.get(&QueueAttributeName::RedrivePolicy);
    let (arn, max_receives) = policy
        .and_then(|policy| target(policy))
        .ok_or_else(|| LookupError::new("the queue has no dead-letter queue"))?;
    let mut parts = arn.split(':').skip(4);
    let mut input = GetQueueUrlInput::default();
    input.queue_owner_aws_account_id = parts.next().map(str::to_owned);
    input.queue_name = parts.next().map(str::to_owned);
    let asked = handle.execute::<GetQueueUrl>(&input, CallOptions::default());
    let output = attempt(ATTEMPT_TIMEOUT, asked).await.map_err(|error| LookupError::of(&error, &arn))?;
    let url = output.queue_url.map(Arc::from).ok_or_else(|| LookupError::new(format!("{arn} has no URL")))?;
    Ok(Redrive { url, max_receives })
}

/// The ARN and the count of a redrive policy, such as `{"deadLetterTargetArn":"arn:aws:sqs:..","maxReceiveCount":"3"}`. SQS takes the
/// count as a number or as text.
fn target(policy: &str) -> Option<(String, Option<u32>)> {
    let policy: serde_json::Value = serde_json::from_str(policy).ok()?;
    let arn = policy.get("deadLetterTargetArn")?.as_str().map(str::to_owned)?;
    let count = policy.get("maxReceiveCount");
    let number = count.and_then(serde_json::Value::as_u64).and_then(|count| u32::try_from(count).ok());
    Some((arn, number.or_else(|| count?.as_str()?.parse().ok())))
}

/// The copy. On FIFO queues, its deduplication id is the message id: if the original is not deleted, a second copy is dropped.
fn letter(url: &str, delivery: &Delivery, reason: &str) -> Entry {
    let message = &delivery.message;
    let mut entry = Entry::new(url, message.body().unwrap_or_default());
    for (name, value) in message.message_attributes().into_iter().flatten() {
        entry = entry.message_attributes(name, value.clone());
    }
    if let Some(header) = delivery.attribute(&Name::AwsTraceHeader) {
        let mut value = MessageSystemAttributeValue::default();
        (value.data_type, value.string_value) = ("String".to_owned(), Some(header.to_owned()));
        entry = entry.message_system_attributes(MessageSystemAttributeNameForSends::AwsTraceHeader, value);
    }
    if let Some(group) = delivery.attribute(&Name::MessageGroupId) {
        entry = entry.message_group_id(group);
    }
    if is_fifo(url) {
        entry = entry.message_deduplication_id(&**delivery.id());
    }
    with_reason(entry, reason)
}

/// Adds the reason, unless the message would become too large or have too many attributes: the message matters more. A message
/// that is too large for SQS without it goes to a store, with the reason.
fn with_reason(entry: Entry, reason: &str) -> Entry {
    let clean = |char: char| if is_xml(char) { char } else { char::REPLACEMENT_CHARACTER };
    let reason: String = reason.chars().map(clean).take(MAX_REASON_CHARS).collect();
    let attributes = entry.message().message_attributes();
    let is_full =
        attributes.is_some_and(|all| all.len() >= MAX_MESSAGE_ATTRIBUTES && !all.contains_key(REASON));
    if reason.is_empty() || is_full {
        return entry;
    }
    let with = entry.clone().message_attributes(REASON, MessageAttributeValue::string(reason));
    let is_stored = entry.size() > MAX_MESSAGE_BYTES;
    if is_stored || with.size() <= MAX_MESSAGE_BYTES { with } else { entry }
}

/// Whether a message may contain the character: <https://www.w3.org/TR/REC-xml/#charsets>.
fn is_xml(char: char) -> bool {
    matches!(char, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason_of(entry: &Entry) -> Option<&str> {
        entry.message().message_attributes()?.get(REASON)?.string_value()
    }

    #[test]
    fn target_is_read_from_the_policy() {
        let policy = r#"{"maxReceiveCount":"3", "deadLetterTargetArn":"arn:aws:sqs:us-east-1:1:dead"}"#;
        let arn = || "arn:aws:sqs:us-east-1:1:dead".to_owned();
        assert_eq!(target(policy), Some((arn(), Some(3))));
        assert_eq!(target(&policy.replace(r#""3""#, "7")), Some((arn(), Some(7))));
        assert_eq!((target("{}"), target("no JSON")), (None, None));
    }

    #[test]
    fn reason_never_makes_a_message_that_cannot_be_sent() {
        let entry = Entry::new("http://h/0/dead", "body");
        assert_eq!(reason_of(&with_reason(entry.clone(), "why\0not")), Some("why\u{FFFD}not"));
        assert_eq!(reason_of(&with_reason(entry.clone(), "")), None);
        let long = "x".repeat(2 * MAX_REASON_CHARS);
        assert_eq!(reason_of(&with_reason(entry.clone(), &long)).map(str::len), Some(MAX_REASON_CHARS));
        let huge = Entry::new("http://h/0/dead", "x".repeat(MAX_MESSAGE_BYTES));
        assert_eq!(reason_of(&with_reason(huge, "why")), None);
        let stored = Entry::new("http://h/0/dead", "x".repeat(2 * MAX_MESSAGE_BYTES));
        assert_eq!(reason_of(&with_reason(stored, "why")), Some("why"));
        let full = (0..10).fold(entry, |entry, number| {
            entry.message_attributes(format!("a{number}"), MessageAttributeValue::string("v"))
        });
        assert_eq!(reason_of(&with_reason(full, "why")), None);
    }
}
