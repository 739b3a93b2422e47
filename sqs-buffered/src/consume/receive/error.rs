//! Why there is nothing to receive.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use sqs_client::client::OperationError;
use tokio::task::JoinError;

use crate::produce::BuildError;

/// Why a receiver or consumer did not start, or ended by itself. One word wide and cheap to clone.
#[derive(Clone)]
pub struct ReceiveError(Arc<Inner>);

struct Inner {
    kind: ReceiveErrorKind,
    text: String,
    /// The refusal of the service, where there is one.
    cause: Option<sqs_client::Error>,
    is_retryable: bool,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What kind of reason it is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ReceiveErrorKind {
    /// A setting has a value that it cannot have; nothing was sent.
    Invalid,
    /// The first receive failed for a reason that does not pass: there is no such queue, or it may not be read.
    Refused,
    /// The consumer is running already or has been run: it runs once.
    Running,
    /// The buffered client below was closed: nothing that is received could be deleted or given back.
    Closed,
    /// There is no tokio runtime here in which it could work.
    NoRuntime,
    /// The operating system does not report the signals that
    /// [`run_until_signal`](crate::Consumer::run_until_signal) waits for.
    Signals,
    /// It was dropped, a part of it broke, or its runtime has ended.
    Aborted,
}

impl ReceiveError {
    pub(crate) fn new(kind: ReceiveErrorKind, text: impl Into<String>) -> Self {
        Self(Arc::new(Inner { kind, text: text.into(), cause: None, is_retryable: false, source: None }))
    }

    /// A setting that cannot be.
    pub(crate) fn invalid(error: &BuildError) -> Self {
        Self::new(ReceiveErrorKind::Invalid, error.to_string())
    }

    pub(crate) fn refused(queue_url: &str, error: impl OperationError) -> Self {
        let (kind, cause) = (ReceiveErrorKind::Refused, error.client_error().cloned());
        let text = format!("nothing can be received from {queue_url}: {error}");
        let is_retryable = error.is_retryable();
        Self(Arc::new(Inner { kind, text, cause, is_retryable, source: Some(Box::new(error)) }))
    }

    pub(crate) fn no_runtime() -> Self {
        Self::new(ReceiveErrorKind::NoRuntime, "there is no tokio runtime here to receive in")
    }

    /// A task that panicked, or that its runtime has ended.
    pub(crate) fn broken(what: &str, error: &JoinError) -> Self {
        Self::new(ReceiveErrorKind::Aborted, format!("{what} has ended before its time: {error}"))
    }

    /// What kind of reason it is.
    pub fn kind(&self) -> ReceiveErrorKind {
        self.0.kind
    }

    /// The code of the service's refusal as the Query protocol writes it, such as
    /// `AWS.SimpleQueueService.NonExistentQueue`.
    pub fn code(&self) -> Option<&str> {
        self.0.cause.as_ref()?.code()
    }

    /// The text of the service's refusal.
    pub fn message(&self) -> Option<&str> {
        self.0.cause.as_ref()?.message()
    }

    /// The id that the service gave to the request that it refused; quote it to AWS support.
    pub fn request_id(&self) -> Option<&str> {
        self.0.cause.as_ref()?.request_id()
    }

    /// Whether the same may succeed later. It is rarely so: what passes is tried again and ends nothing.
    pub fn is_retryable(&self) -> bool {
        self.0.is_retryable
    }
}

impl fmt::Display for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

/// The sentence of `Display`, since this is what `main` prints when it returns an error.
impl fmt::Debug for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl StdError for ReceiveError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        // Its own text is shown already; what is new is why.
        self.0.source.as_ref()?.source()
    }
}
