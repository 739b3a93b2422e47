//! Messages whose checksums are wrong.

use std::fmt;

use super::Message;

/// A received message with a wrong checksum.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DamagedMessage {
    /// The message as it arrived. Do not trust its body or attributes; id and receipt handle have no checksum.
    pub message: Message,
    /// Each part that is wrong.
    pub mismatches: Vec<ChecksumMismatch>,
}

/// A checksum that the service sent differs from the one computed here: the message was damaged on its way, or the
/// service computes checksums differently.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChecksumMismatch {
    /// Which part: `body`, `message attributes` or `message system attributes`.
    pub(crate) part: &'static str,
    /// The id of the batch entry, or of the received message.
    pub(crate) id: Option<String>,
    /// `None` when there is nothing to hash.
    pub(crate) expected: Option<String>,
    /// `None` when the service sent no checksum.
    pub(crate) found: Option<String>,
}

impl ChecksumMismatch {
    /// The id of the damaged batch entry, or of the damaged received message.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

impl fmt::Display for ChecksumMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, id, expected, found } = self;
        write!(f, "MD5 of the {part}")?;
        if let Some(id) = id {
            write!(f, " of {id}")?;
        }
        match (expected, found) {
            (Some(expected), Some(found)) => write!(f, ": the service sent {found}, computed {expected}"),
            (_, None) => {
                f.write_str(": the service sent none (ChecksumPolicy::VerifyIfPresent accepts that)")
            }
            (None, Some(found)) => write!(f, ": the service sent {found}, but there is nothing to hash"),
        }
    }
}

impl std::error::Error for ChecksumMismatch {}
