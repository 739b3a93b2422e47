//! The 23 operations of SQS, by family.
//!
//! ```text
//! input -> find the queue -> validate (by the rules of sqs-client) -> engine (now) -> output
//! ```
//! | Module | Contents |
//! |---|---|
//! | [`queue`] | operations on queues, their attributes and tags |
//! | [`message`], [`receive`] | operations on messages and batches |
//! | [`access`] | access policies of queues, and their permissions |
//! | [`move_task`] | move tasks, and the background task of each |
//! | [`deliver`] | messages of other services |
//! | [`inspect`] | not in SQS: inspecting queues and the usage of the server |
//! | `restore` | the state that a store kept |
//!
//! Accounts, limits and the search for queues are in [`service`](super::service), the lock of a queue and its parked receives
//! in [`locked_queue`](super::locked_queue).

pub(crate) mod access;
pub(crate) mod deliver;
pub(crate) mod inspect;
pub(crate) mod message;
pub(crate) mod move_task;
pub(crate) mod queue;
pub(crate) mod receive;
#[cfg(feature = "durable")]
pub(crate) mod restore;

use std::fmt::Display;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::operation::{Input as _, Operation};
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::error;

use crate::control::arn::QueueArn;
use crate::control::faults::Entry;
use crate::control::faults::fault::ReceiveChange;
use crate::control::schedule::CallNumber;
use crate::sqs::findings::Finding;
use crate::sqs::ops::message::Failure;
use crate::sqs::queue_url::region_in_path;
use crate::sqs::service::Service;

/// Facts about a request besides its input.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(crate) struct Context {
    /// Account of the caller, 12 digits.
    pub(crate) account: String,
    /// Region of the caller.
    pub(crate) region: String,
    /// Whether it is that of the server, because neither signature nor host name one.
    pub(crate) is_default_region: bool,
    /// Prefix of queue URLs, without a slash at the end.
    pub(crate) base_url: String,
    /// The configured `base_url`. Without one, it has the host that the caller uses.
    pub(crate) public_url: Option<String>,
    /// Whether the request came by the Query protocol, which has another text for unknown queues.
    pub(crate) is_query: bool,
    /// The number of the first entry of a batch in the Query protocol that has no id.
    pub(crate) entry_without_id: Option<usize>,
    /// The URL of a request in the Query protocol, unless its path is `/`. It names the queue if the input does not.
    pub(crate) request_url: Option<String>,
    /// The header `X-Amzn-Trace-Id`, the default for the system attribute `AWSTraceHeader`.
    pub(crate) trace_header: Option<String>,
    /// Batch entries with an injected failure, by position.
    pub(crate) failing: Vec<(usize, Failure)>,
    /// Whether the request is a retry by an SDK.
    pub(crate) is_retry: bool,
    /// Whether it is a call of the console, which no fault affects.
    pub(crate) is_trusted: bool,
    /// Whether standard queues deliver the messages of this receive once more.
    pub(crate) redeliver: bool,
    /// The access key of the caller, if there is a schedule.
    pub(crate) caller: Box<str>,
    /// The number of the call, if its transport counts.
    pub(crate) number: Option<CallNumber>,
    /// What a schedule changes of this receive.
    pub(crate) receive: ReceiveChange,
    /// Facts that the operation reports.
    pub(crate) trace: Trace,
}

impl Context {
    /// The region of a queue URL in the path style of LocalStack, if nothing else names one.
    pub(crate) fn region_of(&self, url: Option<&str>) -> Option<String> {
        url.filter(|_| self.is_default_region).and_then(region_in_path).map(str::to_owned)
    }

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

/// The result of an operation.
pub(crate) type Served<O> = Result<<O as Operation>::Output, ServiceError>;

/// An operation that a [`Service`] implements.
pub(crate) trait Serve: Operation {
    /// Runs the operation.
    ///
    /// # Cancel safety
    /// A receive that is dropped before it completes has taken no message. No other operation waits.
    fn serve(
        service: &Service,
        context: &Context,
        input: Self::Input,
    ) -> impl Future<Output = Served<Self>> + Send;

    /// The name, URL or ARN of the queue.
    fn queue(input: &Self::Input) -> Option<&str> {
        input.queue_url()
    }

    /// The account of the queue, if the input has it in a separate field.
    fn owner(_: &Self::Input) -> Option<&str> {
        None
    }

    /// The messages and receipt handles of the input.
    fn entries(_: &Self::Input) -> Vec<Entry<'_>> {
        Vec::new()
    }

    /// Whether the output has a message.
    fn delivers(_: &Self::Output) -> bool {
        false
    }

    /// Removes entries from the output.
    fn omit(_: &mut Self::Output, _: &[String]) {}

    /// Makes the checksums of the output wrong; `false` if it has none.
    fn corrupt(_: &mut Self::Output) -> bool {
        false
    }
}

/// Replaces the first digit of a checksum.
pub(crate) fn break_sum(sum: &mut Option<String>) -> bool {
    let Some(sum) = sum else { return false };
    let other = if sum.starts_with('0') { "1" } else { "0" };
    if sum.is_ascii() && !sum.is_empty() {
        sum.replace_range(..1, other);
    }
    true
}

/// Facts about a request that only its operation knows. Only the first queue and the first wait are recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    queue: OnceLock<Arc<QueueArn>>,
    waited: OnceLock<Duration>,
    /// Most requests have none.
    findings: OnceLock<Arc<Mutex<Vec<Arc<Finding>>>>>,
    /// What else helps to understand the response, such as faults that applied. Most requests have none.
    notes: OnceLock<Arc<Mutex<Vec<String>>>>,
}

impl Trace {
    /// The queue of the request, if any.
    pub(crate) fn queue(&self) -> Option<&QueueArn> {
        self.queue.get().map(|arn| &**arn)
    }

    /// How long a receive waited for messages; `None` if it did not.
    pub(crate) fn waited(&self) -> Option<Duration> {
        self.waited.get().copied()
    }

    /// The findings of the request.
    pub(crate) fn findings(&self) -> Vec<Arc<Finding>> {
        self.findings.get().map(|findings| findings.lock().clone()).unwrap_or_default()
    }

    pub(crate) fn note_finding(&self, finding: Arc<Finding>) {
        self.findings.get_or_init(Arc::default).lock().push(finding);
    }

    /// Findings and notes, as text.
    pub(crate) fn warnings(&self) -> Box<[String]> {
        let findings = self.findings().into_iter().map(|finding| finding.to_string());
        let notes = self.notes.get().map(|notes| notes.lock().clone()).unwrap_or_default();
        findings.chain(notes).collect()
    }

    pub(crate) fn note(&self, text: String) {
        self.notes.get_or_init(Arc::default).lock().push(text);
    }

    pub(crate) fn note_queue(&self, arn: &Arc<QueueArn>) {
        let _ = self.queue.set(Arc::clone(arn));
    }

    pub(crate) fn note_wait(&self, waited: Duration) {
        let _ = self.waited.set(waited);
    }
}

#[cfg(test)]
mod tests;
