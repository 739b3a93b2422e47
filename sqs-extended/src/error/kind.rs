//! What can go wrong, in broad terms.

use crate::payload::{PayloadError, PayloadErrorKind};
use crate::store::StoreErrorKind;

/// What went wrong, in broad terms.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The client below failed; [`client_error`](crate::Error::client_error) is its error.
    Client,
    /// A setting cannot be.
    Config,
    /// A message has more than nine attributes of its own, so that there is no room for the one that goes with a
    /// pointer. Nothing was stored or sent.
    TooManyAttributes,
    /// A message has an attribute of its own with a name that goes with pointers. Nothing was stored or sent.
    ReservedAttribute,
    /// The payload could not be stored; the message was not sent.
    Upload,
    /// A message says that it carries a pointer, and its body is none.
    BadPointer,
    /// A pointer leads to a bucket that is not allowed. The store was not asked.
    ForeignBucket,
    /// The object is not there.
    Missing,
    /// The store does not let these credentials at the object. It may be there.
    Forbidden,
    /// The store failed while the object was read.
    Download,
    /// The object is not the one that was stored: its length or its hash differs.
    Damaged,
    /// The payload is larger than is loaded into memory
    /// ([`max_payload_bytes`](crate::ExtendedClientBuilder::max_payload_bytes)), or than any can be.
    TooLarge,
    /// The payload is no text in UTF-8, so that it cannot be a body; [`body_stream`](crate::ExtendedClient::body_stream)
    /// reads what is [`binary`](crate::BodyStream::binary).
    NotText,
    /// The object is compressed in a way that this build does not know (the features `gzip` and `zstd`), or what is
    /// compressed is damaged.
    Encoding,
}

impl ErrorKind {
    /// A short name for logs and metrics, such as `foreign_bucket`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Config => "config",
            Self::TooManyAttributes => "too_many_attributes",
            Self::ReservedAttribute => "reserved_attribute",
            Self::Upload => "upload",
            Self::BadPointer => "bad_pointer",
            Self::ForeignBucket => "foreign_bucket",
            Self::Missing => "missing",
            Self::Forbidden => "forbidden",
            Self::Download => "download",
            Self::Damaged => "damaged",
            Self::TooLarge => "too_large",
            Self::NotText => "not_text",
            Self::Encoding => "encoding",
        }
    }

    /// What is wrong with a payload itself.
    pub(crate) fn of_payload(error: &PayloadError) -> Option<Self> {
        match error.kind() {
            PayloadErrorKind::TooLarge => Some(Self::TooLarge),
            PayloadErrorKind::Damaged => Some(Self::Damaged),
            PayloadErrorKind::NotText => Some(Self::NotText),
            PayloadErrorKind::Encoding => Some(Self::Encoding),
            PayloadErrorKind::Store | PayloadErrorKind::Source | PayloadErrorKind::File => None,
        }
    }

    /// What an error of the store means while an object is read.
    pub(crate) const fn of_download(kind: StoreErrorKind) -> Self {
        match kind {
            StoreErrorKind::NotFound => Self::Missing,
            StoreErrorKind::Forbidden => Self::Forbidden,
            StoreErrorKind::Changed => Self::Damaged,
            _ => Self::Download,
        }
    }
}
