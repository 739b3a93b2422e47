//! The 23 operations of SQS, by family.
//!
//! ```text
//! input -> find the queue -> validate (by the rules of sqs-client) -> engine (now) -> output
//! ```
//! | Module | Contents |
//! |---|---|
//! | [`service`] | accounts, clock, shutdown; finding queues |
//! | [`access`] | access policies of queues, and their permissions |
//! | [`accounts`], [`limits`] | accounts and regions; maximum number of queues and memory |
//! | [`trace`] | facts about a request for logs |
//! | [`serve`] | operations, and their parts that faults need |
//! | [`shared`], [`poll`] | a queue behind its lock; parked receives |
//! | [`auto_create`] | creation of queues on first use |
//! | [`queue`], [`attributes`], [`list`] | operations on queues, their attributes and tags |
//! | [`message`], [`receive`], [`batch`] | operations on messages and batches |
//! | `deliver` | messages of other services |
//! | [`strict`] | findings of strict mode about sends and deletes |
//! | [`changes`], `restore` | changes for a store, and the state that it kept |
//! | [`move_task`], [`mover`] | move tasks, and the background task of each |
//! | [`inspect`], [`peek`] | not in SQS: inspecting queues and the usage of the server; peeking |
//! | [`until`], [`reset`] | not in SQS: waiting for conditions; resetting |
//! | [`address`], [`selection`] | queue URLs; attributes that a receive returns |

mod access;
mod accounts;
mod address;
mod attributes;
mod auto_create;
mod batch;
pub(crate) mod changes;
mod deliver;
mod inspect;
mod limits;
mod list;
mod message;
mod move_task;
mod mover;
mod peek;
mod poll;
mod queue;
mod receive;
mod reset;
#[cfg(feature = "durable")]
mod restore;
mod selection;
mod serve;
mod service;
mod shared;
mod state;
mod strict;
#[cfg(test)]
mod tests;
mod trace;
mod until;

use std::fmt::Display;
use std::time::Duration;

use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::error;

/// The types for inspection of queues and messages.
pub(crate) use crate::sqs::engine::{Counts, PeekedMessage, QueueDescription, Visibility, WhyEmpty};

pub(crate) use access::Cause;
pub(crate) use batch::Failure;
pub(crate) use inspect::QueueUsage;
pub(crate) use peek::{Kinds, fitting};
#[cfg(feature = "durable")]
pub(crate) use restore::Restored;
pub(crate) use serve::Serve;
use serve::Served;
pub(crate) use service::{Service, Start};
pub(crate) use trace::Trace;

/// Facts about a request besides its input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// Account of the caller, 12 digits.
    pub(crate) account: String,
    /// Region of the caller.
    pub(crate) region: String,
    /// Prefix of queue URLs, without a slash at the end.
    pub(crate) base_url: String,
    /// The configured `base_url`. Without one, it has the host that the caller uses.
    pub(crate) public_url: Option<String>,
    /// Whether the request came by the Query protocol, which has another text for unknown queues.
    pub(crate) is_query: bool,
    /// The URL of a request in the Query protocol, unless its path is `/`. It names the queue if the input does not.
    pub(crate) request_url: Option<String>,
    /// The header `X-Amzn-Trace-Id`, the default for the system attribute `AWSTraceHeader`.
    pub(crate) trace_header: Option<String>,
    /// Batch entries with an injected failure, by position.
    pub(crate) failing: Vec<(usize, Failure)>,
    /// Whether the request is a retry by an SDK.
    pub(crate) is_retry: bool,
    /// Whether standard queues deliver the messages of this receive once more.
    pub(crate) redeliver: bool,
    /// Facts that the operation reports.
    pub(crate) trace: Trace,
}

impl Context {
    /// Returns the injected failure of a batch entry as an error, if any.
    fn injected_failure(&self, index: usize) -> Result<(), Failure> {
        let failing = self.failing.iter().find(|(failing, _)| *failing == index);
        failing.map_or(Ok(()), |(_, failure)| Err(failure.clone()))
    }

    /// The error for a queue that does not exist, with the text of the request's protocol.
    pub(crate) fn no_such_queue(&self) -> ServiceError {
        if !self.is_query {
            return error::queue_does_not_exist();
        }
        let message = "The specified queue does not exist for this wsdl version.";
        ServiceError::new(ErrorCode::QueueDoesNotExist, message)
    }
}

/// Unwraps the output of a builder that has all required values.
fn built<T, E: Display>(output: Result<T, E>) -> Result<T, ServiceError> {
    output.map_err(|error| ServiceError::new(ErrorCode::InternalFailure, error.to_string()))
}

/// Seconds that have been validated.
fn seconds(seconds: i32) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}
