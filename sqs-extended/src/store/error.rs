//! Why a store does not do what it was asked.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// A store has not done what it was asked. One word wide and cheap to clone.
#[derive(Clone)]
pub struct StoreError(Arc<Inner>);

struct Inner {
    kind: StoreErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    is_retryable: bool,
    is_outcome_unknown: bool,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// There is no such object (404).
    NotFound,
    /// The store does not let these credentials at it (403), which is never taken for a missing object.
    Forbidden,
    /// There is an object of this name already (412 on writing).
    Exists,
    /// The object is of another version than the one that was begun to read (412 on reading).
    Changed,
    /// The body that was to be written gave an error.
    Source,
    /// The body ended before its length, or the connection broke.
    Interrupted,
    /// The store is busy or failed: 5xx, throttling, timeouts, no connection.
    Unavailable,
    /// The store refuses it for another reason.
    Refused,
}

impl StoreErrorKind {
    /// A short name, for logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Forbidden => "forbidden",
            Self::Exists => "exists",
            Self::Changed => "changed",
            Self::Source => "source",
            Self::Interrupted => "interrupted",
            Self::Unavailable => "unavailable",
            Self::Refused => "refused",
        }
    }
}

impl StoreError {
    /// An error of this kind; `message` says what was asked and what the store says.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        let is_retryable = matches!(kind, StoreErrorKind::Interrupted | StoreErrorKind::Unavailable);
        let message = message.into();
        Self(Arc::new(Inner { kind, message, source: None, is_retryable, is_outcome_unknown: false }))
    }

    /// With its cause.
    pub fn caused_by(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.with(|inner| inner.source = Some(source.into()))
    }

    /// Says that the store may have done it although no answer says so.
    pub fn outcome_unknown(self) -> Self {
        self.with(|inner| inner.is_outcome_unknown = true)
    }

    /// Only where it is made: an error that was cloned already keeps what it says.
    fn with(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            change(inner);
        }
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> StoreErrorKind {
        self.0.kind
    }

    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.0.is_retryable
    }

    /// Whether the store may have done it although no answer says so.
    pub fn is_outcome_unknown(&self) -> bool {
        self.0.is_outcome_unknown
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreError")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("source", &self.0.source)
            .finish_non_exhaustive()
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
