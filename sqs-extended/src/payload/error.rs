//! Why a payload does not arrive.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use crate::store::{StoreError, StoreErrorKind};

/// A payload could not be read, written or trusted. One word wide and cheap to clone.
#[derive(Clone)]
pub struct PayloadError(Arc<Inner>);

struct Inner {
    kind: PayloadErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum PayloadErrorKind {
    /// The store does not give it; [`store_error`](PayloadError::store_error) says more.
    Store,
    /// What it is made of could not be read: a file, a reader or a stream.
    Source,
    /// It has more bytes than are allowed.
    TooLarge,
    /// It has another length or hash than it should have: the object is not the one that was stored.
    Damaged,
    /// It is not UTF-8, and was not said to be binary.
    NotText,
    /// It is compressed in a way that cannot be undone here, or what is compressed is damaged.
    Encoding,
    /// A file could not be written.
    File,
}

impl PayloadErrorKind {
    /// A short name, for logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Source => "source",
            Self::TooLarge => "too_large",
            Self::Damaged => "damaged",
            Self::NotText => "not_text",
            Self::Encoding => "encoding",
            Self::File => "file",
        }
    }
}

impl PayloadError {
    pub(super) fn new(kind: PayloadErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner { kind, message: message.into(), source: None }))
    }

    pub(super) fn caused_by(
        kind: PayloadErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self(Arc::new(Inner { kind, message: message.into(), source: Some(source.into()) }))
    }

    /// What went wrong.
    pub fn kind(&self) -> PayloadErrorKind {
        self.0.kind
    }

    /// What the store says, when it is the one that failed.
    pub fn store_error(&self) -> Option<&StoreError> {
        self.0.source.as_deref()?.downcast_ref()
    }

    /// Whether the same may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.store_error().is_some_and(StoreError::is_retryable)
    }

    /// For what takes errors of files only. [`from_io`](Self::from_io) takes it out again.
    pub(super) fn into_io(self) -> io::Error {
        let kind = match self.kind() {
            PayloadErrorKind::Damaged | PayloadErrorKind::NotText | PayloadErrorKind::Encoding => {
                io::ErrorKind::InvalidData
            }
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, self)
    }

    /// An error of what lies between: the one that was put into it, else one of its own.
    #[cfg(any(feature = "gzip", feature = "zstd"))]
    pub(super) fn from_io(error: io::Error, otherwise: impl FnOnce(io::Error) -> Self) -> Self {
        error.downcast::<Self>().unwrap_or_else(otherwise)
    }
}

impl From<StoreError> for PayloadError {
    /// What the store says of a source that failed is what the source says.
    fn from(error: StoreError) -> Self {
        if let Some(source) = error.source().and_then(|source| source.downcast_ref::<Self>()) {
            return source.clone();
        }
        let kind = match error.kind() {
            StoreErrorKind::Changed => PayloadErrorKind::Damaged,
            _ => PayloadErrorKind::Store,
        };
        Self::caused_by(kind, error.to_string(), error)
    }
}

/// On its way into a store it is the source that fails.
impl From<PayloadError> for StoreError {
    fn from(error: PayloadError) -> Self {
        Self::new(StoreErrorKind::Source, error.to_string()).caused_by(error)
    }
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PayloadError")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("source", &self.0.source)
            .finish()
    }
}

impl Error for PayloadError {
    /// The text of the store's error is shown already: what is new is why.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self.store_error() {
            Some(error) => error.source(),
            None => self.0.source.as_deref().map(|source| source as _),
        }
    }
}
