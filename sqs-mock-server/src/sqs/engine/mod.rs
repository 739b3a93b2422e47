//! Queues as pure state machines. Each method takes the time; nothing here waits, locks, logs or depends on HTTP.
//!
//! | Module | Contents |
//! |---|---|
//! | [`directory`] | queues of one account in one region: create, delete, list, dead-letter relations |
//! | [`queue`] | one queue and its timers |
//! | [`send`], [`receive`], [`handles`], [`inspect`] | send; receive; delete and visibility; peek |
//! | [`messages`] | messages of a queue, indexed by slot, age, timer and order: no operation scans |
//! | [`order`] | the next message; groups of FIFO queues in order |
//! | [`order_standard`] | standard queues: fair tenants, random delivery |
//! | [`throughput`] | quotas of FIFO queues: calls per action, messages per group |
//! | [`attributes`], [`redrive`], [`policy`] | settings of a queue |
//! | [`change`], `state` | changes by operations, as values; the state that results from them |
//! | [`move_task`] | message move tasks |
//!
//! The limit for the memory of messages and the error texts of several operations are here.

pub(crate) mod attributes;
pub(crate) mod change;
pub(crate) mod directory;
pub(crate) mod handles;
pub(crate) mod inspect;
pub(crate) mod messages;
pub(crate) mod move_task;
pub(crate) mod order;
pub(crate) mod order_standard;
pub(crate) mod policy;
pub(crate) mod queue;
pub(crate) mod receive;
pub(crate) mod redrive;
pub(crate) mod send;
#[cfg(any(test, feature = "durable"))]
pub(crate) mod state;
pub(crate) mod throughput;

use std::time::Duration;

use serde::Deserialize;
use sqs_client::wire::limits;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::error::{invalid_receipt_handle, invalid_value};

use crate::control::policies::Policies;

/// How strict a server is, and how it delivers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Settings {
    /// Whether a minute must pass between purges, and before the name of a deleted queue is reused.
    pub one_minute_rules: bool,
    /// Maximum messages in flight per queue.
    pub max_in_flight: usize,
    /// Maximum bytes of all messages.
    pub max_memory: usize,
    /// Maximum queues in all accounts and regions.
    pub max_queues: usize,
    /// Number of messages of a FIFO queue that a receive looks at.
    pub receive_window: usize,
    /// How standard queues deliver.
    pub delivery: DeliveryMode,
    /// Strict mode: the server looks for mistakes of callers, and queues record messages that were not deleted in time.
    pub strict: bool,
    /// What access policies do.
    pub policies: Policies,
}

/// How standard queues deliver. FIFO queues are always exact.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DeliveryMode {
    /// First in, first out; each message once; a receive finds all available messages. Most tests want this. AWS does
    /// not guarantee it.
    #[default]
    Ordered,
    /// Like AWS: a short poll samples 5 of 8 servers and misses messages on the others. Messages are slightly reordered
    /// (in long polls, at most 50 messages overtake one). About one message in 100 is delivered again although it was
    /// received or deleted. The same seed and the same calls produce the same deliveries.
    AwsLike,
}

impl Default for Settings {
    /// The limits of AWS, with unlimited memory.
    fn default() -> Self {
        Self {
            one_minute_rules: true,
            max_in_flight: limits::MAX_IN_FLIGHT,
            max_memory: usize::MAX,
            max_queues: usize::MAX,
            receive_window: limits::FIFO_RECEIVE_WINDOW,
            delivery: DeliveryMode::default(),
            strict: false,
            policies: Policies::default(),
        }
    }
}

/// "Invalid value for the parameter A."
pub(crate) fn invalid_attribute(name: &str) -> ServiceError {
    ServiceError::new(ErrorCode::InvalidAttributeValue, format!("Invalid value for the parameter {name}."))
}

/// "Invalid value for the parameter A. Reason: R"
pub(crate) fn invalid_attribute_because(name: &str, reason: &str) -> ServiceError {
    let text = format!("Invalid value for the parameter {name}. Reason: {reason}");
    ServiceError::new(ErrorCode::InvalidAttributeValue, text)
}

/// Why a receipt handle is rejected. On AWS, the text and mostly the code differ between a single request and a batch
/// entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum HandleRefusal {
    /// The text is not a handle.
    NotAHandle,
    /// It is a handle of another queue.
    OtherQueue,
    /// The handle has expired.
    Expired,
    /// There is no message whose visibility could change.
    Gone,
    /// The message would stay hidden, for this long from now, until more than 12 hours after its receive.
    HiddenTooLong(Duration),
}

impl HandleRefusal {
    /// The error of a single request.
    pub(crate) fn of_request(self, handle: &str) -> ServiceError {
        match self {
            Self::NotAHandle => invalid_receipt_handle(handle),
            Self::OtherQueue => {
                let text = format!("The receipt handle \"{handle}\" is not valid for this queue.");
                ServiceError::new(ErrorCode::ReceiptHandleIsInvalid, text)
            }
            Self::Expired => invalid_value("ReceiptHandle", handle, "The receipt handle has expired."),
            Self::Gone => {
                let reason = "Message does not exist or is not available for visibility timeout change.";
                invalid_value("ReceiptHandle", handle, reason)
            }
            Self::HiddenTooLong(timeout) => {
                let reason = "Total VisibilityTimeout for the message is beyond the limit [43200 seconds]";
                invalid_value("VisibilityTimeout", timeout.as_secs(), reason)
            }
        }
    }

    /// The error of a batch entry.
    pub(crate) fn of_entry(self, handle: &str) -> ServiceError {
        let invalid = |text: &str| ServiceError::new(ErrorCode::ReceiptHandleIsInvalid, text);
        match self {
            Self::Expired => invalid("The receipt handle has expired"),
            Self::Gone => invalid("Message does not exist or is not available for visibility timeout change"),
            Self::NotAHandle | Self::OtherQueue | Self::HiddenTooLong(_) => self.of_request(handle),
        }
    }
}

/// The memory available to one queue at the time of a call.
///
/// Other queues can grow concurrently, so the total can exceed the limit by one message per concurrent sender. Sends
/// over the limit are rejected; moves between queues are not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Maximum bytes of messages in all queues.
    pub ceiling: usize,
    /// Bytes of messages in all other queues.
    pub elsewhere: usize,
}

impl Room {
    /// Checks that a queue with `here` bytes can store `bytes` more.
    ///
    /// # Errors
    /// `OverLimit`, which SDKs do not retry.
    pub(crate) fn check(self, here: usize, bytes: usize) -> Result<(), ServiceError> {
        if self.fits(here, bytes) {
            return Ok(());
        }
        let Self { ceiling, elsewhere } = self;
        let used = elsewhere.saturating_add(here);
        let text = format!(
            "This server stores at most {ceiling} bytes of messages and topics. It stores {used} now, and this message \
             needs {bytes}. Delete messages, topics or subscriptions, purge or delete queues, or raise the limit with --max-memory, \
             SQS_MOCK_MAX_MEMORY, limits.max_memory in the config file, or Limits::max_memory."
        );
        Err(ServiceError::new(ErrorCode::OverLimit, text))
    }

    /// Whether a queue with `here` bytes can store `bytes` more.
    pub(crate) fn fits(self, here: usize, bytes: usize) -> bool {
        self.elsewhere.saturating_add(here).saturating_add(bytes) <= self.ceiling
    }
}

impl Default for Room {
    /// Without a limit.
    fn default() -> Self {
        Self { ceiling: usize::MAX, elsewhere: 0 }
    }
}
