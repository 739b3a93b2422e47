//! Why there is nothing to receive.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use sqs_client::client::OperationError;
use tokio::task::JoinError;

/// Why a receiver or consumer did not start, or ended by itself. One word wide and cheap to clone.
#[derive(Clone)]
pub struct ReceiveError(Arc<Inner>);

struct Inner {
    kind: ReceiveErrorKind,
    text: String,
    code: Option<String>,
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
    /// The consumer is running already.
    Running,
    /// The buffered client below was closed: nothing that is received could be deleted or given back.
    Closed,
    /// It was dropped, a part of it broke, or its runtime has ended.
    Aborted,
}

impl ReceiveError {
    pub(crate) fn new(kind: ReceiveErrorKind, text: impl Into<String>) -> Self {
        Self(Arc::new(Inner { kind, text: text.into(), code: None, source: None }))
    }

    pub(crate) fn refused(queue_url: &str, error: impl OperationError) -> Self {
        let code = error.client_error().and_then(|error| error.code()).map(str::to_owned);
        let text = format!("nothing can be received from {queue_url}: {error}");
        Self(Arc::new(Inner { kind: ReceiveErrorKind::Refused, text, code, source: Some(Box::new(error)) }))
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
        self.0.code.as_deref()
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
