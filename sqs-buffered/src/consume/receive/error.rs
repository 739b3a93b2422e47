//! The error of receivers and consumers.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use sqs_client::client::OperationError;
use tokio::task::JoinError;

use crate::produce::BuildError;

/// Why a receiver or consumer did not start, or ended by itself. It is one word wide and cheap to clone.
#[derive(Clone)]
pub struct ReceiveError(Arc<Inner>);

struct Inner {
    kind: ReceiveErrorKind,
    text: String,
    /// The error of SQS, if there is one.
    cause: Option<sqs_client::Error>,
    is_retryable: bool,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The kind of a [`ReceiveError`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ReceiveErrorKind {
    /// A setting is out of range. Nothing was sent.
    Invalid,
    /// The first receive failed permanently: the queue does not exist, or access is denied.
    Refused,
    /// The consumer is running or has been run. A consumer runs once.
    Running,
    /// The buffered client was closed: received messages could not be deleted or given back.
    Closed,
    /// There is no tokio runtime.
    NoRuntime,
    /// The operating system does not report the signals that
    /// [`run_until_signal`](crate::Consumer::run_until_signal) waits for.
    Signals,
    /// The run was dropped, a task panicked, or the runtime has ended.
    Aborted,
}

impl ReceiveError {
    pub(crate) fn new(kind: ReceiveErrorKind, text: impl Into<String>) -> Self {
        Self(Arc::new(Inner { kind, text: text.into(), cause: None, is_retryable: false, source: None }))
    }

    /// A setting is out of range.
    pub(crate) fn invalid(error: &BuildError) -> Self {
        Self::new(ReceiveErrorKind::Invalid, error.to_string())
    }

    pub(crate) fn refused(queue_url: &str, error: impl OperationError) -> Self {
        let (kind, cause) = (ReceiveErrorKind::Refused, error.client_error().cloned());
        let text = format!("cannot receive from {queue_url}: {error}");
        let is_retryable = error.is_retryable();
        Self(Arc::new(Inner { kind, text, cause, is_retryable, source: Some(Box::new(error)) }))
    }

    pub(crate) fn no_runtime() -> Self {
        Self::new(ReceiveErrorKind::NoRuntime, "there is no tokio runtime to receive in")
    }

    /// A task has panicked, or its runtime has ended.
    pub(crate) fn broken(what: &str, error: &JoinError) -> Self {
        Self::new(ReceiveErrorKind::Aborted, format!("{what} has ended unexpectedly: {error}"))
    }

    /// The kind of the error.
    pub fn kind(&self) -> ReceiveErrorKind {
        self.0.kind
    }

    /// The error code of SQS as the Query protocol writes it, such as
    /// `AWS.SimpleQueueService.NonExistentQueue`.
    pub fn code(&self) -> Option<&str> {
        self.0.cause.as_ref()?.code()
    }

    /// The error message of SQS.
    pub fn message(&self) -> Option<&str> {
        self.0.cause.as_ref()?.message()
    }

    /// The request id of the failed request. Quote it to AWS support.
    pub fn request_id(&self) -> Option<&str> {
        self.0.cause.as_ref()?.request_id()
    }

    /// Whether a later run may succeed. Rarely true: transient failures are retried and do not end a run.
    pub fn is_retryable(&self) -> bool {
        self.0.is_retryable
    }
}

impl fmt::Display for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

/// The same as `Display`, because `main` prints `Debug` when it returns an error.
impl fmt::Debug for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl StdError for ReceiveError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        // `Display` contains the text of the source itself, so the chain continues with the source of that.
        self.0.source.as_ref()?.source()
    }
}
