//! The 23 operations: one file for each family of shapes.
//!
//! ```text
//! input -> find the queue -> validate (the rules of sqs-client) -> engine (now) -> output
//! ```
//! | Module | What it holds |
//! |---|---|
//! | [`service`] | accounts, clock, shutdown; finds queues |
//! | [`accounts`], [`quota`] | accounts and regions, how many queues there may be |
//! | [`usage`], [`trace`] | what all takes; what logs tell |
//! | [`shared`], [`poll`] | a queue under its lock, and the receives that are parked at it |
//! | [`auto_create`] | queues that come into being when they are named |
//! | [`queue`], [`attributes`], [`list`] | the family of queues |
//! | [`message`], [`receive`], [`batch`] | the families of messages and batches |
//! | [`strict`] | what strict mode reports about sends and deletes |
//! | [`throughput`] | which throughput quotas apply to which queue |
//! | [`tags`], [`permission`] | the families of these names |
//! | [`move_task`], [`mover`] | move tasks, and the background task that drives each |
//! | [`inspect`], [`peek`], [`watch`], [`reset`] | for tests: looking, waiting until, starting anew |
//! | [`address`], [`selection`] | queue URLs; which attributes a receive returns |

mod accounts;
mod address;
mod attributes;
mod auto_create;
mod batch;
mod changes;
mod inspect;
mod list;
mod memory;
mod message;
mod move_task;
mod mover;
mod peek;
mod permission;
mod poll;
mod queue;
mod quota;
mod receive;
mod reset;
mod selection;
mod service;
mod shared;
mod state;
mod strict;
mod tags;
#[cfg(test)]
mod tests;
mod throughput;
mod trace;
mod until;
mod usage;
mod watchers;

use std::fmt::Display;
use std::future::Future;
use std::time::Duration;

use sqs_client::operation::Operation;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::error;

/// What is shown of queues and messages.
pub(crate) use crate::sqs::engine::{Counts, PeekedMessage, QueueDescription, Visibility, WhyEmpty};

pub(crate) use peek::{MAX_PEEKED, Shown};
pub(crate) use service::{Service, Start};
pub(crate) use trace::Trace;
pub(crate) use usage::QueueUsage;

/// An operation that a [`Service`] can do.
pub(crate) trait Serve: Operation {
    /// Does it.
    ///
    /// # Cancel safety
    /// Dropped before its end, a receive has taken no message. No other operation waits for anything.
    fn serve(
        service: &Service,
        context: &Context,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, ServiceError>> + Send;
}

/// What an operation has to know of its request beside the input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// Account of the caller, 12 digits.
    pub(crate) account: String,
    /// Region of the caller.
    pub(crate) region: String,
    /// How queue URLs begin, without a slash at the end.
    pub(crate) base_url: String,
    /// Whether the request came in the Query protocol, whose text about unknown queues is another.
    pub(crate) wsdl: bool,
    /// The URL of a request in the Query protocol, unless its path is `/`. It names the queue if the input does not.
    pub(crate) request_url: Option<String>,
    /// The header `X-Amzn-Trace-Id`, which stands in for the system attribute `AWSTraceHeader`.
    pub(crate) trace_header: Option<String>,
    /// Entries of a batch that faults let fail.
    pub(crate) failing: Vec<FailedEntry>,
    /// Whether an SDK repeats an earlier call.
    pub(crate) is_retry: bool,
    /// Whether standard queues deliver what they deliver now once more.
    pub(crate) redeliver: bool,
    /// What the operation notes about itself.
    pub(crate) trace: Trace,
}

/// An entry of a batch that a fault lets fail.
#[derive(Clone, Debug)]
pub(crate) struct FailedEntry {
    /// The position in the batch.
    pub(crate) index: usize,
    pub(crate) error: ServiceError,
    pub(crate) sender_fault: bool,
}

impl Context {
    /// Fails with the error that a fault injects into an entry of a batch, if one does.
    fn injected_failure(&self, index: usize) -> Result<(), &FailedEntry> {
        self.failing.iter().find(|failed| failed.index == index).map_or(Ok(()), Err)
    }

    /// The refusal of a queue that does not exist, in the words of the request's protocol.
    pub(crate) fn no_such_queue(&self) -> ServiceError {
        if !self.wsdl {
            return error::queue_does_not_exist();
        }
        let message = "The specified queue does not exist for this wsdl version.";
        ServiceError::new(ErrorCode::QueueDoesNotExist, message)
    }
}

/// An output whose builder was given all that it requires.
fn built<T, E: Display>(output: Result<T, E>) -> Result<T, ServiceError> {
    output.map_err(|error| ServiceError::new(ErrorCode::InternalFailure, error.to_string()))
}

/// Seconds that were found to be in range.
fn seconds(seconds: i32) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}
